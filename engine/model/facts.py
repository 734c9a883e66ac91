"""All that a decision may know besides the execution: the present moment and the catalogue."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from engine.model.definitions import SchemaDef, TaskDef, WorkflowDef
from engine.model.errors import InvalidInput
from engine.model.events import Start
from engine.model.execution import EMPTY, Execution, Run
from engine.model.record import Json
from engine.model.status import ExecutionStatus


def _no_task_def(name: str) -> TaskDef | None:
    return None


def _no_domain(task_type: str, domain: str) -> bool:
    return False


def _no_payload(seq: int, side: str) -> bytes | None:
    return None


def no_outputs(seqs: Collection[int]) -> Mapping[int, bytes]:
    """None at hand: they are read one by one."""
    return {}


def no_complaint(schema: SchemaDef, value: Json) -> str | None:
    """Every value fits."""
    return None


def _no_cached(task_name: str, key: str) -> bytes | None:
    return None


def no_file(field: str, path: str) -> bytes:
    """Nothing is named by path."""
    raise InvalidInput(f"{field} cannot be followed here: send the payload itself.")


def no_jitter(task_id: str, limit_ms: int) -> int:
    """Nothing is left to chance."""
    return 0


def _no_family(execution_id: str) -> int:
    return 0


def nothing_held(execution: Execution, run: Run) -> bool:
    """Every attempt is carried out."""
    return False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A definition as an execution runs by it: task definitions embedded, versions pinned."""

    definition: WorkflowDef
    hash: str


@dataclass(frozen=True, slots=True)
class Holder:
    """The execution that an idempotency key has started."""

    id: str
    status: ExecutionStatus
    parent: str | None = None
    output: bytes = EMPTY
    reason: str | None = None


def _no_refusal(start: Start) -> str | None:
    return None


def _no_holder(workflow_name: str, key: str) -> Holder | None:
    return None


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes of encoded JSON, and counts, above which something fails with a reason."""

    task_payload: int = 10 * 1024 * 1024
    workflow_payload: int = 10 * 1024 * 1024
    variables: int = 256 * 1024
    loop_iterations: int = 10_000
    descendants: int = 100_000
    """Executions that one execution may bring about within a day, with all that those start in
    turn. Definitions that start each other would go on for ever, faster than anybody could stop
    them."""
    reason: int = 500
    """Characters of a reported reason that are kept."""
    response_grace_ms: int = 0
    """How much longer than its response timeout a worker is waited for: Conductor's clients look
    once a second whether a lease is to be extended, so theirs may come in the very last one."""


def _no_definition(name: str, version: int | None) -> Snapshot | None:
    return None


@dataclass(frozen=True, slots=True)
class Facts:
    """What a decision is given. The functions read what does not change while it is made."""

    now: int
    """Epoch milliseconds."""
    task_def: Callable[[str], TaskDef | None] = _no_task_def
    definition: Callable[[str, int | None], Snapshot | None] = _no_definition
    """A registered definition by name and version (None: the highest), ready to run by."""
    polled: Callable[[str, str], bool] = _no_domain
    """Did a worker of this domain ask for this task type lately?"""
    payload: Callable[[int, str], bytes | None] = _no_payload
    """The stored `input` or `output` of an attempt whose payload is not in memory."""
    outputs: Callable[[Collection[int]], Mapping[int, bytes]] = no_outputs
    """The stored outputs of many such attempts, read in one go; some may be left out."""
    named: Callable[[str, str], bytes] = no_file
    """The payload that a field of a request names by its path; an EngineError that names the field
    where there is none. A file never changes."""
    jitter: Callable[[str, int], int] = no_jitter
    """A repeatable random number of milliseconds from 0 to the limit, seeded by a task id."""
    schema_complaint: Callable[[SchemaDef, Json], str | None] = no_complaint
    """Why a value does not fit a JSON Schema; None when it does."""
    cached: Callable[[str, str], bytes | None] = _no_cached
    """The output that a task of this name stored under a cache key, while it is fresh."""
    started_lately: Callable[[str], int] = _no_family
    """How many executions the family of an execution id has started within the last day."""
    limits: Limits = field(default_factory=Limits)
    environment: dict[str, str] = field(default_factory=dict)
    """The variables that expressions may read."""
    sinks: frozenset[str] = frozenset({"conductor"})
    """The event queue providers at hand."""
    holder: Callable[[str, str], Holder | None] = _no_holder
    """Who has been started by a workflow name under an idempotency key."""
    refusal: Callable[[Start], str | None] = _no_refusal
    """Why the rate limit of a workflow does not let this start in at all."""
    tells_tasks: bool = False
    """Is there somebody who wants to hear of every status of a task?"""
    held: Callable[[Execution, Run], bool] = nothing_held
    """Is this attempt answered by a mock instead of being carried out? Only ever so in a test."""
