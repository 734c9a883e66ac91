"""The verbs that move a running execution: start, pause, resume, terminate, skip, variables."""

from engine.model.errors import Conflict, InvalidInput, TooLarge
from engine.model.events import (
    Admitted,
    Decide,
    Pause,
    Post,
    ResetCallbacks,
    Resume,
    SetVariables,
    Skip,
    Start,
    Terminate,
)
from engine.model.execution import EMPTY
from engine.model.record import Json, decode, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.deadlines import pass_deadlines, pass_workflow_deadline, workflow_wake_at
from engine.rules.ending import end, start_failure_workflow
from engine.rules.listeners import tell_listeners
from engine.rules.succession import place
from engine.tasks.caching import recall_workflow
from engine.tasks.draft import Draft, Ending
from engine.tasks.registry import KINDS


def start(d: Draft, event: Start) -> None:
    """The execution exists; reach its first task."""
    now = d.facts.now
    definition = d.execution.definition
    d.set(
        created_at=now,
        updated_at=now,
        variables=encode(definition.variables) if definition.variables else EMPTY,
        wake_at=workflow_wake_at(d.execution, 0, now),
    )
    d.say("workflow.started")
    tell_listeners(d, "STARTED")
    if not event.rate_limited:
        begin_or_recall(d)


def begin_or_recall(d: Draft) -> None:
    """A new execution reaches its first task, unless one before it has left the same output."""
    found = recall_workflow(d)
    if found is None:
        begin(d)
    else:
        d.ending = Ending(ExecutionStatus.COMPLETED, "output taken from the cache", output=found)


def begin(d: Draft) -> None:
    """Reach the first task of the definition."""
    first = d.plan.first
    if first is None:
        d.end_workflow(ExecutionStatus.COMPLETED, "No tasks found to be executed")
        return
    place(d, first, 0)


def admit(d: Draft, event: Admitted) -> None:
    """An execution that was held back by its rate limit begins."""
    if d.field("rate_limited") and not d.status.terminal:
        d.set(rate_limited=False)
        begin_or_recall(d)


def pause(d: Draft, event: Pause) -> None:
    """Freeze all decisions; what is handed out may finish."""
    if d.status.terminal:
        raise Conflict(f"Workflow {d.execution.id} has ended, status cannot be updated.")
    if d.status is ExecutionStatus.PAUSED:
        return
    d.set(status=ExecutionStatus.PAUSED)
    d.say("workflow.paused")
    tell_listeners(d, "PAUSED")


def resume(d: Draft, event: Resume) -> None:
    """Go on: catch up with what ended, and with deadlines that passed, during the pause."""
    if d.status is not ExecutionStatus.PAUSED:
        raise Conflict(
            f"The workflow {d.execution.id} is not PAUSED so cannot resume. "
            f"Current status is {d.status}"
        )
    now = d.facts.now
    d.set(
        status=ExecutionStatus.RUNNING,
        last_retried_at=now,
        wake_at=workflow_wake_at(d.execution, now, now),
    )
    d.say("workflow.resumed")
    tell_listeners(d, "RESUMED")
    look_again(d)


def look_again(d: Draft) -> None:
    """Follow up everything that has ended, and apply every deadline that has passed.

    Looks at all attempts: for the end of a pause and for a person who asks for it."""
    if d.status is not ExecutionStatus.RUNNING:
        return
    d.agenda.extend(sorted(d.changes.unsettled))
    for run in d.all_runs():
        if not run.open:
            continue
        mine = d.edit(run)
        node = d.node(mine.ref)
        if node is not None and pass_deadlines(d, mine, node) and mine.carrier is None:
            own = mine.due_at
            if own and d.facts.now >= own:
                KINDS[node.task.type].due(d, mine, node)


def decide_again(d: Draft, event: Decide) -> None:
    """A look that is harmless at any time."""
    if d.status.terminal:
        return
    pass_workflow_deadline(d)
    look_again(d)


def terminate(d: Draft, event: Terminate) -> None:
    """End it as TERMINATED with exactly the given reason."""
    status = d.status
    if event.by_parent and status.terminal:
        return
    if status is ExecutionStatus.COMPLETED:
        raise Conflict("Cannot terminate a COMPLETED workflow.")
    if status is ExecutionStatus.TERMINATED:
        return
    end(d, Ending(ExecutionStatus.TERMINATED, event.reason))
    d.set(updated_by=event.by or d.field("updated_by"))
    if event.trigger_failure_workflow and not event.by_parent:
        start_failure_workflow(d)


def skip(d: Draft, event: Skip) -> None:
    """Put a SKIPPED record under a name that has not been reached; the flow will pass over it."""
    if d.status is not ExecutionStatus.RUNNING:
        raise Conflict(
            f"Workflow {d.execution.id} is not running so the task referenced by {event.ref} cannot be "
            f"skipped; it is {d.status}."
        )
    node = d.node(event.ref)
    if node is None:
        raise InvalidInput(
            f"The task reference name {event.ref} does not exist in the WorkflowDefinition "
            f"{d.execution.definition.name}. Give one of its reference names."
        )
    if node.loop is not None:
        raise Conflict(
            f"The task {event.ref} runs in the loop {node.loop}, once in every round, and cannot be "
            "skipped. Skip the loop, or complete the task when it is there."
        )
    if d.latest(event.ref) is not None or d.newest(event.ref) is not None:
        raise Conflict(
            f"The task referenced by {event.ref} has already been processed, cannot be skipped."
        )
    if node.task.type in ("FORK_JOIN", "FORK_JOIN_DYNAMIC"):
        raise Conflict(
            f"The fork {event.ref} cannot be skipped: its JOIN would wait for branches that never "
            "come. Skip the tasks in its branches instead."
        )
    name = node.task.name or node.ref
    run = d.add(node, 0, TaskStatus.IN_PROGRESS, type_=name, name=name)
    run.input = encode(event.input or {})
    run.output = encode(event.output or {})
    run.status = TaskStatus.SKIPPED
    run.ended_at = d.facts.now
    run.started_at = 0
    d.changes.open -= 1
    d.count(node.loop, -1)


def set_variables(d: Draft, event: SetVariables) -> None:
    """Merge variables; with `append_arrays`, lists are added to lists."""
    if d.status.terminal:
        raise Conflict(f"Workflow {d.execution.id} has ended as {d.status}; its variables stay.")
    present = dict(d.variables())
    for key, value in event.variables.items():
        old = present.get(key)
        appended = event.append_arrays and isinstance(old, list) and isinstance(value, list)
        present[key] = [*old, *value] if appended and old is not None else value
    encoded = encode(present)
    complaint = d.variables_complaint(encoded)
    if complaint is not None:
        raise TooLarge(complaint)
    d.set(variables=encoded, updated_at=d.facts.now)


def post(d: Draft, event: Post) -> None:
    """Put a message into the mailbox and wake the tasks that wait for one."""
    if d.status.terminal:
        raise Conflict(f"Workflow {d.execution.id} is not running: {d.status}.")
    waiting: list[Json] = decode(d.field("mailbox")) or []
    d.set(mailbox=encode([*waiting, event.message]))
    for node in d.plan.nodes.values():
        if node.task.type == "PULL_WORKFLOW_MESSAGES":
            run = d.newest(node.ref)
            if run is not None and run.open:
                d.act_later(run)


def reset_callbacks(d: Draft, event: ResetCallbacks) -> None:
    """Worker tasks that wait for a callback or a delay become deliverable now."""
    if d.status.terminal:
        raise Conflict(f"Workflow is in terminal state. Status = {d.status}")
    for run in d.all_runs():
        if run.status is TaskStatus.SCHEDULED and run.callback_after > 0:
            mine = d.edit(run)
            mine.callback_after = 0
            mine.due_at = 0
