"""Events as stored JSON, typed by the name of their class. Never pickled.

Payload bytes travel as text inside the document, so they come back byte for byte. A definition is
not repeated in the letter: it is a snapshot, and the letter names its hash.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from enum import StrEnum
from typing import Any, get_args, get_type_hints

from engine.model import events
from engine.model.definitions import WorkflowDef
from engine.model.events import Event
from engine.model.ids import content_hash
from engine.model.record import decode, encode

Keep = Callable[[str, WorkflowDef], None]
"""Sees to it that a definition is stored under its hash."""
Find = Callable[[str], WorkflowDef]
"""The definition stored under a hash."""

_CLASSES: dict[str, type[Event]] = {
    name: kind
    for name, kind in vars(events).items()
    if isinstance(kind, type) and issubclass(kind, Event)
}
_KINDS = {name: get_type_hints(kind, vars(events)) for name, kind in _CLASSES.items()}


def written(event: Event, keep: Keep) -> tuple[str, bytes]:
    """The class name and the document of an event; unset fields are left out."""
    document: dict[str, Any] = {}
    for item in fields(event):
        value = getattr(event, item.name)
        if value is None or value == _default(item):
            continue
        if isinstance(value, bytes):
            value = value.decode()
        elif isinstance(value, WorkflowDef):
            value = _kept(event, value, keep)
        document[item.name] = value
    return type(event).__name__, encode(document)


def _default(item: Field[Any]) -> Any:
    return item.default if item.default_factory is MISSING else item.default_factory()


def _kept(event: Event, definition: WorkflowDef, keep: Keep) -> str:
    name: str = getattr(event, "definition_hash", None) or content_hash(definition.json_bytes())
    keep(name, definition)
    return name


def read(kind: str, body: bytes, find: Find) -> Event:
    """The event in a document."""
    hints = _KINDS[kind]
    given = {name: _typed(hints[name], value, find) for name, value in decode(body).items()}
    return _CLASSES[kind](**given)


def _typed(hint: Any, value: Any, find: Find) -> Any:
    """A JSON value as the type that the field is declared with."""
    options = get_args(hint) or (hint,)
    kind = options[0]
    if kind is bytes:
        return value.encode()
    if kind is WorkflowDef:
        return find(value)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(value)
    if getattr(hint, "__origin__", None) is tuple:
        return tuple(value)
    return value
