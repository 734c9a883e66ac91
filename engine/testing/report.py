"""What a test has shown: which tasks and branches were visited, which mocks were left over, and
what it stopped at."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from engine.model.definitions import WorkflowTask
from engine.model.execution import Execution
from engine.model.record import Json, decode
from engine.model.status import TaskStatus

DEFAULT = "defaultCase"
"""The name under which the default of a SWITCH is reported."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One way through a task: a case, a forked branch, a loop's body."""

    ref: str
    """The task that branches."""
    name: str
    """The case, the number of the forked branch (from 0), or `loopOver`."""
    taken: int
    """How often it was entered."""


@dataclass(frozen=True, slots=True)
class Stop:
    """An open task that nothing in the test can move."""

    ref: str
    """Its reference name, behind those of the SUB_WORKFLOW tasks around it: `ship/label`."""
    type: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """About one execution; those of its sub-workflows hang below."""

    status: str
    elapsed_ms: int
    """On the test's own clock."""
    attempts: dict[str, int]
    """Reference name as in the definition -> attempts, over all iterations."""
    unvisited: tuple[str, ...]
    """Tasks of the definition that were never reached."""
    branches: tuple[Branch, ...]
    unused_mocks: dict[str, int]
    """Reference name -> outcomes that nothing asked for."""
    stops: tuple[Stop, ...] = ()
    """Empty when the execution came to its end."""
    children: dict[str, "Report"] = field(default_factory=dict)
    """By the reference name of the SUB_WORKFLOW task."""

    @property
    def task_coverage(self) -> float:
        """The share of the definition's tasks that were reached."""
        return _share(len(self.attempts), len(self.attempts) + len(self.unvisited))

    @property
    def branch_coverage(self) -> float:
        """The share of the definition's branches that were taken."""
        return _share(sum(1 for branch in self.branches if branch.taken), len(self.branches))

    def json_value(self) -> dict[str, Json]:
        """For the wire."""
        return {
            "status": self.status,
            "elapsedMs": self.elapsed_ms,
            "attempts": self.attempts,
            "unvisited": list(self.unvisited),
            "branches": [
                {"ref": branch.ref, "name": branch.name, "taken": branch.taken}
                for branch in self.branches
            ],
            "taskCoverage": self.task_coverage,
            "branchCoverage": self.branch_coverage,
            "unusedMocks": self.unused_mocks,
            "stops": [
                {"ref": stop.ref, "type": stop.type, "reason": stop.reason} for stop in self.stops
            ],
            "children": {ref: report.json_value() for ref, report in self.children.items()},
        }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def report_of(
    execution: Execution,
    now: int,
    unused_mocks: Mapping[str, int],
    stops: Iterable[Stop],
    children: Mapping[str, Report],
) -> Report:
    """Look at all attempts of an execution (restored, payloads loaded), once."""
    attempts: dict[str, int] = {}
    for run in execution.runs.values():
        attempts[run.ref] = attempts.get(run.ref, 0) + 1
    tasks = list(execution.definition.all_tasks())
    return Report(
        status=execution.status.value,
        elapsed_ms=(execution.ended_at or now) - execution.created_at,
        attempts=attempts,
        unvisited=tuple(task.ref for task in tasks if task.ref not in attempts),
        branches=tuple(
            Branch(task.ref, name, taken)
            for task in tasks
            for name, taken in _branches(execution, task)
        ),
        unused_mocks=dict(unused_mocks),
        stops=tuple(stops),
        children=dict(children),
    )


def _branches(execution: Execution, task: WorkflowTask) -> Iterable[tuple[str, int]]:
    if task.type in ("SWITCH", "DECISION"):
        return _cases(execution, task)
    if task.type == "DO_WHILE":
        run = execution.runs.get(execution.latest.get(task.ref, 0))
        return [("loopOver", 0 if run is None else run.iteration)]
    heads = {str(number): branch[0].ref for number, branch in enumerate(task.fork_tasks) if branch}
    return [
        (number, sum(1 for run in execution.runs.values() if run.ref == head and not run.attempt))
        for number, head in heads.items()
    ]


def _cases(execution: Execution, task: WorkflowTask) -> Iterable[tuple[str, int]]:
    """Which cases were chosen. A default without tasks counts once something fell through to it."""
    taken = dict.fromkeys(task.decision_cases, 0)
    if task.default_case:
        taken[DEFAULT] = 0
    for run in execution.runs.values():
        if run.ref == task.ref and run.status is TaskStatus.COMPLETED:
            case = str((decode(run.input) or {}).get("case"))
            name = case if case in task.decision_cases else DEFAULT
            taken[name] = taken.get(name, 0) + 1
    return taken.items()
