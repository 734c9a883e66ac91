"""The tests inside `[?(…)]`: reading them, and comparing values as the dialect compares them.
A filter must not become a way to stop the engine, so patterns that could run for long are refused."""

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Protocol

from engine.expressions.java_text import java_text
from engine.expressions.path_steps import PathTooCostly, Reading
from engine.model.record import Json

Test = Callable[[Json, Reading], bool]
Operand = Callable[[Json, Reading], Json]
ABSENT = object()
PATTERN_WORK_A_VISIT = 500


class FilterPath(Protocol):
    """A path inside a filter: `@…` starts at the current value, `$…` at the root."""

    def value(self, current: Json, reading: Reading) -> Json:
        """What the path leads to; ABSENT when to nothing."""
        ...

    def exists(self, current: Json, reading: Reading) -> bool: ...


class InvalidFilter(ValueError):
    """The text between `[?(` and `)]` is no test."""


# -- comparing ---------------------------------------------------------------------


def is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(left: Json, right: Json) -> bool:
    """Missing equals null; a number equals its own text; everything else needs the same type."""
    left, right = (None if v is ABSENT else v for v in (left, right))
    if is_number(left) and isinstance(right, str):
        try:
            return Decimal(java_text(left)) == Decimal(right)
        except InvalidOperation:
            return False
    if isinstance(left, str) and is_number(right):
        return left == java_text(right)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)


def _same_type(left: Json, right: Json) -> bool:
    return (is_number(left) and is_number(right)) or type(left) is type(right)


def _ordered(order: Callable[[Json, Json], bool]) -> Callable[[Json, Json], bool]:
    def compare(left: Json, right: Json) -> bool:
        if is_number(left) and is_number(right):
            return order(left, right)
        return isinstance(left, str) and isinstance(right, str) and order(left, right)

    return compare


def _among(value: Json, values: Json) -> bool:
    return isinstance(values, list) and any(equal(value, other) for other in values)


def _contains(left: Json, right: Json) -> bool:
    if isinstance(left, str):
        return isinstance(right, str) and right in left
    return _among(right, left)


def _lists(test: Callable[[list[Json], list[Json]], bool]) -> Callable[[Json, Json], bool]:
    return lambda left, right: (
        isinstance(left, list) and isinstance(right, list) and test(left, right)
    )


def _has_size(left: Json, right: Json) -> bool:
    return isinstance(left, str | list) and is_number(right) and len(left) == int(right)


def _is_empty(left: Json, right: Json) -> bool:
    return isinstance(left, str | list | dict) and (len(left) == 0) is right


def _matches(left: Json, right: Json, reading: Reading) -> bool:
    if isinstance(right, Pattern):
        text, pattern = left, right
    elif isinstance(left, Pattern):
        text, pattern = right, left
    else:
        return False
    texts = text if isinstance(text, list) else [text]
    return any(pattern.matches(one, reading) for one in texts)


OPERATORS: dict[str, Callable[[Json, Json], bool]] = {
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    "===": lambda left, right: _same_type(left, right) and equal(left, right),
    "!==": lambda left, right: not (_same_type(left, right) and equal(left, right)),
    "<": _ordered(lambda a, b: bool(a < b)),
    "<=": _ordered(lambda a, b: bool(a <= b)),
    ">": _ordered(lambda a, b: bool(a > b)),
    ">=": _ordered(lambda a, b: bool(a >= b)),
    "IN": _among,
    "NIN": lambda left, right: not _among(left, right),
    "CONTAINS": _contains,
    "ALL": _lists(lambda left, right: all(_among(v, left) for v in right)),
    "SUBSETOF": _lists(lambda left, right: all(_among(v, right) for v in left)),
    "ANYOF": _lists(lambda left, right: any(_among(v, right) for v in left)),
    "NONEOF": _lists(lambda left, right: not any(_among(v, right) for v in left)),
    "SIZE": _has_size,
    "EMPTY": _is_empty,
}


# -- patterns ------------------------------------------------------------------------

_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
_UNIT = re.compile(r"\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]|\(\?[a-zA-Z-]*:|.", re.DOTALL)


class Pattern:
    """`/…/i`, matched against a whole text; its work is counted before it is done."""

    def __init__(self, text: str, flags: str) -> None:
        self._text = text
        self._repeats, self._options = _branching(text)
        try:
            known = sum(_FLAGS.get(flag, re.NOFLAG) for flag in set(flags))
            self._compiled = re.compile(text, known)
        except (re.error, OverflowError, RecursionError) as error:
            raise InvalidFilter(f"the pattern /{text}/ is not valid: {error}") from error

    def matches(self, value: Json, reading: Reading) -> bool:
        text = java_text(value) if isinstance(value, str | bool) or is_number(value) else ""
        work = max(1, len(text)) ** max(1, self._repeats) * 2**self._options
        if work // PATTERN_WORK_A_VISIT > reading.visits_left:
            raise PathTooCostly(
                f"the pattern /{self._text}/ may take too long on a text of {len(text)} "
                "characters; use INLINE, which runs outside the engine"
            )
        reading.count(1 + work // PATTERN_WORK_A_VISIT)
        return self._compiled.fullmatch(text) is not None


def _branching(pattern: str) -> tuple[int, int]:
    """How many open repeats and how many options a pattern has. Repeating a group that branches
    itself, looking around and referring back are refused: on the wrong text they run for ever."""
    repeats = options = 0
    branching = [False]
    units = _UNIT.findall(pattern)
    for unit, following in zip(units, [*units[1:], ""], strict=True):
        if re.fullmatch(r"\\[1-9]", unit) or (unit == "(" and following == "?"):
            raise InvalidFilter(f"the pattern /{pattern}/ looks around or back, which is refused")
        if unit.startswith("("):
            branching.append(False)
        elif unit == ")" and len(branching) > 1:
            branched = branching.pop()
            if branched and following in ("*", "+", "{"):
                raise InvalidFilter(f"the pattern /{pattern}/ repeats a group that branches itself")
            branching[-1] = branching[-1] or branched
        elif unit in ("*", "+", "{", "?", "|"):
            branching[-1] = True
            repeats += unit in ("*", "+", "{")
            options += unit in ("?", "|")
    return repeats, options


# -- reading the text --------------------------------------------------------------

_PIECE = re.compile(
    r"""\s*(?:(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<word>true|false|null)(?!\w)|/(?P<pattern>(?:[^/\\]|\\.)*)/(?P<flags>[a-zA-Z]*))""",
    re.X | re.S,
)
_OPERATOR = re.compile(r"\s*([<>=~!]+|[A-Za-z]+)")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.S)


def unescape(text: str) -> str:
    """The text between quotes without its backslashes."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(
        lambda m: chr(int(m[1][1:], 16)) if len(m[1]) == 5 else _ESCAPES.get(m[1], m[1]), text
    )


class FilterReader:
    """Reads `a && (b || !c)`; how a path is read is told by whoever reads the path around it."""

    def __init__(self, text: str, read_path: Callable[[str], FilterPath]) -> None:
        self._text, self._at, self._read_path = text, 0, read_path

    def read(self) -> Test:
        test = self._alternatives()
        if self._next():
            raise InvalidFilter(f"expected the end of the filter at {self._text[self._at :]!r}")
        return test

    def _next(self) -> str:
        """The next character that is not blank, or nothing."""
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _take(self, word: str) -> bool:
        self._next()
        if self._text.startswith(word, self._at):
            self._at += len(word)
            return True
        return False

    def _alternatives(self) -> Test:
        tests = [self._conjunction()]
        while self._take("||"):
            tests.append(self._conjunction())
        return tests[0] if len(tests) == 1 else lambda v, r: any(test(v, r) for test in tests)

    def _conjunction(self) -> Test:
        tests = [self._single()]
        while self._take("&&"):
            tests.append(self._single())
        return tests[0] if len(tests) == 1 else lambda v, r: all(test(v, r) for test in tests)

    def _single(self) -> Test:
        if self._take("!"):
            negated = self._single()
            return lambda v, r: not negated(v, r)
        if self._take("("):
            inner = self._alternatives()
            if not self._take(")"):
                raise InvalidFilter("a parenthesis is not closed")
            return inner
        return self._comparison()

    def _comparison(self) -> Test:
        path = self._path() if self._next() in ("@", "$") else None
        left = self._literal() if path is None else path.value
        before = self._at
        found = _OPERATOR.match(self._text, self._at)
        word = found[1].upper() if found else ""
        if found is None or (word not in OPERATORS and word != "=~"):
            self._at = before
            if path is None:
                raise InvalidFilter("a value alone is no test")
            return path.exists
        self._at = found.end()
        right = self._path().value if self._next() in ("@", "$") else self._literal()
        if word == "=~":
            return lambda v, r: _matches(left(v, r), right(v, r), r)
        operator = OPERATORS[word]
        return lambda v, r: operator(left(v, r), right(v, r))

    def _path(self) -> FilterPath:
        start = self._at
        self._at += 1
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == "[" or (character == "(" and self._text[self._at - 1].isalnum()):
                self._at = closing(self._text, self._at) + 1
            elif character in " <>=~!&|)(],":
                break
            else:
                self._at += 1
        return self._read_path(self._text[start : self._at])

    def _literal(self) -> Operand:
        value = self._value()
        return lambda v, r: value

    def _value(self) -> Json:
        if self._take("["):
            return self._list()
        piece = _PIECE.match(self._text, self._at)
        if piece is None:
            raise InvalidFilter(f"expected a value at {self._text[self._at :]!r}")
        self._at = piece.end()
        if piece["text"] is not None:
            return unescape(piece["text"][1:-1])
        if piece["number"] is not None:
            whole = piece["number"].lstrip("-").isdigit()
            return int(piece["number"]) if whole else float(piece["number"])
        if piece["word"] is not None:
            return _WORDS[piece["word"]]
        return Pattern(piece["pattern"], piece["flags"])

    def _list(self) -> list[Json]:
        values: list[Json] = []
        while not self._take("]"):
            values.append(self._value())
            if not self._take(",") and self._next() != "]":
                raise InvalidFilter("a list is not closed")
        return values


def closing(text: str, start: int) -> int:
    """Where the bracket that opens at `start` closes, passing over quoted text and patterns."""
    pairs = {"[": "]", "(": ")"}
    opened, closed = text[start], pairs[text[start]]
    depth, at, before = 0, start, ""
    while at < len(text):
        character = text[at]
        if character in "'\"" or (character == "/" and before == "~"):
            at = _end_of_quote(text, at)
        elif character == opened:
            depth += 1
        elif character == closed:
            depth -= 1
            if depth == 0:
                return at
        before = before if character.isspace() else character
        at += 1
    raise InvalidFilter(f"the bracket at {text[start : start + 20]!r} is not closed")


def _end_of_quote(text: str, start: int) -> int:
    at = start + 1
    while at < len(text) and text[at] != text[start]:
        at += 2 if text[at] == "\\" else 1
    return at
