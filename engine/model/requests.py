"""What callers send, in Conductor's field names."""

from enum import StrEnum
from typing import Any

from engine.model.definitions import WorkflowDef
from engine.model.record import Flag, Int, Json, OptionalInt, OptionalText, Record


class IdempotencyStrategy(StrEnum):
    """What a second start with the same idempotency key does."""

    FAIL = "FAIL"
    RETURN_EXISTING = "RETURN_EXISTING"
    FAIL_ON_RUNNING = "FAIL_ON_RUNNING"


class StartWorkflowRequest(Record):
    """Start an execution of a registered or in-line definition."""

    name: OptionalText = None
    version: OptionalInt = None
    correlation_id: OptionalText = None
    input: dict[str, Json] | None = {}
    task_to_domain: dict[str, str] | None = None
    workflow_def: WorkflowDef | None = None
    external_input_payload_storage_path: OptionalText = None
    priority: Int = 0
    created_by: OptionalText = None
    idempotency_key: OptionalText = None
    idempotency_strategy: IdempotencyStrategy | None = None


class TaskLog(Record):
    """A line of a task's log."""

    log: OptionalText = None
    task_id: OptionalText = None
    created_time: Int = 0


class TaskResult(Record):
    """What a worker reports about an attempt."""

    workflow_instance_id: OptionalText = None
    task_id: OptionalText = None
    status: OptionalText = None
    output_data: dict[str, Json] | None = None
    reason_for_incompletion: OptionalText = None
    callback_after_seconds: Int = 0
    worker_id: OptionalText = None
    logs: list[TaskLog] | None = None
    external_output_payload_storage_path: OptionalText = None
    sub_workflow_id: OptionalText = None
    extend_lease: Flag = False
    execution_metadata: dict[str, Json] | None = None


class RerunRequest(Record):
    """Run again from a task, or from the start."""

    re_run_from_workflow_id: OptionalText = None
    re_run_from_task_id: OptionalText = None
    task_input: dict[str, Json] | None = None
    workflow_input: dict[str, Json] | None = None
    correlation_id: OptionalText = None


class SkipRequest(Record):
    """Pass over a task that has not been scheduled."""

    task_input: dict[str, Json] | None = None
    task_output: dict[str, Json] | None = None


class TaskMock(Record):
    """One mocked attempt; times in milliseconds."""

    status: OptionalText = None
    output: dict[str, Json] | None = None
    execution_time: Int = 0
    queue_wait_time: Int = 0
    reason: OptionalText = None


class WorkflowTestRequest(StartWorkflowRequest):
    """Play a definition on mocked outputs."""

    task_ref_to_mock_output: dict[str, list[TaskMock]] | None = None
    sub_workflow_test_request: dict[str, Any] | None = None
