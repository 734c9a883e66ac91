"""The tree of tasks inside the JSON of a definition, read without trusting it.

A draft may be broken anywhere: what is no task, or no list of tasks, is passed over and never
repaired. Nothing is edited here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

JsonObject = dict[str, Any]
Path = tuple[str | int, ...]

EMBEDDED = ("subWorkflowParam", "workflowDefinition")


class ImpossibleOperation(ValueError):
    """The definition cannot be changed that way; it is as it was. The message is for a person."""

    code = "impossible_operation"


@dataclass(frozen=True, slots=True)
class Branch:
    """One list of tasks inside a task: a case, the default, a fork branch, a loop body."""

    path: Path
    tasks: list[Any]
    title: str


@dataclass(frozen=True, slots=True)
class Spot:
    """A task and where it stands."""

    task: JsonObject
    siblings: list[Any]
    index: int
    list_path: Path

    @property
    def path(self) -> Path:
        return (*self.list_path, self.index)

    @property
    def ref(self) -> str | None:
        return ref_of(self.task)

    @property
    def called(self) -> str:
        """What a person reads: the reference name, if there is one."""
        return self.ref or f"the {type_of(self.task)} without a name"


def ref_of(task: Any) -> str | None:
    ref = task.get("taskReferenceName") if isinstance(task, dict) else None
    return ref if isinstance(ref, str) and ref else None


def type_of(task: Any) -> str:
    """The type word; a task without one is a worker task."""
    word = task.get("type") if isinstance(task, dict) else None
    return word if isinstance(word, str) and word else "SIMPLE"


def copied(value: Any) -> Any:
    """A deep copy of JSON, several times faster than the general one."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def same(left: Any, right: Any) -> bool:
    """Equal as JSON text: true is not 1, and the order of keys counts."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def branches_of(task: JsonObject, path: Path = ()) -> Iterator[Branch]:
    """The inner lists of a task in the order in which they are drawn."""
    cases = task.get("decisionCases")
    if isinstance(cases, dict):
        for key, tasks in cases.items():
            if isinstance(tasks, list):
                yield Branch((*path, "decisionCases", key), tasks, f"case {key}")
    if isinstance(task.get("defaultCase"), list):
        yield Branch((*path, "defaultCase"), task["defaultCase"], "the default case")
    forks = task.get("forkTasks")
    if isinstance(forks, list):
        for number, tasks in enumerate(forks):
            if isinstance(tasks, list):
                yield Branch((*path, "forkTasks", number), tasks, f"branch {number + 1}")
    if isinstance(task.get("loopOver"), list):
        yield Branch((*path, "loopOver"), task["loopOver"], "the loop")


def walk(tasks: Any, list_path: Path = ("tasks",)) -> Iterator[Spot]:
    """Every task in the order of the text, containers before their contents."""
    if not isinstance(tasks, list):
        return
    for index, task in enumerate(tasks):
        if not isinstance(task, dict):
            continue
        yield Spot(task, tasks, index, list_path)
        for branch in branches_of(task, (*list_path, index)):
            yield from walk(branch.tasks, branch.path)


def spots(definition: JsonObject) -> Iterator[Spot]:
    return walk(definition.get("tasks"))


def refs_in(tasks: Any) -> list[str]:
    return [spot.ref for spot in walk(tasks) if spot.ref]


def all_refs(definition: JsonObject) -> set[str]:
    return set(refs_in(definition.get("tasks")))


def find(definition: JsonObject, ref: Any) -> Spot:
    """The one task of that reference name."""
    found = [spot for spot in spots(definition) if spot.ref == ref]
    if not found:
        raise ImpossibleOperation(f"There is no task `{ref}` in this definition any more.")
    if len(found) > 1:
        raise ImpossibleOperation(
            f"{len(found)} tasks are called `{ref}`. Give each its own reference name first."
        )
    return found[0]


def task_at(definition: JsonObject, path: Any) -> Spot:
    """The task at a path such as ["tasks", 2, "loopOver", 0]."""
    if isinstance(path, list | tuple):
        for spot in spots(definition):
            if spot.path == tuple(path):
                return spot
    raise ImpossibleOperation(f"There is no task at {in_words(path)}.")


def owner_of(definition: JsonObject, list_path: Path) -> Spot | None:
    """The task around a list; None for the main list."""
    steps = len(list_path) - 1
    while steps > 0 and not isinstance(list_path[steps], int):
        steps -= 1
    # A fork branch ends in its own number, so the owner is one number further out.
    if list_path[-1:] and isinstance(list_path[-1], int):
        steps = len(list_path) - 3
    return task_at(definition, list_path[: steps + 1]) if steps > 0 else None


def in_words(path: Any) -> str:
    if not isinstance(path, list | tuple) or not path:
        return f"`{path}`"
    return "`" + " / ".join(str(step) for step in path) + "`"
