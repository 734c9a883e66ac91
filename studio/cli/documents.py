"""What is handed to a command: JSON in an argument, in a file or on standard input, and lists of ids.

Whatever cannot be read is a usage error that names the file, the line and the column.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

Document = dict[str, Any]
Command = Callable[..., None]


def json_option(*names: str, words: str) -> Callable[[Command], Command]:
    """An option that takes `{"a": 1}`, `@file.json`, or `@-` for standard input; always an object."""
    return click.option(*names, metavar="JSON|@FILE", callback=_object, help=words)


def _object(context: click.Context, option: click.Parameter, value: str | None) -> Document | None:
    if value is None:
        return None
    place = value[1:] if value.startswith("@") else ""
    found = parsed(_text(place), place) if place else parsed(value, "the JSON")
    if not isinstance(found, dict):
        raise click.BadParameter(f'{place or value} is no JSON object: write {{"name": value}}.')
    return found


def _text(place: str) -> str:
    if place == "-":
        return _standard_input()
    try:
        return Path(place).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{place} cannot be read: {reason(error)}.") from error


def _standard_input() -> str:
    try:
        # Python has none where it was closed before the start.
        return "" if sys.stdin is None else sys.stdin.read()
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"standard input cannot be read: {reason(error)}.") from error


def reason(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8"


def parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise click.BadParameter(
            f"{place}, line {error.lineno}, column {error.colno}: {error.msg}."
        ) from error
    except RecursionError as error:
        raise click.BadParameter(f"{place} is nested too deeply.") from error
    except ValueError as error:
        raise click.BadParameter(f"{place}: {error}.") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def read(place: str) -> Any:
    """The JSON of a file, or of standard input by the name `-`."""
    return parsed(_text(place), "standard input" if place == "-" else place)


def objects(places: Sequence[str]) -> Iterator[tuple[str, Document]]:
    """Every object in the files, with its file; a file may hold one or a list of them."""
    for place in places:
        found = read(place)
        listed = found if isinstance(found, list) else [found]
        if not listed:
            raise click.BadParameter(f"{place} holds an empty list: there is nothing to do.")
        for one in listed:
            if not isinstance(one, dict):
                raise click.BadParameter(f"{place} must hold a JSON object, or a list of them.")
            yield place, one


def ids(given: Sequence[str]) -> list[str]:
    """Each id once, in order; `-` stands for the words on standard input."""
    found: list[str] = []
    for one in given:
        found += _standard_input().split() if one == "-" else [one]
    if not found:
        raise click.UsageError("No id was given.")
    return list(dict.fromkeys(found))
