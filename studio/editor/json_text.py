"""The code view: text into a definition and back, with the place of a mistake in words.

Nothing is mended silently: what JSON cannot say or would lose is a problem, not a guess.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from studio.editor.tree import JsonObject


@dataclass(frozen=True, slots=True)
class TextProblem:
    """Line and column count from 1; they are None when the text is JSON but no definition."""

    message: str
    next_step: str
    line: int | None = None
    column: int | None = None

    def to_json(self) -> JsonObject:
        return {
            "message": self.message,
            "nextStep": self.next_step,
            "line": self.line,
            "column": self.column,
        }


class _Unsayable(ValueError):
    """A number that JSON text can spell but no definition can hold."""


def written(definition: JsonObject) -> str:
    """The text of a definition in our own layout."""
    text = json.dumps(definition, indent=2, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half a character is allowed in JSON as an escape, but not in a text that is sent.
        return json.dumps(definition, indent=2)
    return text


def read(text: str) -> tuple[JsonObject | None, TextProblem | None]:
    """The definition that a text spells, or why it spells none."""
    doubled: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> JsonObject:
        keys = [key for key, _ in items]
        doubled.extend(key for key in dict.fromkeys(keys) if keys.count(key) > 1)
        return dict(items)

    try:
        value = json.loads(
            text,
            object_pairs_hook=pairs,
            parse_constant=_refuse,
            parse_float=_float,
            parse_int=_int,
        )
    except json.JSONDecodeError as error:
        return None, _problem(text, error)
    except _Unsayable as error:
        return None, _located(text, str(error), "Write a plain number, or a text in quotes.")
    except RecursionError:
        return None, TextProblem(
            "The text is nested too deeply to be read.", "Take some levels out."
        )
    if doubled:
        return None, _doubled(text, doubled[0])
    if not isinstance(value, dict):
        return None, TextProblem(
            f"The text is {_kind(value)}, but a definition is an object.", "Begin with `{`."
        )
    return value, None


def _refuse(word: str) -> NoReturn:
    raise _Unsayable(word)


def _float(word: str) -> float:
    number = float(word)
    if number in (float("inf"), float("-inf")):
        raise _Unsayable(word)
    return number


def _int(word: str) -> int:
    # Python itself refuses to read longer ones, with an error of another kind.
    if len(word) > 4000:
        raise _Unsayable(word)
    return int(word)


def _located(text: str, word: str, next_step: str) -> TextProblem:
    found = re.search(rf"(?<![\w.+-]){re.escape(word)}(?![\w.])", text)
    line, column = _line_and_column(text, found.start() if found else 0)
    shown = word if len(word) <= 40 else f"{word[:40]}…"
    return TextProblem(f"`{shown}` is no number that JSON can hold.", next_step, line, column)


def _doubled(text: str, key: str) -> TextProblem:
    places = [m.start() for m in re.finditer(rf"{re.escape(json.dumps(key))}\s*:", text)]
    position = places[1] if len(places) == 2 else None
    line, column = (None, None) if position is None else _line_and_column(text, position)
    return TextProblem(
        f"The key `{key}` stands twice in one object, and only one of the values would be kept.",
        "Remove or rename one of the two.",
        line,
        column,
    )


def _problem(text: str, error: json.JSONDecodeError) -> TextProblem:
    message, next_step, position = _explained(text, error)
    return TextProblem(message, next_step, *_line_and_column(text, position))


def _explained(text: str, error: json.JSONDecodeError) -> tuple[str, str, int]:
    """A plain word for the mistakes that people make; the position is that of the mistake."""
    at = error.pos
    rest = text[at:]
    before = text[:at].rstrip()
    if not text.strip():
        return "The text is empty.", "Write a definition, or undo.", 0
    if rest.startswith(("'", "‘", "’", "“", "”")):
        return "A text stands in the wrong quotes.", 'Use straight double quotes: "…".', at
    if rest.startswith(("//", "/*", "#")):
        return "JSON has no comments.", "Put the remark into a `description`, or remove it.", at
    if word := re.match(r"(True|False|None|undefined)\b", rest):
        right = {"True": "true", "False": "false"}.get(word[1], "null")
        return f"`{word[1]}` is no JSON word.", f"Write `{right}`.", at
    if error.msg.startswith("Illegal trailing comma"):
        return "There is a comma after the last item.", "Remove that comma.", at
    if rest[:1] in ("}", "]") and before.endswith(","):
        return "There is a comma after the last item.", "Remove that comma.", len(before) - 1
    if error.msg.startswith("Unterminated string") or error.msg.startswith("Invalid control"):
        return (
            "A text is not closed on its line.",
            'Add the closing `"`; write a line break as \\n.',
            at,
        )
    if error.msg.startswith("Invalid \\escape"):
        return "A backslash stands before a sign it cannot escape.", "Write two backslashes.", at
    if error.msg.startswith("Extra data"):
        return (
            "There is more text after the end of the definition.",
            "Remove it, or one `}` too many.",
            at,
        )
    if not rest.strip():
        return "The text ends too early.", f"Close what is still open: `{_closing(text)}`.", at
    if error.msg.startswith("Expecting ',' delimiter"):
        return "A comma is missing.", "Put a comma after the item before.", len(before)
    if error.msg.startswith("Expecting ':' delimiter"):
        return "A colon is missing after the key.", 'Write "key": value.', at
    if error.msg.startswith("Expecting property name"):
        return "A key has to stand in double quotes.", 'Write "key": value.', at
    return (
        "A value is missing here.",
        "Write a text in quotes, a number, true, false, null, {} or [].",
        at,
    )


def _closing(text: str) -> str:
    """The brackets that are still open, innermost first."""
    still_open: list[str] = []
    for token in re.findall(r'"(?:\\.|[^"\\])*"|[{}\[\]]', text):
        if token in ("{", "["):
            still_open.append("}" if token == "{" else "]")
        elif token in ("}", "]") and still_open:
            still_open.pop()
    return "".join(reversed(still_open)) or "}"


def _line_and_column(text: str, position: int) -> tuple[int, int]:
    line = text.count("\n", 0, position) + 1
    return line, position - (text.rfind("\n", 0, position) + 1) + 1


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
