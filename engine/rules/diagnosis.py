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
    """The attempt at which it all began."""

    workflow_id: str
    workflow: str
    task_id: str
    reference: str
    iteration: int
    """0 outside of loops; the reference has it as its suffix."""
    task: str
    type: str
    status: TaskStatus
    attempts: int
    reason: str
    worker: str | None

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
    found = root_failure(execution, child)
    if found is None:
        reason = execution.reason or "no reason was given"
        return Diagnosis(
            f"It is {execution.status}: {reason}",
            next_steps=_steps_without_cause(execution),
            fingerprint=fingerprint(execution.definition.name or "", execution.status, reason),
        )
    holders, run = found
    holder = holders[-1]
    cause = Cause(
        workflow_id=holder.id,
        workflow=holder.definition.name or "",
        task_id=run.task_id,
        reference=run.reference,
        iteration=run.iteration,
        task=run.name,
        type=run.type,
        status=run.status,
        attempts=run.attempt + 1,
        reason=run.reason or "no reason was given",
        worker=run.worker,
    )
    return Diagnosis(
        _headline(cause, below=len(holders) > 1),
        cause,
        tuple(item.id for item in holders),
        next_steps=_steps(cause, below=len(holders) > 1),
        fingerprint=fingerprint(cause.workflow, cause.reference.split("__")[0], cause.reason),
    )


def root_failure(execution: Execution, child: FindChild) -> tuple[list[Execution], Run] | None:
    """The executions from this one down, and the attempt in the last of them that failed first;
    None when nothing in it has failed."""
    holders = [execution]
    run = _failed(execution)
    while run is not None and run.child_id is not None and len(holders) < DEEPEST:
        below = child(run.child_id)
        inner = None if below is None else _failed(below)
        if below is None or inner is None:
            break
        holders.append(below)
        run = inner
    return None if run is None else (holders, run)


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


def _headline(cause: Cause, below: bool) -> str:
    where = f" in its sub-workflow {cause.workflow}" if below else ""
    tries = "" if cause.attempts == 1 else f" at attempt {cause.attempts}"
    verb = {
        TaskStatus.TIMED_OUT: "ran out of time",
        TaskStatus.CANCELED: "was cancelled",
    }.get(cause.status, "failed")
    return f"{cause.reference}{where} {verb}{tries}: {cause.reason}"


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
