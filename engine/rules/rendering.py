"""Executions and tasks in Conductor's JSON. Payloads are spliced in as the bytes they are stored as,
so a large execution is never decoded to be shown."""

from collections.abc import Collection
from typing import Any

import orjson

from engine.model.execution import EMPTY, Run
from engine.model.record import Json, decode, encode
from engine.model.status import TaskStatus
from engine.rules.redaction import masked
from engine.tasks.joins import awaited_runs, outputs_by_reference
from engine.tasks.plan import shown_task, shown_task_def
from engine.tasks.rounds import is_open_loop, whole_output
from engine.tasks.view import View

TOKEN_FIELDS = ("promptTokens", "completionTokens", "totalTokens")


def spliced(data: bytes | None, hidden: Collection[str] = ()) -> Any:
    """Stored JSON bytes as a part of a larger document; decoded only to mask hidden fields."""
    return masked(data or EMPTY, hidden) if hidden else orjson.Fragment(data or EMPTY)


def task_json(
    view: View, run: Run, payloads: bool = True, unmasked: bool = False, whole: bool = False
) -> dict[str, Json]:
    """A task as `GET /tasks/{id}` shows it. Fields without a value are left out; the definition's
    maskedFields are masked. `whole`: payloads that are files are shown instead of their paths."""
    execution = view.execution
    node = view.node(run.ref)
    task_def = None if node is None else node.task_def
    hidden = () if unmasked else execution.definition.masked_fields
    apart = not payloads or (shows_files(hidden, unmasked) and not whole)
    shown: dict[str, Json] = {
        "taskType": run.type,
        "status": run.status.value,
        "referenceTaskName": run.reference,
        "retryCount": run.attempt,
        "seq": visible_seq(view, run),
        "pollCount": run.poll_count,
        "taskDefName": run.name,
        "scheduledTime": run.scheduled_at,
        "startTime": run.started_at,
        "endTime": run.ended_at,
        "updateTime": run.updated_at,
        "startDelayInSeconds": run.start_delay,
        "retried": run.retried,
        "executed": run.executed,
        "callbackFromWorker": True,
        "responseTimeoutSeconds": 0 if task_def is None else task_def.response_timeout_seconds,
        "workflowInstanceId": execution.id,
        "workflowType": execution.definition.name,
        "taskId": run.task_id,
        "callbackAfterSeconds": run.callback_after,
        "rateLimitPerFrequency": 0 if task_def is None else task_def.rate_limit_per_frequency,
        "rateLimitFrequencyInSeconds": (
            1 if task_def is None else task_def.rate_limit_frequency_in_seconds
        ),
        "workflowPriority": run.priority,
        "iteration": run.iteration,
        "subworkflowChanged": run.child_changed,
        "firstStartTime": 0,
        "loopOverTask": run.iteration > 0,
        "queueWaitTime": queue_wait(view, run),
    }
    optional = {
        "retriedTaskId": run.retried_task_id,
        "reasonForIncompletion": run.reason,
        "workerId": run.worker,
        "domain": run.domain,
        "subWorkflowId": run.child_id,
        "correlationId": execution.correlation_id,
        "externalInputPayloadStoragePath": run.input_path if apart else None,
        "externalOutputPayloadStoragePath": run.output_path if apart else None,
        "isolationGroupId": None if task_def is None else task_def.isolation_group_id,
        "executionNameSpace": None if task_def is None else task_def.execution_name_space,
    }
    shown.update({key: value for key, value in optional.items() if value is not None})
    if run.metadata is not None:
        shown["executionMetadata"] = spliced(run.metadata)
    if node is not None and run.status is not TaskStatus.SKIPPED:
        shown["workflowTask"] = spliced(shown_task(node))
        if node.task.task_definition is not None:
            shown["taskDefinition"] = spliced(shown_task_def(node))
    if payloads:
        given = EMPTY if apart and run.input_path else payload_bytes(view, run, "input")
        came = EMPTY if apart and run.output_path else shown_output(view, run)
        shown["inputData"], shown["outputData"] = spliced(given, hidden), spliced(came, hidden)
    return shown


def shows_files(hidden: Collection[str], unmasked: bool) -> bool:
    """Does a path stand for a payload that is a file? Not inside the engine, which follows none, and
    not where fields are masked, for the file has them all."""
    return not unmasked and not hidden


def visible_seq(view: View, run: Run) -> int:
    """The position that clients see: from 1 after each restart, 0 for what was skipped."""
    base: int = view.field("seq_base")
    return 0 if run.status is TaskStatus.SKIPPED else run.seq - base


def queue_wait(view: View, run: Run) -> int:
    """Milliseconds between becoming deliverable and being taken."""
    if not (run.started_at and run.scheduled_at):
        return 0
    if run.updated_at > 0 and run.callback_after > 0:
        return max(0, view.facts.now - (run.updated_at + run.callback_after * 1000))
    return max(0, run.started_at - run.scheduled_at)


def payload_bytes(view: View, run: Run, side: str) -> bytes:
    """An attempt's stored input or output."""
    data: bytes | None = getattr(run, side)
    if data is None:
        data = view.facts.payload(run.seq, side)
    return data or EMPTY


def shown_output(view: View, run: Run) -> bytes:
    """An attempt's output; that of an open JOIN or loop is put together when it is looked at."""
    if is_open_loop(run):
        return whole_output(view, run)
    if run.type == "JOIN" and run.open:
        node = view.node(run.ref)
        if node is not None:
            return encode(outputs_by_reference(view, awaited_runs(view, run, node)))
    return payload_bytes(view, run, "output")


def workflow_json(view: View, tasks: bool = True, unmasked: bool = False) -> dict[str, Json]:
    """An execution as `GET /workflow/{id}` shows it; the definition's maskedFields are masked."""
    execution, field = view.execution, view.field
    definition = execution.definition
    hidden = () if unmasked else definition.masked_fields
    input_path = field("input_path") if shows_files(hidden, unmasked) else None
    input_bytes = EMPTY if input_path else field("input")
    if input_bytes is None:
        input_bytes = view.facts.payload(0, "input")
    output_path = field("output_path") if shows_files(hidden, unmasked) else None
    output_bytes = EMPTY if output_path else field("output")
    if output_bytes is None:
        output_bytes = view.facts.payload(0, "output")
    shown: dict[str, Json] = {
        "status": view.status.value,
        "startTime": field("created_at"),
        "createTime": field("created_at"),
        "updateTime": field("updated_at"),
        "endTime": field("ended_at"),
        "workflowId": execution.id,
        "workflowName": definition.name,
        "workflowVersion": definition.version,
        "input": spliced(input_bytes, hidden),
        "output": spliced(output_bytes, hidden),
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
    }
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
        "externalInputPayloadStoragePath": input_path,
        "externalOutputPayloadStoragePath": output_path,
    }
    shown.update({key: value for key, value in optional.items() if value is not None})
    runs = view.all_runs() if tasks else []
    shown["tasks"] = [task_json(view, run, unmasked=unmasked) for run in runs]
    usage = token_usage(view, runs)
    if usage is not None:
        shown["aggregateTokenUsage"] = usage
    return shown


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
