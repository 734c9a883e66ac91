"""Two versions of a definition in one: the new one, with the tasks it has lost put back where they
stood. Made for one picture of both; it is never registered or run.
"""

from typing import Any

from studio.editor.joins import fork_before
from studio.editor.tree import JsonObject, all_refs, branches_of, copied, ref_of, spots

_LISTS = ("defaultCase", "loopOver")


def merged(old: JsonObject, new: JsonObject) -> JsonObject:
    """The new definition and, at their old places, the tasks that only the old one has."""
    return _Merger(old, new).whole()


class _Merger:
    def __init__(self, old: JsonObject, new: JsonObject) -> None:
        self._old = old
        self._new = new
        self._kept = all_refs(new)
        self._tasks_before = {spot.ref: spot.task for spot in spots(old) if spot.ref}

    def whole(self) -> JsonObject:
        tasks = self._list(_tasks(self._old.get("tasks")), _tasks(self._new.get("tasks")))
        return {**{k: copied(v) for k, v in self._new.items() if k != "tasks"}, "tasks": tasks}

    def _list(self, old: list[Any], new: list[Any]) -> list[Any]:
        """The new list; each lost task comes right behind the one it used to follow."""
        result = [self._task(task) for task in new]
        at = 0
        for task in old:
            ref = ref_of(task)
            if ref in self._kept:
                found = _index_of(result, ref)
                at = at if found is None else found + 1
            elif ref is not None:
                while at < len(result) and fork_before(result, at) is not None:
                    at += 1
                result.insert(at, self._lost(task))
                at += 1
        return result

    def _task(self, task: Any) -> Any:
        """A task of the new version; lost children of the same task come back into it."""
        if not isinstance(task, dict):
            return task
        old = self._tasks_before.get(ref_of(task) or "", {})
        changed = copied({k: v for k, v in task.items() if not _is_branch(k, v)})
        for key in ("decisionCases", *_LISTS, "forkTasks"):
            both = self._branch(key, old.get(key), task.get(key))
            if both is not None:
                changed[key] = both
        return changed

    def _branch(self, key: str, old: Any, new: Any) -> Any:
        if key == "decisionCases":
            before, after = _map(old), _map(new)
            if not isinstance(new, dict) and not before:
                return None
            return {
                case: self._list(_tasks(before.get(case)), _tasks(after.get(case)))
                for case in dict.fromkeys([*after, *before])
            }
        if key == "forkTasks":
            return self._forks(_tasks(old), _tasks(new)) if old or new else None
        if not isinstance(new, list) and not isinstance(old, list):
            return None
        return self._list(_tasks(old), _tasks(new))

    def _forks(self, old: list[Any], new: list[Any]) -> list[Any]:
        """Branches have no names: one is found again by a task it still holds, else by position."""
        left = list(range(len(old)))
        pairs: list[list[Any]] = []
        for number, branch in enumerate(new):
            names = {ref_of(task) for task in _tasks(branch)} - {None}
            same = [n for n in left if names & {ref_of(task) for task in _tasks(old[n])}]
            found = same[0] if same else number if number in left and not names else None
            if found is not None:
                left.remove(found)
            pairs.append(
                self._list(_tasks(old[found]) if found is not None else [], _tasks(branch))
            )
        gone = [[self._lost(t) for t in _tasks(old[n]) if self._is_lost(t)] for n in left]
        return [*pairs, *(branch for branch in gone if branch)]

    def _is_lost(self, task: Any) -> bool:
        return ref_of(task) is not None and ref_of(task) not in self._kept

    def _lost(self, task: JsonObject) -> JsonObject:
        """A removed task with only those of its children that went with it."""
        alone = copied(task)
        for branch in branches_of(alone):
            branch.tasks[:] = [self._lost(child) for child in branch.tasks if self._is_lost(child)]
        return alone  # type: ignore[no-any-return]


def _tasks(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _map(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _is_branch(key: str, value: Any) -> bool:
    return key in ("decisionCases", "forkTasks", *_LISTS) and isinstance(value, dict | list)


def _index_of(tasks: list[Any], ref: str | None) -> int | None:
    return next((n for n, task in enumerate(tasks) if ref_of(task) == ref), None)
