"""Retry, rerun and restart: what a person does to an execution that has ended.

Each looks at all attempts, once. What is reopened or removed is kept aside first: history is never
rewritten.
"""

from engine.model.errors import Conflict, InvalidInput, NotFound
from engine.model.events import ChildRevived, Rerun, Restart, Retry
from engine.model.execution import EMPTY, Run
from engine.model.record import Json, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.deadlines import workflow_wake_at
from engine.rules.lifecycle import begin
from engine.rules.listeners import tell_listeners
from engine.rules.reachability import Reach, reach_of
from engine.rules.reports import own_run
from engine.rules.succession import place_all, replace_attempt
from engine.tasks.at_once import termination
from engine.tasks.draft import Again, Draft
from engine.tasks.loops import DoWhile
from engine.tasks.plan import Node
from engine.tasks.registry import KINDS, kind_of

IN_PLACE = frozenset(["DO_WHILE", "FORK_JOIN", "FORK_JOIN_DYNAMIC", "JOIN", "EXCLUSIVE_JOIN"])
"""Types whose failed record goes on instead of being replaced."""

ENDS_TO_RETRY = frozenset(
    {TaskStatus.FAILED, TaskStatus.FAILED_WITH_TERMINAL_ERROR, TaskStatus.TIMED_OUT}
)


def run_again(d: Draft, verb: str) -> None:
    """The execution is RUNNING once more, with a fresh workflow timeout; its parents hear of it."""
    now = d.facts.now
    d.set(
        status=ExecutionStatus.RUNNING,
        reason=None,
        ended_at=0,
        failed_task_id=None,
        last_retried_at=now,
        updated_at=now,
        wake_at=workflow_wake_at(d.execution, now, now),
    )
    d.say(f"workflow.{verb}")
    tell_listeners(d, verb.upper())


def tell_parent_of_revival(d: Draft, verb: str, chain: str | None = None) -> None:
    """The parent's task goes on, because its child does."""
    execution = d.execution
    if execution.parent_id is None or execution.parent_task_id is None:
        return
    own = f"{execution.definition.name}.{execution.definition.version}/{execution.id}"
    d.send(
        execution.parent_id,
        ChildRevived(
            task_id=execution.parent_task_id,
            child_id=execution.id,
            verb=verb,
            chain=own if chain is None else f"{own} -> {chain}",
        ),
    )


def stay_terminated(d: Draft) -> None:
    """A TERMINATE task that has done its work, and was not taken out, ends it all once more."""
    for run in d.all_runs():
        if run.type == "TERMINATE" and run.status is TaskStatus.COMPLETED:
            ending = termination(d, run)
            if ending is not None:
                d.end_workflow(ending.status, ending.reason, run)


# Retry


def retry(d: Draft, event: Retry) -> None:
    """Try again what failed; tasks that ended well are not run again."""
    if not d.status.terminal:
        if event.by_parent:
            return
        raise NotFound(f"Workflow is still running.  status={d.status}")
    runs = d.all_runs()
    if not runs:
        raise Conflict(f"Workflow {d.execution.id} has not started yet: there is nothing to retry.")
    if event.resume_subworkflow_tasks and _pass_down(d, runs, event):
        return
    chosen = retryable(d, runs)
    if not chosen and d.status is not ExecutionStatus.TIMED_OUT:
        if event.by_parent:
            return
        raise Conflict(
            "There are no retryable tasks! Use restart if you want to attempt entire workflow "
            "execution again."
        )
    run_again(d, "retried")
    d.agenda.extend(sorted(d.changes.unsettled - {run.seq for run in chosen}))
    for run in chosen:
        _try_again(d, run)
    stay_terminated(d)
    if not event.by_parent:
        tell_parent_of_revival(d, "retried")


def _pass_down(d: Draft, runs: list[Run], event: Retry) -> bool:
    """Hand a retry to the child whose failure ended this execution; False if there is none."""
    latest = {run.reference: run for run in runs}
    bad = next((run for run in latest.values() if run.status.bad), None)
    if bad is not None and d.node_of(bad).task.type == "DO_WHILE":
        inner = [run for run in runs if run.status.bad and run.child_id is not None]
        bad = inner[0] if inner else bad
    if bad is None:
        return event.resume_subworkflow_tasks
    if bad.child_id is None:
        return False
    d.send(bad.child_id, Retry(by=event.by, why=event.why, resume_subworkflow_tasks=True))
    return True


def retryable(d: Draft, runs: list[Run]) -> list[Run]:
    """The attempts that a retry replaces or reopens, in seq order."""
    chosen: dict[str, Run] = {}
    for run in runs:
        if run.status in ENDS_TO_RETRY or run.status is TaskStatus.CANCELED:
            chosen[run.reference] = run
        else:
            chosen.pop(run.reference, None)
    return sorted(chosen.values(), key=lambda run: run.seq)


def _try_again(d: Draft, run: Run) -> None:
    node = d.node_of(run)
    if node.task.type in IN_PLACE:
        failed = run.status in ENDS_TO_RETRY
        mine = d.reopen(run, TaskStatus.IN_PROGRESS)
        mine.attempt += 1 if failed else 0
        kind_of(node.task.type).reopen(d, mine, node)
        return
    fresh = replace_attempt(d, node, Again(run))
    fresh.first_scheduled_at = d.facts.now


# Restart


def restart(d: Draft, event: Restart) -> None:
    """Start over under the same id, by the stored snapshot or by a newer definition."""
    if not d.status.terminal:
        raise Conflict(f"Workflow: {d.execution.id} is not in terminal state, unable to restart.")
    definition = event.definition or d.execution.definition
    if d.status is ExecutionStatus.COMPLETED and not definition.restartable:
        raise NotFound(f"Workflow: {d.execution.id} is non-restartable")
    for run in d.all_runs():
        d.remove(run)
    now = d.facts.now
    d.use(definition, event.definition_hash or d.execution.definition_hash)
    run_again(d, "restarted")
    d.set(
        created_at=now,
        last_retried_at=0,
        output=EMPTY,
        variables=encode(definition.variables) if definition.variables else EMPTY,
        failed_refs=(),
        failed_names=(),
        seq_base=d.field("next_seq") - 1,
        wake_at=workflow_wake_at(d.execution, 0, now),
    )
    tell_parent_of_revival(d, "restarted")
    begin(d)


# Rerun


def rerun(d: Draft, event: Rerun) -> None:
    """Run again from a task: what it leads to is taken out, everything else stays."""
    if not d.status.terminal:
        raise Conflict(f"Workflow: {d.execution.id} is not in terminal state, unable to rerun.")
    target = None
    if event.task_id is not None:
        target = own_run(d, event.task_id)
        if target is None:
            raise InvalidInput(f"Task {event.task_id} not found in workflow {d.execution.id}")
    run_again(d, "reran")
    d.set(failed_refs=(), failed_names=(), rerun_from=d.execution.id)
    if event.workflow_input is not None:
        d.set(input=encode(event.workflow_input), input_path=None)
    if event.correlation_id is not None:
        d.set(correlation_id=event.correlation_id)
    tell_parent_of_revival(d, "reran")
    if target is None:
        for run in d.all_runs():
            d.remove(run)
        d.set(seq_base=d.field("next_seq") - 1, output=EMPTY)
        begin(d)
        return
    node = d.node_of(target)
    remove_reached(d, target, reach_of(d, node))
    _run_target(d, target, node, event)
    _reopen_others(d, target)
    stay_terminated(d)
    d.agenda.extend(sorted(d.changes.unsettled))


def remove_reached(d: Draft, target: Run, reach: Reach) -> None:
    """Take out what the target leads to, in this iteration of its loop and all later ones."""
    loop = d.node_of(target).loop
    for run in d.all_runs():
        if run.seq == target.seq:
            continue
        same_loop = loop is not None and (node := d.node(run.ref)) is not None and node.loop == loop
        if same_loop:
            gone = run.iteration > target.iteration or (
                run.iteration == target.iteration and (reach.has(run) or run.ref == target.ref)
            )
        else:
            gone = reach.has(run) or run.reference == target.reference
        if gone:
            d.remove(run)
    if loop is not None:
        _rewind_loop(d, loop, target.iteration)


def _rewind_loop(d: Draft, loop: str, iteration: int) -> None:
    """The loop around the target goes on from the target's iteration."""
    run = d.latest(loop)
    if run is None:
        return
    node = d.node_of(run)
    kind = KINDS[node.task.type]
    if isinstance(kind, DoWhile):
        mine = d.edit(run) if run.open else d.reopen(run, TaskStatus.IN_PROGRESS)
        kind.go_back(d, mine, node, iteration)


def _run_target(d: Draft, target: Run, node: Node, event: Rerun) -> None:
    """Queued tasks, waits and children go on in their own record, and so does whatever is given
    another input; all others are reached anew."""
    type_ = node.task.type
    kind = kind_of(type_)
    stays = kind.queued or type_ in ("SUB_WORKFLOW", "WAIT", "HUMAN", "DO_WHILE")
    fed = event.task_input is not None and type_ not in IN_PLACE
    if not stays and not fed:
        d.remove(target)
        d.changes.latest.pop(target.reference, None)
        place_all(d, (target.ref,), target.iteration if node.loop is not None else 0)
        return
    mine = d.reopen(target, TaskStatus.IN_PROGRESS)
    _as_new(d, mine)
    if event.task_input is not None:
        mine.input = encode(_new_input(d, mine, type_, event.task_input))
    if type_ == "DO_WHILE":
        mine.iteration = 0
    place_all(d, kind.reopen(d, mine, node), mine.iteration)


def _new_input(d: Draft, run: Run, type_: str, given: dict[str, Json]) -> dict[str, Json]:
    """What a rerun hands to its target. A SUB_WORKFLOW's is meant for its child, unless it is
    written in the words of the task's own input."""
    if type_ != "SUB_WORKFLOW":
        return given
    before = d.input(run)
    return (
        {**before, **given} if given.keys() & before.keys() else {**before, "workflowInput": given}
    )


def _as_new(d: Draft, run: Run) -> None:
    """The record as if it had just been scheduled; its retryCount stays."""
    now = d.facts.now
    run.output, run.output_path = EMPTY, None
    run.poll_count = 0
    run.worker = None
    run.scheduled_at = run.queued_at = run.first_scheduled_at = now
    run.started_at = run.updated_at = 0
    run.callback_after = run.start_delay = 0
    if run.status is TaskStatus.IN_PROGRESS and run.carrier is None:
        run.started_at = now


def _reopen_others(d: Draft, target: Run) -> None:
    """Whatever else ended badly goes on in its own record."""
    for run in retryable(d, d.all_runs()):
        if run.reference == target.reference or run.retried:
            continue
        node = d.node_of(run)
        mine = d.reopen(run, TaskStatus.IN_PROGRESS)
        if node.task.type not in IN_PLACE:
            _as_new(d, mine)
        kind_of(node.task.type).reopen(d, mine, node)


# Parents


def child_revived(d: Draft, event: ChildRevived) -> None:
    """A child runs again: so does the task that waits for it, and this execution."""
    run = own_run(d, event.task_id)
    if run is None or run.retried or run.child_id != event.child_id:
        return
    node = d.node_of(run)
    if node.task.optional:
        return
    was_terminal = d.status.terminal
    had_ended_well = run.status.terminal and run.status.successful
    if run.status.terminal:
        run = d.reopen(run, TaskStatus.IN_PROGRESS)
    mine = d.edit(run)
    mine.child_changed = True
    d.log(mine, (f"Sub workflow {event.chain} {event.verb}.",))
    if d.status is not ExecutionStatus.RUNNING:
        run_again(d, "retried")
    d.set(failed_refs=(), failed_names=())
    if was_terminal:
        if had_ended_well:
            # What followed from it follows anew when the child ends again.
            remove_reached(d, mine, reach_of(d, node))
        _revive_siblings(d, mine)
        stay_terminated(d)
        tell_parent_of_revival(d, event.verb, event.chain)
    d.agenda.extend(sorted(d.changes.unsettled))


def _revive_siblings(d: Draft, revived: Run) -> None:
    """Tasks that were cancelled or failed together with the revived one go on as well."""
    for run in retryable(d, d.all_runs()):
        if run.seq == revived.seq or run.retried:
            continue
        node = d.node_of(run)
        if node.task.type == "SUB_WORKFLOW" and run.child_id is not None:
            d.reopen(run, TaskStatus.IN_PROGRESS)
            d.send(run.child_id, Retry(by_parent=True))
            continue
        if run.status is not TaskStatus.CANCELED and node.task.type not in IN_PLACE:
            if not run.executed:
                # Its failure has ended the execution, and would do so again.
                _try_again(d, run)
            continue
        mine = d.reopen(run, TaskStatus.IN_PROGRESS)
        if node.task.type not in IN_PLACE:
            _as_new(d, mine)
            mine.attempt += 1
        kind_of(node.task.type).reopen(d, mine, node)
