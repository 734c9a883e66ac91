"""The actions of event handlers: to start or end an execution, to report on a task, to set variables.
Which action is due, and whether it was done before, is for `triggers.py` to know."""

from dataclasses import replace

from engine.core.inbox import Asked
from engine.model.errors import InvalidInput, NotFound
from engine.model.execution import Run
from engine.model.ids import child_id, derived_id
from engine.model.record import Json
from engine.model.requests import StartWorkflowRequest, TaskResult
from engine.model.status import TaskStatus
from engine.model.triggers import (
    Action,
    ActionType,
    StartWorkflowAction,
    TaskAction,
    TerminateWorkflowAction,
    UpdateVariablesAction,
)
from engine.rules.handlers import EVENT_NAME, domains, filled
from engine.services.executions import Executions
from engine.services.port import Port
from engine.services.tasks import Tasks
from engine.services.trigger_shelf import Document


class Actions:
    """Carries out one action at a time."""

    def __init__(self, port: Port, executions: Executions, tasks: Tasks) -> None:
        self._port = port
        self._executions = executions
        self._tasks = tasks

    def carry_out(
        self, action: Action, payload: Json, own: str, origin: dict[str, str]
    ) -> Document:
        """Do what an action says with a message; what it gives. `own` is the action with this very
        message, `origin` what is told of the message. NotTaken: the engine is too busy."""
        kind = action.action
        if kind is ActionType.START_WORKFLOW and action.start_workflow is not None:
            return self._start(filled(action.start_workflow, payload), payload, own, origin)
        if kind is ActionType.COMPLETE_TASK and action.complete_task is not None:
            part = filled(action.complete_task, payload)
            return self._report(part, TaskStatus.COMPLETED, origin)
        if kind is ActionType.FAIL_TASK and action.fail_task is not None:
            part = filled(action.fail_task, payload)
            return self._report(part, TaskStatus.FAILED, origin)
        if kind is ActionType.TERMINATE_WORKFLOW and action.terminate_workflow is not None:
            return self._terminate(filled(action.terminate_workflow, payload), origin)
        if kind is ActionType.UPDATE_WORKFLOW_VARIABLES and action.update_workflow_variables:
            return self._set_variables(filled(action.update_workflow_variables, payload))
        raise InvalidInput(f"The action {kind} has no part that says how it is done.")

    def _start(
        self, part: StartWorkflowAction, payload: Json, own: str, origin: dict[str, str]
    ) -> Document:
        """The workflow id follows from message and action: a second start meets the first."""
        given = {**part.input, **origin}
        request = StartWorkflowRequest(
            name=part.name,
            version=part.version,
            correlation_id=part.correlation_id,
            input=given,
            task_to_domain=domains(part, payload),
        )
        event = origin[EVENT_NAME]
        start = self._executions.prepare(request, f"event:{event}")
        workflow_id = _id_of(own, payload)
        reply = self._port.send(Asked(replace(start, event=event), workflow_id=workflow_id))
        return {"workflowId": self._port.wait(reply), **given}

    def _report(self, part: TaskAction, status: TaskStatus, origin: dict[str, str]) -> Document:
        run = None
        if not part.task_id:
            run = self._task_of(part.workflow_id or "", part.task_ref_name or "")
        task_id = part.task_id or (run.task_id if run is not None else "")
        named = {
            "workflowId": part.workflow_id,
            "taskRefName": part.task_ref_name,
            "taskId": part.task_id,
        }
        output = {
            **part.output,
            **{key: value for key, value in named.items() if value is not None},
            **origin,
        }
        result = TaskResult(
            workflow_instance_id=part.workflow_id or None,
            task_id=task_id,
            status=status.value,
            output_data=output,
            reason_for_incompletion=part.reason_for_incompletion,
        )
        self._tasks.update(result, f"event:{origin[EVENT_NAME]}")
        return output

    def _task_of(self, workflow_id: str, ref: str) -> Run:
        """The newest attempt of a reference name; in a loop, of its newest round."""
        if not workflow_id or not ref:
            raise InvalidInput("Give a taskId, or a workflowId and a taskRefName.")
        runs = self._executions.view(workflow_id, payloads=False).execution.runs.values()
        named = [run for run in runs if ref in (run.ref, run.reference)]
        if not named:
            raise NotFound(f"No task found with reference name: {ref}, workflowId: {workflow_id}")
        return max(named, key=lambda run: (run.iteration, run.seq))

    def _terminate(self, part: TerminateWorkflowAction, origin: dict[str, str]) -> Document:
        workflow_id = _required(part.workflow_id)
        by = f"event:{origin[EVENT_NAME]}"
        self._executions.terminate(workflow_id, part.termination_reason, by=by)
        return {"workflowId": workflow_id, "terminationReason": part.termination_reason}

    def _set_variables(self, part: UpdateVariablesAction) -> Document:
        workflow_id = _required(part.workflow_id)
        self._executions.set_variables(workflow_id, part.variables, bool(part.append_array))
        return {"workflowId": workflow_id, "variables": part.variables}


def _required(workflow_id: str | None) -> str:
    if not workflow_id:
        raise InvalidInput("workflowId is empty: it names the execution that is meant.")
    return workflow_id


def _id_of(own: str, payload: Json) -> str:
    """The id of an execution that a message starts. It is of the family of the execution that has
    sent the message, so that those which start each other in a circle are counted."""
    sender = payload.get("workflowInstanceId") if isinstance(payload, dict) else None
    text = f"event:{own}"
    return child_id(sender, text, 0) if isinstance(sender, str) and sender else derived_id(text)
