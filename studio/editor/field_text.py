"""Values of a form as one line or block of text and back, without loss.

A text that JSON would read as something else stands in quotes; everything else is itself. What
cannot be read is a FieldFault with a word for a person; nothing is guessed.
"""

import json
from typing import Any, Final

from studio.editor import json_text
from studio.editor.form_field import Field, Kind

_WHOLE: Final = frozenset({Kind.INT, Kind.SECONDS, Kind.MILLISECONDS})
_BLOCKS: Final = frozenset({Kind.JSON, Kind.JAVASCRIPT, Kind.JQ, Kind.SQL, Kind.LIST, Kind.MAP})
_SCRIPTS: Final = frozenset({Kind.JAVASCRIPT, Kind.JQ, Kind.SQL})
_PLAIN: Final = frozenset({Kind.TEXT, Kind.CHOICE, Kind.TASK_DEFINITION, Kind.WORKFLOW}) | _SCRIPTS

EMPTY: Final = object()
"""An empty field: the key is to be left out."""


class FieldFault(ValueError):
    """The text is no value of this field. The message says what would be one."""


def is_block(kind: Kind) -> bool:
    """Whether a field needs several lines."""
    return kind in _BLOCKS


def shown(value: Any) -> str:
    """Any value on one line; `read` gives the same value back."""
    if value is None:
        return ""
    if isinstance(value, str) and _stays_text(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def read(text: str) -> Any:
    """The value that a line means; an empty line means nothing at all."""
    if not text.strip():
        return EMPTY
    return text if _stays_text(text) else json.loads(text)


def shown_in(field: Field, value: Any) -> str:
    """A value as the widget of its field shows it."""
    if value is None:
        return ""
    if field.kind is Kind.LIST and isinstance(value, list):
        return "\n".join(shown(item) or '""' for item in value)
    if field.kind in (Kind.JSON, Kind.MAP, Kind.LIST) and not isinstance(value, str):
        return json.dumps(value, indent=2, ensure_ascii=False)
    if field.kind in _PLAIN and isinstance(value, str):
        return value
    return shown(value)


def read_in(field: Field, text: str) -> Any:
    """What somebody typed into the widget of a field."""
    if not text.strip():
        return EMPTY
    if field.kind in _PLAIN:
        return text if field.kind in _SCRIPTS else text.strip()
    if field.kind in _WHOLE:
        return _whole(field, text.strip())
    if field.kind is Kind.NUMBER:
        return _number(field, text.strip())
    if field.kind is Kind.LIST:
        return [read(line) for line in text.splitlines() if line.strip()]
    if field.kind in (Kind.JSON, Kind.MAP):
        return _json(field, text)
    return read(text)


def _stays_text(text: str) -> bool:
    """Whether a text read as JSON would not turn into another value."""
    if not text.strip():
        return text == ""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return True
    return False


def _is_expression(text: str) -> bool:
    return text.startswith("${") and text.endswith("}")


def _whole(field: Field, text: str) -> Any:
    if text.lstrip("+-").isdecimal() and len(text) < 20:
        return int(text)
    if _is_expression(text):
        return text
    raise FieldFault(f"{field.label} is a whole number, such as {field.default or 3}.")


def _number(field: Field, text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if _is_expression(text):
        return text
    raise FieldFault(f"{field.label} is a number, such as 0.5.")


def _json(field: Field, text: str) -> Any:
    if _is_expression(text.strip()):
        return text.strip()
    wrapped, problem = json_text.read(f'{{"value":{text}}}')
    if wrapped is not None and set(wrapped) == {"value"}:
        value = wrapped["value"]
        if field.kind is Kind.MAP and not isinstance(value, dict):
            raise FieldFault(f"{field.label} is a map: begin with `{{`.")
        return value
    _, problem = json_text.read(text)
    if problem is None or problem.line is None:
        raise FieldFault(f"{field.label} is no JSON. Write a text in quotes, a number, {{}} or [].")
    raise FieldFault(
        f"Line {problem.line}, column {problem.column}: {problem.message} {problem.next_step}"
    )
