"""What can happen to an execution: one frozen record for each, in plain words.

An event that comes from a person carries who and why. Everything that happens to an execution
comes as one of these through the same inbox.
"""

from dataclasses import dataclass, field

from engine.model.definitions import WorkflowDef
from engine.model.record import Json
from engine.model.requests import IdempotencyStrategy
from engine.model.status import ExecutionStatus, TaskStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to one execution."""

    by: str | None = None
    """The person or client, when one asked for it."""
    why: str | None = None
    """Their reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Event):
    """A new execution begins. `definition` is the snapshot it will run by."""

    definition: WorkflowDef
    definition_hash: str
    input: bytes = b"{}"
    correlation_id: str | None = None
    priority: int = 0
    task_to_domain: dict[str, str] = field(default_factory=dict)
    parent_id: str | None = None
    parent_task_id: str | None = None
    created_by: str | None = None
    owner_app: str | None = None
    event: str | None = None
    idempotency_key: str | None = None
    idempotency_strategy: IdempotencyStrategy = IdempotencyStrategy.FAIL
    rate_limit_key: str | None = None
    rate_limited: bool = False
    isolated: bool = False
    input_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted(Event):
    """A slot is free: an execution that its rate limit held back may begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Event):
    """A worker takes an attempt."""

    seq: int
    worker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveBack(Event):
    """A worker went away before it was told of the attempt it had claimed."""

    seq: int
    poll: int
    """Which claim is undone: the attempt's poll count then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Event):
    """A worker (or anyone through the API) reports on an attempt."""

    seq: int
    status: TaskStatus
    output: bytes = b"{}"
    merge: bool = False
    """Add the keys to the output that is there, instead of replacing it."""
    reason: str | None = None
    callback_after: int = 0
    worker: str | None = None
    child_id: str | None = None
    output_path: str | None = None
    metadata: bytes | None = None
    logs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendLease(Event):
    """A worker asks for more time; only the response timeout starts again."""

    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Event):
    """An evaluator's answer to the script of an attempt."""

    seq: int
    asked: int = 0
    """Which question it answers (the loop iteration), so a late answer is known as one."""
    value: Json = None
    error: str | None = None
    timed_out: bool = False
    not_finite: str | None = None
    """`NaN`, `Infinity` or `-Infinity`, where that was the value."""
    logs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Due(Event):
    """An instant that an attempt (or, without seq, the execution) waited for has come."""

    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildEnded(Event):
    """A sub-workflow has ended."""

    task_id: str
    child_id: str
    status: ExecutionStatus
    output: bytes = b"{}"
    reason: str | None = None
    name: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildRefused(Event):
    """A sub-workflow could not be started."""

    task_id: str
    child_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildRevived(Event):
    """An ended sub-workflow was retried, rerun or restarted and runs again."""

    task_id: str
    child_id: str
    verb: str
    """`retried`, `reran` or `restarted`."""
    chain: str
    """The child and what was revived below it, for the task log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(Event):
    """A person holds the execution: nothing new is scheduled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(Event):
    """A person lets a paused execution go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminate(Event):
    """A person, or the end of the parent, ends the execution."""

    reason: str | None = None
    trigger_failure_workflow: bool = False
    by_parent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry(Event):
    """A person tries the failed tasks again."""

    resume_subworkflow_tasks: bool = False
    by_parent: bool = False
    """Retried as a sibling while the parent was revived: the parent is not told again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun(Event):
    """A person runs again from a task, or from the start (no task id)."""

    task_id: str | None = None
    task_input: dict[str, Json] | None = None
    workflow_input: dict[str, Json] | None = None
    correlation_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart(Event):
    """A person starts the whole execution over, by its snapshot or by a newer definition."""

    definition: WorkflowDef | None = None
    definition_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip(Event):
    """A person passes over a task before it is scheduled."""

    ref: str
    input: dict[str, Json] | None = None
    output: dict[str, Json] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetVariables(Event):
    """Workflow variables are merged in from outside."""

    variables: dict[str, Json]
    append_arrays: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Post(Event):
    """A message is put into the execution's mailbox."""

    message: dict[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decide(Event):
    """Look again: harmless at any time, any number of times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetCallbacks(Event):
    """Waiting worker tasks become deliverable now."""


@dataclass(frozen=True, slots=True)
class Letter:
    """What one execution tells another: an event for the execution with this workflow id."""

    to: str
    event: Event
    sender: str | None = None
