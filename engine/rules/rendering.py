"""Executions in Conductor's JSON; what is told of each attempt comes from `task_rendering.py`."""

from engine.model.execution import EMPTY, Run
from engine.model.record import Json, decode, present
from engine.rules.task_rendering import payload_bytes, shows_files, spliced, task_json
from engine.tasks.view import View

TOKEN_FIELDS = ("promptTokens", "completionTokens", "totalTokens")


def workflow_json(view: View, tasks: bool = True, unmasked: bool = False) -> dict[str, Json]:
    """An execution as `GET /workflow/{id}` shows it; the definition's maskedFields are masked."""
    runs = view.all_runs() if tasks else []
    shown = _without_tasks(view, unmasked)
    shown["tasks"] = [task_json(view, run, unmasked) for run in runs]
    usage = token_usage(view, runs)
    if usage is not None:
        shown["aggregateTokenUsage"] = usage
    return shown


def _without_tasks(view: View, unmasked: bool) -> dict[str, Json]:
    execution, field = view.execution, view.field
    definition = execution.definition
    hidden = () if unmasked else definition.masked_fields
    files = shows_files(hidden, unmasked)
    optional = {
        "parentWorkflowId": execution.parent_id,
        "parentWorkflowTaskId": execution.parent_task_id,
        "correlationId": field("correlation_id"),
        "reRunFromWorkflowId": field("rerun_from"),
        "reasonForIncompletion": field("reason"),
        "event": execution.event,
        "createdBy": execution.created_by,
        "updatedBy": field("updated_by"),
        "idempotencyKey": execution.idempotency_key,
        "rateLimitKey": execution.rate_limit_key,
        "failedTaskId": field("failed_task_id"),
        "externalInputPayloadStoragePath": field("input_path") if files else None,
        "externalOutputPayloadStoragePath": field("output_path") if files else None,
    }
    return {
        "status": view.status.value,
        "startTime": field("created_at"),
        "createTime": field("created_at"),
        "updateTime": field("updated_at"),
        "endTime": field("ended_at"),
        "workflowId": execution.id,
        "workflowName": definition.name,
        "workflowVersion": definition.version,
        "input": spliced(_own_payload(view, "input", files), hidden),
        "output": spliced(_own_payload(view, "output", files), hidden),
        "variables": spliced(field("variables"), hidden),
        "taskToDomain": execution.task_to_domain,
        "failedReferenceTaskNames": list(field("failed_refs")),
        "failedTaskNames": list(field("failed_names")),
        "workflowDefinition": spliced(view.plan.shown),
        "ownerApp": execution.owner_app or "",
        "priority": execution.priority,
        "lastRetriedTime": field("last_retried_at"),
        "history": [],
        "rateLimited": field("rate_limited"),
        **present(optional),
    }


def _own_payload(view: View, side: str, files: bool) -> bytes | None:
    """The execution's input or output; nothing where its path is shown instead."""
    if files and view.field(f"{side}_path"):
        return EMPTY
    data: bytes | None = view.field(side)
    return view.facts.payload(0, side) if data is None else data


def token_usage(view: View, runs: list[Run]) -> dict[str, int] | None:
    """Tokens summed over the outputs of LLM tasks; None where there are none."""
    outputs = [
        decode(payload_bytes(view, run, "output")) for run in runs if run.type.startswith("LLM_")
    ]
    if not outputs:
        return None
    totals = dict.fromkeys(TOKEN_FIELDS, 0)
    for output in outputs:
        for field in TOKEN_FIELDS:
            value = output.get("tokenUsed" if field == "totalTokens" else field)
            totals[field] += value if isinstance(value, int) else 0
    return totals
