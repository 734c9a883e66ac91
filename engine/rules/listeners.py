"""What the outside is told about executions and tasks: messages for the outbox, by the definition's
own wish."""

from engine.model.execution import Run
from engine.model.record import Json
from engine.model.status import TaskStatus
from engine.tasks.draft import Draft

WORKFLOW_STATUS = "workflow_status"
"""Topic of messages about executions."""
TASK_STATUS = "task_status"
"""Topic of messages about tasks."""


def tell_listeners(d: Draft, what: str) -> None:
    """A message about the execution, if its definition asks for them."""
    definition = d.execution.definition
    if not definition.workflow_status_listener_enabled or d.execution.isolated:
        return
    d.changes.messages.append(
        (
            WORKFLOW_STATUS,
            {
                "event": what,
                "workflowId": d.execution.id,
                "workflowType": definition.name,
                "version": definition.version,
                "status": d.status.value,
                "correlationId": d.field("correlation_id"),
                "reasonForIncompletion": d.field("reason"),
                "startTime": d.field("created_at"),
                "endTime": d.field("ended_at"),
                "failedReferenceTaskNames": ",".join(d.field("failed_refs")),
                "priority": d.execution.priority,
                "parentWorkflowId": d.execution.parent_id,
                "sink": definition.workflow_status_listener_sink,
                "time": d.facts.now,
            },
        )
    )


def tell_task(d: Draft, run: Run, was: Run | None) -> None:
    """A message about a task that has another status now, unless its definition forbids it."""
    if d.execution.isolated or (was is not None and was.status is run.status):
        return
    node = d.node(run.ref)
    if node is None or not node.task_def.task_status_listener_enabled:
        return
    d.changes.messages.append((TASK_STATUS, _task_message(d, run)))


def _task_message(d: Draft, run: Run) -> dict[str, Json]:
    """A task in a few words, in the names of Conductor's summary; what it was given and what it
    has answered are left to those who ask for it."""
    ended = run.ended_at
    return {
        "event": run.status.value,
        "workflowId": d.execution.id,
        "workflowType": d.execution.definition.name,
        "correlationId": d.field("correlation_id"),
        "taskId": run.task_id,
        "taskType": run.type,
        "taskDefName": run.name,
        "referenceTaskName": run.reference,
        "status": run.status.value,
        "retryCount": run.attempt,
        "reasonForIncompletion": run.reason,
        "scheduledTime": run.scheduled_at,
        "startTime": run.started_at,
        "updateTime": run.updated_at,
        "endTime": ended,
        "executionTime": ended - run.started_at if ended and run.started_at else 0,
        "workerId": run.worker,
        "domain": run.domain,
        "workflowPriority": run.priority,
        "subWorkflowId": run.child_id,
        "time": d.facts.now,
    }


STATE_CHANGES = {
    TaskStatus.SCHEDULED: "onScheduled",
    TaskStatus.IN_PROGRESS: "onStart",
    TaskStatus.COMPLETED: "onSuccess",
    TaskStatus.COMPLETED_WITH_ERRORS: "onSuccess",
    TaskStatus.FAILED: "onFailed",
    TaskStatus.FAILED_WITH_TERMINAL_ERROR: "onFailed",
    TaskStatus.TIMED_OUT: "onFailed",
    TaskStatus.CANCELED: "onCancelled",
}
"""What a key of `onStateChange` may name, by the status that was entered."""


def tell_state_change(d: Draft, run: Run, was: Run | None) -> None:
    """Messages for the task's `onStateChange`, whose keys are comma lists of the words above."""
    node = d.node(run.ref)
    what = STATE_CHANGES.get(run.status)
    if node is None or what is None or d.execution.isolated:
        return
    if was is not None and was.status is run.status:
        return
    for key, wanted in node.task.on_state_change.items():
        if what not in [name.strip() for name in key.split(",")]:
            continue
        for item in wanted if isinstance(wanted, list) else [wanted]:
            if isinstance(item, dict) and item.get("type"):
                d.changes.messages.append(("event", _state_message(d, run, what, item)))


def _state_message(d: Draft, run: Run, what: str, wanted: dict[str, Json]) -> dict[str, Json]:
    payload = d.fill_value(wanted.get("payload"), run.task_id)
    return {
        "event": wanted["type"],
        "id": f"{run.task_id}:{what}:{run.poll_count}",
        "payload": {
            **(payload if isinstance(payload, dict) else {}),
            "taskId": run.task_id,
            "referenceTaskName": run.reference,
            "workflowInstanceId": d.execution.id,
            "status": run.status.value,
        },
    }
