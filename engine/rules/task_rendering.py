"""One attempt in the words of the API: whole, as its worker gets it, in an outline, or as what blocks
an execution. Payloads are spliced in as the bytes they are stored as, so a large one is never
decoded to be shown. What is told of whole executions is in `rendering.py`.
"""

from collections.abc import Collection
from typing import Any

import orjson

from engine.model.definitions import TaskDef
from engine.model.execution import EMPTY, Run
from engine.model.record import Json, decode, encode, present
from engine.model.status import TaskStatus
from engine.rules.redaction import masked
from engine.tasks.joins import awaited_runs, outputs_by_reference
from engine.tasks.plan import shown_task, shown_task_def
from engine.tasks.rounds import is_open_loop, whole_output
from engine.tasks.view import View


def task_json(view: View, run: Run, unmasked: bool = False, whole: bool = False) -> dict[str, Json]:
    """A task as `GET /tasks/{id}` shows it. Fields without a value are left out; the definition's
    maskedFields are masked. `whole`: payloads that are files are shown instead of their paths."""
    hidden = () if unmasked else view.execution.definition.masked_fields
    input_path = output_path = None
    if shows_files(hidden, unmasked) and not whole:
        input_path, output_path = run.input_path, run.output_path
    given = EMPTY if input_path else payload_bytes(view, run, "input")
    came = EMPTY if output_path else shown_output(view, run)
    paths = {
        "externalInputPayloadStoragePath": input_path,
        "externalOutputPayloadStoragePath": output_path,
    }
    return {
        **_without_payloads(view, run),
        **present(paths),
        "inputData": spliced(given, hidden),
        "outputData": spliced(came, hidden),
    }


def handed_json(view: View, run: Run, given: dict[str, Json]) -> dict[str, Json]:
    """A task as its worker gets it, with the input that it is given: that holds secrets, so it comes
    whole, for a file holds none, and not every client would fetch it."""
    shown = _without_payloads(view, run)
    if run.output_path is not None:
        shown["externalOutputPayloadStoragePath"] = run.output_path
    shown["inputData"] = given
    shown["outputData"] = decode(run.output or EMPTY if run.output_path is None else EMPTY)
    return shown


def outline_entry(run: Run) -> dict[str, Json]:
    """A task in the outline of its execution. What has no value is left out."""
    optional = {
        "dueAt": run.due_at or None,
        "wakeAt": run.wake_at or None,
        "subWorkflowId": run.child_id,
        "reason": run.reason,
        "workerId": run.worker,
        "domain": run.domain,
        "fork": run.fork,
    }
    return {
        "seq": run.seq,
        "taskId": run.task_id,
        "ref": run.ref,
        "reference": run.reference,
        "iteration": run.iteration,
        "attempt": run.attempt,
        "type": run.type,
        "name": run.name,
        "status": run.status.value,
        "retried": run.retried,
        "pollCount": run.poll_count,
        "scheduledTime": run.scheduled_at,
        "startTime": run.started_at,
        "updateTime": run.updated_at,
        "endTime": run.ended_at,
        **present(optional),
    }


def blocking_task_json(view: View, run: Run) -> dict[str, Json]:
    """A task as the SignalResponse shows it whose execution it blocks."""
    hidden = view.execution.definition.masked_fields
    return present(
        {
            "workflowId": view.execution.id,
            "correlationId": view.execution.correlation_id,
            "input": spliced(payload_bytes(view, run, "input"), hidden),
            "output": spliced(shown_output(view, run), hidden),
            "taskType": run.type,
            "taskId": run.task_id,
            "referenceTaskName": run.reference,
            "retryCount": run.attempt,
            "taskDefName": run.name,
            "retriedTaskId": run.retried_task_id,
            "workflowType": view.execution.definition.name,
            "reasonForIncompletion": run.reason,
            "priority": run.priority,
            "createdBy": run.worker,
            "createTime": run.started_at,
            "updateTime": run.updated_at,
            "status": run.status.value,
        }
    )


def _without_payloads(view: View, run: Run) -> dict[str, Json]:
    """What is told of an attempt wherever it is shown whole."""
    execution = view.execution
    node = view.node(run.ref)
    shown: dict[str, Json] = {
        "taskType": run.type,
        "status": run.status.value,
        "referenceTaskName": run.reference,
        "retryCount": run.attempt,
        "seq": _visible_seq(view, run),
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
        "workflowInstanceId": execution.id,
        "workflowType": execution.definition.name,
        "taskId": run.task_id,
        "callbackAfterSeconds": run.callback_after,
        "workflowPriority": run.priority,
        "iteration": run.iteration,
        "subworkflowChanged": run.child_changed,
        "firstStartTime": 0,
        "loopOverTask": run.iteration > 0,
        "queueWaitTime": _queue_wait(view, run),
        **_policy(None if node is None else node.task_def),
    }
    optional = {
        "retriedTaskId": run.retried_task_id,
        "reasonForIncompletion": run.reason,
        "workerId": run.worker,
        "domain": run.domain,
        "subWorkflowId": run.child_id,
        "correlationId": execution.correlation_id,
    }
    shown.update(present(optional))
    if run.metadata is not None:
        shown["executionMetadata"] = spliced(run.metadata)
    if node is not None and run.status is not TaskStatus.SKIPPED:
        shown["workflowTask"] = spliced(shown_task(node))
        if node.task.task_definition is not None:
            shown["taskDefinition"] = spliced(shown_task_def(node))
    return shown


def _policy(task_def: TaskDef | None) -> dict[str, Json]:
    """The limits that an attempt runs under. A task that is in no plan any more has none."""
    if task_def is None:
        return {
            "responseTimeoutSeconds": 0,
            "rateLimitPerFrequency": 0,
            "rateLimitFrequencyInSeconds": 1,
        }
    optional = {
        "isolationGroupId": task_def.isolation_group_id,
        "executionNameSpace": task_def.execution_name_space,
    }
    return {
        "responseTimeoutSeconds": task_def.response_timeout_seconds,
        "rateLimitPerFrequency": task_def.rate_limit_per_frequency,
        "rateLimitFrequencyInSeconds": task_def.rate_limit_frequency_in_seconds,
        **present(optional),
    }


def _visible_seq(view: View, run: Run) -> int:
    """The position that clients see: from 1 after each restart, 0 for what was skipped."""
    base: int = view.field("seq_base")
    return 0 if run.status is TaskStatus.SKIPPED else run.seq - base


def _queue_wait(view: View, run: Run) -> int:
    """Milliseconds between becoming deliverable and being taken."""
    if not (run.started_at and run.scheduled_at):
        return 0
    if run.updated_at > 0 and run.callback_after > 0:
        return max(0, view.facts.now - (run.updated_at + run.callback_after * 1000))
    return max(0, run.started_at - run.scheduled_at)


# Payloads


def spliced(data: bytes | None, hidden: Collection[str] = ()) -> Any:
    """Stored JSON bytes as a part of a larger document; decoded only to mask hidden fields."""
    return masked(data or EMPTY, hidden) if hidden else orjson.Fragment(data or EMPTY)


def shows_files(hidden: Collection[str], unmasked: bool) -> bool:
    """Does a path stand for a payload that is a file? Not inside the engine, which follows none, and
    not where fields are masked, for the file has them all."""
    return not unmasked and not hidden


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
