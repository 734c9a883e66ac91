"""A Store without a disk: for mock runs, tests and simulation. Keeps copies, as a disk would."""

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from dataclasses import fields
from typing import Any

from engine.model.events import Letter
from engine.model.execution import DERIVED, EMPTY, Changes, Execution, Run
from engine.model.status import TaskStatus
from engine.store.contract import (
    Gated,
    Group,
    LedgerLine,
    Loaded,
    Ready,
    RowRefused,
    StoredLetter,
    Wake,
)


class MemoryStore:
    """Dictionaries behind the contract."""

    def __init__(self) -> None:
        self._keys = 0
        self._rows: dict[int, Execution] = {}
        self._runs: dict[int, dict[int, Run]] = {}
        self._ids: dict[str, int] = {}
        self._starts: dict[tuple[str | None, str], str] = {}
        self._letters: dict[int, Letter] = {}
        self._letter_ids = 0
        self.aside: dict[int, list[Run]] = {}
        self.ledger: dict[int, list[LedgerLine]] = {}
        self.messages: list[tuple[str, Any]] = []
        self.logs: list[tuple[str, str, int]] = []

    def next_key(self) -> int:
        self._keys += 1
        return self._keys

    def commit(self, group: Group) -> None:
        self._admit(item.execution for item in group.written if item.created)
        for item in group.written:
            key = item.execution.key
            self._ids[item.execution.id] = key
            self._rows[key] = _bare(item.execution)
            runs = self._runs.setdefault(key, {})
            self._put(key, runs, item.changes)
            if item.ledger is not None:
                self.ledger.setdefault(key, []).append(item.ledger)
            self.messages.extend(item.changes.messages)
            at = item.execution.updated_at
            self.logs.extend((task, line, at) for task, line in item.changes.logs)
        for letter in group.letters:
            self._letter_ids += 1
            self._letters[self._letter_ids] = letter
        for number in group.delivered:
            self._letters.pop(number, None)

    def _admit(self, fresh: Iterable[Execution]) -> None:
        """Refuse a workflow id or an idempotency key that is used already."""
        ids: set[str] = set()
        starts: dict[tuple[str | None, str], str] = {}
        for execution in fresh:
            if execution.id in self._ids or execution.id in ids:
                raise RowRefused(f"Workflow id {execution.id} is stored already")
            ids.add(execution.id)
            if execution.idempotency_key is None:
                continue
            start = (execution.definition.name, execution.idempotency_key)
            if start in self._starts or start in starts:
                raise RowRefused(f"Idempotency key {start[1]} has started an execution already")
            starts[start] = execution.id
        self._starts.update(starts)

    def _put(self, key: int, runs: dict[int, Run], changes: Changes) -> None:
        self.aside.setdefault(key, []).extend(
            _filled(run.copy(), runs.get(run.seq)) for run in changes.aside
        )
        for seq in changes.removed:
            runs.pop(seq, None)
        for seq, run in changes.runs.items():
            runs[seq] = _filled(run.copy(), runs.get(seq))

    def load(self, key: int, payloads: bool = False) -> Loaded | None:
        row = self._rows.get(key)
        if row is None:
            return None
        runs = [self._runs[key][seq].copy() for seq in sorted(self._runs[key])]
        if not payloads:
            for run in runs:
                run.input = run.output = None
        return Loaded(_bare(row), runs)

    def head(self, workflow_id: str) -> Execution | None:
        row = self._rows.get(self._ids.get(workflow_id, 0))
        return None if row is None else _bare(row)

    def key_of(self, workflow_id: str) -> int | None:
        return self._ids.get(workflow_id)

    def payload(self, key: int, seq: int, side: str) -> bytes | None:
        holder: Any = self._rows.get(key) if seq == 0 else self._runs.get(key, {}).get(seq)
        found: bytes | None = getattr(holder, side, None)
        return found

    def outputs(self, key: int, seqs: Collection[int]) -> dict[int, bytes]:
        runs = self._runs.get(key, {})
        return {seq: runs[seq].output or EMPTY for seq in seqs if seq in runs}

    def _live(self) -> list[tuple[int, Run]]:
        return [
            (key, run)
            for key, row in self._rows.items()
            if not row.status.terminal
            for run in self._runs[key].values()
            if run.open
        ]

    def ready(self, carrier: str | None, limit: int) -> Sequence[Ready]:
        found = [
            Ready(key, run.seq, run.carrier, run.domain, run.priority, run.due_at)
            for key, run in self._live()
            if run.carrier is not None
            and (carrier is None or run.carrier == carrier)
            and (run.status is TaskStatus.SCHEDULED or run.carrier.startswith("#"))
        ]
        return sorted(found, key=lambda r: (-r.priority, r.due_at, r.execution, r.seq))[:limit]

    def taken(self, names: Sequence[str]) -> dict[str, int]:
        counts = dict.fromkeys(names, 0)
        for _, run in self._live():
            held = run.status is TaskStatus.IN_PROGRESS and run.carrier is not None
            if held and (not names or run.name in counts):
                counts[run.name] = counts.get(run.name, 0) + 1
        return counts

    def due(self, until: int, limit: int) -> Sequence[Wake]:
        found = [
            Wake(run.wake_at, key, run.seq) for key, run in self._live() if 0 < run.wake_at <= until
        ]
        found += [
            Wake(row.wake_at, key, None)
            for key, row in self._rows.items()
            if 0 < row.wake_at <= until and not row.status.terminal
        ]
        return sorted(found, key=lambda wake: wake.at)[:limit]

    def letters(self) -> Sequence[StoredLetter]:
        return [StoredLetter(number, letter) for number, letter in self._letters.items()]

    def started_with(self, workflow_name: str, key: str) -> str | None:
        return self._starts.get((workflow_name, key))

    def free_key(self, workflow_name: str, key: str, workflow_id: str) -> None:
        if self._starts.get((workflow_name, key)) == workflow_id:
            del self._starts[workflow_name, key]

    def gated(self) -> Sequence[Gated]:
        return [
            Gated(row.rate_limit_key, key, row.rate_limited, row.definition.concurrent_executions)
            for key, row in sorted(self._rows.items())
            if row.rate_limit_key is not None and not row.status.terminal
        ]

    def errand(self, work: Callable[[Any], Any]) -> Any:
        return work(self)

    def forget(self, key: int) -> None:
        """Remove an execution."""
        row = self._rows.pop(key, None)
        if row is not None:
            self._ids.pop(row.id, None)
            self._runs.pop(key, None)

    def numbers(self) -> list[int]:
        """The numbers of all executions, oldest first."""
        return sorted(self._rows)

    def close(self) -> None:
        pass


def _filled(run: Run, before: Run | None) -> Run:
    """An attempt with the payloads that nobody had in memory."""
    if before is not None:
        run.input = before.input if run.input is None else run.input
        run.output = before.output if run.output is None else run.output
    return run


def _bare(execution: Execution) -> Execution:
    """A copy without what is derived."""
    twin = copy(execution)
    for item in fields(Execution):
        if item.name in DERIVED:
            fresh: Any = item.default_factory() if callable(item.default_factory) else 0
            setattr(twin, item.name, fresh)
    return twin
