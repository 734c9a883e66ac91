"""Questions about what is stored, for people and the API: they read, page by key, and stop counting.

Every function takes a session that reads (`store.read`). Rows never leave: answers are records.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    and_,
    func,
    literal_column,
    null,
    or_,
    select,
    text,
    union_all,
)
from sqlmodel import Session

from engine.model.execution import Run
from engine.model.status import EXECUTION_LIVE, TaskStatus
from engine.store import tables
from engine.store.payloads import at_hand, stored_value
from engine.store.rows import RUN_FIELDS, decode_text, run_of
from engine.store.tables import table_of

EXECUTION: Table = table_of(tables.ExecutionRow)
TASK: Table = table_of(tables.TaskRow)
ARCHIVED: Table = table_of(tables.ArchivedExecution)
ARCHIVED_TASK: Table = table_of(tables.ArchivedTask)
_LIVE = tuple(sorted(status.value for status in EXECUTION_LIVE))
_LARGE = frozenset({"input", "output", "metadata", "node"})
COUNTED_TO = 10_000
"""Counts stop here: whoever sees this number reads it as "that many and more"."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An execution as a list shows it: everything but variables, mailbox and tasks."""

    key: int
    id: str
    name: str
    version: int
    status: str
    definition_hash: str
    correlation_id: str | None
    priority: int
    parent_id: str | None
    parent_task_id: str | None
    owner_app: str | None
    created_by: str | None
    updated_by: str | None
    event: str | None
    idempotency_key: str | None
    task_to_domain: dict[str, str]
    created_at: int
    updated_at: int
    ended_at: int
    reason: str | None
    failed_refs: tuple[str, ...]
    failed_names: tuple[str, ...]
    stuck: str | None
    isolated: bool
    input_path: str | None
    output_path: str | None
    input: bytes | None = None
    output: bytes | None = None


_LISTED = tuple(Listed.__dataclass_fields__)[:-2]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which executions; what is not said is not asked for. Times are of the creation."""

    name: str | None = None
    version: int | None = None
    statuses: Sequence[str] = ()
    correlation_id: str | None = None
    parent_id: str | None = None
    top_level: bool = False
    since: int | None = None
    until: int | None = None
    """Before this instant."""

    def conditions(self) -> list[ColumnElement[bool]]:
        """The same as SQL."""
        c = EXECUTION.c
        same = {
            "name": self.name,
            "version": self.version,
            "correlation_id": self.correlation_id,
            "parent_id": self.parent_id,
        }
        found = [c[name] == value for name, value in same.items() if value is not None]
        if self.statuses:
            found.append(c.status.in_(self.statuses))
        if self.top_level:
            found.append(c.parent_id.is_(None))
        if self.since is not None:
            found.append(c.created_at >= self.since)
        if self.until is not None:
            found.append(c.created_at < self.until)
        return found


Cursor = tuple[int, int]
"""Creation time and number of the last row that was shown."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some executions, the newest first, and where the next page begins."""

    rows: list[Listed]
    after: Cursor | None
    """None when this is the last page."""
    total: int
    """Of all pages, counted up to `COUNTED_TO`."""


def page(session: Session, wanted: Filter, after: Cursor | None = None, limit: int = 50) -> Page:
    """The page that follows a row."""
    c = EXECUTION.c
    conditions = wanted.conditions()
    asked = select(*_columns()).where(*conditions)
    if after is not None:
        at, key = after
        asked = asked.where(or_(c.created_at < at, and_(c.created_at == at, c.key < key)))
    asked = asked.order_by(c.created_at.desc(), c.key.desc()).limit(limit + 1)
    rows = [_listed(row) for row in session.execute(asked)]
    more = len(rows) > limit
    rows = rows[:limit]
    following = (rows[-1].created_at, rows[-1].key) if more else None
    return Page(rows, following, capped(session, select(c.key).where(*conditions)))


def capped(session: Session, asked: Select[Any], limit: int = COUNTED_TO) -> int:
    """How many rows a query has, counted up to a limit."""
    bare: Select[Any] = asked.with_only_columns(literal_column("1"), maintain_column_froms=True)
    some = bare.order_by(None).limit(limit).subquery()
    return int(session.execute(select(func.count()).select_from(some)).scalar_one())


def listed(session: Session, keys: Sequence[int], payloads: bool = False) -> list[Listed]:
    """Executions by number, living or archived, in the order asked for; those that are gone are
    left out."""
    found: dict[int, Listed] = {}
    for table in (EXECUTION, ARCHIVED):
        missing = [key for key in keys if key not in found]
        if not missing:
            break
        columns = (*_columns(table), table.c.input, table.c.output) if payloads else _columns(table)
        for row in session.execute(select(*columns).where(table.c.key.in_(missing))):
            found[row[0]] = _listed(row)
            if payloads:
                found[row[0]] = replace(
                    found[row[0]],
                    input=_value_in(table, session, row[-2]),
                    output=_value_in(table, session, row[-1]),
                )
    return [found[key] for key in keys if key in found]


def _value_in(table: Table, session: Session, held: bytes | None) -> bytes | None:
    """The value that a column of an execution holds; None for one that is a file."""
    if table is EXECUTION or held is None:
        return at_hand(session, held)
    return zlib.decompress(held)


def _columns(table: Table = EXECUTION) -> tuple[ColumnElement[Any], ...]:
    return tuple(table.c[name] for name in _LISTED)


def _listed(row: Any) -> Listed:
    given = dict(zip(_LISTED, row, strict=False))
    given["task_to_domain"] = decode_text(given["task_to_domain"]) or {}
    for name in ("failed_refs", "failed_names"):
        given[name] = tuple(decode_text(given[name]) or ())
    given["isolated"] = bool(given["isolated"])
    return Listed(**given)


def counts(session: Session) -> dict[tuple[str, str], int]:
    """How many executions of each (name, status) there are, archived ones among them."""
    c = table_of(tables.Counter).c
    rows = session.execute(select(c.name, c.status, c.n).where(c.n != 0))
    return {(name, status): n for name, status, n in rows}


def running(
    session: Session,
    name: str,
    version: int | None = None,
    since: int | None = None,
    until: int | None = None,
) -> list[str]:
    """Workflow ids of the executions of a name that have not ended, oldest first."""
    wanted = Filter(name=name, version=version, statuses=_LIVE, since=since, until=until)
    c = EXECUTION.c
    asked = select(c.id).where(*wanted.conditions()).order_by(c.key)
    return list(session.execute(asked).scalars())


def correlated(
    session: Session, correlation_id: str, name: str | None = None, ended: bool = False
) -> list[str]:
    """Workflow ids with a correlation id, oldest first; ended ones, archived or not, only on
    demand."""
    wanted = Filter(name=name, correlation_id=correlation_id, statuses=() if ended else _LIVE)
    c, archived = EXECUTION.c, ARCHIVED.c
    living = select(c.key, c.id).where(*wanted.conditions())
    if not ended:
        return [id_ for _, id_ in session.execute(living.order_by(c.key))]
    put_away = select(archived.key, archived.id).where(archived.correlation_id == correlation_id)
    if name is not None:
        put_away = put_away.where(archived.name == name)
    return [id_ for _, id_ in session.execute(union_all(living, put_away).order_by("key"))]


def children(session: Session, workflow_id: str) -> list[str]:
    """Workflow ids of sub-workflows, living or archived, oldest first."""
    of_parent = (
        select(table.c.key, table.c.id).where(table.c.parent_id == workflow_id)
        for table in (EXECUTION, ARCHIVED)
    )
    return [id_ for _, id_ in session.execute(union_all(*of_parent).order_by("key"))]


def tasks(
    session: Session, key: int, statuses: Sequence[str] = (), start: int = 0, count: int = 15
) -> tuple[list[Run], int]:
    """Some attempts of an execution with those of their payloads that are no files, and how many
    there are."""
    conditions = [TASK.c.execution == key]
    if statuses:
        conditions.append(TASK.c.status.in_(statuses))
    asked = _runs(TASK).where(*conditions)
    some = asked.order_by(TASK.c.seq).offset(max(start, 0)).limit(count)
    total = session.execute(select(func.count()).select_from(TASK).where(*conditions)).scalar_one()
    return _read(session, some), int(total)


def attempts(session: Session, places: Sequence[tuple[int, int]]) -> list[Run]:
    """Attempts of the living by (execution, seq), in the order asked for, with those of their payloads
    that are no files."""
    found = attempts_at(session, places)
    return [found[place] for place in places if place in found]


def attempts_at(session: Session, places: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Run]:
    """The same, each by its place."""
    found: dict[tuple[int, int], Run] = {}
    by_execution: dict[int, list[int]] = {}
    for key, seq in places:
        by_execution.setdefault(key, []).append(seq)
    for key, numbers in by_execution.items():
        asked = _runs(TASK).where(TASK.c.execution == key, TASK.c.seq.in_(numbers))
        found.update({(key, run.seq): run for run in _read(session, asked)})
    return found


def before(session: Session, key: int, files: bool = True) -> list[Run]:
    """Attempts as they were before they were reopened in place or removed, oldest first. `files`:
    those of their payloads that are files as well."""
    table = table_of(tables.TaskBefore)
    asked = _runs(table).where(table.c.execution == key).order_by(table.c.id)
    return _read(session, asked, stored_value if files else at_hand)


def _runs(table: Table) -> Select[Any]:
    return select(*(table.c[name] for name in RUN_FIELDS))


def _read(
    session: Session,
    asked: Select[Any],
    value: Callable[[Session, bytes | None], bytes | None] = at_hand,
) -> list[Run]:
    rows = session.execute(asked).all()
    return [run_of(row, lambda held: value(session, held)) for row in rows]


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of an attempt's log."""

    task_id: str
    at: int
    line: str


def task_logs(session: Session, key: int, seq: int) -> list[LogLine]:
    """The log of an attempt, oldest line first."""
    c = table_of(tables.TaskLogRow).c
    asked = select(c.task_id, c.at, c.line).where(c.execution == key, c.seq == seq)
    return [LogLine(*row) for row in session.execute(asked.order_by(c.id))]


@dataclass(frozen=True, slots=True)
class Seen:
    """When a worker last asked a queue for tasks."""

    queue: str
    domain: str | None
    worker: str
    at: int


def workers(session: Session, queue: str | None = None) -> list[Seen]:
    """Who has asked for tasks, of one queue or of all, the latest first."""
    c = table_of(tables.WorkerSeen).c
    asked = select(c.queue, c.domain, c.worker, c.at).order_by(c.at.desc(), c.queue, c.worker)
    if queue is not None:
        asked = asked.where(c.queue == queue)
    return [Seen(name, domain or None, who, at) for name, domain, who, at in session.execute(asked)]


def queue_sizes(
    session: Session, status: TaskStatus = TaskStatus.SCHEDULED
) -> dict[tuple[str, str | None], int]:
    """How many attempts wait for a worker, or with IN_PROGRESS are in the hands of one, by
    (carrier, domain)."""
    c = TASK.c
    asked = (
        select(c.carrier, c.domain, func.count())
        .where(text(tables.QUEUED), c.status == status.value)
        .group_by(c.carrier, c.domain)
    )
    return {(carrier, domain): n for carrier, domain, n in session.execute(asked)}


def queued(session: Session, carrier: str) -> list[tuple[int, int, str]]:
    """Execution, seq and status of the attempts that wait in a queue, whatever their domain, or
    that were handed out of it and are not over."""
    c = TASK.c
    asked = select(c.execution, c.seq, c.status).where(text(tables.QUEUED), c.carrier == carrier)
    rows = session.execute(asked.order_by(c.execution, c.seq))
    return [(execution, seq, status) for execution, seq, status in rows]


def open_attempts(
    session: Session, task_type: str, start: int = 0, count: int = 100
) -> list[tuple[int, int]]:
    """Attempts of a type, or at tasks of that name, that are not over; the newest first. Only what
    runs is looked at, whatever the history."""
    c = TASK.c
    live = select(EXECUTION.c.key).where(EXECUTION.c.status.in_(_LIVE))
    asked = (
        select(c.execution, c.seq)
        .where(c.execution.in_(live), text(tables.TASK_OPEN))
        .where(or_(c.type == task_type, c.name == task_type))
        .order_by(c.execution.desc(), c.seq.desc())
    )
    rows = session.execute(asked.offset(start).limit(count))
    return [(execution, seq) for execution, seq in rows]


def oldest_waiting(session: Session, limit: int = 10) -> list[tuple[str, Run]]:
    """The attempts that have waited longest for a worker, without payloads, with their workflow
    ids."""
    asked = (
        select(EXECUTION.c.id, *_without_payloads(TASK))
        .join(EXECUTION, EXECUTION.c.key == TASK.c.execution)
        .where(
            TASK.c.carrier.is_not(None),
            TASK.c.status == "SCHEDULED",
            EXECUTION.c.status.in_(("RUNNING", "PAUSED")),
        )
        .order_by(TASK.c.scheduled_at)
        .limit(limit)
    )
    rows = session.execute(asked).all()
    return [(row[0], run_of(row[1:], lambda held: held)) for row in rows]


def _without_payloads(table: Table) -> list[ColumnElement[Any]]:
    """The columns of an attempt, those that may be large left empty."""
    return [null() if name in _LARGE else table.c[name] for name in RUN_FIELDS]
