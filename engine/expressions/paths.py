"""JSONPath in the dialect Conductor speaks (Jayway 2.9, exceptions suppressed): compiled once, read
many times, never raising on data. What is no path raises InvalidPath when it is compiled."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from engine.expressions.path_filters import (
    ABSENT,
    FilterReader,
    InvalidFilter,
    closing,
    unescape,
)
from engine.expressions.path_functions import FUNCTIONS, FunctionFails
from engine.expressions.path_steps import (
    Call,
    Filter,
    Indexes,
    Names,
    PathTooCostly,
    Reading,
    Scan,
    Slice,
    Step,
    Visit,
    Wildcard,
    chain,
    is_definite,
)
from engine.expressions.roots import MISSING, MappingRoot, Root
from engine.model.record import Json, decode

__all__ = ["InvalidPath", "Path", "PathTooCostly", "compile_path", "read_path"]

LONGEST_PATH = 64 * 1024
LONGEST_KEPT = 1024
MOST_STEPS = 200


class InvalidPath(ValueError):
    """The text is no path; reading it gives null."""


@dataclass(frozen=True, slots=True)
class Path:
    """A compiled path. `reads` are the root names it looks at; `reads_all` when it is any of them."""

    text: str
    definite: bool
    reads: frozenset[str]
    reads_all: bool
    read: Callable[[Root], Json]


def compile_path(text: str) -> Path:
    """`workflow.input.a[0]`, with or without `$.` in front; raises InvalidPath."""
    return _kept(text) if len(text) <= LONGEST_KEPT else _compile(text)


def _compile(text: str) -> Path:
    if len(text) > LONGEST_PATH:
        raise InvalidPath(f"a path may have {LONGEST_PATH} characters, this one has {len(text)}")
    try:
        reader = _PathReader(text if text.startswith(("$", "@")) else "$." + text)
        steps = reader.read()
    except InvalidFilter as error:
        raise InvalidPath(f"{text!r} is not a valid path: {error}") from error
    except RecursionError as error:
        raise InvalidPath(f"{text[:80]!r} is nested too deeply to be a path") from error
    definite = _all_definite(steps)
    reads, reads_all = _first_reads(steps)
    return Path(
        text,
        definite,
        reads | reader.reads,
        reads_all or reader.reads_all,
        _simple(steps) or _general(steps, definite),
    )


_kept = lru_cache(maxsize=8192)(_compile)


def read_path(value: Json, text: str) -> Json:
    """A path read once from plain JSON; null when the text is no path."""
    try:
        path = compile_path(text)
    except InvalidPath:
        return None
    if isinstance(value, dict):
        return path.read(MappingRoot(value))
    return None


# -- reading a path from a root ------------------------------------------------------


def _all_definite(steps: tuple[Step, ...]) -> bool:
    last = len(steps) - 1
    return all(is_definite(step, position == last) for position, step in enumerate(steps))


def _single_name(steps: tuple[Step, ...], position: int) -> str | None:
    if position < len(steps):
        step = steps[position]
        if isinstance(step, Names) and len(step.names) == 1:
            return step.names[0]
    return None


def _first_reads(steps: tuple[Step, ...]) -> tuple[frozenset[str], bool]:
    if steps and isinstance(steps[0], Names):
        return frozenset(steps[0].names), False
    return frozenset(), not (steps and isinstance(steps[0], Call) and steps[0].arguments)


def _simple(steps: tuple[Step, ...]) -> Callable[[Root], Json] | None:
    """Names and single indexes only: nearly every path there is, so it gets the short way."""
    keys: list[str | int] = []
    for step in steps:
        match step:
            case Names((name,)):
                keys.append(name)
            case Indexes((index,)):
                keys.append(index)
            case _:
                return None
    if len(keys) < 2 or not isinstance(keys[0], str) or not isinstance(keys[1], str):
        return None
    name, field, rest = keys[0], keys[1], tuple(keys[2:])
    only = rest[0] if rest and isinstance(rest[0], str) else None

    def read(root: Root) -> Json:
        value = root.field(name, field, only)
        if value is MISSING:
            return None
        for key in rest:
            if isinstance(key, str):
                if type(value) is not dict:
                    return None
                value = value.get(key)
            elif type(value) is list and -len(value) <= key < len(value):
                value = value[key]
            else:
                return None
        return value

    return read


def _start(steps: tuple[Step, ...]) -> tuple[Callable[[Root], Json], Visit]:
    """How the walk begins without asking the root for more than it must."""
    first, second = _single_name(steps, 0), _single_name(steps, 1)
    if first is not None and second is not None:
        only = _single_name(steps, 2)
        return lambda root: root.field(first, second, only), chain(steps[2:])
    if first is not None:
        return lambda root: root.get(first), chain(steps[1:])
    if steps and isinstance(steps[0], Call) and steps[0].arguments:
        return lambda root: {}, chain(steps)
    return _whole, chain(steps)


def _whole(root: Root) -> Json:
    return {name: root.get(name) for name in root.names()}


def _general(steps: tuple[Step, ...], definite: bool) -> Callable[[Root], Json]:
    fetch, visit = _start(steps)

    def find(root: Root, reading: Reading) -> Json:
        start = fetch(root)
        if start is not MISSING:
            visit(start, reading)
        if definite:
            return reading.found[-1] if reading.found else None
        return reading.found

    def read(root: Root) -> Json:
        try:
            return find(root, Reading(root))
        except FunctionFails:
            return None

    return read


# -- paths inside filters and arguments ----------------------------------------------


class _InnerPath:
    """A path within another one; it counts what it visits on the outer reading."""

    def __init__(self, text: str, steps: tuple[Step, ...]) -> None:
        self._from_root = text.startswith("$")
        self._definite = _all_definite(steps)
        self._fetch, self._visit = _start(steps) if self._from_root else (_whole, chain(steps))
        self._prefix = chain(steps[: self._definite_steps(steps)])

    @staticmethod
    def _definite_steps(steps: tuple[Step, ...]) -> int:
        for position, step in enumerate(steps):
            if not is_definite(step, position == len(steps) - 1):
                return position
        return len(steps)

    def _found(self, current: Json, reading: Reading) -> list[Json]:
        reading.count(1)
        inner = Reading(reading.root, reading.visits_left)
        start = self._fetch(reading.root) if self._from_root else current
        try:
            if start is not MISSING:
                self._visit(start, inner)
        finally:
            reading.visits_left = inner.visits_left
        return inner.found

    def value(self, current: Json, reading: Reading) -> Json:
        try:
            found = self._found(current, reading)
        except FunctionFails:
            return ABSENT
        if not self._definite:
            return found
        return found[-1] if found else ABSENT

    def exists(self, current: Json, reading: Reading) -> bool:
        if self._definite or self._from_root:
            return self.value(current, reading) is not ABSENT
        inner = Reading(reading.root, reading.visits_left)
        self._prefix(current, inner)
        return bool(inner.found)

    def argument(self, reading: Reading) -> Json:
        value = self.value(None, reading)
        return None if value is ABSENT else value


# -- reading the text of a path --------------------------------------------------------

_QUOTED = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*(,|\])""", re.S)
_WILDCARD = re.compile(r"\[\s*\*\s*\]")
_CLOSING = re.compile(r"\s*\]")
_FILTER = re.compile(r"\[\s*\?\s*\(")
_NUMBERS = re.compile(r"-?\d+(?:\s*,\s*-?\d+)*")
_SLICE = re.compile(r"(-?\d+)?:(-?\d+)?(?::.*)?")
_WORD = re.compile(r"[^.\[( ]+")


class _PathReader:
    def __init__(self, text: str) -> None:
        self._text = text.rstrip(" ")
        self._at = 1
        self._steps: list[Step] = []
        self.reads: frozenset[str] = frozenset()
        self.reads_all = False

    def read(self) -> tuple[Step, ...]:
        text = self._text
        if len(text) > 1 and text[1] not in ".[":
            raise InvalidPath(f"expected '.' or '[' after {text[0]!r} in {text!r}")
        if text.endswith("."):
            raise InvalidPath(f"a path must not end with a dot: {text!r}")
        while self._at < len(text):
            self._step()
            if len(self._steps) > MOST_STEPS:
                raise InvalidPath(f"a path may have {MOST_STEPS} steps, {text[:80]!r} has more")
        if self._steps and isinstance(self._steps[-1], Scan):
            raise InvalidPath(f"nothing follows '..' in {text!r}")
        return tuple(self._steps)

    def _step(self) -> None:
        text = self._text
        if text[self._at] == "[":
            self._bracket()
            return
        if text.startswith("..", self._at):
            self._steps.append(Scan())
            self._at += 2
        elif text[self._at] == ".":
            self._at += 1
        if text[self._at] == ".":
            raise InvalidPath(f"a dot too many at position {self._at} of {text!r}")
        if text[self._at] == "[":
            self._bracket()
        elif text[self._at] == "*":
            self._steps.append(Wildcard())
            self._at += 1
        else:
            self._word()

    def _word(self) -> None:
        found = _WORD.match(self._text, self._at)
        if found is None:
            raise InvalidPath(f"expected a name at position {self._at} of {self._text!r}")
        self._at = found.end()
        following = self._text[self._at : self._at + 1]
        if following == " ":
            raise InvalidPath(f"a name with a blank needs ['…'] in {self._text!r}")
        if following == "(":
            end = closing(self._text, self._at)
            self._call(found[0], self._text[self._at + 1 : end])
            self._at = end + 1
        else:
            self._steps.append(Names((found[0],)))

    def _call(self, name: str, arguments: str) -> None:
        function = FUNCTIONS.get(name)
        if function is None:
            raise InvalidPath(f"there is no function {name}() in {self._text!r}")
        readers = [self._argument(text) for text in _split_arguments(arguments)]
        self._steps.append(Call(function, tuple(reader for reader in readers if reader)))

    def _argument(self, text: str) -> Callable[[Reading], Json] | None:
        """A path or a JSON value; anything else, single quotes included, the dialect drops."""
        if text[:1] in ("$", "@"):
            inner = self._inner("$" + text[1:])
            return inner.argument
        if text[:1] in ("{", '"', "-") or text[:1].isdigit():
            try:
                value = decode(text.encode())
            except ValueError as error:
                raise InvalidPath(f"{text!r} is not JSON, in {self._text!r}") from error
            return lambda reading: value
        return None

    def _inner(self, text: str) -> _InnerPath:
        reader = _PathReader(text)
        steps = reader.read()
        if text.startswith("$"):
            reads, reads_all = _first_reads(steps)
            self.reads |= reads
            self.reads_all = self.reads_all or reads_all
        self.reads |= reader.reads
        self.reads_all = self.reads_all or reader.reads_all
        return _InnerPath(text, steps)

    def _bracket(self) -> None:
        if _QUOTED.match(self._text, self._at + 1):
            self._quoted_names()
        elif found := _WILDCARD.match(self._text, self._at):
            self._steps.append(Wildcard())
            self._at = found.end()
        elif found := _FILTER.match(self._text, self._at):
            end = closing(self._text, found.end() - 1)
            after = _CLOSING.match(self._text, end + 1)
            if after is None:
                raise InvalidPath(f"expected ']' after the filter in {self._text!r}")
            test = FilterReader(self._text[found.end() : end], self._inner).read()
            self._steps.append(Filter(test))
            self._at = after.end()
        else:
            self._numbers()

    def _quoted_names(self) -> None:
        names: list[str] = []
        self._at += 1
        while found := _QUOTED.match(self._text, self._at):
            names.append(unescape(found[1][1:-1]))
            self._at = found.end()
            if found[2] == "]":
                self._steps.append(Names(tuple(names)))
                return
        raise InvalidPath(f"expected a quoted name at position {self._at} of {self._text!r}")

    def _numbers(self) -> None:
        end = self._text.find("]", self._at)
        inside = self._text[self._at + 1 : end].strip() if end > 0 else ""
        if _NUMBERS.fullmatch(inside):
            self._steps.append(Indexes(tuple(int(part) for part in inside.split(","))))
        elif (found := _SLICE.fullmatch(inside)) and (found[1] or found[2]):
            start, stop = (int(part) if part else None for part in (found[1], found[2]))
            self._steps.append(Slice(start, stop))
        else:
            raise InvalidPath(f"{self._text[self._at : end + 1]!r} is no index in {self._text!r}")
        self._at = end + 1


def _split_arguments(text: str) -> list[str]:
    """Cut at the commas that stand outside of quotes and brackets."""
    parts, start, depth, quote, at = [], 0, 0, "", 0
    while at < len(text):
        character = text[at]
        if quote:
            if character == "\\":
                at += 1
            elif character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
        at += 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]
