"""Forks and the joins that belong to them: pairs, branch ends, and a joinOn that follows.

A joinOn follows its branches only as long as it says what we would have derived. One that a
person wrote is left alone, and said aloud when the branches under it change.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from studio.editor.tree import JsonObject, ref_of, spots, type_of

FORKS = frozenset({"FORK_JOIN", "FORK_JOIN_DYNAMIC"})


def join_after(siblings: list[Any], index: int) -> JsonObject | None:
    """The join that belongs to the fork at index."""
    if 0 <= index < len(siblings) - 1 and type_of(siblings[index]) in FORKS:
        follower = siblings[index + 1]
        if isinstance(follower, dict) and type_of(follower) == "JOIN":
            return follower
    return None


def fork_before(siblings: list[Any], index: int) -> JsonObject | None:
    """The fork that the join at index belongs to."""
    if index > 0 and join_after(siblings, index - 1) is not None:
        return siblings[index - 1]  # type: ignore[no-any-return]
    return None


def unit_around(siblings: list[Any], index: int) -> tuple[int, int]:
    """The slice of what moves as one: a fork with its join, or a single task."""
    if fork_before(siblings, index):
        return index - 1, index + 1
    return index, index + (2 if join_after(siblings, index) is not None else 1)


def branch_ends(fork: JsonObject) -> list[str]:
    """The last task of each branch: what its join has to wait for."""
    return [ref for task in _last_tasks(fork) if (ref := ref_of(task))]


def _last_tasks(fork: JsonObject) -> list[Any]:
    branches = fork.get("forkTasks")
    lists = branches if isinstance(branches, list) else []
    return [tasks[-1] for tasks in lists if isinstance(tasks, list) and tasks]


def joined_on(join: JsonObject) -> list[Any]:
    refs = join.get("joinOn")
    return refs if isinstance(refs, list) else []


@dataclass(frozen=True, slots=True)
class Watched:
    fork: JsonObject
    join: JsonObject
    ends: list[str]
    last_tasks: list[Any]
    derived: bool


def watch(definition: JsonObject) -> list[Watched]:
    """What each join waits for before an edit, and whether that is what we derive."""
    return [
        Watched(fork, join, ends, _last_tasks(fork), _same_refs(joined_on(join), ends))
        for fork, join in _pairs(definition)
        for ends in (branch_ends(fork),)
    ]


def follow(definition: JsonObject, watched: list[Watched]) -> list[str]:
    """Let derived joins follow their branches; notes about those that a person wrote."""
    before = {(id(pair.fork), id(pair.join)): pair for pair in watched}
    notes: list[str] = []
    for fork, join in _pairs(definition):
        pair = before.get((id(fork), id(join)))
        ends = branch_ends(fork)
        if pair is None:
            continue
        if pair.derived:
            # Whoever edits joinOn in the same breath has the last word.
            if pair.ends != ends and _same_refs(joined_on(join), pair.ends):
                join["joinOn"] = ends
                notes += _early_notes(fork, join, pair.ends)
        elif [*map(id, pair.last_tasks)] != [*map(id, _last_tasks(fork))]:
            notes.append(
                f"`{ref_of(join)}` keeps the joinOn written by hand ({_listed(joined_on(join))}); "
                f"the branches now end in {_listed(ends)}."
            )
    return notes


def _early_notes(fork: JsonObject, join: JsonObject, known: list[str]) -> Iterator[str]:
    for tasks in fork.get("forkTasks") or []:
        last = tasks[-1] if isinstance(tasks, list) and tasks else None
        if type_of(last) in ("SWITCH", "DECISION") and ref_of(last) not in known:
            yield (
                f"A branch of `{ref_of(fork)}` ends in the switch `{ref_of(last)}`, which completes "
                f"at once: `{ref_of(join)}` will not wait for what its cases run. "
                "Let the branch end in a task after the switch."
            )


def _pairs(definition: JsonObject) -> Iterator[tuple[JsonObject, JsonObject]]:
    for spot in spots(definition):
        if type_of(spot.task) == "FORK_JOIN":
            join = join_after(spot.siblings, spot.index)
            if join is not None:
                yield spot.task, join


def _same_refs(left: list[Any], right: list[str]) -> bool:
    texts = [ref for ref in left if isinstance(ref, str)]
    return len(texts) == len(left) == len(right) and sorted(texts) == sorted(right)


def _listed(refs: list[Any]) -> str:
    return ", ".join(f"`{ref}`" for ref in refs) or "nothing"
