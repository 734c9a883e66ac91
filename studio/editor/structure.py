"""Operations on the tree itself: insert, duplicate, move, delete, wrap. No task is lost by them
unless it is the one to delete, and a fork and its join stay together.
"""

from typing import Any

from studio.editor.edit import Edit, Operation, optional_text, text
from studio.editor.joins import FORKS, branch_ends, fork_before, unit_around
from studio.editor.places import Place, list_at, neighbour_place, place_in_words
from studio.editor.references import fresh_ref, renamed_apart, why_unusable
from studio.editor.task_types import new_task, task_type
from studio.editor.tree import (
    ImpossibleOperation,
    JsonObject,
    Spot,
    all_refs,
    branches_of,
    copied,
    owner_of,
    ref_of,
    refs_in,
    spots,
    type_of,
    walk,
)

_CONTAINERS = ("FORK_JOIN", "SWITCH", "DO_WHILE")


def insert(edit: Edit, op: Operation) -> None:
    """{"op": "insert", "place", "type", "ref"?, "name"?} for a new task, or "task" or "tasks" for
    tasks as they are: pasted ones keep their names unless those are taken."""
    place, siblings = edit.gap(op)
    where = place_in_words(edit.definition, place)
    taken = all_refs(edit.definition)
    if op.get("tasks") is not None or op.get("task") is not None:
        tasks = _pasted(op, taken, edit)
    else:
        tasks = [_new(op, taken)]
    last = tasks[-1]
    if type_of(last) in FORKS:
        # Names inside the fork count as taken, or its join could take one of them.
        tasks.append(_new_join(last, taken | set(refs_in(tasks))))
    siblings[place.index : place.index] = tasks
    edit.select = ref_of(tasks[0])
    others = f" and {len(tasks) - 1} more" if len(tasks) > 1 and type_of(last) not in FORKS else ""
    edit.label = f"Insert {edit.select}{others} {where}"


def _new(op: Operation, taken: set[str]) -> JsonObject:
    word = text(op, "type")
    name = optional_text(op, "name")
    wanted = optional_text(op, "ref") or name or task_type(word).stem
    if op.get("ref") is not None and (fault := why_unusable(wanted)):
        raise ImpossibleOperation(fault)
    return new_task(word, fresh_ref(_speakable(wanted), taken), name)


def _speakable(wanted: str) -> str:
    """A usable reference name made from the name of a worker, which may be any text."""
    if why_unusable(wanted) is None:
        return wanted
    cleaned = "".join(sign if sign.isalnum() else "_" for sign in wanted).strip("_")
    while "__" in cleaned:
        cleaned = cleaned.replace("__", "_")
    return cleaned if cleaned and cleaned != "workflow" else "task"


def _pasted(op: Operation, taken: set[str], edit: Edit) -> list[JsonObject]:
    tasks = op.get("tasks") if op.get("tasks") is not None else [op["task"]]
    if not isinstance(tasks, list) or not tasks or not all(isinstance(t, dict) for t in tasks):
        raise ImpossibleOperation(
            "Only tasks can be pasted: a JSON object each, or a list of them."
        )
    tasks = copied(tasks)
    renamed = renamed_apart(tasks, taken, lambda task: task_type(type_of(task)).stem)
    for old, new in renamed.items():
        edit.say(f"`{old}` is pasted as `{new}`, because the name is taken.")
    return tasks  # type: ignore[no-any-return]


def _new_join(fork: JsonObject, taken: set[str]) -> JsonObject:
    join = new_task("JOIN", fresh_ref("join", taken))
    join["joinOn"] = branch_ends(fork)
    return join


def duplicate(edit: Edit, op: Operation) -> None:
    """{"op": "duplicate", "ref"}: a copy right behind, with names of its own all through."""
    spot = edit.task(op)
    _refuse_lone_join(spot, "copied")
    start, end = unit_around(spot.siblings, spot.index)
    copies = copied(spot.siblings[start:end])
    renamed_apart(copies, all_refs(edit.definition), lambda task: task_type(type_of(task)).stem)
    spot.siblings[end:end] = copies
    edit.select = ref_of(copies[0])
    edit.label = f"Duplicate {spot.called} as {edit.select}"


def move(edit: Edit, op: Operation) -> None:
    """{"op": "move", "ref", "place"} or "direction": up, down, out, into. The place is counted
    before the task leaves its own."""
    spot = edit.task(op)
    _refuse_lone_join(spot, "moved")
    start, end = unit_around(spot.siblings, spot.index)
    place = _target(edit, spot, op)
    edit.select = spot.ref
    if place.list_path[: len(spot.path)] == spot.path:
        raise ImpossibleOperation(f"`{spot.called}` cannot be moved into its own body.")
    target = list_at(edit.definition, place.list_path)
    if target is spot.siblings and start <= place.index <= end:
        edit.say(f"`{spot.called}` is already there.")
        return
    edit.label = f"Move {spot.called} {place_in_words(edit.definition, place)}"
    unit = spot.siblings[start:end]
    index = place.index
    if target is spot.siblings and index > start:
        index -= end - start
    del spot.siblings[start:end]
    target[index:index] = unit


def _target(edit: Edit, spot: Spot, op: Operation) -> Place:
    if op.get("direction") is None:
        return edit.gap(op)[0]
    direction = text(op, "direction")
    found = neighbour_place(edit.definition, spot, direction)
    if found is None:
        raise ImpossibleOperation(f"`{spot.called}` cannot go {direction} from where it is.")
    return found


def _refuse_lone_join(spot: Spot, verb: str) -> None:
    if fork := fork_before(spot.siblings, spot.index):
        raise ImpossibleOperation(
            f"The join `{spot.called}` belongs to the fork `{ref_of(fork)}` and is {verb} with it."
        )


def delete(edit: Edit, op: Operation) -> None:
    """{"op": "delete", "ref"}; with "keep": "children" the contents stay, of all branches or of
    the one at "branch" (a path inside the task, such as ["decisionCases", "paid"])."""
    spot = edit.task(op)
    _refuse_lone_join(spot, "deleted")
    start, end = unit_around(spot.siblings, spot.index)
    kept = _children(spot, op) if op.get("keep") == "children" else []
    owner = owner_of(edit.definition, spot.list_path)
    spot.siblings[start:end] = kept
    edit.select = _selected_after(spot.siblings, start, owner)
    edit.label = f"Unwrap {spot.called}" if kept else f"Delete {spot.called}"


def _children(spot: Spot, op: Operation) -> list[Any]:
    branches = list(branches_of(spot.task))
    chosen = op.get("branch")
    if chosen is not None:
        path = tuple(chosen) if isinstance(chosen, list | tuple) else (chosen,)
        branches = [branch for branch in branches if branch.path == path]
    children = [task for branch in branches for task in branch.tasks]
    if not children:
        raise ImpossibleOperation(
            f"There is nothing inside `{spot.called}` to keep. Delete it without keeping its contents."
        )
    return children


def _selected_after(siblings: list[Any], index: int, owner: Spot | None) -> str | None:
    for near in (index, index - 1):
        if 0 <= near < len(siblings) and (ref := ref_of(siblings[near])):
            return ref
    return owner.ref if owner else None


def wrap(edit: Edit, op: Operation) -> None:
    """{"op": "wrap", "refs": neighbours, "type": FORK_JOIN, SWITCH or DO_WHILE}; for a fork
    "as": "a_branch_each" puts each task in a branch of its own."""
    word = text(op, "type")
    if word not in _CONTAINERS:
        raise ImpossibleOperation(
            f"Tasks cannot be wrapped in {word}. Choose one of {', '.join(_CONTAINERS)}."
        )
    siblings, start, end = _neighbours(edit, op)
    inside = siblings[start:end]
    taken = all_refs(edit.definition)
    container = new_task(word, fresh_ref(task_type(word).stem, taken))
    around = [container]
    if word == "FORK_JOIN":
        each = op.get("as") == "a_branch_each"
        container["forkTasks"] = _units(inside) if each else [inside, []]
        around.append(_new_join(container, taken | {str(ref_of(container))}))
    elif word == "SWITCH":
        container["decisionCases"] = {"yes": inside}
    else:
        container["loopOver"] = inside
        if any(type_of(spot.task) == "DO_WHILE" for spot in walk(inside)):
            edit.say("A loop inside a loop is not run; put the inner one into a sub-workflow.")
    siblings[start:end] = around
    edit.select = ref_of(container)
    edit.label = f"Wrap {', '.join(refs_in(inside)[:1])} in {edit.select}"


def _neighbours(edit: Edit, op: Operation) -> tuple[list[Any], int, int]:
    """The slice that holds all the tasks named, forks with their joins."""
    refs = op.get("refs") if op.get("refs") is not None else [op.get("ref")]
    if not isinstance(refs, list) or not refs:
        raise ImpossibleOperation("Choose the tasks to wrap first.")
    chosen = [edit.task({"op": "wrap", "ref": ref}) for ref in refs]
    siblings = chosen[0].siblings
    if any(spot.siblings is not siblings for spot in chosen):
        raise ImpossibleOperation("Only neighbours in one list can be wrapped together.")
    covered = {n for spot in chosen for n in range(*unit_around(siblings, spot.index))}
    start, end = min(covered), max(covered) + 1
    if len(covered) != end - start:
        raise ImpossibleOperation("The tasks to wrap have others between them. Choose those too.")
    return siblings, start, end


def _units(tasks: list[Any]) -> list[list[Any]]:
    units, index = [], 0
    while index < len(tasks):
        start, end = unit_around(tasks, index)
        units.append(tasks[start:end])
        index = end
    return units


def paste_of(definition: JsonObject, refs: list[str]) -> list[JsonObject]:
    """The chosen tasks as a clipboard holds them, in the order of the text, joins included."""
    chosen: list[JsonObject] = []
    for spot in spots(definition):
        if spot.ref in refs:
            start, end = unit_around(spot.siblings, spot.index)
            chosen += [task for task in spot.siblings[start:end] if task not in chosen]
    return copied(chosen)  # type: ignore[no-any-return]
