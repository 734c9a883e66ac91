"""Reference names inside a definition: choosing them, and the texts that mention them.

Only forms that Conductor resolves are rewritten: placeholders, join lists, participants of a
chat, and `$.ref` in the condition of a loop around the task. Embedded workflow definitions have
names of their own and stay as they are.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from studio.editor.tree import JsonObject, Spot, copied, refs_in, spots, walk

_BRANCHES = frozenset({"decisionCases", "defaultCase", "forkTasks", "loopOver"})
_REF_LISTS = ("joinOn", "defaultExclusiveJoinTask")
_PLACEHOLDER = re.compile(r"(?<!\$)\$\{[^{}]*\}")
_ROOT = re.compile(r"(?<!\$)\$\{(?:(?:\$\.)?([^\s.\[\]{}()'\"$]+)(?=[.\[}])|\$?\[(['\"])(.+?)\2\])")
_SCRIPT_ROOT = re.compile(r"(?<![\w$])\$(?:\.(\w+)|\[(['\"])(.+?)\2\])")
_UNUSABLE = re.compile(r"[\s.$@'\"`\[\](){}\\,]")
_SCRIPT_NAME = re.compile(r"[^\W\d]\w*\Z")


def fresh_ref(wanted: str, taken: Iterable[str]) -> str:
    """The wanted name, or the next free one: http, http_2, http_3."""
    taken = set(taken)
    if wanted not in taken:
        return wanted
    stem = re.sub(r"(?<=[^_])_\d+\Z", "", wanted)
    number = 2
    while f"{stem}_{number}" in taken:
        number += 1
    return f"{stem}_{number}"


def why_unusable(ref: Any) -> str | None:
    """What is wrong with a reference name, and what to do instead."""
    if not isinstance(ref, str) or not ref:
        return "A task needs a reference name. Give it one, such as `charge`."
    if ref == "workflow":
        return "`workflow` already means the execution itself. Choose another reference name."
    if found := _UNUSABLE.search(ref):
        sign = "a blank" if found.group().isspace() else f"`{found.group()}`"
        return (
            f"`{ref}` holds {sign}, so no placeholder could name it. "
            "Use letters, digits, `_` and `-`."
        )
    if "__" in ref:
        return f"`{ref}` holds `__`, which marks the iterations of a loop. Use a single `_`."
    return None


def rename(definition: JsonObject, spot: Spot, new: str) -> list[str]:
    """Give a task its new name in place, everywhere; what was rewritten, in words."""
    old = spot.ref
    spot.task["taskReferenceName"] = new
    return _rewrite(definition, spot.path, old, new) if old else []


def _rewrite(definition: JsonObject, path: tuple[str | int, ...], old: str, new: str) -> list[str]:
    rewritten = _rewriter(old, new)
    notes, readers = [], []
    for other in spots(definition):
        before = copied(_own_part(other.task))
        _rewrite_task(other.task, rewritten, old, new)
        if _own_part(other.task) != before:
            readers.append(f"`{other.ref}`")
        if path[: len(other.path)] == other.path and _rewrite_condition(other.task, old, new):
            notes.append(f"The condition of the loop `{other.ref}` now reads `$.{new}`.")
    for key, value in definition.items():
        if key != "tasks":
            definition[key] = _mapped(value, rewritten)
            if definition[key] != value:
                readers.append(f"the workflow's {key}")
    if readers:
        notes.insert(0, f"`{old}` is now `{new}` in {', '.join(readers)} too.")
    return notes


def _rewrite_task(task: JsonObject, rewritten: Callable[[str], str], old: str, new: str) -> None:
    for key, value in task.items():
        if key in _REF_LISTS and isinstance(value, list):
            task[key] = [new if item == old else item for item in value]
        elif key == "subWorkflowParam" and isinstance(value, dict):
            task[key] = {
                name: item
                if isinstance(item, dict) and name == "workflowDefinition"
                else _mapped(item, rewritten)
                for name, item in value.items()
            }
        elif key not in _BRANCHES and key not in ("taskReferenceName", "loopCondition"):
            task[key] = _mapped(value, rewritten)
    inputs = task.get("inputParameters")
    people = inputs.get("participants") if isinstance(inputs, dict) else None
    if isinstance(inputs, dict) and isinstance(people, dict) and old in people:
        inputs["participants"] = {new if ref == old else ref: people[ref] for ref in people}


def _rewrite_condition(task: JsonObject, old: str, new: str) -> bool:
    condition = task.get("loopCondition")
    if not isinstance(condition, str):
        return False
    task["loopCondition"] = _in_script(condition, old, new)
    return bool(task["loopCondition"] != condition)


def _in_script(text: str, old: str, new: str) -> str:
    """`$.old`, `$['old']` and `$["old"]` in JavaScript, where a minus is a subtraction."""
    name = re.escape(old)
    if _SCRIPT_NAME.match(old):
        dotted = f"$.{new}" if _SCRIPT_NAME.match(new) else f"$['{new}']"
        text = re.sub(rf"(?<![\w$])\$\.{name}(?![\w$])", lambda _: dotted, text)
    return re.sub(rf"\$\[(['\"]){name}\1\]", lambda m: f"$[{m[1]}{new}{m[1]}]", text)


def _rewriter(old: str, new: str) -> Callable[[str], str]:
    name = re.escape(old)
    opening = re.compile(rf"(?<!\$)\$\{{(\$\.)?{name}(?=[.\[}}])")
    bracket = re.compile(rf"(?<!\$)\$\{{(\$?)\[(['\"]){name}\2\]")
    inside = re.compile(rf"(?<![\w$])\$\.{name}(?=[.\[,)\s}}])")

    def rewritten(text: str) -> str:
        if old not in text:
            return text
        text = opening.sub(lambda m: "${" + (m[1] or "") + new, text)
        text = bracket.sub(lambda m: "${" + f"{m[1]}[{m[2]}{new}{m[2]}]", text)
        return _PLACEHOLDER.sub(lambda m: inside.sub(lambda _: f"$.{new}", m[0]), text)

    return rewritten


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return value


def _own_part(task: JsonObject, without: tuple[str, ...] = ()) -> JsonObject:
    left_out = {*_BRANCHES, "taskReferenceName", "loopCondition", *without}
    return {key: value for key, value in task.items() if key not in left_out}


def loops_around(definition: JsonObject) -> dict[str, set[str]]:
    """For each task the loops whose conditions may read it."""
    loops = [spot for spot in spots(definition) if spot.ref and "loopCondition" in spot.task]
    return {
        spot.ref: {str(loop.ref) for loop in loops if spot.path[: len(loop.path)] == loop.path}
        for spot in spots(definition)
        if spot.ref
    }


def readers_of(
    definition: JsonObject, refs: set[str], loops: dict[str, set[str]]
) -> dict[str, list[str]]:
    """For each of the names the tasks and parts of the workflow that still read it, in words.
    `loops` says which loops the tasks are, or were, in."""
    readers: dict[str, list[str]] = {}
    for spot in spots(definition):
        named = _named_by(_own_part(spot.task, without=("subWorkflowParam",)))
        child = spot.task.get("subWorkflowParam")
        if isinstance(child, dict):
            inner = child.get("workflowDefinition")
            named |= _named_by(
                {**child, "workflowDefinition": inner if isinstance(inner, str) else ""}
            )
        inputs = spot.task.get("inputParameters")
        people = inputs.get("participants") if isinstance(inputs, dict) else None
        named |= set(people) if isinstance(people, dict) else set()
        condition = spot.task.get("loopCondition")
        if isinstance(condition, str):
            within = _named_in_script(condition) & refs
            named |= {ref for ref in within if spot.ref in loops.get(ref, ())}
        for ref in named & refs - {spot.ref}:
            readers.setdefault(str(ref), []).append(f"`{spot.called}`")
    for key, value in definition.items():
        if key != "tasks":
            for ref in _named_by(value) & refs:
                readers.setdefault(str(ref), []).append(f"the workflow's {key}")
    return readers


def _named_by(value: Any) -> set[str]:
    """The first names of all placeholders in a value."""
    if isinstance(value, str):
        named = {m[1] or m[3] for m in _ROOT.finditer(value)}
        for placeholder in _PLACEHOLDER.findall(value):
            named |= _named_in_script(placeholder)
        return named
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {name for item in inner for name in _named_by(item)}


def _named_in_script(text: str) -> set[str]:
    return {m[1] or m[3] for m in _SCRIPT_ROOT.finditer(text)}


def renamed_apart(
    tasks: list[JsonObject], taken: Iterable[str], stem: Callable[[JsonObject], str]
) -> dict[str, str]:
    """Make the names of pasted tasks differ from all taken ones, in place; old name to new."""
    pasted = {"tasks": tasks}
    used = set(taken)
    reserved = used | set(refs_in(tasks))
    renamed: dict[str, str] = {}
    for spot in list(walk(tasks)):
        old = spot.ref
        if old and old not in used:
            used.add(old)
            continue
        new = fresh_ref(old or stem(spot.task), reserved)
        spot.task["taskReferenceName"] = new
        used.add(new)
        reserved.add(new)
        if old and old not in renamed:
            renamed[old] = new
            _rewrite(pasted, spot.path, old, new)
    return renamed
