"""What stands at this moment, counted for whoever watches. Every count goes along an index of what is
open and stops at a limit, so that none grows with the history.

Every function takes a session that reads (`store.read`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, Table, case, func, select, text
from sqlmodel import Session

from engine.store import tables
from engine.store.reading import COUNTED_TO
from engine.store.tables import table_of

EXECUTION: Table = table_of(tables.ExecutionRow)
TASK: Table = table_of(tables.TaskRow)
OUTBOX: Table = table_of(tables.Outbox)

Queue = tuple[str, str | None]
"""Carrier and domain."""

APPROVAL, TIMER, EVENT = "approval", "timer", "event"
_KINDS = (EVENT, TIMER, APPROVAL)
"""What an execution waits for; of several, the last of these."""

_RUNNING = EXECUTION.c.status == "RUNNING"


def waiting(session: Session, limit: int = COUNTED_TO) -> dict[tuple[str, str], int]:
    """How many running executions wait for a person, an instant or a message and have nothing else
    to do, by (workflow name, kind). At most `limit` waiting attempts are looked at."""
    kind = case((TASK.c.type == "HUMAN", 2), (TASK.c.due_at > 0, 1), else_=0)
    some = (
        select(TASK.c.execution, kind.label("kind"))
        .where(text(tables.TASK_WAITS))
        .limit(limit)
        .subquery()
    )
    each = (
        select(some.c.execution, func.max(some.c.kind).label("kind"))
        .group_by(some.c.execution)
        .subquery()
    )
    busy = select(TASK.c.execution).where(text(tables.QUEUED))
    asked = (
        select(EXECUTION.c.name, each.c.kind, func.count())
        .join_from(each, EXECUTION, EXECUTION.c.key == each.c.execution)
        .where(_RUNNING, each.c.execution.not_in(busy))
        .group_by(EXECUTION.c.name, each.c.kind)
    )
    return {(name, _KINDS[kind]): count for name, kind, count in session.execute(asked)}


def held_back(session: Session, limit: int = COUNTED_TO) -> dict[str, int]:
    """How many executions the rate limit of their workflow has not let in yet, by workflow name."""
    # Said in the negative, as in the index: else SQLite goes through all that runs.
    let_go_on = EXECUTION.c.status != "PAUSED"
    some = select(EXECUTION.c.name).where(text(tables.GATED), EXECUTION.c.rate_limited, let_go_on)
    return _by_name(session, some, limit)


def stuck(session: Session, limit: int = COUNTED_TO) -> dict[str, int]:
    """How many executions have met an event that could not be taken, by workflow name."""
    return _by_name(session, select(EXECUTION.c.name).where(text(tables.STUCK)), limit)


def _by_name(session: Session, asked: Select[Any], limit: int) -> dict[str, int]:
    some = asked.limit(limit).subquery()
    rows = session.execute(select(some.c.name, func.count()).group_by(some.c.name))
    return {name: count for name, count in rows}


def unattended(
    session: Session, queues: Iterable[Queue], before: int, limit: int = COUNTED_TO
) -> dict[str, int]:
    """How many running executions have an attempt in one of these queues that could have been taken
    before an instant, by workflow name. At most `limit` attempts are looked at."""
    found: dict[str, set[int]] = {}
    left = limit
    for queue in queues:
        some = (
            _waits_in(queue, before)
            .where(TASK.c.queued_at <= before)
            .limit(max(0, left))
            .subquery()
        )
        asked = select(EXECUTION.c.name, EXECUTION.c.key).join_from(
            some, EXECUTION, EXECUTION.c.key == some.c.execution
        )
        rows = session.execute(asked.where(_RUNNING)).all()
        left -= len(rows)
        for name, key in rows:
            found.setdefault(name, set()).add(key)
    return {name: len(keys) for name, keys in found.items()}


@dataclass(frozen=True, slots=True)
class Head:
    """The attempt that is handed out next."""

    workflow: str
    carrier: str
    ready_at: int
    """Since when it could have been."""


def heads(session: Session, queues: Iterable[Queue], now: int) -> list[Head]:
    """The first attempt of each of these queues, if one is due."""
    found = []
    for queue in queues:
        order = (TASK.c.priority.desc(), TASK.c.due_at, TASK.c.execution, TASK.c.seq)
        first = _waits_in(queue, now).order_by(*order).limit(1).subquery()
        asked = select(EXECUTION.c.name, first.c.queued_at, first.c.due_at).join_from(
            first, EXECUTION, EXECUTION.c.key == first.c.execution
        )
        for name, queued_at, due_at in session.execute(asked):
            found.append(Head(name, queue[0], max(queued_at, due_at)))
    return found


def _waits_in(queue: Queue, until: int) -> Select[Any]:
    """What is due in a queue by an instant."""
    carrier, domain = queue
    c = TASK.c
    return select(c.execution, c.queued_at, c.due_at).where(
        text(tables.QUEUED),
        c.carrier == carrier,
        c.domain.is_(None) if domain is None else c.domain == domain,
        c.status == "SCHEDULED",
        c.due_at <= until,
    )


def undelivered(session: Session, limit: int = COUNTED_TO) -> dict[str, int]:
    """How many messages to the outside wait, by topic; counted up to a limit."""
    some = select(OUTBOX.c.topic).limit(limit).subquery()
    rows = session.execute(select(some.c.topic, func.count()).group_by(some.c.topic))
    return {topic: count for topic, count in rows}
