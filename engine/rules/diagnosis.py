"""Why an execution stopped or what it waits for, in words for a person at three in the morning.

Reads one execution, and the children that failed below it. Decides nothing, changes nothing.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from engine.model.execution import Execution, Run
from engine.model.ids import content_hash
from engine.model.record import Json, encode, present
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.recheck import waits
from engine.rules.wait_words import Place, sentences_of, steps_of

FindChild = Callable[[str], Execution | None]

Level = tuple[Execution, Run | None]
"""An execution, and the attempt in it that brought it down; None where it ended by itself."""

NO_REASON = "no reason was given"

DEEPEST = 50
"""Levels of sub-workflows that are followed down."""

_GATHERING = frozenset({"JOIN", "EXCLUSIVE_JOIN", "DO_WHILE"})
"""Types that fail because of others."""

_VARIABLE = re.compile(
    r"[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|0x[0-9a-fA-F]+|\b[0-9a-fA-F]{12,}\b|\d+(?:[.:,T-]\d+)*"
)
"""What differs between two occurrences of one failure: ids, addresses, counts, times."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The attempt at which it all began; of an execution that ended for no task of its own, that."""

    workflow_id: str
    workflow: str
    status: TaskStatus | ExecutionStatus
    reason: str
    task_id: str | None = None
    reference: str | None = None
    iteration: int = 0
    """0 outside of loops; the reference has it as its suffix."""
    task: str | None = None
    type: str | None = None
    attempts: int | None = None
    worker: str | None = None

    def json_value(self) -> dict[str, Json]:
        """For the wire."""
        return present(
            {
                "workflowId": self.workflow_id,
                "workflow": self.workflow,
                "taskId": self.task_id,
                "reference": self.reference,
                "iteration": self.iteration or None,
                "task": self.task,
                "type": self.type,
                "status": self.status.value,
                "attempts": self.attempts,
                "reason": self.reason,
                "worker": self.worker,
            }
        )


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a person needs to know first."""

    headline: str
    """One sentence."""
    cause: Cause | None = None
    path: tuple[str, ...] = ()
    """Workflow ids from this execution down to the one in which the cause lies."""
    waiting: tuple[str, ...] = ()
    """A sentence for each thing that could move it on."""
    next_steps: tuple[str, ...] = ()
    fingerprint: str | None = None
    """Equal for failures that are the same but for ids, numbers and times."""

    def json_value(self) -> dict[str, Json]:
        """For the wire: a list is there even when it is empty."""
        return present(
            {
                "headline": self.headline,
                "cause": None if self.cause is None else self.cause.json_value(),
                "path": list(self.path),
                "waiting": list(self.waiting),
                "nextSteps": list(self.next_steps),
                "fingerprint": self.fingerprint,
            }
        )


def _no_child(workflow_id: str) -> Execution | None:
    return None


def diagnose(
    execution: Execution,
    now: int,
    child: FindChild = _no_child,
    own: Collection[Place] = frozenset(),
) -> Diagnosis:
    """The diagnosis of an execution at an instant. `child` finds a sub-workflow by its id; `own` are
    the queues whose tasks the engine carries out itself."""
    if execution.stuck is not None:
        return _stuck(execution, now, own)
    if execution.status is ExecutionStatus.COMPLETED:
        return Diagnosis("It has completed; there is nothing to do.")
    if execution.status.terminal:
        return _stopped(execution, child)
    return _waiting(execution, now, own)


def _stuck(execution: Execution, now: int, own: Collection[Place]) -> Diagnosis:
    return Diagnosis(
        f"It is stuck: {execution.stuck}",
        waiting=sentences_of(waits(execution), now, own),
        next_steps=(
            "Its ledger holds the event and the trace: report both.",
            "Its other tasks and all other executions go on; the event is kept where it can be.",
        ),
        fingerprint=fingerprint(execution.definition.name or "", "stuck", execution.stuck or ""),
    )


# Why it stopped


def _stopped(execution: Execution, child: FindChild) -> Diagnosis:
    found = levels(execution, child)
    if not found:
        reason = execution.reason or NO_REASON
        return Diagnosis(
            f"It is {execution.status}: {reason}",
            next_steps=_steps_without_cause(execution),
            fingerprint=fingerprint(execution.definition.name or "", execution.status, reason),
        )
    holder, run = found[-1]
    cause = _cause(holder, run)
    entry = found[0][1]
    itself = entry is not None and (run is None or not run.status.bad)
    below = len(found) > 1
    place = (cause.reference or cause.status).split("__")[0]
    return Diagnosis(
        _headline_of_end(cause, holder.status) if itself else _headline(cause, below),
        cause,
        tuple(level.id for level, _ in found),
        next_steps=_steps_after_end(cause, entry) if itself else _steps(cause, below),
        fingerprint=fingerprint(cause.workflow, place, cause.reason),
    )


def _cause(holder: Execution, run: Run | None) -> Cause:
    workflow = holder.definition.name or ""
    if run is None:
        return Cause(holder.id, workflow, holder.status, holder.reason or NO_REASON)
    return Cause(
        workflow_id=holder.id,
        workflow=workflow,
        status=run.status,
        reason=(run.reason if run.status.bad else holder.reason) or NO_REASON,
        task_id=run.task_id,
        reference=run.reference,
        iteration=run.iteration,
        task=run.name,
        type=run.type,
        attempts=run.attempt + 1,
        worker=run.worker,
    )


def levels(execution: Execution, child: FindChild) -> list[Level]:
    """From this execution down to the one in which it began, as deep as what failed is a
    sub-workflow; empty when nothing in it has failed."""
    run = _failed(execution)
    if run is None:
        return []
    found: list[Level] = [(execution, run)]
    while run is not None and run.child_id is not None and len(found) < DEEPEST:
        below = child(run.child_id)
        if below is None or not below.status.terminal:
            break
        run = _failed(below)
        if run is None and below.status is ExecutionStatus.COMPLETED:
            break
        found.append((below, run or _ended_by(below)))
    return found


def _ended_by(execution: Execution) -> Run | None:
    """The TERMINATE task that ended an execution."""
    runs = [run for run in execution.runs.values() if run.type == "TERMINATE"]
    return next((run for run in runs if run.task_id == execution.failed_task_id), None)


def _failed(execution: Execution) -> Run | None:
    """The attempt that brought an execution down: no join and no loop, those only gather."""
    newest = {run.reference: run for run in execution.runs.values()}
    bad = [run for run in newest.values() if run.status.bad]
    own = [run for run in bad if run.type not in _GATHERING] or bad
    named = [run for run in own if run.task_id == execution.failed_task_id]
    real = [run for run in own if run.status is not TaskStatus.CANCELED]
    if not real and not named:
        return None
    return min(named or real, key=lambda run: (run.ended_at, run.seq))


_VERBS: dict[str, str] = {
    TaskStatus.TIMED_OUT: "ran out of time",
    TaskStatus.CANCELED: "was cancelled",
}


def _headline(cause: Cause, below: bool) -> str:
    where = f" in its sub-workflow {cause.workflow}" if below else ""
    tries = "" if cause.attempts == 1 else f" at attempt {cause.attempts}"
    verb = _VERBS.get(cause.status, "failed")
    return f"{cause.reference}{where} {verb}{tries}: {cause.reason}"


def _headline_of_end(cause: Cause, status: ExecutionStatus) -> str:
    """Of a sub-workflow that ended for no task of its own that failed."""
    if cause.reference is None:
        return f"Its sub-workflow {cause.workflow} is {status}: {cause.reason}"
    return f"{cause.reference} ended its sub-workflow {cause.workflow} as {status}: {cause.reason}"


def _steps_after_end(cause: Cause, entry: Run | None) -> tuple[str, ...]:
    """What a person can do about such a sub-workflow; `entry` is the task that leads down to it."""
    steps = []
    if cause.reference is not None:
        steps.append(f"See what leads to {cause.reference}: it ends whatever reaches it.")
    elif cause.status is ExecutionStatus.TIMED_OUT:
        steps.append(f"See what {cause.workflow} waited for, or give it longer.")
    if entry is not None:
        steps.append(f"Retry: {entry.reference} begins its sub-workflow anew.")
        steps.append(f"Rerun from a task before {entry.reference} if what it was given is wrong.")
    return tuple(steps)


def _steps(cause: Cause, below: bool) -> tuple[str, ...]:
    """What a person can do, the likeliest first."""
    ref = cause.reference
    steps = []
    if cause.status is TaskStatus.TIMED_OUT and "poll timeout" in cause.reason.lower():
        steps.append(f"No worker took it in time: start one that polls {cause.task}.")
    elif cause.status is TaskStatus.TIMED_OUT:
        who = cause.worker or "The worker"
        steps.append(f"{who} was not heard of in time: see whether it lives, or give it longer.")
    elif cause.status is TaskStatus.FAILED_WITH_TERMINAL_ERROR:
        steps.append(
            "Trying the same again is useless, says who reported it: mend its cause first."
        )
    if below:
        steps.append(
            "Retry with sub-workflow tasks resumed: only what failed in the child runs again."
        )
    steps.append(f"Retry: a new attempt of {ref}; what has completed is kept.")
    steps.append(f"Rerun from a task before {ref} if what it was given is wrong.")
    return tuple(steps)


def _steps_without_cause(execution: Execution) -> tuple[str, ...]:
    if execution.status is ExecutionStatus.TERMINATED and execution.parent_id is not None:
        return ("Its parent has ended: look at the parent first.",)
    if execution.status is ExecutionStatus.TIMED_OUT:
        return ("Retry: it goes on where it was, with its whole time again.",)
    if execution.status is ExecutionStatus.TERMINATED:
        return ("Retry what was cancelled, or restart it from its first task.",)
    return ("Restart it once the definition or its input is mended.",)


# What it waits for


def _waiting(execution: Execution, now: int, own: Collection[Place]) -> Diagnosis:
    found = waits(execution)
    sentences = sentences_of(found, now, own)
    if not found:
        return Diagnosis(
            "Nothing will ever move it on: this is a fault of the engine.",
            next_steps=("Ask for a decision by hand, and report it with its ledger.",),
        )
    more = "" if len(sentences) == 1 else f" (and {len(sentences) - 1} more)"
    return Diagnosis(
        f"{sentences[0]}{more}",
        waiting=sentences,
        next_steps=tuple(dict.fromkeys(steps_of(found, own)))
        or ("Nothing: it goes on by itself.",),
    )


def fingerprint(workflow: str, place: str, reason: str) -> str:
    """A name for a kind of failure: the workflow, the task, and the reason without ids, numbers
    and times."""
    plain = " ".join(_VARIABLE.sub("#", reason).split())[:300].lower()
    return content_hash(encode([workflow, place, plain]))[:12]
