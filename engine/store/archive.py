"""An ended execution as one compressed document beside the entries that searches find it by, and
the group that brings it back.

Written by retention; the tables of the living know nothing of it.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import insert
from sqlalchemy import select as columns_of
from sqlmodel import Session, col, delete, select

from engine.model.definitions import WorkflowDef, WorkflowTask
from engine.model.execution import Changes, Execution, Run
from engine.model.record import Json, decode, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.store import catalogue, files, ledger, reading
from engine.store.contract import Group, LedgerLine, Loaded, Written
from engine.store.files import FOLDER
from engine.store.folder import Folder, read_from
from engine.store.payloads import at_hand
from engine.store.rows import EXECUTION_FIELDS, RUN_FIELDS, column_text, execution_of
from engine.store.tables import (
    Archive,
    ArchivedExecution,
    ArchivedTask,
    Counter,
    DefinitionSnapshot,
    Idempotency,
    TaskLogRow,
    table_of,
)

_STATUSES: dict[str, Any] = {"execution": ExecutionStatus, "run": TaskStatus}
_LINE_FIELDS = tuple(item.name for item in fields(LedgerLine))
_ALL = 1_000_000
_ENTRY = table_of(ArchivedExecution)
_ENTRY_OF_TASK = table_of(ArchivedTask)
_ENTRY_COLUMNS = tuple(column.name for column in _ENTRY.columns)
_TASK_COLUMNS = tuple(column.name for column in _ENTRY_OF_TASK.columns)
_IN_THE_ENTRY = ("input", "output")
"""What the document leaves out, because lists show it without opening the document."""


@dataclass(frozen=True, slots=True)
class Archived:
    """An execution with all that was known about it."""

    loaded: Loaded
    before: list[Run]
    """Attempts as they were before they were reopened or removed."""
    lines: list[LedgerLine]
    logs: list[tuple[int, reading.LogLine]]
    """Lines of task logs, by seq."""

    def payload(self, folder: Folder | None, seq: int, side: str) -> bytes | None:
        """The input or output of an attempt, or of the execution itself for seq 0; one that is a file
        is read from it."""
        records = {0: self.loaded.execution, **{run.seq: run for run in self.loaded.runs}}
        record = records.get(seq)
        data: bytes | None = getattr(record, side, None)
        path: str | None = getattr(record, f"{side}_path", None)
        return read_from(folder, path) if data is None and path is not None else data

    def group(self) -> Group:
        """What brings it back when it is committed. The chain of its story comes out the same."""
        execution = self.loaded.execution
        changes = Changes(runs={run.seq: run for run in self.loaded.runs}, aside=self.before)
        first = self.lines[0] if self.lines else None
        group = Group([Written(execution, changes, created=True, ledger=first)])
        group.written.extend(Written(execution, Changes(), ledger=line) for line in self.lines[1:])
        return group


def put(session: Session, key: int, now: int) -> None:
    """Write the document of an execution, and its entries."""
    execution = _execution(session, key)
    runs, _ = reading.tasks(session, key, count=_ALL)
    named = tuple(name for name in EXECUTION_FIELDS if name not in _IN_THE_ENTRY)
    document = {
        "execution": _plain(execution, named),
        "runs": [_plain(run, RUN_FIELDS) for run in runs],
        "before": [_plain(run, RUN_FIELDS) for run in reading.before(session, key, files=False)],
        "ledger": [_plain(line, _LINE_FIELDS) for line in ledger.story(session, key, limit=_ALL)],
        "logs": _logs(session, key),
    }
    row = Archive(
        key=key,
        id=execution.id,
        name=execution.definition.name or "",
        status=execution.status.value,
        created_at=execution.created_at,
        ended_at=execution.ended_at,
        archived_at=now,
        body=zlib.compress(encode(document), 6),
    )
    session.merge(row)
    _enter(session, execution, runs)


def enter(session: Session, keys: Sequence[int]) -> None:
    """Give entries to documents that were written before there were any."""
    entered = columns_of(_ENTRY.c.key).where(_ENTRY.c.key.in_(keys))
    known = set(session.execute(entered).scalars())
    rows = session.exec(select(Archive).where(col(Archive.key).in_(set(keys) - known))).all()
    for row in rows:
        found = _opened(session, row)
        _enter(session, found.loaded.execution, found.loaded.runs)


def get(session: Session, place: str | int) -> Archived | None:
    """An archived execution by its workflow id, or by its number."""
    same = Archive.id == place if isinstance(place, str) else Archive.key == place
    row = session.exec(select(Archive).where(same)).first()
    return None if row is None else _opened(session, row)


def attempts(session: Session, places: Sequence[tuple[int, int]]) -> list[Run]:
    """Attempts of the living and of the archive by (execution, seq), in the order asked for, with
    their payloads. Each document is opened once."""
    found = reading.attempts_at(session, places)
    for key in {place[0] for place in places if place not in found}:
        archived = get(session, key)
        runs = [] if archived is None else archived.loaded.runs
        found.update({(key, run.seq): run for run in runs})
    return [found[place] for place in places if place in found]


def task_logs(session: Session, key: int, seq: int) -> list[reading.LogLine]:
    """The log of an archived attempt, oldest line first."""
    found = get(session, key)
    return [] if found is None else [line for of, line in found.logs if of == seq]


def release(session: Session, archived: Archived) -> Group:
    """Take an execution out of the archive; the group that puts it among the living again. An
    idempotency key that another has been started with meanwhile stays with that one."""
    execution = archived.loaded.execution
    records: list[Execution | Run] = [execution, *archived.loaded.runs, *archived.before]
    for record in records:
        _fetch_files(session, record)
    forget(session, [execution.key])
    session.add_all(
        TaskLogRow(
            execution=execution.key, seq=seq, task_id=line.task_id, at=line.at, line=line.line
        )
        for seq, line in archived.logs
    )
    place = (execution.definition.name, execution.idempotency_key)
    if execution.idempotency_key and session.get(Idempotency, place) is not None:
        execution.idempotency_key = None
    session.flush()
    return archived.group()


def forget(session: Session, keys: Sequence[int]) -> None:
    """Take documents and their entries out; they are counted no more, and their idempotency keys
    are free."""
    held = columns_of(_ENTRY.c.name, _ENTRY.c.idempotency_key, _ENTRY.c.id).where(
        _ENTRY.c.key.in_(keys), _ENTRY.c.idempotency_key.is_not(None)
    )
    for name, key, workflow_id in session.execute(held).all():
        catalogue.release_key(session, name, key, workflow_id)
    for row in session.exec(select(Archive).where(col(Archive.key).in_(keys))).all():
        count_down(session, row.name, row.status)
    session.flush()
    session.exec(delete(Archive).where(col(Archive.key).in_(keys)))
    session.execute(_ENTRY.delete().where(_ENTRY.c.key.in_(keys)))
    session.execute(_ENTRY_OF_TASK.delete().where(_ENTRY_OF_TASK.c.execution.in_(keys)))
    files.forget(session, keys)


def count_down(session: Session, name: str, status: str) -> None:
    """One execution of a name and status less."""
    counter = session.get_one(Counter, (name, status))
    counter.n -= 1
    session.add(counter)


def _enter(session: Session, execution: Execution, runs: Sequence[Run]) -> None:
    """What lists and searches are to know of it."""
    definition = execution.definition
    entry = {
        name: column_text(name, getattr(execution, name))
        for name in _ENTRY_COLUMNS
        if name not in ("name", "version", *_IN_THE_ENTRY)
    }
    entry.update(name=definition.name or "", version=definition.version)
    for side in _IN_THE_ENTRY:
        held = getattr(execution, side)
        entry[side] = None if held is None else zlib.compress(held, 6)
    session.execute(insert(_ENTRY).values(entry))
    names = _TASK_COLUMNS[1:]
    tasks = [
        {"execution": execution.key, **{name: getattr(run, name) for name in names}} for run in runs
    ]
    for task in tasks:
        task["status"] = task["status"].value
    if tasks:
        session.execute(insert(_ENTRY_OF_TASK), tasks)


def _opened(session: Session, row: Archive) -> Archived:
    document = decode(zlib.decompress(row.body))
    given = document["execution"]
    held = session.execute(
        columns_of(*(_ENTRY.c[side] for side in _IN_THE_ENTRY)).where(_ENTRY.c.key == row.key)
    ).first()
    for side, packed in zip(_IN_THE_ENTRY, held or (), strict=False):
        given[side] = None if packed is None else zlib.decompress(packed).decode()
    execution = Execution(
        definition=_snapshot(session, given["definition_hash"]),
        **_typed(Execution, given, "execution"),
    )
    runs = [_run(item) for item in document["runs"]]
    before = [_run(item) for item in document["before"]]
    return Archived(
        Loaded(execution, runs),
        before,
        [LedgerLine(**_typed(LedgerLine, item, "line")) for item in document["ledger"]],
        [(seq, reading.LogLine(*line)) for seq, *line in document["logs"]],
    )


def _execution(session: Session, key: int) -> Execution:
    columns = (reading.EXECUTION.c[name] for name in EXECUTION_FIELDS)
    asked = columns_of(*columns).where(reading.EXECUTION.c.key == key)
    row = session.execute(asked).one()
    return execution_of(
        row, lambda held: at_hand(session, held), lambda name: _snapshot(session, name)
    )


def _snapshot(session: Session, name: str) -> WorkflowDef:
    return WorkflowDef.read(decode(session.get_one(DefinitionSnapshot, name).body))


def _logs(session: Session, key: int) -> list[Json]:
    asked = select(TaskLogRow).where(TaskLogRow.execution == key).order_by(col(TaskLogRow.id))
    return [[row.seq, row.task_id, row.at, row.line] for row in session.exec(asked)]


def _plain(record: Any, names: tuple[str, ...]) -> dict[str, Json]:
    """A record's fields as JSON; payload bytes as text, so that they come back byte for byte."""
    plain: dict[str, Json] = {}
    for name in names:
        value = getattr(record, name)
        if isinstance(value, bytes):
            value = value.decode()
        elif isinstance(value, WorkflowTask):
            value = value.json_value()
        plain[name] = value
    return plain


def _run(given: dict[str, Json]) -> Run:
    node = given.pop("node")
    run = Run(**_typed(Run, given, "run"))
    run.node = None if node is None else WorkflowTask.read(node)
    return run


def _fetch_files(session: Session, record: Execution | Run) -> None:
    """Payloads that are files are not in the document: whoever comes back brings them along."""
    for side in ("input", "output"):
        path = getattr(record, f"{side}_path")
        if path is not None and getattr(record, side) is None:
            setattr(record, side, read_from(session.info.get(FOLDER), path))


def _typed(kind: type[Any], given: dict[str, Json], what: str) -> dict[str, Any]:
    """Fields out of JSON, as the record declares them."""
    declared = {item.name: str(item.type) for item in fields(kind)}
    typed: dict[str, Any] = {}
    for name, value in given.items():
        if value is not None and "bytes" in declared[name]:
            value = value.encode()
        elif isinstance(value, list):
            value = tuple(value)
        elif name == "status":
            value = _STATUSES[what](value)
        typed[name] = value
    return typed
