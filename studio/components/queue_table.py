"""Queues and the workers that ask for them, drawn again every few seconds."""

from typing import Final

import streamlit as st

from studio.components import frame, markup, problem
from studio.components.visit import Visit
from studio.views import overview, wording
from studio.views.overview import QueueRow

_COLUMNS: Final = (
    markup.Column("Queue"),
    markup.Column("Domain", wide=True),
    markup.Column("Waiting", align="right"),
    markup.Column("Workers", align="right"),
    markup.Column("Names of the workers", cut=True, wide=True),
    markup.Column("Last asked", align="right"),
)


def draw(visit: Visit) -> None:
    visit = visit.fresh()
    note = f"Data from {wording.moment(visit.now_ms, visit.zone, '%H:%M:%S')}, every 5 s"
    frame.title("Queues and workers", note=note)
    with problem.told():
        rows = overview.queue_rows(visit.client.queues(), visit.client.polls(), visit.now_ms)
        if not rows:
            st.info("No queue yet: queues appear with the first worker task or the first worker.")
            return
        alone = [row for row in rows if row.alone]
        markup.show(markup.facts(_facts(rows, alone)))
        if alone:
            names = ", ".join(row.name for row in alone[:5])
            st.warning(f"Tasks wait and no worker asks for them: {names}.")
        wanted = st.query_params.get("type", "")
        body = [_row(visit, row, on=row.name == wanted) for row in rows]
        markup.show(markup.bordered(markup.table(_COLUMNS, body)))


def _facts(rows: list[QueueRow], alone: list[QueueRow]) -> list[markup.Fact]:
    workers = {worker for row in rows for worker in row.workers}
    return [
        markup.Fact(wording.number(sum(row.waiting for row in rows)), "tasks waiting"),
        markup.Fact(len(alone), "queues without a worker"),
        markup.Fact(len(workers), "workers in the last minute"),
        markup.Fact(len(rows), "queues known"),
    ]


def _row(visit: Visit, row: QueueRow, on: bool) -> markup.Row:
    workers = ", ".join(row.workers[:4]) + (" …" if len(row.workers) > 4 else "")
    count = markup.span("0", css="rp-bad") if row.alone else len(row.workers)
    return markup.Row(
        [
            markup.code(row.name),
            row.domain or markup.dim("none"),
            wording.number(row.waiting),
            count,
            markup.code(workers) if workers else markup.dim("none"),
            wording.ago(row.last_poll_ms, visit.now_ms, visit.zone),
        ],
        on=on,
        hints={5: wording.absolute(row.last_poll_ms, visit.zone)},
    )
