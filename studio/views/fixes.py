"""For some findings the one operation that mends them, with the words of its button. No guessing:
where two things could be meant there is none."""

from difflib import get_close_matches
from typing import Any

from engine.rules.validation_findings import Finding
from studio.editor.joins import branch_ends, fork_before
from studio.editor.tree import JsonObject, all_refs, spots

Fix = tuple[str, JsonObject]


def fix_of(definition: JsonObject, finding: Finding) -> Fix | None:
    """The way out of a finding, if it is a single step."""
    make = _FIXES.get(finding.code)
    if make is None or not finding.ref:
        return None
    spot = next((s for s in spots(definition) if s.ref == finding.ref), None)
    if spot is None or finding.path[: len(spot.path)] != spot.path:
        return None
    below = list(finding.path[len(spot.path) :])
    made: Fix | None = make(definition, finding, spot.task, below)
    return made


def _wait_for_branches(
    definition: JsonObject, finding: Finding, task: JsonObject, below: list[Any]
) -> Fix | None:
    """A join behind its fork waits for the last task of each branch."""
    spot = next(spot for spot in spots(definition) if spot.task is task)
    fork = fork_before(spot.siblings, spot.index)
    ends = [] if fork is None else branch_ends(fork)
    if not ends:
        return None
    return f"Wait for {', '.join(ends)}", _set(finding.ref, ["joinOn"], ends)


def _remove_branch(
    definition: JsonObject, finding: Finding, task: JsonObject, below: list[Any]
) -> Fix | None:
    if below[:1] != ["forkTasks"] or len(task.get("forkTasks") or ()) < 2:
        return None
    op = {"op": "delete_branch", "ref": finding.ref, "branch": below[1]}
    return f"Remove branch {below[1] + 1}", op


def _wait_no_more(
    definition: JsonObject, finding: Finding, task: JsonObject, below: list[Any]
) -> Fix | None:
    waits = task.get("joinOn")
    if below[:1] != ["joinOn"] or len(below) != 2 or not isinstance(waits, list):
        return None
    gone = waits[below[1]]
    left = [ref for number, ref in enumerate(waits) if number != below[1]]
    return f"Stop waiting for {gone}", _set(finding.ref, ["joinOn"], left)


def _nearest_name(
    definition: JsonObject, finding: Finding, task: JsonObject, below: list[Any]
) -> Fix | None:
    """A name that differs by a letter or two is most likely a slip."""
    value = _at(task, below)
    if not isinstance(value, str) or not below:
        return None
    for wrong in finding.message.replace(".", " ").split():
        near = get_close_matches(wrong, sorted(all_refs(definition)), n=2, cutoff=0.75)
        if len(near) == 1 and wrong != near[0] and "${" + wrong + "." in value:
            mended = value.replace("${" + wrong + ".", "${" + near[0] + ".")
            return f"Read {near[0]}", _set(finding.ref, below, mended)
    return None


def _give_value(
    definition: JsonObject, finding: Finding, task: JsonObject, below: list[Any]
) -> Fix | None:
    key = task.get("expression") or task.get("caseValueParam")
    if not isinstance(key, str) or not key:
        return None
    return f"Add the input {key}", _set(finding.ref, ["inputParameters", key], "")


_FIXES: dict[str, Any] = {
    "empty_branch": _remove_branch,
    "join_on_nothing": _wait_for_branches,
    "join_unknown": _wait_no_more,
    "unknown_ref": _nearest_name,
    "value_not_given": _give_value,
}


def _set(ref: str | None, path: list[Any], value: Any) -> JsonObject:
    return {"op": "update", "ref": ref, "set": [{"path": path, "value": value}]}


def _at(value: Any, path: list[Any]) -> Any:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value
