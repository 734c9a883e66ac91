"""Two versions of a definition: what changed in words, and both versions as one definition to draw.

A task is the same task when its reference name is. Fields that say what their absence says are no
change. Nothing here knows positions, colours or servers.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final, Literal

from studio.editor.places import Place, place_in_words
from studio.editor.tree import (
    JsonObject,
    Path,
    Spot,
    spots,
    type_of,
)
from studio.views.merge import merged

Kind = Literal["added", "changed", "removed"]

_BRANCH_KEYS: Final = ("decisionCases", "defaultCase", "forkTasks", "loopOver")
_NOT_COMPARED: Final = frozenset(
    {"tasks", "version", "createTime", "updateTime", "createdBy", "updatedBy", "ownerApp"}
    | {"accessPolicy", "schemaVersion"}
)
# What a key that is absent means; a server may write it out.
_SAME_AS_ABSENT: Final[dict[str, Any]] = {
    "optional": False,
    "permissive": False,
    "asyncComplete": False,
    "startDelay": 0,
    "timeoutSeconds": 0,
    "timeoutPolicy": "ALERT_ONLY",
    "restartable": True,
    "workflowStatusListenerEnabled": False,
    "enforceSchema": True,
    "cacheConfig": None,
    "type": "SIMPLE",
    "joinMode": "ASYNC",
}
_WORDS: Final = {
    "name": "name",
    "description": "description",
    "type": "type",
    "retryCount": "retries",
    "startDelay": "start delay",
    "optional": "optional",
    "permissive": "permissive",
    "loopCondition": "condition",
    "expression": "decides by",
    "evaluatorType": "language",
    "joinOn": "waits for",
    "sink": "sink",
    "subWorkflowParam": "sub-workflow",
    "taskDefinition": "task definition in place",
    "timeoutSeconds": "timeout",
    "timeoutPolicy": "on timeout",
    "failureWorkflow": "failure workflow",
    "outputParameters": "output",
    "inputTemplate": "default input",
    "inputParameters": "input",
    "ownerEmail": "owner",
    "restartable": "restartable",
}
# Maps that are told key by key.
_BY_KEY: Final = frozenset({"inputParameters", "outputParameters", "inputTemplate", "variables"})
_LONGEST: Final = 80


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `about` and `detail` are Markdown; `ref` is empty for the workflow itself."""

    kind: Kind
    ref: str
    about: str
    detail: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """`definition` holds the tasks of both, `marks` says what happened to each changed one."""

    definition: JsonObject
    marks: Mapping[str, Kind]
    changes: tuple[Change, ...]

    def count(self, kind: Kind) -> int:
        """How many tasks; a task that changed in three ways is one."""
        return sum(mark == kind for mark in self.marks.values())


def compare(old: JsonObject, new: JsonObject) -> Comparison:
    """What leads from one version to the other."""
    before = {spot.ref: spot for spot in spots(old) if spot.ref}
    after = {spot.ref: spot for spot in spots(new) if spot.ref}
    moved = _moved(before, after, old, new)
    changes: list[Change] = [*_workflow_changes(old, new)]
    for ref, spot in after.items():
        if ref not in before:
            changes.append(Change("added", ref, _introduced(spot), _where(new, spot)))
        else:
            changes += _task_changes(ref, before[ref], spot)
            if ref in moved:
                detail = f"from {_where(old, before[ref])} to {_where(new, spot)}"
                changes.append(Change("changed", ref, f"{code(ref)} moved", detail))
    for ref, spot in before.items():
        if ref not in after:
            changes.append(Change("removed", ref, _introduced(spot), _readers_left(new, ref)))
    marks: dict[str, Kind] = {}
    for change in changes:
        if change.ref:
            marks.setdefault(change.ref, change.kind)
    return Comparison(merged(old, new), marks, tuple(changes))


def code(text: Any) -> str:
    """Foreign text as inline code, which it cannot leave."""
    kept = " ".join(str(text).split()).replace("`", "'")
    return f"`{kept}`" if kept else "``` ```"


def value_words(value: Any) -> str:
    """A value as a person reads it in a line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if text == "":
        return "an empty text"
    return code(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def _introduced(spot: Spot) -> str:
    return f"{code(spot.called)}, {type_of(spot.task)}"


def _where(definition: JsonObject, spot: Spot) -> str:
    return place_in_words(definition, Place(spot.list_path, spot.index))


def _readers_left(new: JsonObject, ref: str) -> str:
    """Who still reads a task that is gone."""
    mark = "${" + ref + "."
    readers = [
        code(spot.called)
        for spot in spots(new)
        if mark in json.dumps({k: v for k, v in spot.task.items() if k not in _BRANCH_KEYS})
    ]
    if not readers:
        return "nobody reads it any more"
    return f"{', '.join(readers)} still read{'s' if len(readers) == 1 else ''} it"


def _workflow_changes(old: JsonObject, new: JsonObject) -> Iterator[Change]:
    for key in _keys(old, new):
        if key not in _NOT_COMPARED:
            yield from _field_changes("", "The workflow's", key, old.get(key), new.get(key))


def _task_changes(ref: str, before: Spot, after: Spot) -> Iterator[Change]:
    old, new = before.task, after.task
    for key in _keys(old, new):
        if key not in _BRANCH_KEYS and key != "taskReferenceName":
            yield from _field_changes(ref, code(ref), key, old.get(key), new.get(key))
    yield from _case_changes(ref, old, new)


def _case_changes(ref: str, old: JsonObject, new: JsonObject) -> Iterator[Change]:
    """Cases and branches that came or went; what is inside them is told task by task."""
    for key, word in (("decisionCases", "case"), ("forkTasks", "branches")):
        before, after = old.get(key), new.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            for case in after:
                if case not in before:
                    yield Change("changed", ref, f"{code(ref)} {word} {code(case)}", "is new")
            for case in before:
                if case not in after:
                    yield Change("changed", ref, f"{code(ref)} {word} {code(case)}", "is gone")
            shared = [case for case in before if case in after]
            if shared != [case for case in after if case in before]:
                order = ", ".join(map(code, after))
                yield Change("changed", ref, f"{code(ref)} order of cases", f"now {order}")
        elif isinstance(before, list) and isinstance(after, list) and len(before) != len(after):
            yield Change("changed", ref, f"{code(ref)} {word}", f"{len(before)} → {len(after)}")


def _field_changes(ref: str, whose: str, key: str, old: Any, new: Any) -> Iterator[Change]:
    old, new = _plain(key, old), _plain(key, new)
    if _equal(old, new):
        return
    word = _WORDS.get(key, code(key))
    both_maps = isinstance(old, dict | None) and isinstance(new, dict | None)
    if key in _BY_KEY and both_maps:
        for inner in _keys(old or {}, new or {}):
            yield from _value_change(
                ref, f"{whose} {word} {code(inner)}", (old or {}), (new or {}), inner
            )
        return
    yield Change("changed", ref, f"{whose} {word}", _from_to(old, new))


def _value_change(
    ref: str, about: str, old: JsonObject, new: JsonObject, key: str
) -> Iterator[Change]:
    if key not in old:
        yield Change("changed", ref, about, f"now {value_words(new[key])}")
    elif key not in new:
        yield Change("changed", ref, about, f"no longer {value_words(old[key])}")
    elif not _equal(old[key], new[key]):
        yield Change("changed", ref, about, _from_to(old[key], new[key]))


def _from_to(old: Any, new: Any) -> str:
    if old is None:
        return f"now {value_words(new)}"
    if new is None:
        return f"no longer {value_words(old)}"
    return f"{value_words(old)} → {value_words(new)}"


def _keys(old: Iterable[str], new: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*new, *old]))


def _plain(key: str, value: Any) -> Any:
    """None for what says no more than its absence."""
    if value in ("", [], {}) or (key in _SAME_AS_ABSENT and value == _SAME_AS_ABSENT[key]):
        return None
    return value


def _equal(old: Any, new: Any) -> bool:
    """As JSON, the order of keys aside."""
    return json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)


def _moved(
    before: Mapping[str, Spot], after: Mapping[str, Spot], old: JsonObject, new: JsonObject
) -> set[str]:
    """The tasks that stand in another list, or elsewhere among those that stayed in theirs."""
    homes_before, homes_after = _homes(old), _homes(new)
    shared = homes_before.keys() & homes_after.keys()
    moved = {ref for ref in shared if homes_before[ref] != homes_after[ref]}
    stayed: dict[Path, set[str]] = {}
    for ref in shared - moved:
        stayed.setdefault(homes_after[ref], set()).add(ref)
    for refs in stayed.values():
        first = [ref for ref in before if ref in refs]
        second = [ref for ref in after if ref in refs]
        if first != second:
            kept = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
            moved |= refs - {r for block in kept for r in first[block.a : block.a + block.size]}
    return moved


def _homes(definition: JsonObject) -> dict[str, Path]:
    """Which list each task stands in, said by names: fork branches have none, so they count as one."""
    called: dict[Path, str] = {}
    homes: dict[str, Path] = {}
    for spot in spots(definition):
        called[spot.path] = spot.called
        if spot.ref:
            owner = _owner_path(spot.list_path)
            branch = spot.list_path[len(owner) :]
            inner = branch[:1] if branch[:1] == ("forkTasks",) else branch
            homes[spot.ref] = (called[owner], *inner) if owner else ("tasks",)
    return homes


def _owner_path(list_path: Path) -> Path:
    """The path of the task around a list; containers are walked before their contents."""
    if len(list_path) < 3:
        return ()
    return list_path[:-2] if list_path[-2] in ("decisionCases", "forkTasks") else list_path[:-1]
