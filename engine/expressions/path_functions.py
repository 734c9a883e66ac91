"""The functions a path may call: `length()`, `sum()`, `concat(…)` and their like. They return new
values and change nothing they are given."""

import math
from collections.abc import Callable

from engine.expressions.java_text import java_text
from engine.model.record import Json


class FunctionFails(ValueError):
    """A function has nothing it could answer; the whole read is null then."""


def _numbers(value: Json, arguments: list[Json]) -> list[float]:
    candidates: list[Json] = list(value) if isinstance(value, list) else []
    for argument in arguments:
        candidates.extend(argument if isinstance(argument, list) else [argument])
    found = [float(n) for n in candidates if isinstance(n, int | float) and not isinstance(n, bool)]
    if not found:
        raise FunctionFails("no numbers to work on")
    return found


def _deviation(numbers: list[float]) -> float:
    mean = sum(numbers) / len(numbers)
    return math.sqrt(sum(n * n for n in numbers) / len(numbers) - mean * mean)


def _over_numbers(work: Callable[[list[float]], float]) -> Callable[[Json, list[Json]], Json]:
    return lambda value, arguments: work(_numbers(value, arguments))


def _length(value: Json, arguments: list[Json]) -> Json:
    measured = arguments[0] if arguments else value
    return len(measured) if isinstance(measured, dict | list) else None


def _keys(value: Json, arguments: list[Json]) -> Json:
    return list(value) if isinstance(value, dict) else None


def _concat(value: Json, arguments: list[Json]) -> Json:
    parts = [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
    for argument in arguments:
        pieces = argument if isinstance(argument, list) else [argument]
        parts.extend(java_text(piece) for piece in pieces if piece is not None)
    return "".join(parts)


def _append(value: Json, arguments: list[Json]) -> Json:
    return [*value, *arguments] if isinstance(value, list) else value


def _at(value: Json, index: int) -> Json:
    if not isinstance(value, list) or not -len(value) <= index < len(value):
        raise FunctionFails("no such member")
    return value[index]


def _index(value: Json, arguments: list[Json]) -> Json:
    if not arguments or not isinstance(arguments[0], int | float):
        raise FunctionFails("index() needs a number")
    return _at(value, int(arguments[0]))


FUNCTIONS: dict[str, Callable[[Json, list[Json]], Json]] = {
    "length": _length,
    "size": _length,
    "keys": _keys,
    "min": _over_numbers(min),
    "max": _over_numbers(max),
    "sum": _over_numbers(sum),
    "avg": _over_numbers(lambda numbers: sum(numbers) / len(numbers)),
    "stddev": _over_numbers(_deviation),
    "concat": _concat,
    "append": _append,
    "first": lambda value, arguments: _at(value, 0),
    "last": lambda value, arguments: _at(value, -1),
    "index": _index,
}
