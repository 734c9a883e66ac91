"""decide(execution, event, facts) -> Changes: the only place where an execution moves.

Pure: no clock, no store, no thread. It looks at the attempt an event is about, at its successors,
the joins it feeds and the loop around it, and follows them until nothing more is to be done.
"""

from collections.abc import Callable
from typing import Any

from engine.model.events import (
    Admitted,
    Answer,
    ChildEnded,
    ChildRefused,
    ChildRevived,
    Claim,
    Decide,
    Due,
    Event,
    ExtendLease,
    GiveBack,
    Pause,
    Post,
    Rerun,
    ResetCallbacks,
    Restart,
    Result,
    Resume,
    Retry,
    SetVariables,
    Skip,
    Start,
    Terminate,
)
from engine.model.execution import Changes, Execution
from engine.model.facts import Facts
from engine.model.status import ExecutionStatus
from engine.rules import lifecycle, recovery, reports
from engine.rules.deadlines import wake_at
from engine.rules.ending import end, end_if_over, give_up_waiting, start_failure_workflow
from engine.rules.listeners import tell_state_change, tell_task
from engine.rules.succession import carry_out, follow
from engine.tasks.draft import Draft

RULES: dict[type[Event], Callable[[Draft, Any], None]] = {
    Start: lifecycle.start,
    Admitted: lifecycle.admit,
    Claim: reports.claim,
    GiveBack: reports.give_back,
    Result: reports.result,
    ExtendLease: reports.extend_lease,
    Answer: reports.answer,
    Due: reports.due,
    ChildEnded: reports.child_ended,
    ChildRefused: reports.child_refused,
    ChildRevived: recovery.child_revived,
    Pause: lifecycle.pause,
    Resume: lifecycle.resume,
    Terminate: lifecycle.terminate,
    Retry: recovery.retry,
    Rerun: recovery.rerun,
    Restart: recovery.restart,
    Skip: lifecycle.skip,
    SetVariables: lifecycle.set_variables,
    Post: lifecycle.post,
    Decide: lifecycle.decide_again,
    ResetCallbacks: lifecycle.reset_callbacks,
}
"""Which rule answers which event."""


CHANGE_NO_FLOW = frozenset([Claim, ExtendLease])
"""Who holds an attempt and for how long: an execution at rest stays at rest."""


def decide(execution: Execution, event: Event, facts: Facts) -> Changes:
    """What an event means for an execution. The execution itself is not changed.

    Raises an EngineError when a person's verb is refused; then nothing has happened.
    """
    draft = Draft(execution, facts)
    RULES[type(event)](draft, event)
    if type(event) not in CHANGE_NO_FLOW:
        come_to_rest(draft)
    finish(draft)
    return draft.changes


def come_to_rest(d: Draft) -> None:
    """Follow everything up until nothing more is to be done at this moment."""
    while True:
        if d.ending is not None and not d.status.terminal:
            end(d, d.ending)
            start_failure_workflow(d)
            return
        if d.status is not ExecutionStatus.RUNNING:
            return
        if d.acts:
            run = d.run(d.acts.popleft())
            if run is not None and run.open:
                carry_out(d, run)
        elif d.agenda:
            run = d.run(d.agenda.popleft())
            if run is not None:
                follow(d, run)
        elif not give_up_waiting(d):
            end_if_over(d)
            if not d.status.terminal:
                return
            start_failure_workflow(d)
            return


def finish(d: Draft) -> None:
    """Give every touched attempt the next instant at which a decision about it is due, and tell
    those who want to hear of it."""
    paused = d.status is ExecutionStatus.PAUSED
    for run in d.changes.runs.values():
        node = d.node(run.ref)
        if node is None:
            continue
        if d.facts.tells_tasks:
            tell_task(d, run, d.execution.runs.get(run.seq))
        if node.task.on_state_change:
            tell_state_change(d, run, d.execution.runs.get(run.seq))
        if not run.open:
            run.wake_at = 0
            continue
        # During a pause only waits end; deadlines are looked at when it is over.
        own = run.due_at if run.carrier is None else 0
        run.wake_at = own if paused else wake_at(run, node, d.facts)
