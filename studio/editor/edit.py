"""One edit under way: a private copy of the definition, and what is to be told about it.

Also the careful reading of an operation, whose JSON may be anything a browser sends.
"""

from dataclasses import dataclass, field
from typing import Any

from studio.editor.places import Place, check_gap, list_at, read_place
from studio.editor.tree import ImpossibleOperation, JsonObject, Path, Spot, find, task_at

Operation = dict[str, Any]


@dataclass(slots=True)
class Edit:
    """Operations work on `definition` in place: it is a copy that nobody else holds yet."""

    definition: JsonObject
    label: str = ""
    select: str | None = None
    notes: list[str] = field(default_factory=list)

    def say(self, note: str) -> None:
        self.notes.append(note)

    def task(self, op: Operation) -> Spot:
        """The task an operation is about: by reference name, or by path where names fail."""
        if op.get("at") is not None:
            return task_at(self.definition, op["at"])
        return find(self.definition, text(op, "ref"))

    def gap(self, op: Operation) -> tuple[Place, list[Any]]:
        """A place where something can be put, and its list."""
        place = read_place(op.get("place"))
        siblings = list_at(self.definition, place.list_path, opening=True)
        check_gap(siblings, place.index)
        return place, siblings


def text(op: Operation, key: str) -> str:
    value = op.get(key)
    if isinstance(value, str) and value:
        return value
    raise ImpossibleOperation(f"`{op.get('op')}` needs `{key}`, a text; it was {value!r}.")


def optional_text(op: Operation, key: str) -> str | None:
    return None if op.get(key) is None else text(op, key)


def number(op: Operation, key: str) -> int:
    value = op.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ImpossibleOperation(f"`{op.get('op')}` needs `{key}`, a whole number; it was {value!r}.")


def json_object(op: Operation, key: str) -> JsonObject:
    value = op.get(key)
    if isinstance(value, dict):
        return value
    raise ImpossibleOperation(f"`{op.get('op')}` needs `{key}`, a JSON object.")


def steps(raw: Any) -> Path:
    """A path to a value inside a task or a definition."""
    fits = isinstance(raw, list | tuple) and all(
        isinstance(step, str) or (isinstance(step, int) and not isinstance(step, bool))
        for step in raw
    )
    if fits and raw:
        return tuple(raw)
    raise ImpossibleOperation(f"{raw!r} is no path: a list of keys and indexes is needed.")


def put(owner: JsonObject, path: Path, value: Any) -> None:
    """Set a value, opening the maps on the way to it."""
    inner: Any = owner
    for depth, step in enumerate(path):
        last = depth == len(path) - 1
        if isinstance(inner, dict) and isinstance(step, str):
            if last:
                inner[step] = value
            elif inner.get(step) is None:
                inner[step] = {}
        elif isinstance(inner, list) and isinstance(step, int) and 0 <= step < len(inner):
            if last:
                inner[step] = value
        else:
            raise ImpossibleOperation(
                f"`{'.'.join(map(str, path))}` cannot be set: "
                f"`{'.'.join(map(str, path[:depth])) or 'the task'}` has no `{step}`."
            )
        if not last:
            inner = inner[step]


def take_away(owner: JsonObject, path: Path) -> None:
    """Remove a key; one that is not there is already gone."""
    inner: Any = owner
    for step in path[:-1]:
        if isinstance(inner, dict):
            inner = inner.get(step)
        elif isinstance(inner, list) and isinstance(step, int) and 0 <= step < len(inner):
            inner = inner[step]
    if isinstance(inner, dict):
        inner.pop(path[-1], None)
