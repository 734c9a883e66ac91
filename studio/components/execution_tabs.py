"""The page of one execution below its failure card: head, picture, timeline, tasks, data, story."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from studio.components import (
    graph_canvas,
    json_view,
    live,
    markup,
    problem,
    recovery_bar,
    status,
    task_panel,
    waiting,
)
from studio.components.visit import Visit
from studio.graph import layout, progress, timeline
from studio.graph.outline import forked_children, number, took_ms
from studio.graph.picture import Layout
from studio.views import recovery, theme, wording
from studio.views.execution import (
    ExecutionView,
    StoryLine,
    entries_of,
    in_short,
    latest_attempts,
    root_failure,
    story_of,
)

CANVAS: Final = "graph"
_LOWEST: Final = 320
_HIGHEST: Final = 560
_TABS: Final = ("Diagram", "Timeline", "Tasks", "Input and output", "Variables", "Story", "JSON")


def head(visit: Visit, view: ExecutionView) -> None:
    """Name, status, who, when, and the actions that are possible."""
    primary = _primary(view)
    left, right = st.columns([2.2, 1], vertical_alignment="top")
    with left:
        version = markup.link(
            f"v{view.version}", markup.address("definitions", wf=view.name), css="rp-tag"
        )
        title = markup.tag("h1", markup.code(view.name))
        chip = markup.status(view.status, chip=True)
        line = markup.tag("div", title, chip, version, css="rp-title")
        markup.show(line, markup.meta(_facts(visit, view)))
    with right:
        row = st.container(horizontal=True, horizontal_alignment="right", gap="small")
        recovery_bar.buttons(view, primary, row)
        _share(visit, view, row)


def _share(visit: Visit, view: ExecutionView, row: DeltaGenerator) -> None:
    """A few lines for a chat, with the link."""
    with row.popover("Share", icon=":material/share:"):
        place = markup.address("execution", id=view.id, task=st.query_params.get("task"))
        base = str(st.context.url or "").rsplit("/", 1)[0]
        st.code(in_short(view, f"{base}/{place}", visit.now_ms), language="markdown")


def _primary(view: ExecutionView) -> str:
    if not view.failed:
        return ""
    blocked = recovery.plan_of(view, recovery.RETRY).blocked
    return recovery.RESTART if blocked else recovery.RETRY


def _facts(visit: Visit, view: ExecutionView) -> list[tuple[str, object]]:
    started = markup.span(
        wording.ago(view.started_ms, visit.now_ms, visit.zone),
        title=wording.absolute(view.started_ms, visit.zone),
    )
    ran = wording.took(view.ran_ms(visit.now_ms))
    found: list[tuple[str, object]] = [
        ("Id", markup.code(view.id)),
        ("Correlation", view.correlation or "none"),
        ("Started", started),
        ("Ran" if not view.live else "Running for", ran),
    ]
    if view.started_by:
        found.append(("Started by", view.started_by))
    if view.parent_id:
        parent = markup.identifier(view.parent_id, markup.address("execution", id=view.parent_id))
        found.append(("Parent", parent))
    if view.rerun_from:
        found.append(("Rerun", "yes"))
    return found


def body(visit: Visit, view: ExecutionView) -> None:
    """The tabs; the one that is open is drawn, again and again while the execution runs."""
    tabs = st.tabs(_TABS, key="tab", on_change="rerun", bind="query-params")
    opened = next((index for index, tab in enumerate(tabs) if tab.open), 0)
    every = live.FAST if view.status == "RUNNING" and not live.held() else None

    def draw() -> None:
        with problem.told():
            _draw(opened, visit, _newest(visit, view) if every else view)

    with tabs[opened]:
        live.part(draw, every=every)


def _newest(visit: Visit, view: ExecutionView) -> ExecutionView:
    """The tasks as they are now; when the state has changed, the whole page is drawn again."""
    tasks = visit.client.outline(view.id)
    state = str(tasks.get("status") or view.status)
    if state != view.status or str(tasks.get("stuck") or "") != view.stuck:
        st.rerun()
    return replace(view, outline=entries_of(tasks))


def _draw(opened: int, visit: Visit, view: ExecutionView) -> None:
    parts = (_diagram, _timeline, _tasks, _data, _variables, _story, _json)
    parts[opened](visit.fresh(), view)


def _diagram(visit: Visit, view: ExecutionView) -> None:
    drawn = layout.place(view.definition, forked=forked_children(view.outline))
    state = progress.of_execution(drawn, view.outline, now_ms=visit.now_ms)
    key = f"{CANVAS}:{view.id}"
    left, right = st.columns([1.65, 1])
    with left:
        event = graph_canvas.show(
            drawn,
            state,
            selected=_first_choice(view, drawn, key),
            key=key,
            height=canvas_height(drawn),
            label=f"Graph of {view.name}",
        )
        if state.unplaced:
            st.caption(f"Ran, but not in this definition: {', '.join(state.unplaced)}")
    with right:
        ref = _ref_of(drawn, event.selected)
        _open_child(view, drawn, event)
        if ref:
            _remember(view, ref)
            task_panel.show(visit, view, ref)
        else:
            st.session_state["chosen_task"] = (view.id, "")
            waiting.show(visit, view)


def canvas_height(drawn: Layout) -> int:
    """As high as the picture, within what a screen shows."""
    return max(_LOWEST, min(_HIGHEST, drawn.height + 76))


def _first_choice(view: ExecutionView, drawn: Layout, key: str) -> str | None:
    """What the address names, else what failed; only until the person has chosen."""
    reported = st.session_state.get(key)
    if isinstance(reported, Mapping) and isinstance(reported.get("selected"), Mapping):
        return None
    root = root_failure(view)
    wanted = st.query_params.get("task", root.ref if root else "")
    return next((node.id for node in drawn.nodes if node.ref == wanted and wanted), None)


def _open_child(view: ExecutionView, drawn: Layout, event: graph_canvas.CanvasEvent) -> None:
    """A double click on a sub-workflow leads to its execution."""
    for op in event.ops:
        node = drawn.by_id.get(op.get("id", "")) if op["op"] == "open" else None
        child = next(
            (
                entry.get("subWorkflowId")
                for entry in reversed(latest_attempts(view.outline))
                if node is not None and entry["ref"] == node.ref and entry.get("subWorkflowId")
            ),
            None,
        )
        if child:
            st.query_params.from_dict({"id": str(child)})
            st.rerun()


def _ref_of(drawn: Layout, id_: str | None) -> str:
    node = drawn.by_id.get(id_) if id_ else None
    if node is not None and node.ref:
        return node.ref
    return st.query_params.get("task", "")


def _remember(view: ExecutionView, ref: str) -> None:
    """Puts what a person has chosen into the address, and only that: each writing is a step of the
    browser's history, so a page that wrote by itself could not be left with Back."""
    before = st.session_state.get("chosen_task")
    st.session_state["chosen_task"] = (view.id, ref)
    if before and before[0] == view.id and before[1] != ref:
        st.query_params["task"] = ref


def _timeline(visit: Visit, view: ExecutionView) -> None:
    rows = timeline.rows_of(view.outline, now_ms=visit.now_ms)
    if not rows:
        st.caption("No task has begun.")
        return
    figure = timeline.figure(rows, dark=visit.dark, selected=st.query_params.get("task"))
    st.plotly_chart(figure, key="timeline", config={"displayModeBar": False})


def _tasks(visit: Visit, view: ExecutionView) -> None:
    """The text twin of the picture."""
    columns = (
        markup.Column("Status"),
        markup.Column("Task"),
        markup.Column("Type", wide=True),
        markup.Column("Began", wide=True),
        markup.Column("Took", align="right"),
        markup.Column("Tries", align="right", wide=True),
        markup.Column("Reason", cut=True),
    )
    chosen = st.query_params.get("task")
    rows = []
    for entry in latest_attempts(view.outline):
        iteration = number(entry.get("iteration"))
        began = number(entry.get("startTime")) or number(entry.get("scheduledTime"))
        name = markup.link(
            markup.code(entry["ref"]), markup.address("execution", id=view.id, task=entry["ref"])
        )
        again = markup.dim(f" iteration {iteration}") if iteration else ""
        rows.append(
            markup.Row(
                [
                    markup.status(entry["status"]),
                    markup.joined(name, again),
                    theme.type_word(str(entry.get("type") or "")),
                    wording.moment(began, visit.zone, "%H:%M:%S"),
                    wording.took(took_ms(entry, visit.now_ms)),
                    number(entry.get("retryCount")) + 1,
                    wording.first_line(str(entry.get("reason") or "")),
                ],
                on=entry["ref"] == chosen,
            )
        )
    if not rows:
        st.caption("No task has been scheduled yet.")
        return
    status.counts(_counted(view))
    markup.show(markup.bordered(markup.table(columns, rows)))


def _counted(view: ExecutionView) -> dict[str, int]:
    counts: dict[str, int] = {}
    for entry in latest_attempts(view.outline):
        counts[entry["status"]] = counts.get(entry["status"], 0) + 1
    return counts


def _data(visit: Visit, view: ExecutionView) -> None:
    left, right = st.columns(2)
    with left:
        markup.show(markup.tag("h2", "Input"))
        json_view.show(view.input, name=f"{view.id}-input", key="whole_input")
    with right:
        markup.show(markup.tag("h2", "Output"))
        none = "No output yet." if view.live else "No output."
        json_view.show(view.output, name=f"{view.id}-output", key="whole_output", empty=none)


def _variables(visit: Visit, view: ExecutionView) -> None:
    none = "This execution has no variables."
    json_view.show(view.variables, name=f"{view.id}-variables", key="variables", empty=none)


def _story(visit: Visit, view: ExecutionView) -> None:
    lines = visit.client.ledger(view.id)
    if lines is None:
        problem.absent(visit.client.capabilities().why_not("ledger"))
        return
    columns = (
        markup.Column("When"),
        markup.Column("What"),
        markup.Column("Then"),
        markup.Column("Who", wide=True),
        markup.Column("Why", cut=True, wide=True),
    )
    rows = [
        markup.Row(
            [
                wording.moment(line.at_ms, visit.zone, "%H:%M:%S"),
                line.words,
                _touched(line),
                line.person,
                line.reason,
            ],
            hints={0: wording.absolute(line.at_ms, visit.zone)},
        )
        for line in story_of(lines)
    ]
    markup.show(markup.bordered(markup.table(columns, rows)))


def _touched(line: StoryLine) -> markup.Html:
    """How the tasks and the execution stood after a line."""
    parts = [
        markup.joined(markup.code(ref), " ", markup.status(state), "\u2003")
        for ref, state in line.about[:4]
    ]
    if len(line.about) > 4:
        parts.append(markup.dim(f"and {len(line.about) - 4} more "))
    if line.status:
        parts.append(markup.joined("execution ", markup.status(line.status)))
    return markup.joined(*parts)


def _json(visit: Visit, view: ExecutionView) -> None:
    whole = visit.client.execution(view.id)
    json_view.show(whole, name=view.id, key="whole")
    st.caption(f"`GET /api/workflow/{view.id}`")
