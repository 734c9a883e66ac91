"""Operations on what a task or the workflow says: update, rename, replace, convert, and setting
the whole definition. Children of a task are not touched here unless its whole JSON is replaced.
"""

from typing import Any

from studio.editor.edit import Edit, Operation, json_object, put, steps, take_away
from studio.editor.joins import fork_before, join_after
from studio.editor.references import rename as rename_ref
from studio.editor.references import why_unusable
from studio.editor.tree import (
    ImpossibleOperation,
    JsonObject,
    Path,
    Spot,
    all_refs,
    branches_of,
    copied,
    ref_of,
    refs_in,
    type_of,
)

_BRANCH_KEYS = ("decisionCases", "defaultCase", "forkTasks", "loopOver")
_HOLDS = {
    "SWITCH": ("decisionCases", "defaultCase"),
    "DECISION": ("decisionCases", "defaultCase"),
    "FORK_JOIN": ("forkTasks",),
    "DO_WHILE": ("loopOver",),
}


def update(edit: Edit, op: Operation) -> None:
    """{"op": "update", "ref", "set": [{"path": [...], "value"}], "unset": [[...]]}; paths start at
    the task. A new taskReferenceName is a rename, with all that belongs to it."""
    spot = edit.task(op)
    old = spot.called
    set_, unset = _changes(op)
    for path, value in set_:
        _refuse_branches(spot, path)
        if path == ("taskReferenceName",):
            _rename(edit, spot, value)
        elif path == ("type",):
            _retype(spot, value)
        else:
            put(spot.task, path, copied(value))
    for path in unset:
        _refuse_branches(spot, path)
        if path in (("taskReferenceName",), ("type",)):
            raise ImpossibleOperation(f"`{spot.called}` cannot do without its {path[0]}.")
        take_away(spot.task, path)
    edit.select = spot.ref
    changed = [".".join(map(str, path)) for path, _ in set_] + [
        ".".join(map(str, p)) for p in unset
    ]
    edit.label = f"Change {_listed(changed)} of {old}"


def _changes(op: Operation) -> tuple[list[tuple[Path, Any]], list[Path]]:
    raw_set, raw_unset = op.get("set") or [], op.get("unset") or []
    if not isinstance(raw_set, list) or not isinstance(raw_unset, list):
        raise ImpossibleOperation("`set` and `unset` are lists.")
    if not all(isinstance(item, dict) and "value" in item for item in raw_set):
        raise ImpossibleOperation("Each item of `set` needs a `path` and a `value`.")
    set_ = [(steps(item.get("path")), item["value"]) for item in raw_set]
    unset = [steps(path) for path in raw_unset]
    if not set_ and not unset:
        raise ImpossibleOperation("Nothing to change: `set` and `unset` are empty.")
    return set_, unset


def _refuse_branches(spot: Spot, path: Path) -> None:
    if path[0] in _BRANCH_KEYS:
        raise ImpossibleOperation(
            f"The tasks inside `{spot.called}` are changed by operations of their own, "
            "or by replacing its whole JSON."
        )


def _retype(spot: Spot, word: Any) -> None:
    if not isinstance(word, str) or not word:
        raise ImpossibleOperation("A type is a word, such as HTTP.")
    held = [b.path[0] for b in branches_of(spot.task) if b.tasks]
    if any(key not in _HOLDS.get(word, ()) for key in held):
        raise ImpossibleOperation(
            f"A {word} cannot hold the tasks inside `{spot.called}`. Move or unwrap them first."
        )
    paired = join_after(spot.siblings, spot.index) or fork_before(spot.siblings, spot.index)
    if paired and word != type_of(spot.task):
        raise ImpossibleOperation(
            f"`{spot.called}` and `{ref_of(paired)}` are a fork and its join. "
            "Unwrap or delete the fork first."
        )
    spot.task["type"] = word


def rename(edit: Edit, op: Operation) -> None:
    """{"op": "rename", "ref", "to"}; every text that reads the task follows."""
    spot = edit.task(op)
    old = spot.called
    _rename(edit, spot, op.get("to"))
    edit.select = spot.ref
    edit.label = f"Rename {old} to {spot.ref}"


def _rename(edit: Edit, spot: Spot, new: Any) -> None:
    if new == spot.ref:
        return
    if fault := why_unusable(new):
        raise ImpossibleOperation(fault)
    if new in all_refs(edit.definition):
        raise ImpossibleOperation(f"Another task is already called `{new}`.")
    old = spot.ref
    if old and refs_in(edit.definition.get("tasks")).count(old) > 1:
        # Who means which of the two is not known; the texts keep meaning the one that stays.
        spot.task["taskReferenceName"] = new
        edit.say(f"Another task is called `{old}`, so what reads `{old}` was left as it is.")
        return
    edit.notes += rename_ref(edit.definition, spot, new)


def replace(edit: Edit, op: Operation) -> None:
    """{"op": "replace", "ref", "task"}: the whole JSON of one task, children included. A changed
    reference name is a rename."""
    spot = edit.task(op)
    task = copied(json_object(op, "task"))
    new = task.get("taskReferenceName", spot.ref)
    outside = set(all_refs(edit.definition)) - {spot.ref} - set(_inside(spot.task))
    inside = _inside(task)
    clash = [ref for ref in inside if ref in outside or inside.count(ref) > 1 or ref == new]
    if clash:
        raise ImpossibleOperation(f"The reference name `{clash[0]}` would be used twice.")
    before, old = type_of(spot.task), spot.called
    paired = join_after(spot.siblings, spot.index) or fork_before(spot.siblings, spot.index)
    if paired and type_of(task) != before:
        raise ImpossibleOperation(
            f"`{old}` and `{ref_of(paired)}` are a fork and its join, so it stays a {before}."
        )
    known = spot.ref
    # The task object stays the same one, so that joins are followed; the new name comes last, so
    # that texts inside the new JSON follow it as well.
    spot.task.clear()
    spot.task.update(task)
    if known:
        spot.task["taskReferenceName"] = known
    if new != known:
        _rename(edit, spot, new)
    edit.select = spot.ref
    edit.label = f"Replace the JSON of {old}"


def _inside(task: JsonObject) -> list[str]:
    return [ref for branch in branches_of(task) for ref in refs_in(branch.tasks)]


def convert(edit: Edit, op: Operation) -> None:
    """{"op": "convert", "ref"}: a deprecated type into its successor, meaning the same."""
    spot = edit.task(op)
    word = type_of(spot.task)
    if word == "DECISION":
        _to_switch(edit, spot)
    elif word == "LAMBDA":
        _to_inline(spot)
    else:
        raise ImpossibleOperation(f"`{spot.called}` is a {word}, which has no successor.")
    edit.select = spot.ref
    edit.label = f"Convert {spot.called} to {type_of(spot.task)}"


def _to_switch(edit: Edit, spot: Spot) -> None:
    task = spot.task
    script, param = task.pop("caseExpression", None), task.pop("caseValueParam", None)
    scripted = isinstance(script, str) and bool(script.strip())
    task["type"] = "SWITCH"
    task["evaluatorType"] = "javascript" if scripted else "value-param"
    task["expression"] = script if scripted else param
    cases = task.get("decisionCases")
    if isinstance(cases, dict):
        # An empty case of a decision means its default; of a switch it means to do nothing.
        empty = [key for key, tasks in cases.items() if not tasks]
        task["decisionCases"] = {key: tasks for key, tasks in cases.items() if tasks}
        if empty:
            edit.say(f"{_listed(empty)} held no task and took the default; left to the default.")
    edit.say("A switch gives `output.evaluationResult`, a decision gave `output.caseOutput`.")


def _to_inline(spot: Spot) -> None:
    inputs = spot.task.get("inputParameters")
    inputs = inputs if isinstance(inputs, dict) else {}
    script = inputs.get("scriptExpression") or ""
    rest = {key: value for key, value in inputs.items() if key != "scriptExpression"}
    spot.task["type"] = "INLINE"
    spot.task["inputParameters"] = {
        "evaluatorType": "javascript",
        "expression": f"(function () {{\n{script}\n}})();",
        **rest,
    }


def set_workflow(edit: Edit, op: Operation) -> None:
    """{"op": "set_workflow", "set": [{"path", "value"}], "unset": [[...]]}: fields of the workflow."""
    set_, unset = _changes(op)
    paths = [path for path, _ in set_] + unset
    if any(path[0] == "tasks" for path in paths):
        raise ImpossibleOperation("Tasks are changed by operations of their own.")
    for path, value in set_:
        put(edit.definition, path, copied(value))
    for path in unset:
        take_away(edit.definition, path)
    edit.label = f"Change {_listed(['.'.join(map(str, path)) for path in paths])} of the workflow"


def set_definition(edit: Edit, op: Operation) -> None:
    """{"op": "set_definition", "definition", "label"?}: everything at once."""
    edit.definition = copied(json_object(op, "definition"))
    label = op.get("label")
    edit.label = label if isinstance(label, str) and label else "Replace the definition"


def _listed(words: list[str]) -> str:
    shown = ", ".join(words[:3])
    return shown if len(words) <= 3 else f"{shown} and {len(words) - 3} more"
