"""Rows of a search in Conductor's words. Times are texts here, and payloads are texts of JSON."""

from collections.abc import Collection
from datetime import UTC, datetime

from engine.model.execution import Run
from engine.model.record import Json, encode, present
from engine.rules.redaction import masked
from engine.store.reading import Listed


def gmt(at: int) -> str:
    """An instant as the summaries write it."""
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at % 1000:03d}Z"


def workflow_summary(row: Listed, hidden: Collection[str] = ()) -> dict[str, Json]:
    """A WorkflowSummary; fields that its definition hides are masked."""
    input_path = None if hidden else row.input_path
    given = text_of(None if input_path else row.input, hidden)
    output_path = None if hidden else row.output_path
    came = text_of(None if output_path else row.output, hidden)
    shown: dict[str, Json] = {
        "workflowType": row.name,
        "version": row.version,
        "workflowId": row.id,
        "startTime": gmt(row.created_at),
        "status": row.status,
        "input": given,
        "output": came,
        "executionTime": max(0, row.ended_at - row.created_at) if row.ended_at else 0,
        "failedReferenceTaskNames": ",".join(row.failed_refs),
        "priority": row.priority,
        "failedTaskNames": list(row.failed_names),
        "taskToDomain": row.task_to_domain,
        "parentWorkflowId": row.parent_id or "",
        "classifier": "workflow",
        "inputSize": len(given),
        "outputSize": len(came),
    }
    optional = {
        "correlationId": row.correlation_id,
        "updateTime": gmt(row.updated_at) if row.updated_at else None,
        "endTime": gmt(row.ended_at) if row.ended_at else None,
        "reasonForIncompletion": row.reason,
        "event": row.event,
        "createdBy": row.created_by,
        "idempotencyKey": row.idempotency_key,
        "externalInputPayloadStoragePath": input_path,
        "externalOutputPayloadStoragePath": output_path,
    }
    shown.update(present(optional))
    return shown


def task_summary(run: Run, of: Listed, hidden: Collection[str] = ()) -> dict[str, Json]:
    """A TaskSummary; fields that its definition hides are masked."""
    input_path = None if hidden else run.input_path
    output_path = None if hidden else run.output_path
    shown: dict[str, Json] = {
        "workflowId": of.id,
        "workflowType": of.name,
        "status": run.status.value,
        "executionTime": max(0, run.ended_at - run.started_at) if run.ended_at else 0,
        "queueWaitTime": max(0, run.started_at - run.scheduled_at) if run.started_at else 0,
        "taskDefName": run.name,
        "taskType": run.type,
        "input": text_of(None if input_path else run.input, hidden),
        "output": text_of(None if output_path else run.output, hidden),
        "taskId": run.task_id,
        "referenceTaskName": run.reference,
        "workflowPriority": run.priority,
    }
    times = {
        "scheduledTime": run.scheduled_at,
        "startTime": run.started_at,
        "updateTime": run.updated_at,
        "endTime": run.ended_at,
    }
    shown.update({name: gmt(at) for name, at in times.items() if at})
    optional = {
        "correlationId": of.correlation_id,
        "reasonForIncompletion": run.reason,
        "domain": run.domain,
        "workerId": run.worker,
        "externalInputPayloadStoragePath": input_path,
        "externalOutputPayloadStoragePath": output_path,
    }
    shown.update(present(optional))
    return shown


def text_of(data: bytes | None, hidden: Collection[str] = ()) -> str:
    """A stored payload as text."""
    if data is not None and hidden:
        data = encode(masked(data, hidden))
    return "{}" if data is None else data.decode(errors="replace")
