"""The same answer from scratch, by another road: what must exist in an execution, and in which state.

Walks the definition tree as a person would read it. Knows no counters, no compiled plan and no
successors, and shares nothing with the rules that it checks. Looks at all attempts: for tests,
drills and people who doubt, never for the hot path.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any, NamedTuple

import orjson

from engine.model.definitions import WorkflowTask
from engine.model.execution import DERIVED, Execution, Run
from engine.model.status import ExecutionStatus, TaskStatus
from engine.tasks.restoring import restore

ReadPayload = Callable[[int, str], bytes | None]

JOINS = frozenset({"JOIN", "EXCLUSIVE_JOIN"})
CHOICES = frozenset({"SWITCH", "DECISION"})
FORKS = frozenset({"FORK_JOIN", "FORK_JOIN_DYNAMIC"})
PASSIVE = JOINS | {"DO_WHILE"}
"""Types that are moved on by other tasks of the same execution."""


def _unread(seq: int, side: str) -> bytes | None:
    return None


def recheck(execution: Execution, payload: ReadPayload = _unread) -> list[str]:
    """Everything in which an execution at rest disagrees with its definition; empty when all is
    well. `payload` reads what is not in memory."""
    found = _ended(execution) if execution.status.terminal else _Walk(execution, payload).found()
    found += counters(execution)
    if not execution.status.terminal and not waits(execution):
        found.append(f"it is {execution.status} and nothing will ever wake it")
    return found


# What it waits for


class Waiting(NamedTuple):
    """One thing that can move an execution on."""

    what: str
    """`worker`, `script`, `instant`, `child`, `person`, `message`, `admission` or `resume`."""
    run: Run | None = None
    at: int = 0
    """The instant at which something is due, for those that have one."""


def waits(execution: Execution) -> list[Waiting]:
    """All that can move an execution on. One that is not terminal has at least one of these."""
    if execution.status.terminal:
        return []
    found = []
    if execution.status is ExecutionStatus.PAUSED:
        found.append(Waiting("resume"))
    if execution.rate_limited:
        found.append(Waiting("admission"))
    for run in execution.runs.values():
        if not run.status.terminal:
            what = _awaited(run)
            if what is not None:
                found.append(Waiting(what, run, run.due_at or run.wake_at))
    return found


def _awaited(run: Run) -> str | None:
    """Who moves an open attempt on; None for one that waits for its neighbours."""
    if run.carrier is not None:
        return "script" if run.carrier.startswith("#") else "worker"
    if run.type in PASSIVE:
        return None
    if run.child_id is not None:
        return "child"
    if run.due_at:
        return "instant"
    if run.type == "PULL_WORKFLOW_MESSAGES":
        return "message"
    return "person" if run.type in ("WAIT", "HUMAN", "EVENT") or run.wake_at else None


# Derived values


def counters(execution: Execution) -> list[str]:
    """Where the values that are kept up to date differ from those of a fresh start from the rows."""
    bare = Execution(
        **{
            item.name: getattr(execution, item.name)
            for item in fields(Execution)
            if item.name not in DERIVED
        }
    )
    runs = sorted(execution.runs.values(), key=lambda run: run.seq)
    fresh = restore(bare, [run.copy() for run in runs])
    joins = {run.reference for run in runs if run.type == "JOIN" and not run.status.terminal}
    pairs: dict[str, tuple[Any, Any]] = {
        name: (getattr(execution, name), getattr(fresh, name))
        for name in ("latest", "last_of", "open", "carried", "passive", "unsettled")
    }
    pairs["left"] = (
        {ref: execution.left.get(ref) for ref in joins},
        {ref: fresh.left.get(ref) for ref in joins},
    )
    pairs["busy"] = (
        {ref: count for ref, count in execution.busy.items() if count},
        {ref: count for ref, count in fresh.busy.items() if count},
    )
    return [
        f"{name} is {kept}, from its rows it is {worked_out}"
        for name, (kept, worked_out) in pairs.items()
        if kept != worked_out
    ]


def _ended(execution: Execution) -> list[str]:
    found = [
        f"it is {execution.status}, yet {run.reference} is {run.status}"
        for run in execution.runs.values()
        if not run.status.terminal
    ]
    found += [
        f"{run.reference} is {run.status} and still waits for an instant"
        for run in execution.runs.values()
        if run.status.terminal and run.wake_at
    ]
    if execution.status is ExecutionStatus.COMPLETED and execution.unsettled:
        found.append(f"it is COMPLETED, yet nothing followed from {sorted(execution.unsettled)}")
    if not execution.ended_at or execution.wake_at:
        found.append("it has ended without an end time, or still waits for its timeout")
    return found


# The walk


class _Walk:
    """Reads the definition from top to bottom and ticks off the attempts it accounts for."""

    def __init__(self, execution: Execution, payload: ReadPayload) -> None:
        self.execution = execution
        self.payload = payload
        self.attempts: dict[str, list[Run]] = {}
        for run in sorted(execution.runs.values(), key=lambda run: run.seq):
            self.attempts.setdefault(run.reference, []).append(run)
        self.explained: set[str] = set()
        self.wrong: list[str] = []
        # During a pause what has ended is not followed up; a held execution has not begun.
        self.moving = execution.status is ExecutionStatus.RUNNING and not execution.rate_limited

    def found(self) -> list[str]:
        """All disagreements."""
        self.list(self.execution.definition.tasks, 0)
        for reference, runs in self.attempts.items():
            self.chain(reference, runs)
            if reference not in self.explained and runs[-1].status is not TaskStatus.SKIPPED:
                self.wrong.append(f"{reference} exists, but nothing leads to it")
        if self.moving:
            self.wrong += [
                f"nothing has followed from the end of {run.reference}"
                for runs in self.attempts.values()
                for run in runs
                if run.status.terminal and not run.executed and run.status is not TaskStatus.SKIPPED
            ]
        return self.wrong

    def chain(self, reference: str, runs: Sequence[Run]) -> None:
        """The attempts under one name replace each other, one by one, and only the last may live."""
        for before, run in pairwise(runs):
            if not before.retried or not before.status.terminal:
                self.wrong.append(f"{reference} was replaced, yet its attempt is {before.status}")
            if run.retried_task_id != before.task_id or run.attempt <= before.attempt:
                self.wrong.append(f"{reference} has two attempts that do not follow each other")
        if runs[-1].retried:
            self.wrong.append(f"{reference} counts as replaced, but by what?")

    def latest(self, ref: str, iteration: int) -> Run | None:
        """The newest attempt of a task in an iteration."""
        runs = self.attempts.get(f"{ref}__{iteration}" if iteration else ref)
        return runs[-1] if runs else None

    def list(self, tasks: Sequence[WorkflowTask], iteration: int) -> bool:
        """A list of tasks, the first of which has been reached; True if its end is passed."""
        place = 0
        while place < len(tasks):
            task = tasks[place]
            join = tasks[place + 1] if task.type in FORKS and place + 1 < len(tasks) else None
            passed = self.task(task, iteration, join)
            place += 1 if join is None else 2
            if not passed:
                self.revived(task, tasks[place:], iteration)
                return False
        return True

    def revived(self, task: WorkflowTask, rest: Sequence[WorkflowTask], iteration: int) -> None:
        """What was passed once with a failure, and is tried again, has its successors already."""
        first = None
        if rest and self.tried_again(task):
            first = self.latest(rest[0].ref, 0 if rest[0].type == "DO_WHILE" else iteration)
        if first is not None and first.status is not TaskStatus.SKIPPED:
            self.list(rest, iteration)

    def tried_again(self, task: WorkflowTask) -> bool:
        """Is there an attempt in it that may have been passed before it came to be open?"""
        inner = {item.ref: item.permissive for item in _tree((task,))}
        return any(
            inner.get(run.fork or run.ref) or run.attempt > 0 or run.child_changed
            for run in self.execution.runs.values()
            if run.ref in inner or run.fork in inner
        )

    def task(self, task: WorkflowTask, iteration: int, join: WorkflowTask | None) -> bool:
        """A task that has been reached; True if it is passed, so that the next is reached too."""
        number = 0 if task.type == "DO_WHILE" else iteration
        run = self.latest(task.ref, number)
        if run is None:
            if self.moving:
                self.wrong.append(f"{task.ref} must exist in iteration {iteration}")
            return False
        self.explained.add(run.reference)
        if run.status is TaskStatus.SKIPPED:
            return run.executed and self.beyond_skipped(join, iteration)
        ended = (
            run.status.terminal and (run.executed or not self.moving) and self.let_pass(run, task)
        )
        if task.type in CHOICES:
            return ended and self.choice(task, run, iteration)
        if task.type in FORKS:
            return self.fork(run.node or task, run, join, iteration)
        if task.type == "DO_WHILE":
            return self.loop(task, run) and ended
        if task.type == "TERMINATE" and run.status is TaskStatus.COMPLETED:
            if self.moving:
                self.wrong.append(f"{task.ref} has ended the workflow, yet it is RUNNING")
            return False
        return ended and run.executed

    def beyond_skipped(self, join: WorkflowTask | None, iteration: int) -> bool:
        return True if join is None else self.task(join, iteration, None)

    def let_pass(self, run: Run, task: WorkflowTask) -> bool:
        """A failure stops the flow unless the task is permissive; an optional one's is no failure."""
        if run.status.successful:
            return True
        if not self.moving:
            return run.executed
        if task.optional:
            self.wrong.append(f"{run.reference} is optional, yet it is {run.status}")
        elif not task.permissive:
            self.wrong.append(f"{run.reference} is {run.status}, yet the workflow is RUNNING")
        return True

    def choice(self, task: WorkflowTask, run: Run, iteration: int) -> bool:
        """A switch is passed when the list of its case is."""
        if not run.executed and run.status is not TaskStatus.COMPLETED:
            return False
        output = self.output(run)
        chosen = output.get("selectedCase") or next(iter(output.get("caseOutput") or ()), None)
        tasks = task.decision_cases.get(str(chosen))
        if tasks is None or (task.type == "DECISION" and not tasks):
            tasks = task.default_case
        return self.list(tasks, iteration)

    def fork(self, task: WorkflowTask, run: Run, join: WorkflowTask | None, iteration: int) -> bool:
        """All branches and the JOIN are reached at once; the fork is passed when the JOIN is."""
        passed = [self.list(branch, iteration) for branch in task.fork_tasks if branch]
        if join is None:
            self.wrong.append(f"{task.ref} runs without a JOIN behind it")
            return False
        rerun = self.execution.rerun_from is not None
        if rerun and not all(passed) and self.latest(join.ref, iteration) is None:
            # A rerun inside a branch takes the JOIN out; the branch's end brings it back.
            return False
        return self.join(join, iteration)

    def join(self, task: WorkflowTask, iteration: int) -> bool:
        """A JOIN is open as long as one of its tasks has not ended for good, and no longer."""
        passed = self.task(task, iteration, None)
        run = self.latest(task.ref, iteration)
        if run is None or task.type != "JOIN" or run.status is TaskStatus.SKIPPED:
            return passed
        names = (run.node or task).join_on
        missing = [ref for ref in dict.fromkeys(names) if not self.settled(ref, iteration)]
        if self.moving and not missing and not run.status.terminal:
            self.wrong.append(f"{run.reference} waits for nothing any more")
        gave_up = run.status is TaskStatus.FAILED
        if missing and run.status.terminal and not gave_up and not self.again(missing, iteration):
            self.wrong.append(f"{run.reference} has ended without {missing}")
        return passed

    def settled(self, ref: str, iteration: int) -> bool:
        run = self.latest(ref, iteration)
        return run is not None and run.status.terminal and run.executed and not run.retried

    def again(self, refs: Sequence[str], iteration: int) -> bool:
        """Are these all tried again, after the JOIN had taken them for failed?"""
        runs = [self.latest(ref, iteration) for ref in refs]
        return all(run is not None and (run.attempt > 0 or run.child_changed) for run in runs)

    def loop(self, task: WorkflowTask, run: Run) -> bool:
        """The body of every iteration up to the present one; True if the last of them is passed."""
        passed = True
        for iteration in range(1, run.iteration + 1):
            present = iteration == run.iteration
            if not present and not self.kept(task, iteration):
                continue
            passed = not task.loop_over or self.list(task.loop_over, iteration)
            passed = passed and self.quiet(task, iteration)
            if not present and not passed and not self.retrying(task, iteration):
                self.wrong.append(f"{task.ref} went on before iteration {iteration} was over")
        idle = not run.status.terminal and run.carrier is None
        if idle and self.moving and passed and self.quiet_before(task, run.iteration):
            self.wrong.append(
                f"{task.ref} neither goes on nor ends after iteration {run.iteration}"
            )
        return passed

    def kept(self, task: WorkflowTask, iteration: int) -> bool:
        """Old iterations may have been dropped (keepLastN), as a whole."""
        return any(self.latest(inner.ref, iteration) is not None for inner in _tree(task.loop_over))

    def quiet(self, task: WorkflowTask, iteration: int) -> bool:
        """Has everything in this iteration ended? A JOIN may end before what its switch led to."""
        return all(run.status.terminal and run.executed for run in self.body(task, iteration))

    def quiet_before(self, task: WorkflowTask, iteration: int) -> bool:
        """Nothing in an earlier iteration runs again either: a child may have been revived there."""
        return all(self.quiet(task, earlier) for earlier in range(1, iteration))

    def retrying(self, task: WorkflowTask, iteration: int) -> bool:
        """Is there a reason why an iteration that is over has not been passed?"""
        return any(
            not run.status.terminal or run.type == "TERMINATE" for run in self.body(task, iteration)
        )

    def body(self, task: WorkflowTask, iteration: int) -> Iterator[Run]:
        """The newest attempts of an iteration, those in filled forks included."""
        for inner in _tree(task.loop_over):
            run = self.latest(inner.ref, iteration)
            if run is not None:
                yield run
                for branch in run.node.fork_tasks if run.node is not None else ():
                    found = (self.latest(child.ref, iteration) for child in branch)
                    yield from (child for child in found if child is not None)

    def output(self, run: Run) -> dict[str, Any]:
        data = run.output if run.output is not None else self.payload(run.seq, "output")
        value = orjson.loads(data) if data else {}
        return value if isinstance(value, dict) else {}


def _tree(tasks: Sequence[WorkflowTask]) -> Iterator[WorkflowTask]:
    """Every task of some lists, at any depth."""
    for task in tasks:
        yield task
        for inner in task.inner_lists():
            yield from _tree(inner)
