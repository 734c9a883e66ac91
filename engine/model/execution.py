"""An execution in memory: its runs (one attempt at one task each) and what is derived from them.

An `Execution` is changed by `apply` alone; a `Run` that belongs to one is replaced, never edited.
Payloads are encoded JSON bytes; times are epoch milliseconds, 0 for unset.
"""

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any

from engine.model.definitions import WorkflowDef, WorkflowTask
from engine.model.events import Letter
from engine.model.status import ExecutionStatus, TaskStatus

EMPTY = b"{}"
"""The encoded empty map: what an absent input or output is."""


@dataclass(slots=True)
class Run:
    """One attempt at one task.

    `seq` orders the attempts of an execution and is never given twice. `reference` is the reference name with the
    suffix of its loop iteration; `ref` is the name in the definition.
    """

    seq: int
    task_id: str
    ref: str
    reference: str
    type: str
    name: str
    status: TaskStatus
    iteration: int = 0
    attempt: int = 0
    """Conductor's retryCount: 0 for the first attempt."""
    retried_task_id: str | None = None
    retried: bool = False
    """Replaced by a later attempt."""
    executed: bool = False
    """What follows from its end has been done."""
    carrier: str | None = None
    """Who carries it out while it is open: a queue name, a script evaluator, or nobody."""
    domain: str | None = None
    priority: int = 0
    due_at: int = 0
    """Not to be handed out before this instant."""
    wake_at: int = 0
    """The next instant at which a decision about it is due (a deadline, the end of a wait)."""
    scheduled_at: int = 0
    queued_at: int = 0
    """When it last became SCHEDULED; the poll timeout counts from here."""
    first_scheduled_at: int = 0
    """When the first attempt was scheduled; the total timeout counts from here."""
    started_at: int = 0
    updated_at: int = 0
    ended_at: int = 0
    start_delay: int = 0
    callback_after: int = 0
    poll_count: int = 0
    worker: str | None = None
    reason: str | None = None
    child_id: str | None = None
    """The workflow id of a SUB_WORKFLOW's child."""
    child_changed: bool = False
    metadata: bytes | None = None
    """Per-attempt timings reported by a worker."""
    input_path: str | None = None
    output_path: str | None = None
    input: bytes | None = EMPTY
    """None: kept in the store, not loaded."""
    output: bytes | None = EMPTY
    node: WorkflowTask | None = None
    """The task it runs by when that is not the one of the definition: a DYNAMIC task with its
    name resolved, a dynamic fork with its branches filled in, the JOIN behind one."""
    fork: str | None = None
    """The FORK_JOIN_DYNAMIC that created it."""

    @property
    def open(self) -> bool:
        """Not ended yet."""
        return not self.status.terminal

    @property
    def carried(self) -> bool:
        """Open, and somebody carries it out or is about to."""
        return self.carrier is not None and not self.status.terminal

    @property
    def passive(self) -> bool:
        """Open, and moved on by nothing but other attempts of its execution."""
        return self.carrier is None and self.type in _PASSIVE and not self.status.terminal

    def copy(self) -> "Run":
        """An independent copy."""
        return Run(*_values_of(self))


_PASSIVE = frozenset(["JOIN", "EXCLUSIVE_JOIN", "DO_WHILE"])
_values_of = attrgetter(*(item.name for item in fields(Run)))


@dataclass(slots=True)
class Execution:
    """One run of a definition."""

    key: int
    """Its number in the store."""
    id: str
    """Its workflow id."""
    definition: WorkflowDef
    """The snapshot it runs by, task definitions embedded."""
    definition_hash: str
    status: ExecutionStatus = ExecutionStatus.RUNNING
    correlation_id: str | None = None
    priority: int = 0
    parent_id: str | None = None
    parent_task_id: str | None = None
    owner_app: str | None = None
    created_by: str | None = None
    updated_by: str | None = None
    event: str | None = None
    idempotency_key: str | None = None
    task_to_domain: dict[str, str] = field(default_factory=dict)
    created_at: int = 0
    updated_at: int = 0
    ended_at: int = 0
    last_retried_at: int = 0
    wake_at: int = 0
    """When its workflow timeout passes; 0 for never."""
    reason: str | None = None
    failed_refs: tuple[str, ...] = ()
    failed_names: tuple[str, ...] = ()
    failed_task_id: str | None = None
    rerun_from: str | None = None
    rate_limit_key: str | None = None
    rate_limited: bool = False
    stuck: str | None = None
    """Why it cannot move: the error that one of its events raised. Shown to people."""
    isolated: bool = False
    """A test execution: nothing of it may touch the outside."""
    input_path: str | None = None
    output_path: str | None = None
    next_seq: int = 1
    seq_base: int = 0
    """Sequence numbers up to here belong to generations before a restart."""
    line: int = 0
    """How many ledger lines it has."""
    input: bytes | None = EMPTY
    output: bytes | None = EMPTY
    variables: bytes = EMPTY
    mailbox: bytes = b"[]"
    """Messages posted to it that no task has taken yet."""

    # Derived from the runs: rebuilt by `restore`, never stored.
    runs: dict[int, Run] = field(default_factory=dict)
    latest: dict[str, int] = field(default_factory=dict)
    """Reference name (with loop suffix) -> seq of its latest attempt."""
    last_of: dict[str, str] = field(default_factory=dict)
    """Reference name (without suffix) -> the reference of its newest iteration."""
    open: int = 0
    carried: int = 0
    """How many of its attempts somebody carries out."""
    passive: int = 0
    """How many wait for nothing but their neighbours."""
    unsettled: set[int] = field(default_factory=set)
    """Ended attempts from whose end nothing has followed yet."""
    left: dict[str, int] = field(default_factory=dict)
    """Reference of an open JOIN -> how many of its tasks it still waits for."""
    busy: dict[str, int] = field(default_factory=dict)
    """Reference of a loop -> body attempts that are open or unsettled."""
    nodes: dict[str, Any] = field(default_factory=dict)
    """Compiled tasks that are not in the definition (see `Run.node`)."""
    decoded: dict[tuple[int, str], Any] = field(default_factory=dict)
    """Payloads that an expression has read, decoded; the workflow's own under seq 0."""

    def apply(self, changes: "Changes") -> None:
        """Take over what a decision says. The only way an execution changes."""
        for seq in changes.removed:
            self._forget(seq)
        for seq, run in changes.runs.items():
            before = self.runs.get(seq)
            self._count(before, -1)
            self._count(run, +1)
            self.runs[seq] = run
            if self.decoded and before is not None:
                self._decode_anew(before, run)
        if changes.latest:
            _take_over(self.latest, changes.latest)
        if changes.last_of:
            _take_over(self.last_of, changes.last_of)
        self.open = changes.open
        self.unsettled = changes.unsettled
        if changes.left:
            self.left.update(changes.left)
        if changes.busy:
            self.busy.update(changes.busy)
        for name in ("variables", "input", "output"):
            if name in changes.fields:
                self.decoded.pop((0, name), None)
        for name, value in changes.fields.items():
            setattr(self, name, value)
        self.nodes.update(changes.nodes)

    def _decode_anew(self, before: Run, run: Run) -> None:
        """What was decoded stays where the bytes do: a loop's long list of items is read each round."""
        if run.input is not before.input:
            self.decoded.pop((run.seq, "input"), None)
        if run.output is not before.output:
            self.decoded.pop((run.seq, "output"), None)

    def _count(self, run: Run | None, by: int) -> None:
        if run is not None:
            self.carried += by if run.carried else 0
            self.passive += by if run.passive else 0

    def _forget(self, seq: int) -> None:
        run = self.runs.pop(seq, None)
        if run is not None:
            self._count(run, -1)
            self.decoded.pop((seq, "input"), None)
            self.decoded.pop((seq, "output"), None)


DERIVED = frozenset(
    [
        "runs",
        "latest",
        "last_of",
        "open",
        "carried",
        "passive",
        "unsettled",
        "left",
        "busy",
        "nodes",
        "decoded",
    ]
)
"""Fields of an execution that are worked out from its attempts when it is loaded."""


def _take_over(known: dict[str, Any], changed: dict[str, Any]) -> None:
    """Changed entries replace known ones; an empty one takes its name out."""
    known.update(changed)
    for name, value in changed.items():
        if not value:
            del known[name]


@dataclass(slots=True)
class Changes:
    """All that one decision says. Nothing has happened until the core has committed it."""

    runs: dict[int, Run] = field(default_factory=dict)
    """New and changed attempts, whole."""
    removed: set[int] = field(default_factory=set)
    """Attempts that are taken out of the execution (kept aside in the store)."""
    aside: list[Run] = field(default_factory=list)
    """Attempts as they were before they were reopened in place or removed."""
    fields: dict[str, Any] = field(default_factory=dict)
    """Fields of the execution itself."""
    latest: dict[str, int] = field(default_factory=dict)
    """0: there is no attempt under this name any more."""
    last_of: dict[str, str] = field(default_factory=dict)
    """Empty: there is no attempt of this task any more."""
    open: int = 0
    unsettled: set[int] = field(default_factory=set)
    left: dict[str, int] = field(default_factory=dict)
    busy: dict[str, int] = field(default_factory=dict)
    nodes: dict[str, Any] = field(default_factory=dict)
    letters: list[Letter] = field(default_factory=list)
    """What other executions are told; applied exactly once."""
    messages: list[tuple[str, Any]] = field(default_factory=list)
    """What the outside is told, (topic, body); at least once."""
    logs: list[tuple[str, str]] = field(default_factory=list)
    """Lines for task logs: (task id, text)."""
    cached: list[tuple[str, str, int, bytes]] = field(default_factory=list)
    """Outputs to remember: task name, cache key, milliseconds to keep, output."""
    told: list[str] = field(default_factory=list)
    """What happened, in words for metrics and the ledger: `workflow.completed` and the like."""
    reply: Any = None
    """What the caller is answered once this is committed."""

    @property
    def empty(self) -> bool:
        """Nothing to store and nobody to tell."""
        return not (self.runs or self.removed or self.fields or self.letters or self.messages)
