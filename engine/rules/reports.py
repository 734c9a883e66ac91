"""What machines say: a claim, a result, an evaluator's answer, a passed instant, a child's news."""

from engine.model.events import (
    Answer,
    ChildEnded,
    ChildRefused,
    Claim,
    Due,
    ExtendLease,
    GiveBack,
    Result,
)
from engine.model.execution import Run
from engine.model.ids import task_place
from engine.model.record import Json, decode, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.deadlines import pass_deadlines, pass_workflow_deadline
from engine.rules.succession import inner_iteration, place_all
from engine.tasks.caching import remember_output
from engine.tasks.draft import Draft
from engine.tasks.keys import end_as_child
from engine.tasks.kind import SCRIPT, fail
from engine.tasks.plan import Node
from engine.tasks.registry import kind_of


def claim(d: Draft, event: Claim) -> None:
    """A worker takes an attempt; replied True if it is theirs."""
    run = d.run(event.seq)
    if run is None or run.status is not TaskStatus.SCHEDULED or d.status.terminal:
        d.changes.reply = False
        return
    take(d.edit(run), d.facts.now, event.worker)
    d.changes.reply = True


def take(run: Run, now: int, worker: str | None) -> None:
    """What a claim makes of an attempt that is the caller's to change."""
    run.status = TaskStatus.IN_PROGRESS
    run.started_at = run.started_at or now
    run.updated_at = now
    run.callback_after = 0
    run.worker = worker
    run.poll_count += 1


def give_back(d: Draft, event: GiveBack) -> None:
    """The claim never happened: the attempt is where it was, first of its queue."""
    run = d.run(event.seq)
    if run is None or run.status is not TaskStatus.IN_PROGRESS or run.poll_count != event.poll:
        return
    run = d.edit(run)
    run.status = TaskStatus.SCHEDULED
    run.poll_count -= 1
    run.worker = None
    if run.poll_count == 0:
        run.started_at = 0


def extend_lease(d: Draft, event: ExtendLease) -> None:
    """Only the response timeout starts again. Replied is the attempt, None if it is gone."""
    run = d.run(event.seq)
    if run is not None and run.open and not d.status.terminal:
        run = d.edit(run)
        run.updated_at = d.facts.now
    d.changes.reply = run


def result(d: Draft, event: Result) -> None:
    """A report on an attempt; late and repeated ones change nothing. Replied is the attempt as it
    is then, None if it is gone."""
    run = d.run(event.seq)
    d.changes.reply = run
    if run is None or run.status.terminal or d.status.terminal:
        d.say("task.update_conflict")
        if run is not None:
            d.log(run, (late_line(d, run, event),))
        return
    run = d.edit(run)
    d.changes.reply = run
    run.output = _output(d, run, event)
    run.worker = event.worker
    run.child_id = event.child_id or run.child_id
    # The path stands for this output: one of an earlier report would show what is no more.
    run.output_path = event.output_path
    run.metadata = event.metadata or run.metadata
    reason = None if event.reason is None else event.reason[: d.facts.limits.reason]
    d.log(run, event.logs)
    if not d.fits(run.output):
        # Whatever was reported: its end says why.
        d.end(run, TaskStatus.FAILED_WITH_TERMINAL_ERROR, run.output)
        return
    if not event.status.terminal:
        _progress(d, run, event, reason)
        return
    run.callback_after = event.callback_after
    run.reason = reason
    node = d.node_of(run)
    complaint = _output_complaint(d, run, node) if event.status.successful else None
    if complaint is not None:
        fail(d, run, complaint, for_good=True)
        return
    # What is reported for a loop is its whole output: its rounds are not added.
    d.end(run, event.status, run.output).output_path = event.output_path
    if event.status is TaskStatus.COMPLETED and node.task.cache_config:
        remember_output(d, run, node)


def _output_complaint(d: Draft, run: Run, node: Node) -> str | None:
    """Why a reported output is not taken: its task definition enforces a schema it breaks."""
    policy = node.task_def
    if not policy.enforce_schema or policy.output_schema is None:
        return None
    complaint = d.facts.schema_complaint(policy.output_schema, decode(run.output))
    return complaint and f"The output of {run.reference} does not fit its outputSchema: {complaint}"


def late_line(d: Draft, run: Run, event: Result) -> str:
    """What the task log says about a report that came too late."""
    who = event.worker or "an unnamed worker"
    return f"late update ignored: {event.status} from {who}; the task is {run.status}"


def _output(d: Draft, run: Run, event: Result) -> bytes:
    if not event.merge:
        return event.output
    present = decoded_map(event.output)
    return encode({**d.output(run), **present})


def _progress(d: Draft, run: Run, event: Result, reason: str | None) -> None:
    """A sign of life. A queued task goes back to its queue until its callback is due; an HTTP task
    that is completed from outside leaves it."""
    now = d.facts.now
    node = d.node_of(run)
    run.reason = reason
    run.updated_at = now
    run.callback_after = event.callback_after
    if node.task.type == "HTTP" and node.task.async_complete:
        run.status = TaskStatus.IN_PROGRESS
        run.carrier = None
    elif kind_of(node.task.type).queued:
        run.status = TaskStatus.SCHEDULED
        run.queued_at = now
        run.carrier = run.type
        run.due_at = now + event.callback_after * 1000 if event.callback_after > 0 else 0
    else:
        run.status = TaskStatus.IN_PROGRESS


def answer(d: Draft, event: Answer) -> None:
    """An evaluator has answered. During a pause the question is simply asked again later."""
    run = d.run(event.seq)
    if run is None or run.carrier != SCRIPT or not run.open:
        return
    if d.status is not ExecutionStatus.RUNNING:
        return
    node = d.node_of(run)
    refs = kind_of(node.task.type).answer(d, run, node, event)
    place_all(d, refs, inner_iteration(d, run, node))


def due(d: Draft, event: Due) -> None:
    """An instant has come: the end of a wait, or a deadline."""
    if event.seq is None:
        if d.status is ExecutionStatus.RUNNING:
            pass_workflow_deadline(d)
        elif d.status is ExecutionStatus.PAUSED:
            # Resuming starts this clock anew.
            d.set(wake_at=0)
        return
    run = d.run(event.seq)
    if run is None or not run.open or d.status.terminal:
        return
    node = d.node_of(run)
    if run.carrier is None and run.due_at and d.facts.now >= run.due_at:
        refs = kind_of(node.task.type).due(d, run, node)
        place_all(d, refs, inner_iteration(d, run, node))
        return
    if d.status is ExecutionStatus.RUNNING:
        pass_deadlines(d, run, node)
    if run.open and run.wake_at <= d.facts.now:
        d.edit(d.run(run.seq) or run)


def child_ended(d: Draft, event: ChildEnded) -> None:
    """A sub-workflow has ended: so does its task. One that was replaced meanwhile is not heard."""
    run = own_run(d, event.task_id)
    if run is None or not run.open or run.child_id != event.child_id or d.status.terminal:
        return
    named = f"{event.name}.{event.version}/{event.child_id}"
    end_as_child(d, run, event.child_id, event.status, event.output, named, event.reason)


def child_refused(d: Draft, event: ChildRefused) -> None:
    """A sub-workflow could not be started."""
    run = own_run(d, event.task_id)
    if run is not None and run.open and run.child_id == event.child_id:
        fail(d, run, event.reason)


def own_run(d: Draft, task_id: str) -> Run | None:
    """The attempt with a task id, if it is one of this execution."""
    place = task_place(task_id)
    if place is None or place.execution != d.execution.key:
        return None
    run = d.run(place.seq)
    return run if run is not None and run.task_id == task_id else None


def decoded_map(data: bytes) -> dict[str, Json]:
    """Encoded output as a map; anything else counts as empty."""
    value = decode(data)
    return value if isinstance(value, dict) else {}
