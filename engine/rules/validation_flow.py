"""Which tasks have run, surely or perhaps, by the time another is reached. Worked out from the
nesting of the definition, without running anything."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from engine.model.definitions import WorkflowDef, WorkflowTask
from engine.rules.validation_findings import LIST_OWNERS, Path, lists_in

Refs = frozenset[str]
NONE: Refs = frozenset()


@dataclass(frozen=True, slots=True)
class Moment:
    """What can be said of the other tasks at the moment one is reached."""

    certain: Refs = NONE
    """They have ended."""
    possible: Refs = NONE
    """They may have ended: on some paths, in some order, or in an earlier round of a loop."""
    coming: Refs = NONE
    """They run beside it and surely end, unless the workflow does."""
    beside: Refs = NONE
    """They stand in parallel branches."""
    reachable: bool = True

    def after(self, *refs: str) -> "Moment":
        """The same moment once these have ended."""
        return replace(self, certain=self.certain.union(refs), possible=self.possible.union(refs))


class Flow:
    """The moments of a definition's tasks, by path, and the moment of its end."""

    def __init__(self, definition: WorkflowDef) -> None:
        self.moments: dict[Path, Moment] = {}
        self._done: dict[str, Refs] = {}
        self.end = self._list(definition.tasks, ("tasks",), Moment())

    def _list(self, tasks: tuple[WorkflowTask, ...], path: Path, here: Moment) -> Moment:
        for index, task in enumerate(tasks):
            place = (*path, index)
            self.moments[place] = here
            here = self._after(task, place, here)
            self._done[task.ref] = here.certain
        return here

    def _after(self, task: WorkflowTask, path: Path, here: Moment) -> Moment:
        passed = here.after(task.ref)
        for steps, inner in lists_in(task):
            if task.type not in LIST_OWNERS[steps[0]]:
                self._list(inner, path + steps, replace(passed, reachable=False))
        if task.type == "TERMINATE":
            return replace(passed, reachable=False)
        if task.type in ("SWITCH", "DECISION"):
            return self._choice(task, path, passed)
        if task.type == "FORK_JOIN":
            return self._fork(task, path, passed)
        if task.type == "DO_WHILE":
            return self._loop(task, path, passed)
        if task.type == "JOIN":
            waited = NONE.union(*(self._done.get(ref, NONE) for ref in task.join_on))
            return replace(passed.after(*waited), coming=NONE)
        return passed

    def _choice(self, task: WorkflowTask, path: Path, passed: Moment) -> Moment:
        ways = [
            self._list(tasks, (*path, "decisionCases", case), passed)
            for case, tasks in task.decision_cases.items()
        ]
        ways.append(self._list(task.default_case, (*path, "defaultCase"), passed))
        going_on = [way for way in ways if way.reachable]
        if not going_on:
            return replace(passed, reachable=False)
        return replace(
            passed,
            certain=frozenset.intersection(*(way.certain for way in going_on)),
            possible=_union(way.possible for way in ways),
        )

    def _fork(self, task: WorkflowTask, path: Path, passed: Moment) -> Moment:
        inside = [_refs(branch) for branch in task.fork_tasks]
        ends = []
        for number, branch in enumerate(task.fork_tasks):
            others = _union(refs for other, refs in enumerate(inside) if other != number)
            start = replace(passed, beside=passed.beside | others)
            ends.append(self._list(branch, (*path, "forkTasks", number), start))
        return replace(
            passed,
            possible=passed.possible | _union(end.possible for end in ends),
            coming=passed.coming | _union(end.certain for end in ends),
        )

    def _loop(self, task: WorkflowTask, path: Path, passed: Moment) -> Moment:
        body = _refs(task.loop_over)
        start = replace(passed, possible=passed.possible | body)
        end = self._list(task.loop_over, (*path, "loopOver"), start)
        over_items = task.items is not None or "_items" in task.input_parameters
        return replace(
            passed,
            certain=passed.certain if over_items else passed.certain | end.certain,
            possible=end.possible,
            reachable=end.reachable or over_items,
        )


def _refs(tasks: tuple[WorkflowTask, ...]) -> Refs:
    found = set()
    for task in tasks:
        found.add(task.ref)
        for inner in task.inner_lists():
            found |= _refs(inner)
    return frozenset(found)


def _union(sets: Iterable[Refs]) -> Refs:
    return NONE.union(*sets)
