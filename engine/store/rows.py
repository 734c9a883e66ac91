"""Records to rows and back, and what a group amounts to.

No SQL and no connection: a `Batch` holds the parameters of every statement of one transaction.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any

from engine.model.definitions import WorkflowDef, WorkflowTask
from engine.model.execution import DERIVED, Changes, Execution, Run
from engine.model.ids import task_place
from engine.model.record import Json, decode, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.store import letters
from engine.store.contract import Group, LedgerLine, Written
from engine.store.folder import Folder
from engine.store.ledger import chained
from engine.store.payloads import (
    INLINE_BYTES,
    PayloadRow,
    Payloads,
    file_reference,
    is_inline,
    payload_row,
    reference,
)
from engine.store.tables import ExecutionRow, TaskRow, table_of

Params = tuple[Any, ...]
Place = tuple[int, int]
"""Execution and seq."""

EXECUTION_COLUMNS = tuple(column.name for column in table_of(ExecutionRow).columns)
RUN_COLUMNS = tuple(column.name for column in table_of(TaskRow).columns)
"""The order in which rows are written: that of the tables."""

RUN_FIELDS = tuple(item.name for item in fields(Run))
EXECUTION_FIELDS = tuple(
    item.name
    for item in fields(Execution)
    if item.name != "definition" and item.name not in DERIVED
)
"""The order in which rows are read: that of the records."""

_plain_of = attrgetter(
    *("status._value_" if name == "status" else name for name in RUN_COLUMNS[1:-3])
)
"""An attempt's columns between its execution and its node, input and output."""
_TASK_STATUS = {status.value: status for status in TaskStatus}
_EXECUTION_STATUS = {status.value: status for status in ExecutionStatus}


def _document(value: Json) -> str | None:
    """A small free value as text; nothing for an empty one."""
    return encode(value).decode() if value else None


_AS_TEXT: dict[str, Callable[[Any], Any]] = {
    "status": lambda status: status.value,
    "task_to_domain": _document,
    "failed_refs": _document,
    "failed_names": _document,
}


def column_text(name: str, value: Any) -> Any:
    """A field of an execution as its column holds it."""
    return _AS_TEXT[name](value) if name in _AS_TEXT else value


_PAYLOADS = frozenset(["input", "output", "variables", "mailbox"])


@dataclass(slots=True)
class Batch:
    """The rows of one transaction."""

    payloads: Payloads
    chain_before: Callable[[int], str]
    """The last chain value of an execution's stored ledger."""
    known_snapshots: set[str]
    folder: Folder | None = None

    snapshots: dict[str, bytes] = field(default_factory=dict)
    values: dict[bytes, PayloadRow] = field(default_factory=dict)
    uses: set[tuple[int, bytes]] = field(default_factory=set)
    files: set[tuple[int, str]] = field(default_factory=set)
    """Which executions refer to which payload files."""
    created: dict[int, dict[str, Any]] = field(default_factory=dict)
    changed: dict[int, dict[str, Any]] = field(default_factory=dict)
    removed: set[Place] = field(default_factory=set)
    runs: dict[Place, Params] = field(default_factory=dict)
    aside: list[Params] = field(default_factory=list)
    ledger: list[Params] = field(default_factory=list)
    chains: dict[int, str] = field(default_factory=dict)
    logs: list[Params] = field(default_factory=list)
    outbox: list[Params] = field(default_factory=list)
    letters: list[Params] = field(default_factory=list)
    delivered: list[Params] = field(default_factory=list)
    unindexed: set[int] = field(default_factory=set)

    def take(self, group: Group) -> None:
        """Everything that a group says."""
        for item in group.written:
            self._take_written(item)
        for letter in group.letters:
            kind, body = letters.written(letter.event, self.keep)
            self.letters.append((letter.to, letter.sender, kind, body))
        self.delivered.extend((number,) for number in group.delivered)

    def _take_written(self, item: Written) -> None:
        execution, changes = item.execution, item.changes
        key = execution.key
        if item.created:
            self.keep(execution.definition_hash, execution.definition)
            self.created[key] = self._execution_values(execution)
            self.unindexed.add(key)
        elif changes.fields:
            self._take_fields(key, execution, changes)
        for run in changes.aside:
            self.aside.append(self._filled(key, run))
        for seq in changes.removed:
            self.runs.pop((key, seq), None)
            self.removed.add((key, seq))
        for run in changes.runs.values():
            self._take_run(key, run)
        at = execution.updated_at if item.ledger is None else item.ledger.at
        for task, text in changes.logs:
            place = task_place(task) or (key, 0)
            self.logs.append((*place, task, at, text))
        for topic, body in changes.messages:
            self.outbox.append((key, topic, at, encode(body)))
        if item.ledger is not None:
            self._take_line(key, item.ledger)

    def keep(self, name: str, definition: WorkflowDef) -> None:
        """See to it that a definition is stored as a snapshot."""
        if name not in self.known_snapshots and name not in self.snapshots:
            self.snapshots[name] = definition.json_bytes()

    def _execution_values(self, execution: Execution) -> dict[str, Any]:
        values = self._columns(
            execution.key, {name: getattr(execution, name) for name in EXECUTION_FIELDS}
        )
        definition = execution.definition
        values["name"], values["version"] = definition.name or "", definition.version
        return values

    def _take_fields(self, key: int, execution: Execution, changes: Changes) -> None:
        given = changes.fields
        values = self._columns(key, given)
        if "definition" in given or "definition_hash" in given:
            definition = execution.definition
            self.keep(execution.definition_hash, definition)
            values["name"], values["version"] = definition.name or "", definition.version
        if "status" in given and given["status"].terminal:
            self.unindexed.add(key)
        target = self.created if key in self.created else self.changed
        target.setdefault(key, {}).update(values)

    def _columns(self, key: int, given: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in given.items():
            if name in DERIVED or name == "definition":
                continue
            if name in _PAYLOADS:
                if value is None:
                    continue
                value = self._placed(key, value, given.get(f"{name}_path"))
            elif name in _AS_TEXT:
                value = _AS_TEXT[name](value)
            values[name] = value
        return values

    def _take_run(self, key: int, run: Run) -> None:
        self.runs[key, run.seq] = self._filled(key, run)

    def _filled(self, key: int, run: Run) -> Params:
        """An attempt's row. Payloads that are not given are those of an earlier event of the same
        group, if one wrote them; else they are the stored ones, which the statement sees to."""
        row = self._run_row(key, run)
        before = self.runs.get((key, run.seq))
        if before is None:
            return row
        given = before[-2] if row[-2] is None else row[-2]
        result = before[-1] if row[-1] is None else row[-1]
        return (*row[:-2], given, result)

    def _run_row(self, key: int, run: Run) -> Params:
        node = None if run.node is None else self._placed(key, run.node.json_bytes())
        given, result = run.input, run.output
        if given is not None:
            given = self._placed(key, given, run.input_path)
        if result is not None:
            result = self._placed(key, result, run.output_path)
        return (key, *_plain_of(run), node, given, result)

    def _placed(self, key: int, value: bytes, path: str | None = None) -> bytes:
        """What the row holds for a value: itself, or a reference to a payload or to the file that it
        is in, which must be on the disk by now."""
        if path is not None and self.folder is not None and self.folder.holds(path):
            self.files.add((key, path))
            if len(value) > INLINE_BYTES:
                return file_reference(path)
        if is_inline(value):
            return value
        digest = self.payloads.name(value)
        if digest not in self.values and not self.payloads.knows(digest):
            self.values[digest] = payload_row(digest, value)
        self.uses.add((key, digest))
        return reference(digest)

    def _take_line(self, key: int, line: LedgerLine) -> None:
        before = self.chains.get(key)
        if before is None:
            before = "" if key in self.created else self.chain_before(key)
        line.chain = self.chains[key] = chained(before, key, line)
        body = self._placed(key, line.body)
        self.ledger.append(
            (key, line.line, line.at, line.cause, line.by, line.why, line.chain, body)
        )

    @property
    def empty(self) -> bool:
        """Nothing to write."""
        return not any(
            (
                self.created, self.changed, self.removed, self.runs, self.aside, self.ledger,
                self.logs, self.outbox, self.letters, self.delivered,
            )
        )  # fmt: skip

    def insertions(self) -> Iterator[Params]:
        """The rows of new executions."""
        for values in self.created.values():
            yield tuple(values.get(name) for name in EXECUTION_COLUMNS)

    def idempotency(self) -> Iterator[Params]:
        """Which idempotency keys are used up by new executions."""
        for values in self.created.values():
            if values["idempotency_key"] is not None:
                yield values["name"], values["idempotency_key"], values["id"]

    def updates(self) -> dict[tuple[str, ...], list[Params]]:
        """Changed executions by the columns that change; the key comes last in each row."""
        found: dict[tuple[str, ...], list[Params]] = {}
        for key, values in self.changed.items():
            if values:
                names = tuple(values)
                found.setdefault(names, []).append((*values.values(), key))
        return found


def run_of(row: Sequence[Any], whole: Callable[[bytes | None], bytes | None]) -> Run:
    """An attempt from its columns in the order of `RUN_FIELDS`."""
    run = Run(*row)
    run.status = _TASK_STATUS[run.status]
    run.retried = bool(run.retried)
    run.executed = bool(run.executed)
    run.child_changed = bool(run.child_changed)
    run.input = whole(run.input)
    run.output = whole(run.output)
    if run.metadata is not None:
        run.metadata = bytes(run.metadata)
    if run.node is not None:
        run.node = WorkflowTask.read(decode(whole(run.node)))  # type: ignore[arg-type]
    return run


def execution_of(
    row: Sequence[Any],
    whole: Callable[[bytes | None], bytes | None],
    find: Callable[[str], WorkflowDef],
) -> Execution:
    """An execution from its columns in the order of `EXECUTION_COLUMNS`, without attempts."""
    given = dict(zip(EXECUTION_FIELDS, row, strict=False))
    given["status"] = _EXECUTION_STATUS[given["status"]]
    given["task_to_domain"] = decode_text(given["task_to_domain"]) or {}
    given["failed_refs"] = tuple(decode_text(given["failed_refs"]) or ())
    given["failed_names"] = tuple(decode_text(given["failed_names"]) or ())
    given["rate_limited"] = bool(given["rate_limited"])
    given["isolated"] = bool(given["isolated"])
    for name in _PAYLOADS:
        given[name] = whole(given[name])
    return Execution(definition=find(given["definition_hash"]), **given)


def decode_text(text: str | None) -> Json:
    """A small document out of its column."""
    return None if text is None else decode(text.encode())
