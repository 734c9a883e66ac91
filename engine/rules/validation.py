"""Is a definition sound enough to be registered? Conductor's own checks: its depth, its messages,
its paths. What is wise beyond that is advice (validation_advice.py)."""

from collections.abc import Collection, Iterator, Sequence

from engine.model.definitions import TaskDef, WorkflowDef, WorkflowTask
from engine.model.errors import InvalidInput, Violation
from engine.rules.validation_placeholders import placeholder_complaints
from engine.rules.validation_tasks import Check, TaskDefOf, type_complaints


def _no_task_def(name: str) -> TaskDef | None:
    return None


def require(found: Sequence[Violation]) -> None:
    """Raise one InvalidInput for everything that was found, if anything was."""
    if found:
        raise InvalidInput.of(found)


HIDDEN_NAMES = frozenset([".", "..", "names", "names-and-versions", "latest-versions"])
"""Below the path of the definitions these mean something else."""


def registration_errors(
    definition: WorkflowDef,
    prefix: str = "registerWorkflowDef.arg0",
    *,
    task_def: TaskDefOf = _no_task_def,
    check: Check | None = None,
    environment: Collection[str] = (),
) -> list[Violation]:
    """Why a workflow definition is refused. `prefix` is where the caller's request holds it;
    `task_def` finds registered task definitions, whose inputTemplate counts; `check` reads the
    scripts of SWITCH and DECISION; `environment` are the variables that expressions may name."""
    found = list(_definition_fields(definition, prefix))
    for number, task in enumerate(definition.tasks):
        found += _task_errors(task, f"{prefix}.tasks[{number}]", task_def, check)
    refs = [task.ref for task in definition.all_tasks()]
    names = set(refs)
    found += _doubles(definition, refs, prefix)
    for task in definition.tasks:
        found += [
            Violation(prefix, message)
            for message in placeholder_complaints(task, names, environment)
        ]
    return found


def _definition_fields(definition: WorkflowDef, prefix: str) -> Iterator[Violation]:
    if not definition.name:
        message = "WorkflowDef name cannot be null or empty"
        yield Violation(f"{prefix}.name", message, definition.name)
    elif "/" in definition.name or definition.name in HIDDEN_NAMES:
        message = (
            f"name: {definition.name} could never be opened or deleted: use another one, without "
            "`/`, that is no word of the API's own paths"
        )
        yield Violation(f"{prefix}.name", message, definition.name)
    if not definition.tasks:
        yield Violation(f"{prefix}.tasks", "WorkflowTask list cannot be empty")
    if definition.schema_version != 2:
        message = "workflowDef schemaVersion: 2 is only supported"
        yield Violation(f"{prefix}.schemaVersion", message, str(definition.schema_version))


def _task_errors(
    task: WorkflowTask, path: str, task_def: TaskDefOf, check: Check | None
) -> Iterator[Violation]:
    """A task and what is inside it. Conductor does not look into loops."""
    yield from task_field_errors(task, path)
    for message in type_complaints(task, task_def, check):
        yield Violation(path, message)
    for case, tasks in task.decision_cases.items():
        for number, inner in enumerate(tasks):
            place = f"{path}.decisionCases[{case}].<map value>[{number}]"
            yield from _task_errors(inner, place, task_def, check)
    for number, inner in enumerate(task.default_case):
        yield from _task_errors(inner, f"{path}.defaultCase[{number}]", task_def, check)
    for branch, tasks in enumerate(task.fork_tasks):
        for number, inner in enumerate(tasks):
            place = f"{path}.forkTasks[{branch}].<list element>[{number}]"
            yield from _task_errors(inner, place, task_def, check)


def task_field_errors(task: WorkflowTask, path: str) -> Iterator[Violation]:
    """What every task needs, whatever its type."""
    if not task.name:
        message = "WorkflowTask name cannot be empty or null"
        yield Violation(f"{path}.name", message, task.name)
    if not task.task_reference_name:
        message = "WorkflowTask taskReferenceName name cannot be empty or null"
        yield Violation(f"{path}.taskReferenceName", message, task.task_reference_name)
    if task.start_delay < 0:
        message = "must be greater than or equal to 0"
        yield Violation(f"{path}.startDelay", message, str(task.start_delay))
    for state, events in task.on_state_change.items():
        for number, event in enumerate(events if isinstance(events, list) else []):
            if not isinstance(event, dict) or event.get("type") is None:
                place = f"{path}.onStateChange[{state}].<map value>[{number}].type"
                yield Violation(place, "must not be null")


def _doubles(definition: WorkflowDef, refs: list[str], prefix: str) -> Iterator[Violation]:
    seen: set[str] = set()
    told: set[str] = set()
    for ref in refs:
        if ref and ref in seen and ref not in told:
            told.add(ref)
            yield Violation(
                prefix,
                f"taskReferenceName: {ref} should be unique across tasks for a given "
                f"workflowDefinition: {definition.name}",
            )
        seen.add(ref)


# Task definitions

_NOT_NEGATIVE = (
    ("retryCount", "retry_count"),
    ("pollTimeoutSeconds", "poll_timeout_seconds"),
    ("maxRetryDelaySeconds", "max_retry_delay_seconds"),
    ("backoffJitterMs", "backoff_jitter_ms"),
    ("totalTimeoutSeconds", "total_timeout_seconds"),
)


def task_def_errors(task_def: TaskDef, prefix: str = "registerTaskDef.arg0[0]") -> list[Violation]:
    """Why a task definition is refused. Conductor's sentence comes first; where it leaves the reader
    alone, the way out follows."""
    found = []
    if not task_def.name:
        message = "TaskDef name cannot be null or empty"
        found.append(Violation(f"{prefix}.name", message, task_def.name))
    for name, attribute in _NOT_NEGATIVE:
        value = getattr(task_def, attribute)
        if value is not None and value < 0:
            message = f"TaskDef {name}: 0 must be >= 0"
            found.append(Violation(f"{prefix}.{name}", message, str(value)))
    if task_def.backoff_scale_factor < 1:
        message = "Backoff scale factor. Applicable for LINEAR_BACKOFF"
        value = str(task_def.backoff_scale_factor)
        found.append(Violation(f"{prefix}.backoffScaleFactor", message, value))
    response = task_def.response_timeout_seconds
    if response < 1:
        message = f"TaskDef responseTimeoutSeconds: {response} should be minimum 1 second"
        found.append(Violation(f"{prefix}.responseTimeoutSeconds", message, str(response)))
    found += [Violation(prefix, message) for message in _contradicting_timeouts(task_def)]
    return found


def _contradicting_timeouts(task_def: TaskDef) -> Iterator[str]:
    response, timeout = task_def.response_timeout_seconds, task_def.timeout_seconds
    total = task_def.total_timeout_seconds
    if 0 < timeout < response:
        given = "response_timeout_seconds" in task_def.model_fields_set
        whence = "" if given else f" (the value where none is given is {response})"
        yield (
            f"TaskDef: {task_def.name} responseTimeoutSeconds: {response} must be less than "
            f"timeoutSeconds: {timeout}. Set responseTimeoutSeconds to {timeout} or less{whence}, "
            f"or timeoutSeconds to {response} or more"
        )
    if 0 < total < timeout:
        yield (
            f"TaskDef: {task_def.name} timeoutSeconds: {timeout} must be less than or equal to "
            f"totalTimeoutSeconds: {total}. Set timeoutSeconds to {total} or less, or "
            f"totalTimeoutSeconds to {timeout} or more"
        )
