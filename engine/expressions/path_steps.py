"""What each step of a JSONPath does to a value. A path is a chain of steps, joined from its end:
every step hands what it finds to the next one, the last one collects. Nothing here reads text."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.expressions.roots import Root
from engine.model.record import Json

VISITS_ALLOWED = 500_000


class PathTooCostly(ValueError):
    """A path visited more values than one read may."""


class Reading:
    """One read of one path: the root it reads from, what was found, and how much it may still visit."""

    __slots__ = ("found", "root", "visits_left")

    def __init__(self, root: Root, visits_left: int = VISITS_ALLOWED) -> None:
        self.root = root
        self.found: list[Json] = []
        self.visits_left = visits_left

    def count(self, visits: int) -> None:
        self.visits_left -= visits
        if self.visits_left < 0:
            raise PathTooCostly(
                f"a path visited more than {VISITS_ALLOWED} values; read a smaller part, "
                "or use JSON_JQ_TRANSFORM, which runs outside the engine"
            )


Visit = Callable[[Json, Reading], None]


@dataclass(frozen=True, slots=True)
class Names:
    """`.name`, `['a','b']`"""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Indexes:
    """`[0]`, `[-1]`, `[0,2]`"""

    indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """`[1:]`, `[:-1]`, `[0:2]`"""

    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`.*`, `[*]`"""


@dataclass(frozen=True, slots=True)
class Scan:
    """`..`"""


@dataclass(frozen=True, slots=True)
class Filter:
    """`[?(…)]`; the test sees the current value and the reading it is part of."""

    test: Callable[[Json, Reading], bool]


@dataclass(frozen=True, slots=True)
class Call:
    """`.length()`; what follows a call is never reached."""

    function: Callable[[Json, list[Json]], Json]
    arguments: tuple[Callable[[Reading], Json], ...]


Step = Names | Indexes | Slice | Wildcard | Scan | Filter | Call


def is_definite(step: Step, is_last: bool) -> bool:
    """Does this step lead from one value to at most one value?"""
    match step:
        case Names(names):
            return len(names) == 1 or is_last
        case Indexes(indexes):
            return len(indexes) == 1
        case Call():
            return True
    return False


def collect(value: Json, reading: Reading) -> None:
    reading.found.append(value)


def chain(steps: tuple[Step, ...]) -> Visit:
    """The steps as one function that starts at a value and collects what the last step finds."""
    visits: list[Visit] = [collect]
    for position in range(len(steps) - 1, -1, -1):
        step, is_last = steps[position], position == len(steps) - 1
        if isinstance(step, Scan):
            scanned, ends = steps[position + 1], position + 2 == len(steps)
            visits.append(_scan(scanned, visits[-1], visits[-2], ends))
        else:
            visits.append(_one(step, visits[-1], is_last))
    return visits[-1]


def _one(step: Step, then: Visit, is_last: bool) -> Visit:
    match step:
        case Names(names) if len(names) == 1:
            return _name(names[0], then)
        case Names(names):
            return _merged(names, then) if is_last else _each_name(names, then)
        case Indexes(indexes):
            return _indexes(indexes, then)
        case Slice(start, end):
            return _slice(start, end, then)
        case Wildcard():
            return _wildcard(then)
        case Filter(test):
            return _filter(test, then)
        case Call():
            return _call(step)
        case Scan():
            raise AssertionError("a scan is joined together with the step after it")


def _name(name: str, then: Visit) -> Visit:
    def visit(value: Json, reading: Reading) -> None:
        if isinstance(value, dict) and name in value:
            then(value[name], reading)

    return visit


def _each_name(names: tuple[str, ...], then: Visit) -> Visit:
    def visit(value: Json, reading: Reading) -> None:
        if isinstance(value, dict):
            for name in names:
                if name in value:
                    then(value[name], reading)

    return visit


def _merged(names: tuple[str, ...], then: Visit) -> Visit:
    def visit(value: Json, reading: Reading) -> None:
        if isinstance(value, dict):
            then({name: value[name] for name in names if name in value}, reading)

    return visit


def _at(value: list[Json], index: int, then: Visit, reading: Reading) -> None:
    place = index + len(value) if index < 0 else index
    if 0 <= place < len(value):
        then(value[place], reading)


def _indexes(indexes: tuple[int, ...], then: Visit) -> Visit:
    def visit(value: Json, reading: Reading) -> None:
        if isinstance(value, list):
            for index in indexes:
                _at(value, index, then, reading)

    return visit


def _places(start: int | None, end: int | None, length: int) -> range:
    """With both ends given, negative ones count like single indexes, so `[0:-1]` is empty and
    `[-3:-1]` is not; that is how the dialect behaves."""
    if end is None:
        first = start or 0
        return range(max(0, first + length if first < 0 else first), length)
    if start is None:
        return range(0, min(length, end + length if end < 0 else end))
    return range(start, min(length, end)) if length else range(0)


def _slice(start: int | None, end: int | None, then: Visit) -> Visit:
    def visit(value: Json, reading: Reading) -> None:
        if isinstance(value, list):
            places = _places(start, end, len(value))
            reading.count(len(places))
            for place in places:
                _at(value, place, then, reading)

    return visit


def _members(value: Json) -> Iterator[Json]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _wildcard(then: Visit) -> Visit:
    def visit(value: Json, reading: Reading) -> None:
        if isinstance(value, dict | list):
            reading.count(len(value))
            for member in _members(value):
                then(member, reading)

    return visit


def _filter(test: Callable[[Json, Reading], bool], then: Visit) -> Visit:
    def visit(value: Json, reading: Reading) -> None:
        if isinstance(value, dict):
            if test(value, reading):
                then(value, reading)
        elif isinstance(value, list):
            reading.count(len(value))
            for member in value:
                if test(member, reading):
                    then(member, reading)

    return visit


def _call(call: Call) -> Visit:
    def visit(value: Json, reading: Reading) -> None:
        reading.count(len(value) if isinstance(value, list) else 1)
        collect(call.function(value, [argument(reading) for argument in call.arguments]), reading)

    return visit


def _scan(step: Step, apply: Visit, after: Visit, is_last: bool) -> Visit:
    """Walk everything below a value and apply the next step wherever it fits. Over a list, a step
    that is not the last one lets the rest of the path start at every member: a trait of the dialect."""
    fits = _fits(step, is_last)

    def visit(value: Json, reading: Reading) -> None:
        waiting = [value]
        while waiting:
            current = waiting.pop()
            if not isinstance(current, dict | list):
                continue
            reading.count(1 + len(current))
            if fits(current, reading):
                if isinstance(current, dict) or is_last:
                    apply(current, reading)
                else:
                    for member in current:
                        after(member, reading)
            members = current.values() if isinstance(current, dict) else current
            waiting.extend(reversed(list(members)))

    return visit


def _fits(step: Step, is_last: bool) -> Callable[[Json, Reading], bool]:
    match step:
        case Names(names) if len(names) > 1 and not is_last:
            return lambda value, reading: isinstance(value, dict)
        case Names(names):
            return lambda value, reading: isinstance(value, dict) and all(n in value for n in names)
        case Indexes() | Slice():
            return lambda value, reading: isinstance(value, list)
        case Wildcard():
            return lambda value, reading: True
        case Filter(test):
            return lambda value, reading: test(value, reading)
    return lambda value, reading: False
