"""What an event handler makes of a message: its payload, its condition, its filled-in actions.

Placeholders in an action are read from the payload itself: `${orderId}`, not `${payload.orderId}`.
"""

from typing import TypeVar

from engine.expressions.roots import MappingRoot
from engine.expressions.scripts import (
    EVALUATORS,
    VALUE_PARAM,
    Language,
    ScriptAnswer,
    ScriptJob,
    value_param,
)
from engine.expressions.scripts import is_true as script_is_true
from engine.expressions.templates import compile_template
from engine.model.errors import InvalidInput
from engine.model.record import Json, Record, decode
from engine.model.triggers import EventHandler, StartWorkflowAction

MESSAGE_ID, EVENT_NAME = "conductor.event.messageId", "conductor.event.name"
"""What the input of a started execution and the output of an updated task say of their message."""

Part = TypeVar("Part", bound=Record)


def read_payload(payload: Json | bytes) -> Json:
    """A message's body: JSON as what it says, any other text as it is."""
    if not isinstance(payload, str | bytes):
        return payload
    try:
        return decode(payload if isinstance(payload, bytes) else payload.encode())
    except ValueError:
        return payload.decode(errors="replace") if isinstance(payload, bytes) else payload


def expanded(value: Json) -> Json:
    """A payload in which texts that hold a JSON object or list are what they hold. Texts inside
    lists stay as they are."""
    if isinstance(value, dict):
        return {key: _opened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [item if isinstance(item, str) else expanded(item) for item in value]
    return value


def _opened(value: Json) -> Json:
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return decode(value.encode())
        except ValueError:
            return value
    return expanded(value)


def condition_job(handler: EventHandler, payload: Json) -> ScriptJob | bool:
    """The script that decides whether a handler acts, or the decision where it needs none.
    No condition means always; one of blanks alone, and an unknown evaluator, mean never."""
    condition = handler.condition
    if not condition:
        return True
    if not condition.strip():
        return False
    if handler.evaluator_type == VALUE_PARAM:
        return script_is_true(value_param(payload, condition))
    language = EVALUATORS.get(handler.evaluator_type or Language.JAVASCRIPT)
    return False if language is None else ScriptJob(language, condition, payload)


def condition_holds(answer: ScriptAnswer) -> bool:
    """True itself and numbers above 0; an error counts as no."""
    return answer.error is None and script_is_true(answer)


def filled(part: Part, payload: Json) -> Part:
    """An action's part with its placeholders read from the payload."""
    root = MappingRoot(payload if isinstance(payload, dict) else {"payload": payload})
    try:
        value = compile_template(part.json_value()).fill(root)
    except ValueError as error:
        raise InvalidInput(f"The action's expressions cannot be filled: {error}") from error
    return type(part).read(value)


def domains(action: StartWorkflowAction, payload: Json) -> dict[str, str] | None:
    """The task domains of a start: the action's, else those that the message brings along."""
    if action.task_to_domain or not isinstance(payload, dict):
        return action.task_to_domain
    given = payload.get("taskToDomain")
    fits = isinstance(given, dict) and all(isinstance(value, str) for value in given.values())
    return given if fits else None
