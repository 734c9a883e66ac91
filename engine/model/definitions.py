"""Definitions: what to run (WorkflowDef, a tree of WorkflowTask) and how to treat a task (TaskDef).

The field names, defaults and their odd corners are Conductor's.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator

from engine.model.record import (
    Flag,
    Int,
    Json,
    OptionalInt,
    OptionalText,
    Record,
    Text,
)

LATEST_RESPONSE_TIMEOUT = 3600
"""Seconds of silence after which an attempt counts as lost, unless its definition says else."""


class TimeoutPolicy(StrEnum):
    """What a passed task timeout does."""

    RETRY = "RETRY"
    TIME_OUT_WF = "TIME_OUT_WF"
    ALERT_ONLY = "ALERT_ONLY"


class RetryLogic(StrEnum):
    """How the delay before a retry grows."""

    FIXED = "FIXED"
    EXPONENTIAL_BACKOFF = "EXPONENTIAL_BACKOFF"
    LINEAR_BACKOFF = "LINEAR_BACKOFF"


class WorkflowTimeoutPolicy(StrEnum):
    """What a passed workflow timeout does."""

    TIME_OUT_WF = "TIME_OUT_WF"
    ALERT_ONLY = "ALERT_ONLY"


class JoinMode(StrEnum):
    """Kept for round trips: a JOIN here is always heard at once."""

    SYNC = "SYNC"
    ASYNC = "ASYNC"


def _map(value: Any) -> Any:
    return {} if value is None else value


Map = Annotated[dict[str, Json], BeforeValidator(_map)]


class SchemaDef(Record):
    """A JSON Schema by value or reference."""

    name: OptionalText = None
    version: Int = 1
    type: OptionalText = None
    data: dict[str, Json] | None = None
    external_ref: OptionalText = None


class Auditable(Record):
    """Who made it and when (epoch milliseconds, 0 for unset)."""

    owner_app: OptionalText = None
    create_time: Int = 0
    update_time: Int = 0
    created_by: OptionalText = None
    updated_by: OptionalText = None


class TaskDef(Auditable):
    """The retry, timeout and limit policy of one task name; durations in seconds."""

    name: OptionalText = None
    description: OptionalText = None
    retry_count: Int = 3
    timeout_seconds: Int = 0
    input_keys: list[str] = []
    output_keys: list[str] = []
    runtime_metadata: list[str] = []
    timeout_policy: TimeoutPolicy = TimeoutPolicy.TIME_OUT_WF
    retry_logic: RetryLogic = RetryLogic.FIXED
    retry_delay_seconds: Int = 60
    response_timeout_seconds: Int = LATEST_RESPONSE_TIMEOUT
    concurrent_exec_limit: OptionalInt = None
    input_template: Map = {}
    rate_limit_per_frequency: Int = 0
    rate_limit_frequency_in_seconds: Int = 1
    isolation_group_id: OptionalText = None
    execution_name_space: OptionalText = None
    owner_email: OptionalText = None
    poll_timeout_seconds: OptionalInt = None
    backoff_scale_factor: Int = 1
    max_retry_delay_seconds: Int = 0
    backoff_jitter_ms: Int = 0
    base_type: OptionalText = None
    total_timeout_seconds: Int = 0
    task_status_listener_enabled: Flag = True
    input_schema: SchemaDef | None = None
    output_schema: SchemaDef | None = None
    enforce_schema: Flag = False


class SubWorkflowParams(Record):
    """Which workflow a SUB_WORKFLOW task runs."""

    name: OptionalText = None
    version: Any = None
    task_to_domain: dict[str, str] | None = None
    workflow_definition: Any = None
    idempotency_key: OptionalText = None
    idempotency_strategy: OptionalText = None
    priority: Any = None


class WorkflowTask(Record):
    """One task of a workflow: a node of the tree."""

    name: OptionalText = None
    task_reference_name: OptionalText = None
    description: OptionalText = None
    input_parameters: Map = {}
    type: Text = "SIMPLE"
    dynamic_task_name_param: OptionalText = None
    case_value_param: OptionalText = None
    case_expression: OptionalText = None
    script_expression: OptionalText = None
    decision_cases: dict[str, tuple["WorkflowTask", ...]] = {}
    dynamic_fork_join_tasks_param: OptionalText = None
    dynamic_fork_tasks_param: OptionalText = None
    dynamic_fork_tasks_input_param_name: OptionalText = None
    default_case: tuple["WorkflowTask", ...] = ()
    fork_tasks: tuple[tuple["WorkflowTask", ...], ...] = ()
    start_delay: Int = 0
    sub_workflow_param: SubWorkflowParams | None = None
    join_on: tuple[str, ...] = ()
    sink: OptionalText = None
    optional: Flag = False
    task_definition: TaskDef | None = None
    rate_limited: bool | None = None
    default_exclusive_join_task: tuple[str, ...] = ()
    async_complete: Flag = False
    loop_condition: OptionalText = None
    loop_over: tuple["WorkflowTask", ...] = ()
    items: Any = None
    retry_count: OptionalInt = None
    evaluator_type: OptionalText = None
    expression: OptionalText = None
    on_state_change: dict[str, Json] = {}
    join_status: OptionalText = None
    cache_config: dict[str, Json] | None = None
    permissive: Flag = False
    join_mode: JoinMode | None = None
    metadata: Map = {}

    @property
    def ref(self) -> str:
        """The reference name, which is how a run, an expression and a click name this task."""
        return self.task_reference_name or ""

    def inner_lists(self) -> Iterator[tuple["WorkflowTask", ...]]:
        """The task lists inside this one: cases, branches, loop body."""
        yield from self.decision_cases.values()
        if self.default_case:
            yield self.default_case
        yield from self.fork_tasks
        if self.loop_over:
            yield self.loop_over


class WorkflowDef(Auditable):
    """A versioned workflow: tasks, inputs and outputs."""

    name: OptionalText = None
    description: OptionalText = None
    version: Int = 1
    tasks: tuple[WorkflowTask, ...] = ()
    input_parameters: list[Any] = []
    output_parameters: Map = {}
    failure_workflow: OptionalText = None
    failure_workflow_version: OptionalInt = None
    schema_version: Int = 2
    restartable: Flag = True
    workflow_status_listener_enabled: Flag = False
    workflow_status_listener_sink: OptionalText = None
    owner_email: OptionalText = None
    timeout_policy: WorkflowTimeoutPolicy = WorkflowTimeoutPolicy.ALERT_ONLY
    timeout_seconds: Int = 0
    variables: Map = {}
    input_template: Map = {}
    rate_limit_config: dict[str, Json] | None = None
    input_schema: SchemaDef | None = None
    output_schema: SchemaDef | None = None
    enforce_schema: Flag = True
    metadata: Map = {}
    cache_config: dict[str, Json] | None = None
    masked_fields: list[str] = []

    @property
    def concurrent_executions(self) -> int:
        """How many executions of one rate limit key may be at work; 0 for any number."""
        value = (self.rate_limit_config or {}).get("concurrentExecLimit")
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    def all_tasks(self) -> Iterator[WorkflowTask]:
        """Every task of the tree, outer before inner, in reading order."""
        stack = list(reversed(self.tasks))
        while stack:
            task = stack.pop()
            yield task
            inner = [item for tasks in task.inner_lists() for item in tasks]
            stack.extend(reversed(inner))

    def with_tasks(self, change: Mapping[str, WorkflowTask]) -> "WorkflowDef":
        """A copy in which the tasks named in `change` stand in for those of the same ref."""
        return self.but(tasks=_mapped(self.tasks, change))


def _mapped(
    tasks: tuple[WorkflowTask, ...], change: Mapping[str, WorkflowTask]
) -> tuple[WorkflowTask, ...]:
    return tuple(_mapped_task(task, change) for task in tasks)


def _mapped_task(task: WorkflowTask, change: Mapping[str, WorkflowTask]) -> WorkflowTask:
    task = change.get(task.ref, task)
    inner: dict[str, Any] = {}
    if task.decision_cases:
        inner["decision_cases"] = {k: _mapped(v, change) for k, v in task.decision_cases.items()}
    if task.default_case:
        inner["default_case"] = _mapped(task.default_case, change)
    if task.fork_tasks:
        inner["fork_tasks"] = tuple(_mapped(branch, change) for branch in task.fork_tasks)
    if task.loop_over:
        inner["loop_over"] = _mapped(task.loop_over, change)
    return task.but(**inner) if inner else task
