"""What the outside is told about executions and tasks: messages for the outbox, by the definition's
own wish."""

from engine.model.execution import Run
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
                "sink": definition.workflow_status_listener_sink,
                "time": d.facts.now,
            },
        )
    )


def tell_state_change(d: Draft, run: Run, what: str) -> None:
    """Messages for the task's `onStateChange`, whose keys name one or more of the events
    onScheduled, onStart, onFailed, onSuccess, onCancelled."""
    node = d.node(run.ref)
    if node is None or not node.task.on_state_change or d.execution.isolated:
        return
    for key, wanted in node.task.on_state_change.items():
        if what not in [name.strip() for name in key.split(",")]:
            continue
        for item in wanted if isinstance(wanted, list) else [wanted]:
            if isinstance(item, dict) and item.get("type"):
                payload = d.fill_value(item.get("payload"), run.task_id)
                body = {
                    "event": item["type"],
                    "id": f"{run.task_id}:{what}:{run.attempt}",
                    "payload": {
                        **(payload if isinstance(payload, dict) else {}),
                        "taskId": run.task_id,
                        "referenceTaskName": run.reference,
                        "workflowInstanceId": d.execution.id,
                        "status": run.status.value,
                    },
                }
                d.changes.messages.append(("event", body))
