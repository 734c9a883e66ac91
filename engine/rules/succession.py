"""What follows a finished attempt: a retry, its successor, the joins it feeds, the loop around it."""

from collections.abc import Sequence

from engine.expressions.paths import PathTooCostly
from engine.expressions.templates import TemplateTooDeep
from engine.model.execution import Run
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.retries import next_attempt
from engine.tasks.by_worker import Dynamic
from engine.tasks.draft import Again, Draft
from engine.tasks.joins import Join
from engine.tasks.loops import DoWhile
from engine.tasks.plan import Node
from engine.tasks.registry import KINDS, kind_of
from engine.tasks.rounds import reference_of

NAMED_LATE = frozenset({"DYNAMIC", "FORK_JOIN_DYNAMIC"})
"""Types that are worked out anew each time they are reached."""


def place(d: Draft, ref: str, iteration: int) -> None:
    """Reach a task: create its attempt and whatever begins together with it."""
    node = d.plan.nodes.get(ref)
    if node is None or node.task.type not in NAMED_LATE:
        node = d.node(ref)
    if node is None or d.ending is not None:
        return
    there = _newest(d, node, iteration)
    if there is not None:
        pass_skipped(d, there, iteration)
        return
    place_attempt(d, node, iteration, None)


def place_attempt(d: Draft, node: Node, iteration: int, again: Again | None) -> None:
    """A new attempt of a task, and all that begins together with it, in order."""
    kind = kind_of(node.task.type)
    if isinstance(kind, Dynamic):
        found = kind.resolve(d, node)
        if found is None:
            return
        place_attempt(d, found, iteration, again)
        run = _newest(d, found, iteration)
        if run is not None:
            d.edit(run).node = found.task
        return
    try:
        refs = kind.place(d, node, iteration, again)
    except (PathTooCostly, TemplateTooDeep) as error:
        _cannot_begin(d, node, iteration, str(error))
        return
    run = _newest(d, node, iteration)
    if run is not None and run.open and not d.fits(run.input):
        d.end(run, TaskStatus.FAILED_WITH_TERMINAL_ERROR)
        return
    for ref in refs:
        place(d, ref, iteration)


def _newest(d: Draft, node: Node, iteration: int) -> Run | None:
    """The newest attempt of a task in an iteration; a loop itself stands in none."""
    return d.latest(reference_of(node.ref, 0 if node.task.type == "DO_WHILE" else iteration))


def _cannot_begin(d: Draft, node: Node, iteration: int, reason: str) -> None:
    """An expression in the task's input cannot be worked out: the attempt fails for good."""
    run = _newest(d, node, iteration)
    if run is not None and run.open:
        d.end(run, TaskStatus.FAILED_WITH_TERMINAL_ERROR, reason=f"input of {node.ref}: {reason}")
    else:
        d.end_workflow(ExecutionStatus.FAILED, f"input of {node.ref}: {reason}")


def pass_skipped(d: Draft, there: Run, iteration: int) -> None:
    """A task that a person skipped beforehand is passed over; any other is there already."""
    if there.status is TaskStatus.SKIPPED and not there.executed:
        d.changes.unsettled.add(there.seq)
        d.agenda.append(there.seq)


def carry_out(d: Draft, run: Run) -> None:
    """An attempt does its work at once."""
    node = d.node_of(run)
    place_all(d, kind_of(node.task.type).act(d, run, node), inner_iteration(d, run, node))


def place_all(d: Draft, refs: Sequence[str], iteration: int) -> None:
    """Reach several tasks in order."""
    for ref in refs:
        place(d, ref, iteration)


def inner_iteration(d: Draft, run: Run, node: Node) -> int:
    """The iteration of what a task places: a loop's is its present one."""
    now = d.run(run.seq) or run
    return now.iteration


def outer_iteration(run: Run, node: Node) -> int:
    """The iteration that a task itself stands in: a loop's own count is that of its body."""
    return 0 if node.task.type == "DO_WHILE" else run.iteration


def follow(d: Draft, run: Run) -> None:
    """Do what follows from the end of an attempt."""
    if run.executed:
        return
    node = d.node(run.ref)
    if node is None:
        d.settle(run)
        return
    if run.status.bad and not absorbed(d, run, node):
        return
    run = d.settle(d.run(run.seq) or run)
    if run.status is not TaskStatus.SKIPPED and _children_carry_on(d, run, node):
        pass
    elif node.next is not None:
        place(d, node.next, outer_iteration(run, node))
    hear_joins(d, run, node)
    if node.loop is not None:
        look_at_loop(d, node.loop)


def absorbed(d: Draft, run: Run, node: Node) -> bool:
    """A failed attempt: is the flow to continue past it? Else it is retried, or all ends."""
    again = next_attempt(d, run, node)
    if again is not None:
        replace_attempt(d, node, again).reason = run.reason
        return False
    if d.ending is not None:
        return False
    task = node.task
    if task.optional:
        d.edit(run).status = TaskStatus.COMPLETED_WITH_ERRORS
        return True
    if task.permissive:
        return True
    status = end_status(run.status)
    d.end_workflow(
        status,
        f"Task {run.task_id} failed with status: {status} and reason: "
        f"'{'null' if run.reason is None else run.reason}'",
        run,
    )
    return False


def end_status(status: TaskStatus) -> ExecutionStatus:
    """The workflow status that a fatal task brings about."""
    if status is TaskStatus.CANCELED:
        return ExecutionStatus.TERMINATED
    if status is TaskStatus.TIMED_OUT:
        return ExecutionStatus.TIMED_OUT
    return ExecutionStatus.FAILED


def replace_attempt(d: Draft, node: Node, again: Again) -> Run:
    """Put a new attempt in the place of one that failed."""
    run = again.run
    place_attempt(d, node, run.iteration, again)
    mine = d.edit(d.run(run.seq) or run)
    mine.retried = True
    if not mine.executed:
        d.settle(mine)
    return d.edit(d.latest_of(node, run.iteration))


def _children_carry_on(d: Draft, run: Run, node: Node) -> bool:
    """A switch whose case has tasks is followed by those, which were placed with it."""
    if node.task.type not in ("SWITCH", "DECISION"):
        return False
    return d.input(run).get("hasChildren") == "true"


def hear_joins(d: Draft, run: Run, node: Node) -> None:
    """Tell the open joins that wait for this task."""
    for ref in node.feeds:
        join = d.latest(reference_of(ref, outer_iteration(run, node)))
        if join is None or join.status.terminal:
            continue
        join_node = d.node_of(join)
        kind = KINDS[join_node.task.type]
        if isinstance(kind, Join):
            kind.hear(d, join, join_node)


def look_at_loop(d: Draft, loop: str) -> None:
    """An attempt in a loop's body has settled: if it was the last one, the loop goes on."""
    if d.busy(loop) > 0:
        return
    run = d.latest(loop)
    if run is None or run.status.terminal:
        return
    node = d.node_of(run)
    kind = KINDS[node.task.type]
    if isinstance(kind, DoWhile):
        carry_out(d, run)
