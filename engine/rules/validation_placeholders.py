"""Do the `${...}` in a task's inputs name something? Conductor's check, blind spots included: what
it lets pass and what it refuses is part of the API."""

import re
from collections.abc import Collection, Iterator

from engine.expressions.paths import InvalidPath, compile_path
from engine.expressions.roots import SYSTEM_NAMES
from engine.model.definitions import WorkflowTask
from engine.model.record import Json

_CUTS = re.compile(r"(?=(?<!\$)\$\{)|(?<=\})")


def placeholder_complaints(
    task: WorkflowTask, refs: Collection[str], environment: Collection[str]
) -> Iterator[str]:
    """What is wrong with the expressions in a task's inputParameters."""
    for key, text in texts_by_key(task.input_parameters):
        for piece in _CUTS.split(text):
            if piece.startswith("${") and piece.endswith("}"):
                yield from _complaints(piece[2:-1], key, text, task, refs, environment)


def texts_by_key(parameters: dict[str, Json]) -> Iterator[tuple[str, str]]:
    """Every text at any depth, with the innermost key it stands under."""
    for key, value in parameters.items():
        yield from _texts(key, value)


def _texts(key: str, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        yield from texts_by_key(value)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(key, item)


def _complaints(
    path: str,
    key: str,
    text: str,
    task: WorkflowTask,
    refs: Collection[str],
    environment: Collection[str],
) -> Iterator[str]:
    if not _is_path(path):
        yield f"key: {key} input parameter value: {path} is not valid"
        return
    if path in SYSTEM_NAMES or path in environment:
        return
    first = path.partition(".")[0]
    if first != "workflow" and first not in refs:
        yield (
            f"taskReferenceName: {first} for given task: {task.name} input value: {key} of input "
            f"parameter: {text} is not defined in workflow definition."
        )


def _is_path(path: str) -> bool:
    try:
        compile_path(path)
    except InvalidPath:
        return False
    return bool(path)
