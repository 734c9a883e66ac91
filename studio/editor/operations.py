"""All edits of a definition: a definition and one operation in, a changed copy out.

An operation is JSON. A task is named by "ref" (or "at", a path, where names fail), a gap by
"place": {"list": path of the list, "index": n}; "within" is the path of an embedded workflow
definition that the operation is about. What cannot be done is an ImpossibleOperation, and then
nothing has happened: no argument is ever changed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from studio.editor import branches, contents, structure
from studio.editor.edit import Edit, Operation, steps
from studio.editor.joins import follow, joined_on, watch
from studio.editor.places import embedded_prefix
from studio.editor.references import loops_around, readers_of
from studio.editor.tree import (
    EMBEDDED,
    ImpossibleOperation,
    JsonObject,
    Path,
    all_refs,
    copied,
    same,
    spots,
)

OPERATIONS: dict[str, Callable[[Edit, Operation], None]] = {
    "insert": structure.insert,
    "duplicate": structure.duplicate,
    "move": structure.move,
    "delete": structure.delete,
    "wrap": structure.wrap,
    "add_case": branches.add_case,
    "rename_case": branches.rename_case,
    "delete_case": branches.delete_case,
    "move_case": branches.move_case,
    "add_branch": branches.add_branch,
    "delete_branch": branches.delete_branch,
    "move_branch": branches.move_branch,
    "update": contents.update,
    "rename": contents.rename,
    "replace": contents.replace,
    "convert": contents.convert,
    "set_workflow": contents.set_workflow,
    "set_definition": contents.set_definition,
}


@dataclass(frozen=True, slots=True)
class Result:
    """`select` is the task to select next, `label` says what was done, `notes` what else to know."""

    definition: JsonObject
    label: str
    select: str | None
    notes: tuple[str, ...]
    changed: bool


def apply(definition: JsonObject, op: Operation) -> Result:
    """Carry out one operation on a copy."""
    if not isinstance(op, dict) or op.get("op") not in OPERATIONS:
        word = op.get("op") if isinstance(op, dict) else op
        raise ImpossibleOperation(f"`{word}` is no operation. There are {', '.join(OPERATIONS)}.")
    within = scope_of(op)
    if within:
        return _apply_within(definition, op, within)
    edit = Edit(copied(definition))
    watched = watch(edit.definition)
    OPERATIONS[op["op"]](edit, op)
    edit.notes += follow(edit.definition, watched)
    edit.notes += _notes_about_gone(definition, edit.definition)
    changed = not same(definition, edit.definition)
    return Result(edit.definition, edit.label, edit.select, tuple(edit.notes), changed)


def scope_of(op: Operation) -> Path:
    """The embedded definition an operation is about, said outright or by the paths it uses."""
    if op.get("within"):
        return steps(op["within"])
    place = op.get("place")
    return embedded_prefix(op.get("at") or (place.get("list") if isinstance(place, dict) else None))


def _apply_within(definition: JsonObject, op: Operation, within: Path) -> Result:
    whole = copied(definition)
    inner: Any = whole
    for step in within:
        fits = isinstance(inner, dict) if isinstance(step, str) else isinstance(inner, list)
        known = fits and (step in inner if isinstance(step, str) else 0 <= step < len(inner))
        inner = inner[step] if known else None
    if within[-2:] != EMBEDDED or not isinstance(inner, dict):
        raise ImpossibleOperation("The embedded workflow definition is not there any more.")
    result = apply(inner, _relative(op, within))
    inner.clear()
    inner.update(result.definition)
    return replace(result, definition=whole)


def _relative(op: Operation, within: Path) -> Operation:
    """The same operation as seen from inside."""

    def cut(path: Any) -> Any:
        path = tuple(path) if isinstance(path, list | tuple) else path
        inside = isinstance(path, tuple) and path[: len(within)] == within
        return list(path[len(within) :]) if inside else path

    moved = {key: value for key, value in op.items() if key != "within"}
    if "at" in moved:
        moved["at"] = cut(moved["at"])
    if isinstance(moved.get("place"), dict):
        moved["place"] = {**moved["place"], "list": cut(moved["place"].get("list"))}
    return moved


def _notes_about_gone(before: JsonObject, definition: JsonObject) -> list[str]:
    """Who still speaks of tasks that are no longer there."""
    gone = all_refs(before) - all_refs(definition)
    if not gone:
        return []
    notes = [
        f"{', '.join(readers)} still read{'s' if len(readers) == 1 else ''} `{ref}`, which is gone."
        for ref, readers in sorted(readers_of(definition, gone, loops_around(before)).items())
    ]
    for spot in spots(definition):
        lost = [f"`{ref}`" for ref in joined_on(spot.task) if isinstance(ref, str) and ref in gone]
        if lost:
            notes.append(
                f"`{spot.called}` still waits for {', '.join(lost)}, which will never come."
            )
    return notes
