"""The first page, drawn again every few seconds: counts, failing groups, waiting, backlog, newest."""

from collections.abc import Callable
from typing import Final, TypeVar

import streamlit as st

from studio.client.client import Client, Found
from studio.client.errors import ServerError, Unreachable
from studio.components import frame, markup, problem
from studio.components.visit import Visit
from studio.views import executions, overview, wording
from studio.views.executions import FailingGroup
from studio.views.overview import DAY_MS, Overview, Waiting

_ROWS: Final = 6
_GROUPS: Final = 4
T = TypeVar("T")


def draw(visit: Visit) -> None:
    visit = visit.fresh()
    note = f"Data from {wording.moment(visit.now_ms, visit.zone, '%H:%M:%S')}, every 5 s"
    frame.title("What needs you now", note=note)
    errors: list[ServerError] = []
    found = _ask(visit, errors)
    for kind in {type(error): error for error in errors}.values():
        problem.show(kind)
    if any(isinstance(error, Unreachable) for error in errors):
        return
    with problem.told():
        if not errors and not found.recent and not found.queues and not visit.client.definitions():
            _first_time()
            return
        markup.show(markup.facts(_facts(found)))
        markup.show(_failing(visit, found))
        left, right = st.columns([1.08, 1])
        with left:
            markup.show(_people(visit, found))
        with right:
            markup.show(_backlog(visit, found))
        markup.show(_recent(visit, found))
        markup.show(_engine_line(visit))


def _ask(visit: Visit, errors: list[ServerError]) -> Overview:
    """Each part is asked for by itself: one that fails is told, the others are shown."""
    client, now = visit.client, visit.now_ms

    def found(query: str, size: int) -> Found:
        return _or(lambda: client.search(query, size=size), Found(0, []), errors)

    whole = _or(client.overview, None, errors)
    known = whole.get("byStatus") if whole else None
    by_status = {
        status: int(known.get(status, 0))
        if isinstance(known, dict)
        else found(f"status = {status}", 1).total
        for status in ("RUNNING", "PAUSED")
    }
    failed = found(f"status IN (FAILED,TIMED_OUT) AND startTime > {now - DAY_MS}", 200)
    return Overview(
        failed=failed.total,
        groups=executions.failing_groups(executions.rows_of(failed.rows, now), now),
        running=by_status["RUNNING"],
        paused=by_status["PAUSED"],
        waiting=_or(lambda: people(client), [], errors),
        queues=_or(lambda: overview.queue_rows(client.queues(), client.polls(), now), [], errors),
        recent=executions.rows_of(found("", _ROWS).rows, now),
    )


def _or(ask: Callable[[], T], otherwise: T, errors: list[ServerError]) -> T:
    """The answer; after the first error nothing more is asked of a server that is gone."""
    if any(isinstance(error, Unreachable) for error in errors):
        return otherwise
    try:
        return ask()
    except ServerError as error:
        errors.append(error)
        return otherwise


def people(client: Client) -> list[Waiting]:
    """The tasks that wait for a person, asked by type because a query has no OR."""
    query = "taskType IN (HUMAN) AND status IN (SCHEDULED,IN_PROGRESS)"
    return overview.waiting_of(client.search_tasks(query, size=200).rows)


def _first_time() -> None:
    words = "Nothing has run and nothing is defined yet."
    markup.show(markup.box("Begin here", markup.empty(words)))
    row = st.container(horizontal=True)
    with row:
        st.page_link("../pages/definitions.py", label="Definitions", icon=":material/menu_book:")
        st.page_link("../pages/help.py", label="Help", icon=":material/help:")


def _facts(found: Overview) -> list[markup.Fact]:
    address = markup.address
    groups = wording.plural(len(found.groups), "group")
    alone = sum(row.waiting for row in found.queues if row.alone)
    queued = f"queued, {alone} without a worker" if alone else "queued"
    failing = address("executions", **{"status": ["FAILED", "TIMED_OUT"], "from": "-24h"})
    return [
        markup.Fact(wording.number(found.failed), f"failed in 24 h, in {groups}", failing),
        markup.Fact(len(found.waiting), "waiting for people", address("human")),
        markup.Fact(wording.number(found.queued), queued, address("queues")),
        markup.Fact(
            wording.number(found.running), "running", address("executions", status="RUNNING")
        ),
        markup.Fact(wording.number(found.paused), "paused", address("executions", status="PAUSED")),
    ]


def _failing(visit: Visit, found: Overview) -> markup.Html:
    columns = (
        markup.Column("Cause", cut=True),
        markup.Column("Failed", align="right"),
        markup.Column("Last hour", wide=True),
        markup.Column("First, last", wide=True),
        markup.Column("", align="right"),
    )
    if not found.groups:
        return markup.box("Failing groups", markup.empty("No failures in the last 24 hours."))
    rows = [_group(visit, group) for group in found.groups[:_GROUPS]]
    every = {"status": ["FAILED", "TIMED_OUT"]}
    end = markup.link("All failures", markup.address("executions", **every), css="")
    return markup.box(
        "Failing groups", markup.table(columns, rows), note="last 24 h, by task", end=end
    )


def _group(visit: Visit, group: FailingGroup) -> markup.Row:
    where = f" / {group.failed_at}" if group.failed_at else ""
    cause = markup.two_lines(
        markup.code(group.name + where), group.reason or markup.dim("No reason was given.")
    )
    tone = markup.status(group.status, wording.number(len(group.rows)))
    first, last = (
        wording.ago(at, visit.now_ms, visit.zone) for at in (group.first_ms, group.last_ms)
    )
    many = len(group.rows) > 1
    address = (
        markup.address("executions", wf=group.name, status=[group.status], q=group.failed_at)
        if many
        else markup.address("execution", id=group.rows[0].id)
    )
    return markup.Row(
        [
            cause,
            tone,
            _bars(group.per_slot, group.status),
            first if first == last else f"{first}, {last}",
            markup.button(f"Review {len(group.rows)}" if many else "Open", address),
        ]
    )


def _bars(counts: tuple[int, ...], status: str) -> markup.Html:
    """A bar every five minutes; the height is a share of the highest."""
    highest = max([*counts, 1])
    tone = markup.tone(status)
    parts = [
        markup.Html(f'<i class="{tone}" style="height:{2 + round(14 * count / highest)}px"></i>')
        for count in counts
    ]
    return markup.tag("span", *parts, css="rp-ticks")


def _people(visit: Visit, found: Overview) -> markup.Html:
    end = markup.link(f"All {len(found.waiting)}", "human", css="")
    if not found.waiting:
        return markup.box("Waiting for people", markup.empty("Nobody is waited for."))
    lines = [
        markup.item(
            markup.status("SCHEDULED", wording.ago(one.since_ms, visit.now_ms, visit.zone)),
            markup.code(one.ref),
            one.about or one.definition,
            markup.button("Decide", markup.address("human", id=one.execution_id, task=one.task_id)),
        )
        for one in found.waiting[:3]
    ]
    return markup.box("Waiting for people", markup.items(lines), end=end)


def _backlog(visit: Visit, found: Overview) -> markup.Html:
    columns = (
        markup.Column("Queue", cut=True),
        markup.Column("Waiting", align="right"),
        markup.Column("Workers", align="right"),
        markup.Column("Last asked", align="right", wide=True),
    )
    shown = [row for row in found.queues if row.waiting or row.workers][:4]
    if not shown:
        return markup.box("Backlog", markup.empty("No queue has work or workers."))
    rows = [
        markup.Row(
            [
                markup.code(row.name),
                wording.number(row.waiting),
                markup.span("0", css="rp-bad") if row.alone else len(row.workers),
                wording.ago(row.last_poll_ms, visit.now_ms, visit.zone),
            ]
        )
        for row in shown
    ]
    end = markup.link("Queues and workers", "queues", css="")
    return markup.box("Backlog", markup.table(columns, rows), end=end)


def _recent(visit: Visit, found: Overview) -> markup.Html:
    columns = (
        markup.Column("Status"),
        markup.Column("Id"),
        markup.Column("Definition", cut=True),
        markup.Column("Correlation", wide=True),
        markup.Column("Started", align="right"),
        markup.Column("Ran", align="right", wide=True),
    )
    if not found.recent:
        return markup.box("Newest runs", markup.empty("Nothing has run yet."))
    rows = [
        markup.Row(
            [
                markup.status(row.status),
                markup.identifier(row.id, markup.address("execution", id=row.id)),
                markup.code(row.name),
                row.correlation,
                wording.ago(row.started_ms, visit.now_ms, visit.zone),
                wording.took(row.ran_ms),
            ]
        )
        for row in found.recent
    ]
    end = markup.link("All executions", "executions", css="")
    return markup.box("Newest runs", markup.table(columns, rows), end=end)


def _engine_line(visit: Visit) -> markup.Html:
    able = visit.client.capabilities()
    parts = [
        markup.status("COMPLETED", "Server answers"),
        markup.span(f"{able.product} {able.version}".strip()),
        markup.span(visit.client.name),
    ]
    line = markup.tag("p", *parts, css="rp-line")
    return markup.tag("section", line, css="rp-box rp-panel")
