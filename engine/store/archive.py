"""An ended execution as one compressed document, and the group that brings it back.

Written by retention; the tables of the living know nothing of it.
"""

import zlib
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import select as columns_of
from sqlmodel import Session, col, select

from engine.model.definitions import WorkflowDef, WorkflowTask
from engine.model.execution import Changes, Execution, Run
from engine.model.record import Json, decode, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.store import ledger, reading
from engine.store.contract import Group, LedgerLine, Loaded, Written
from engine.store.payloads import stored_value
from engine.store.rows import EXECUTION_FIELDS, RUN_FIELDS, execution_of
from engine.store.tables import Archive, DefinitionSnapshot, TaskLogRow

_STATUSES: dict[str, Any] = {"execution": ExecutionStatus, "run": TaskStatus}
_LINE_FIELDS = tuple(item.name for item in fields(LedgerLine))
_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class Archived:
    """An execution with all that was known about it."""

    loaded: Loaded
    before: list[Run]
    """Attempts as they were before they were reopened or removed."""
    lines: list[LedgerLine]
    logs: list[tuple[int, reading.LogLine]]
    """Lines of task logs, by seq."""

    def group(self) -> Group:
        """What brings it back when it is committed. The chain of its story comes out the same."""
        execution = self.loaded.execution
        changes = Changes(runs={run.seq: run for run in self.loaded.runs}, aside=self.before)
        first = self.lines[0] if self.lines else None
        group = Group([Written(execution, changes, created=True, ledger=first)])
        group.written.extend(Written(execution, Changes(), ledger=line) for line in self.lines[1:])
        return group


def put(session: Session, key: int, now: int) -> None:
    """Write the document of an execution."""
    execution = _execution(session, key)
    runs, _ = reading.tasks(session, key, count=_ALL)
    document = {
        "execution": _plain(execution, EXECUTION_FIELDS),
        "runs": [_plain(run, RUN_FIELDS) for run in runs],
        "before": [_plain(run, RUN_FIELDS) for run in reading.before(session, key)],
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


def get(session: Session, workflow_id: str) -> Archived | None:
    """An archived execution by its workflow id."""
    row = session.exec(select(Archive).where(Archive.id == workflow_id)).first()
    if row is None:
        return None
    document = decode(zlib.decompress(row.body))
    given = document["execution"]
    execution = Execution(
        definition=_snapshot(session, given["definition_hash"]),
        **_typed(Execution, given, "execution"),
    )
    return Archived(
        Loaded(execution, [_run(item) for item in document["runs"]]),
        [_run(item) for item in document["before"]],
        [LedgerLine(**_typed(LedgerLine, item, "line")) for item in document["ledger"]],
        [(seq, reading.LogLine(*line)) for seq, *line in document["logs"]],
    )


def drop(session: Session, archived: Archived, *, revived: bool) -> None:
    """Take a document out. When its group has been committed, its task logs follow it."""
    key = archived.loaded.execution.key
    row = session.get(Archive, key)
    if row is not None:
        session.delete(row)
    if revived:
        session.add_all(
            TaskLogRow(execution=key, seq=seq, task_id=line.task_id, at=line.at, line=line.line)
            for seq, line in archived.logs
        )


def _execution(session: Session, key: int) -> Execution:
    columns = (reading.EXECUTION.c[name] for name in EXECUTION_FIELDS)
    asked = columns_of(*columns).where(reading.EXECUTION.c.key == key)
    row = session.execute(asked).one()
    return execution_of(
        row, lambda held: stored_value(session, held), lambda name: _snapshot(session, name)
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
