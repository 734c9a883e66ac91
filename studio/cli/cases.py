"""Where mock tests come from: a suite on the desk, a suite in a file, a folder of samples.

A case is the same plain document that the studio keeps. Nothing is played and no server is asked
here.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from studio.cli import documents
from studio.desk.desk import Desk, DeskError
from studio.desk.place import DEFAULT_FILE, FILE
from studio.editor.tree import JsonObject
from studio.views import mock_cases

SAMPLE: Final = "sample.json"


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases of one definition. What a suite in a file brings along need not be registered."""

    name: str
    definition_name: str
    cases: tuple[JsonObject, ...]
    definition: JsonObject | None = None
    others: tuple[JsonObject, ...] = ()
    task_defs: tuple[JsonObject, ...] = ()


def suites(given: Sequence[str], desk_file: str | None) -> list[Suite]:
    """The suites that words name; without a word all of the desk."""
    if not given:
        found = list(_on_desk(None, desk_file))
        if not found:
            raise click.UsageError(
                "The desk holds no suite. Name a file, or save one in the studio."
            )
        return found
    return [suite for word in given for suite in _named(word, desk_file)]


def _named(word: str, desk_file: str | None) -> Iterable[Suite]:
    path = Path(word)
    if path.is_dir():
        found = sorted(path.rglob(SAMPLE))
        if not found:
            raise click.UsageError(f"There is no {SAMPLE} in {word}.")
        return [_of_sample(sample) for sample in found]
    if path.is_file():
        return [_of_file(path)]
    kept = list(_on_desk(word, desk_file))
    if not kept:
        raise click.UsageError(
            f"{word!r} is no file, no folder, and no suite on the desk. "
            "Look at the names with `reprise test --list`."
        )
    return kept


def _on_desk(word: str | None, desk_file: str | None) -> Iterator[Suite]:
    """By the name of a suite, by that of its definition, or by both with a stroke between."""
    file = Path(desk_file or os.environ.get(FILE) or DEFAULT_FILE)
    if not file.exists():
        return
    try:
        desk = Desk(file)
        kept = desk.suites()
        desk.close()
    except DeskError as error:
        raise click.UsageError(str(error)) from error
    for one in kept:
        if word in (None, one.name, one.definition, f"{one.definition}/{one.name}"):
            cases = tuple(mock_cases.kept_cases(one.document))
            yield Suite(f"{one.definition}/{one.name}", one.definition, cases)


def _of_file(path: Path) -> Suite:
    document = documents.read(str(path))
    if isinstance(document, dict) and "mocks" in document and "definitions" in document:
        return _of_sample(path)
    if not isinstance(document, dict) or not isinstance(document.get("cases"), list):
        raise click.UsageError(
            f"{path} is no suite: it needs `definition` and `cases`, or the fields of a {SAMPLE}."
        )
    whole = document.get("definition")
    name = whole.get("name") if isinstance(whole, dict) else whole
    if not isinstance(name, str) or not name:
        raise click.UsageError(f"{path} names no definition: write its name, or put it in whole.")
    cases = tuple(mock_cases.kept_cases(document))
    return Suite(path.stem, name, cases, whole if isinstance(whole, dict) else None)


def _of_sample(path: Path) -> Suite:
    """A sample lies beside its definitions; each way through it is a case."""
    document = documents.read(str(path))
    try:
        files = {str(name): _beside(path, name) for name in document["definitions"]}
        definition = files[document["definition"]]
        task_defs = _beside(path, document["taskDefs"]) if "taskDefs" in document else []
        ways = [document, document["failing"], *document.get("variants", ())]
        cases = tuple(_case(way) for way in ways)
    except (KeyError, TypeError) as error:
        raise click.UsageError(f"{path} is no whole sample: {error} is missing.") from error
    others = tuple(one for one in files.values() if one is not definition)
    name = str(definition.get("name"))
    return Suite(path.parent.name, name, cases, definition, others, tuple(task_defs))


def _beside(path: Path, name: Any) -> Any:
    return documents.read(str(path.with_name(str(name))))


def _case(way: JsonObject) -> JsonObject:
    return mock_cases.of_sample(
        str(way["title"]),
        way["input"],
        way["mocks"],
        way.get("subWorkflowTestRequest", {}),
        way["expect"],
    )


def definitions_in(files: Sequence[str]) -> dict[str, JsonObject]:
    """Definitions by name, from files."""
    return {str(one.get("name")): one for _, one in documents.objects(files)}


def shown(value: Any) -> str:
    """A value as it stands in a report."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
