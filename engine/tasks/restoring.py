"""An execution out of its stored attempts: everything that is derived is worked out anew."""

from collections.abc import Iterable

from engine.model.execution import Execution, Run
from engine.model.status import TaskStatus
from engine.tasks.branches import grown
from engine.tasks.by_worker import resolved
from engine.tasks.joins import Join
from engine.tasks.plan import Node, Plan, plan_of
from engine.tasks.rounds import reference_of


def restore(execution: Execution, runs: Iterable[Run]) -> Execution:
    """Give a bare execution its attempts (ascending seq) and all that follows from them."""
    plan = plan_of(execution.definition, execution.definition_hash)
    for run in runs:
        execution.runs[run.seq] = run
        execution.latest[run.reference] = run.seq
        execution.last_of[run.ref] = run.reference
        if run.node is not None:
            _learn(execution, plan, run)
    _count(execution, plan)
    return execution


def _learn(execution: Execution, plan: Plan, run: Run) -> None:
    """Compile what this attempt runs by, where that is not in the definition."""
    task = run.node
    if task is None:
        return
    planned = _node(execution, plan, run.ref)
    if planned is None:
        return
    if task.type == "FORK_JOIN_DYNAMIC":
        join = None if planned.next is None else _node(execution, plan, planned.next)
        if join is not None:
            heads = tuple(branch[0].ref for branch in task.fork_tasks)
            waiting = join.task.but(join_on=heads)
            execution.nodes.update(grown((task, waiting), planned, join))
    elif task.type not in ("JOIN", "EXCLUSIVE_JOIN"):
        execution.nodes[run.ref] = resolved(planned, task.name or "", task.task_definition)


def _node(execution: Execution, plan: Plan, ref: str) -> Node | None:
    return execution.nodes.get(ref) or plan.nodes.get(ref)


def _count(execution: Execution, plan: Plan) -> None:
    """The counters: open attempts, unsettled ends, busy loops, and what open joins wait for."""
    joins: list[tuple[Run, Node]] = []
    for run in execution.runs.values():
        node = _node(execution, plan, run.ref)
        skipped = run.status is TaskStatus.SKIPPED
        execution.carried += run.carried
        execution.passive += run.passive
        if run.open:
            execution.open += 1
            if node is not None and node.task.type in ("JOIN", "EXCLUSIVE_JOIN"):
                joins.append((run, node))
        elif not run.executed and not skipped:
            execution.unsettled.add(run.seq)
        if node is not None and node.loop is not None and not run.executed and not skipped:
            execution.busy[node.loop] = execution.busy.get(node.loop, 0) + 1
    for run, node in joins:
        awaited = (
            execution.latest.get(reference_of(ref, run.iteration)) for ref in node.task.join_on
        )
        execution.left[run.reference] = sum(
            not Join.settled(None if seq is None else execution.runs[seq]) for seq in awaited
        )
