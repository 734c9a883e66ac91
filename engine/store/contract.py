"""Store: what the core and the services ask of a place that keeps executions. No SQL here.

One thread writes, in groups; any thread reads what is committed. Implementations: memory, SQLite,
PostgreSQL; one contract suite holds them to this text.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.model.events import Letter
from engine.model.execution import Changes, Execution, Run
from engine.model.record import Json


class StoreFailed(Exception):
    """The store as a whole could not take a group (disk full, connection lost, fenced off).
    Nothing of the group is stored, or its outcome is in doubt: only a reload tells."""


class RowRefused(Exception):
    """One row of a group could not be stored (a number too large, a broken constraint); nothing
    of the group is stored, and its other members may be stored without the culprit."""


@dataclass(slots=True)
class LedgerLine:
    """What one event did: who or what caused it, and which attempts it touched."""

    line: int
    at: int
    cause: str
    by: str | None
    why: str | None
    body: bytes
    """JSON: the attempts touched with their new status, the fields changed."""
    chain: str = ""
    """Hash over this line and the chain value before it; set when it is written."""


@dataclass(slots=True)
class Written:
    """One event's part of a group."""

    execution: Execution
    """As it is after `apply`."""
    changes: Changes
    created: bool = False
    """The execution did not exist before."""
    ledger: LedgerLine | None = None


@dataclass(slots=True)
class Group:
    """What is committed together."""

    written: list[Written] = field(default_factory=list)
    letters: list[Letter] = field(default_factory=list)
    """Letters that no member of this group has consumed."""
    delivered: list[int] = field(default_factory=list)
    """Ids of stored letters that a member of this group has consumed."""


@dataclass(frozen=True, slots=True)
class Ready:
    """An open attempt that somebody is to carry out."""

    execution: int
    seq: int
    carrier: str
    domain: str | None
    priority: int
    due_at: int


@dataclass(frozen=True, slots=True)
class Wake:
    """An instant at which a decision is due; seq is None for the execution as a whole."""

    at: int
    execution: int
    seq: int | None


@dataclass(frozen=True, slots=True)
class Gated:
    """A live execution that counts for a workflow rate limit, or waits for one."""

    key: str
    execution: int
    waiting: bool
    limit: int
    """concurrentExecLimit of its definition."""


@dataclass(frozen=True, slots=True)
class StoredLetter:
    """A letter that waits to be applied."""

    id: int
    letter: Letter


@dataclass(frozen=True, slots=True)
class Loaded:
    """An execution as its rows tell it; `restore` works out what is derived."""

    execution: Execution
    runs: list[Run]
    """Ascending seq."""


class Store(Protocol):
    """Where executions are kept."""

    def next_key(self) -> int:
        """A number for a new execution, never given before."""
        ...

    def commit(self, group: Group) -> None:
        """Store a group in one transaction, or nothing of it. Raises StoreFailed or RowRefused."""
        ...

    def load(self, key: int, payloads: bool = False) -> Loaded | None:
        """An execution by number with all its attempts, as it is committed. Without `payloads`,
        the input and output of attempts are None (`variables`, `mailbox` are always there). What
        is kept as a file is always None: `payload` reads it."""
        ...

    def head(self, workflow_id: str) -> Execution | None:
        """The same by workflow id and without its attempts: its own row, nothing else."""
        ...

    def key_of(self, workflow_id: str) -> int | None:
        """The number of an execution by its workflow id."""
        ...

    def payload(self, key: int, seq: int, side: str) -> bytes | None:
        """`input` or `output` of an attempt; of the execution itself for seq 0."""
        ...

    def outputs(self, key: int, seqs: Collection[int]) -> dict[int, bytes]:
        """The outputs of some attempts of an execution, by seq, read in one go."""
        ...

    def ready(self, carrier: str | None, limit: int) -> Sequence[Ready]:
        """Open attempts with a carrier that nobody has taken, highest priority first, then the
        longest due. For one carrier, or for all."""
        ...

    def taken(self, names: Sequence[str]) -> dict[str, int]:
        """How many attempts of these task definition names (none given: of all) somebody has in
        hand: IN_PROGRESS, with a carrier."""
        ...

    def due(self, until: int, limit: int) -> Sequence[Wake]:
        """Instants up to `until` at which a decision is due, earliest first, of live executions."""
        ...

    def letters(self) -> Sequence[StoredLetter]:
        """Letters that wait to be applied, oldest first."""
        ...

    def started_with(self, workflow_name: str, key: str) -> str | None:
        """The workflow id that an idempotency key has started."""
        ...

    def free_key(self, workflow_name: str, key: str, workflow_id: str) -> None:
        """An idempotency key may be used again; its holder has ended."""
        ...

    def gated(self) -> Sequence[Gated]:
        """Live executions with a rate limit key, oldest first."""
        ...

    def errand(self, work: Any) -> Any:
        """Run a short piece of cold work on the write connection, between groups; its value."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


def ledger_body(changes: Changes) -> dict[str, Json]:
    """What a ledger line says about the changes of an event."""
    body: dict[str, Json] = {}
    if changes.runs:
        body["runs"] = {
            str(seq): {
                "ref": run.reference,
                "status": run.status.value,
                "attempt": run.attempt,
            }
            for seq, run in changes.runs.items()
        }
    if changes.removed:
        body["removed"] = sorted(changes.removed)
    if "status" in changes.fields:
        body["status"] = changes.fields["status"].value
    if changes.fields.get("reason"):
        body["reason"] = changes.fields["reason"]
    if changes.told:
        body["told"] = list(changes.told)
    return body
