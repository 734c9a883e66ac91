"""Event handlers: what is done with the messages of event queues.

A message may come more than once; each of its actions is done once. Conditions are scripts, so this
runs in threads of its own, never in the core's.
"""

from collections.abc import Callable
from dataclasses import dataclass

from engine.expressions.scripts import ScriptAnswer, ScriptJob
from engine.model.errors import Conflict, EngineError, NotFound, NotTaken
from engine.model.record import Json
from engine.model.triggers import Action, ActionStatus, EventHandler
from engine.rules.handlers import (
    EVENT_NAME,
    MESSAGE_ID,
    condition_holds,
    condition_job,
    expanded,
    read_payload,
)
from engine.rules.validation import require
from engine.rules.validation_triggers import handler_errors
from engine.services.actions import Actions
from engine.services.executions import Executions
from engine.services.port import Port
from engine.services.tasks import Tasks
from engine.services.trigger_shelf import Document, TriggerShelf

TRIES = 3
"""How often an action is tried while the engine is too busy to take it."""

Evaluate = Callable[[ScriptJob], ScriptAnswer]


@dataclass(frozen=True, slots=True)
class Message:
    """What an event queue brought."""

    event: str
    id: str
    body: Json


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
        self._actions = Actions(port, executions, tasks)
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
            done = self._deliver(Message(event, message_id, read_payload(payload)))
        except Exception:
            self._tell_of("event.failed", event)
            raise
        self._tell_of("event.handled", event)
        return done

    def _tell_of(self, what: str, event: str) -> None:
        queue_type, _, queue_name = event.partition(":")
        self._port.core.telemetry.say(what, queue_type=queue_type, queue_name=queue_name)

    def _deliver(self, message: Message) -> int:
        done = 0
        busy: NotTaken | None = None
        for document in self._shelf.handlers(message.event, True):
            handler = EventHandler.read(document)
            try:
                done += self._handle(handler, message)
            except NotTaken as error:
                busy = error
        if busy is not None:
            raise busy
        return done

    def _handle(self, handler: EventHandler, message: Message) -> int:
        if not self._applies(handler, message.body):
            record = self._record(handler, message, 0, ActionStatus.SKIPPED, message.body)
            if self._known(record) is None:
                self._shelf.put_event_execution(record)
            return 0
        done = 0
        busy: NotTaken | None = None
        for index, action in enumerate(handler.actions):
            try:
                done += self._once(handler, action, message, index)
            except NotTaken as error:
                busy = error
        if busy is not None:
            raise busy
        return done

    def _applies(self, handler: EventHandler, body: Json) -> bool:
        job = condition_job(handler, body)
        return job if isinstance(job, bool) else condition_holds(self._evaluate(job))

    def _once(self, handler: EventHandler, action: Action, message: Message, index: int) -> int:
        """One action, unless it has been done with this message before."""
        record = self._record(handler, message, index, ActionStatus.IN_PROGRESS, {}, action)
        before = self._known(record)
        if before is not None and ActionStatus(before["status"]).final:
            return 0
        self._shelf.put_event_execution(record)
        told = {"event": message.event, "handler": handler.name, "action": record.get("action")}
        telemetry = self._port.core.telemetry
        try:
            output = self._with_patience(handler, action, message, index)
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
        message: Message,
        index: int,
        status: ActionStatus,
        output: Json,
        action: Action | None = None,
    ) -> Document:
        record = {
            "id": f"{message.id}_{index}",
            "messageId": message.id,
            "name": handler.name,
            "event": message.event,
            "created": self._port.core.clock.now(),
            "status": status.value,
            "output": output if isinstance(output, dict) else {"payload": output},
        }
        if action is not None and action.action is not None:
            record["action"] = action.action.value
        return record

    def _with_patience(
        self, handler: EventHandler, action: Action, message: Message, index: int
    ) -> Document:
        """The action's output. An engine too busy to take it is asked again, a few times."""
        payload = expanded(message.body) if action.expand_inline_json else message.body
        own = f"{message.event}:{message.id}:{handler.name}:{index}"
        origin = {MESSAGE_ID: message.id, EVENT_NAME: message.event}
        for _ in range(TRIES - 1):
            try:
                return self._actions.carry_out(action, payload, own, origin)
            except NotTaken:
                continue
        return self._actions.carry_out(action, payload, own, origin)


def _about(action: Action) -> str | None:
    """What an action is about, as it is written in its handler."""
    if action.start_workflow is not None:
        return action.start_workflow.name
    task = action.complete_task or action.fail_task
    return None if task is None else task.task_ref_name
