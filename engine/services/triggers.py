"""Event handlers: what is done with the messages of event queues.

A message may come more than once; each of its actions is done once. Conditions are scripts, so this
runs in threads of its own, never in the core's.
"""

import hashlib
import uuid
from collections.abc import Callable
from dataclasses import replace

from engine.core.inbox import Asked
from engine.expressions.scripts import ScriptAnswer, ScriptJob
from engine.model.errors import Conflict, EngineError, InvalidInput, NotFound, NotTaken
from engine.model.events import Start
from engine.model.execution import Run
from engine.model.ids import child_id
from engine.model.record import Json
from engine.model.requests import StartWorkflowRequest, TaskResult
from engine.model.status import TaskStatus
from engine.model.triggers import (
    Action,
    ActionStatus,
    ActionType,
    EventHandler,
    StartWorkflowAction,
    TaskAction,
    TerminateWorkflowAction,
    UpdateVariablesAction,
)
from engine.rules.handlers import (
    EVENT_NAME,
    MESSAGE_ID,
    condition_holds,
    condition_job,
    domains,
    expanded,
    filled,
    read_payload,
)
from engine.rules.validation import require
from engine.rules.validation_triggers import handler_errors
from engine.services.executions import Executions
from engine.services.port import Port
from engine.services.tasks import Tasks
from engine.services.trigger_shelf import Document, TriggerShelf

TRIES = 3
"""How often an action is tried while the engine is too busy to take it."""

Evaluate = Callable[[ScriptJob], ScriptAnswer]


class Triggers:
    """The catalogue of event handlers, and what they do."""

    def __init__(
        self,
        port: Port,
        shelf: TriggerShelf,
        executions: Executions,
        tasks: Tasks,
        evaluate: Evaluate,
    ) -> None:
        self._port = port
        self._shelf = shelf
        self._executions = executions
        self._tasks = tasks
        self._evaluate = evaluate

    # The catalogue

    def add(self, given: Json) -> None:
        """Register a new event handler. Conflict: there is one of that name."""
        handler = EventHandler.read(given)
        require(handler_errors(handler))
        name = handler.name or ""
        if self._shelf.handler(name) is not None:
            raise Conflict(f"EventHandler with name {name} already exists!")
        self._shelf.put_handler(handler.json_value())

    def update(self, given: Json) -> None:
        """Replace an event handler. NotFound: there is none of that name."""
        handler = EventHandler.read(given)
        require(handler_errors(handler, "updateEventHandler.arg0"))
        self._require_known(handler.name or "")
        self._shelf.put_handler(handler.json_value())

    def remove(self, name: str) -> None:
        """Take an event handler out. NotFound: there is none of that name."""
        self._require_known(name)
        self._shelf.remove_handler(name)

    def _require_known(self, name: str) -> None:
        if self._shelf.handler(name) is None:
            raise NotFound(f"EventHandler with name {name} not found!")

    def handlers(self, event: str | None = None, *, active_only: bool = False) -> list[Document]:
        """All event handlers, or those of an event."""
        return self._shelf.handlers(event, active_only)

    def executions(self, event: str | None = None, limit: int = 100) -> list[Document]:
        """What actions did with messages, the newest first."""
        return self._shelf.event_executions(event, limit)

    # Messages

    def deliver(self, event: str, payload: Json | bytes, message_id: str) -> int:
        """Hand a message to every active handler of its event; how many actions were done now.

        NotTaken: an action could not be taken; deliver the message again, what was done already is
        not done twice.
        """
        self._tell_of("event.received", event)
        try:
            done = self._deliver(event, read_payload(payload), message_id)
        except Exception:
            self._tell_of("event.failed", event)
            raise
        self._tell_of("event.handled", event)
        return done

    def _tell_of(self, what: str, event: str) -> None:
        queue_type, _, queue_name = event.partition(":")
        self._port.core.telemetry.say(what, queue_type=queue_type, queue_name=queue_name)

    def _deliver(self, event: str, body: Json, message_id: str) -> int:
        done = 0
        busy: NotTaken | None = None
        for document in self._shelf.handlers(event, True):
            handler = EventHandler.read(document)
            try:
                done += self._handle(handler, event, body, message_id)
            except NotTaken as error:
                busy = error
        if busy is not None:
            raise busy
        return done

    def _handle(self, handler: EventHandler, event: str, body: Json, message_id: str) -> int:
        if not self._applies(handler, body):
            record = self._record(handler, event, message_id, 0, ActionStatus.SKIPPED, body)
            if self._known(record) is None:
                self._shelf.put_event_execution(record)
            return 0
        done = 0
        busy: NotTaken | None = None
        for index, action in enumerate(handler.actions):
            try:
                done += self._once(handler, action, event, body, message_id, index)
            except NotTaken as error:
                busy = error
        if busy is not None:
            raise busy
        return done

    def _applies(self, handler: EventHandler, body: Json) -> bool:
        job = condition_job(handler, body)
        return job if isinstance(job, bool) else condition_holds(self._evaluate(job))

    def _once(
        self,
        handler: EventHandler,
        action: Action,
        event: str,
        body: Json,
        message_id: str,
        index: int,
    ) -> int:
        """One action, unless it has been done with this message before."""
        record = self._record(
            handler, event, message_id, index, ActionStatus.IN_PROGRESS, {}, action
        )
        before = self._known(record)
        if before is not None and ActionStatus(before["status"]).final:
            return 0
        self._shelf.put_event_execution(record)
        seen = expanded(body) if action.expand_inline_json else body
        told = {"event": event, "handler": handler.name, "action": record.get("action")}
        telemetry = self._port.core.telemetry
        try:
            output = self._with_patience(handler, action, event, seen, message_id, index)
            status = ActionStatus.COMPLETED
            telemetry.say("action.done", **told)
        except NotTaken:
            raise
        except EngineError as error:
            output, status = {"error": error.message}, ActionStatus.FAILED
            kind = type(error).__name__
            telemetry.say("action.failed", **told, entity=_about(action), exception=kind)
        self._shelf.put_event_execution({**record, "status": status.value, "output": output})
        return 1

    def _known(self, record: Document) -> Document | None:
        return self._shelf.event_execution(record["id"], record["event"], record["name"])

    def _record(
        self,
        handler: EventHandler,
        event: str,
        message_id: str,
        index: int,
        status: ActionStatus,
        output: Json,
        action: Action | None = None,
    ) -> Document:
        record = {
            "id": f"{message_id}_{index}",
            "messageId": message_id,
            "name": handler.name,
            "event": event,
            "created": self._port.core.clock.now(),
            "status": status.value,
            "output": output if isinstance(output, dict) else {"payload": output},
        }
        if action is not None and action.action is not None:
            record["action"] = action.action.value
        return record

    def _with_patience(
        self,
        handler: EventHandler,
        action: Action,
        event: str,
        payload: Json,
        message_id: str,
        index: int,
    ) -> Document:
        """The action's output. An engine too busy to take it is asked again, a few times."""
        own = f"{event}:{message_id}:{handler.name}:{index}"
        origin = {MESSAGE_ID: message_id, EVENT_NAME: event}
        for _ in range(TRIES - 1):
            try:
                return self._act(action, payload, own, origin)
            except NotTaken:
                continue
        return self._act(action, payload, own, origin)

    # Actions

    def _act(self, action: Action, payload: Json, own: str, origin: dict[str, str]) -> Document:
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
        reply = self._port.send(Asked(_named_after(start, event), workflow_id=workflow_id))
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


def _about(action: Action) -> str | None:
    """What an action is about, as it is written in its handler."""
    if action.start_workflow is not None:
        return action.start_workflow.name
    task = action.complete_task or action.fail_task
    return None if task is None else task.task_ref_name


def _required(workflow_id: str | None) -> str:
    if not workflow_id:
        raise InvalidInput("workflowId is empty: it names the execution that is meant.")
    return workflow_id


def _named_after(start: Start, event: str) -> Start:
    return replace(start, event=event)


def _id_of(own: str, payload: Json) -> str:
    """The id of an execution that a message starts. It is of the family of the execution that has
    sent the message, so that those which start each other in a circle are counted."""
    sender = payload.get("workflowInstanceId") if isinstance(payload, dict) else None
    text = f"event:{own}"
    return child_id(sender, text, 0) if isinstance(sender, str) and sender else derived_id(text)


def derived_id(text: str) -> str:
    """A workflow id that is always the same for the same origin."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest, version=3))
