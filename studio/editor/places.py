"""Places between tasks: reading them, finding them again after a change, stepping by keyboard.

A place is a list inside the definition and an index in it. A place that cannot be found for
certain is refused, never guessed. Nothing is edited here.
"""

from dataclasses import dataclass
from typing import Any

from studio.editor.joins import fork_before, unit_around
from studio.editor.tree import (
    EMBEDDED,
    ImpossibleOperation,
    JsonObject,
    Path,
    Spot,
    branches_of,
    find,
    in_words,
    owner_of,
    ref_of,
    refs_in,
    task_at,
    type_of,
)

_OPENED_BY = {"defaultCase": ("SWITCH", "DECISION"), "loopOver": ("DO_WHILE",)}


@dataclass(frozen=True, slots=True)
class Place:
    list_path: Path
    index: int

    def to_json(self) -> JsonObject:
        return {"list": list(self.list_path), "index": self.index}


def read_place(raw: Any) -> Place:
    if isinstance(raw, dict):
        path, index = raw.get("list"), raw.get("index")
        steps_fit = isinstance(path, list | tuple) and all(
            isinstance(step, str | int) and not isinstance(step, bool) for step in path
        )
        if steps_fit and path and isinstance(index, int) and not isinstance(index, bool):
            return Place(tuple(path), index)
    raise ImpossibleOperation(
        f"`{raw}` is no place. A place is a list inside the definition and an index in it."
    )


def embedded_prefix(path: Any) -> Path:
    """The way to the innermost embedded workflow definition that a path runs through."""
    steps = tuple(path) if isinstance(path, list | tuple) else ()
    for start in range(len(steps) - 3, 0, -1):
        if steps[start : start + 2] == EMBEDDED and isinstance(steps[start - 1], int):
            return steps[: start + 2]
    return ()


def list_at(definition: JsonObject, path: Path, *, opening: bool = False) -> list[Any]:
    """The list itself. A main list, default case or loop body that is absent counts as empty, and
    is put there only when opening."""
    if path == ("tasks",):
        return _plain_list(definition, "tasks", path, opening)
    for owner_length, keys in (
        (2, ("decisionCases", "forkTasks")),
        (1, ("defaultCase", "loopOver")),
    ):
        if len(path) > owner_length + 1 and path[-owner_length] in keys:
            task = task_at(definition, path[:-owner_length]).task
            break
    else:
        raise ImpossibleOperation(f"{in_words(path)} is no list of tasks.")
    if owner_length == 1:
        return _plain_list(task, str(path[-1]), path, opening)
    for branch in branches_of(task):
        if branch.path == path[-2:]:
            return branch.tasks
    raise ImpossibleOperation(
        f"`{ref_of(task)}` has no {'case' if path[-2] == 'decisionCases' else 'branch'} "
        f"`{path[-1]}` any more."
    )


def _plain_list(owner: JsonObject, key: str, path: Path, opening: bool) -> list[Any]:
    held = owner.get(key)
    if held is None:
        if key != "tasks" and type_of(owner) not in _OPENED_BY[key]:
            raise ImpossibleOperation(f"`{ref_of(owner)}` is a {type_of(owner)}: it has no {key}.")
        held = []
        if opening:
            owner[key] = held
    if not isinstance(held, list):
        raise ImpossibleOperation(
            f"{in_words(path)} is no list of tasks; mend it in the code view."
        )
    return held


def check_gap(siblings: list[Any], index: int) -> None:
    """Refuse an index outside the list and the gap between a fork and its join."""
    if not 0 <= index <= len(siblings):
        raise ImpossibleOperation(
            f"Position {index} is outside the list, which holds {len(siblings)} tasks."
        )
    if index < len(siblings) and (fork := fork_before(siblings, index)):
        raise ImpossibleOperation(
            f"Nothing can stand between the fork `{ref_of(fork)}` and its join. "
            "Choose a branch of the fork, or a place after the join."
        )


def place_in_words(definition: JsonObject, place: Place) -> str:
    """Such as "after charge", "before the first task", "first in case paid of route"."""
    siblings = list_at(definition, place.list_path)
    if place.index > 0 and (before := ref_of(siblings[place.index - 1])):
        return f"after {before}"
    owner = owner_of(definition, place.list_path)
    if owner is None:
        return "at the start"
    title = next(
        (
            branch.title
            for branch in branches_of(owner.task, owner.path)
            if branch.tasks is siblings
        ),
        "its body",
    )
    return f"first in {title} of {owner.ref}"


def carried_over(place: Place, then: JsonObject, now: JsonObject) -> Place:
    """The same place after the definition has changed: found by names, never by counting."""
    list_path = _list_carried_over(place.list_path, then, now)
    old, new = list_at(then, place.list_path), list_at(now, list_path)
    check_gap(old, place.index)
    positions = {ref: index for index, task in enumerate(new) if (ref := ref_of(task))}
    after = ref_of(old[place.index]) if place.index < len(old) else None
    before = ref_of(old[place.index - 1]) if place.index > 0 else None
    if after in positions:
        return Place(list_path, positions[str(after)])
    if place.index == len(old) and (before in positions or not old):
        return Place(list_path, len(new))
    if before in positions:
        return Place(list_path, positions[str(before)] + 1)
    if not new:
        return Place(list_path, 0)
    raise ImpossibleOperation("The tasks around that place have gone. Choose the place again.")


def _list_carried_over(path: Path, then: JsonObject, now: JsonObject) -> Path:
    if path == ("tasks",):
        return path
    list_at(then, path)
    owner = owner_of(then, path)
    if owner is None or owner.ref is None:
        raise ImpossibleOperation("That place is inside a task without a name. Choose it again.")
    moved = find(now, owner.ref)
    tail = path[len(owner.path) :]
    if tail[0] == "forkTasks":
        tail = ("forkTasks", _branch_carried_over(int(tail[1]), owner, moved))
    return (*moved.path, *tail)


def _branch_carried_over(number: int, then: Spot, now: Spot) -> int:
    """Fork branches have no names: one is known by a task it holds, or by an unchanged count."""
    old = then.task["forkTasks"]
    new = now.task.get("forkTasks")
    new = new if isinstance(new, list) else []
    held = set(refs_in(old[number]))
    for index, tasks in enumerate(new):
        if held & set(refs_in(tasks)):
            return index
    if not held and len(old) == len(new):
        return number
    raise ImpossibleOperation(f"That branch of `{then.ref}` has gone. Choose the place again.")


def neighbour_place(definition: JsonObject, spot: Spot, direction: str) -> Place | None:
    """Where one step takes a task: up, down, out of its container, into the one before it."""
    start, end = unit_around(spot.siblings, spot.index)
    if direction == "up" and start > 0:
        return Place(spot.list_path, unit_around(spot.siblings, start - 1)[0])
    if direction == "down" and end < len(spot.siblings):
        return Place(spot.list_path, unit_around(spot.siblings, end)[1])
    if direction == "out" and (owner := owner_of(definition, spot.list_path)):
        return Place(owner.list_path, unit_around(owner.siblings, owner.index)[1])
    if direction == "into" and start > 0:
        first = unit_around(spot.siblings, start - 1)[0]
        container = spot.siblings[first]
        if isinstance(container, dict) and type_of(container) != "JOIN":
            for branch in branches_of(container, (*spot.list_path, first)):
                return Place(branch.path, len(branch.tasks))
    return None
