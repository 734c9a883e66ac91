"""Idempotency keys of what tasks start: who has been started under one, and a task that waits for an
execution which another has started."""

from engine.model.events import Start
from engine.model.execution import Run
from engine.model.facts import Holder
from engine.model.record import decode, encode
from engine.model.requests import IdempotencyStrategy
from engine.model.status import ExecutionStatus, TaskStatus
from engine.tasks.draft import Draft
from engine.tasks.kind import fail, under_way

LOOKS_MS = 1000
"""How often a task looks at the execution of another that it waits for."""

CHILD_ENDS = {
    ExecutionStatus.COMPLETED: TaskStatus.COMPLETED,
    ExecutionStatus.FAILED: TaskStatus.FAILED,
    ExecutionStatus.TIMED_OUT: TaskStatus.TIMED_OUT,
    ExecutionStatus.TERMINATED: TaskStatus.CANCELED,
}


def key_taken_text(name: str | None, key: str, holder: str) -> str:
    """What is said to whoever starts a second execution under a key."""
    return (
        f"Workflow {name} has been started with idempotencyKey {key} before: {holder}. "
        "Use another key, or the strategy RETURN_EXISTING."
    )


def holder_of(
    d: Draft, name: str | None, key: str, strategy: IdempotencyStrategy
) -> Holder | str | None:
    """The execution to be taken instead of a new one, why there may be neither, or None to start
    one. What an earlier attempt of this execution has started, and has ended, is in nobody's way."""
    holder = _promised(d, name, key) or d.facts.holder(name or "", key)
    if holder is None:
        return None
    if strategy is IdempotencyStrategy.RETURN_EXISTING:
        return holder
    mine = holder.parent == d.execution.id
    if holder.status.terminal and (mine or strategy is IdempotencyStrategy.FAIL_ON_RUNNING):
        return None
    return key_taken_text(name, key, holder.id)


def _promised(d: Draft, name: str | None, key: str) -> Holder | None:
    """Who is started under the key by this very decision."""
    for letter in d.changes.letters:
        event = letter.event
        if not isinstance(event, Start) or event.idempotency_key != key:
            continue
        if event.definition.name == name:
            return Holder(letter.to, ExecutionStatus.RUNNING)
    return None


def follow_holder(d: Draft, run: Run, holder: Holder, named: str) -> None:
    """The task ends as the execution of another ends, and looks again until then."""
    if not holder.status.terminal:
        under_way(d, run)
        run.due_at = d.facts.now + LOOKS_MS
        run.output = encode({"subWorkflowId": holder.id})
        return
    end_as_child(d, run, holder.id, holder.status, holder.output, named, holder.reason)


def end_as_child(
    d: Draft,
    run: Run,
    child: str,
    status: ExecutionStatus,
    output: bytes,
    named: str,
    reason: str | None,
) -> None:
    """A SUB_WORKFLOW ends as its child has ended; `named` is the child in words."""
    given = decode(output)
    merged = {**d.output(run), **(given if isinstance(given, dict) else {}), "subWorkflowId": child}
    end = CHILD_ENDS[status]
    if end is TaskStatus.COMPLETED:
        d.end(run, end, merged)
        return
    text = f"Sub workflow {named} failure reason: {'null' if reason is None else reason}"
    d.end(run, end, merged, text)


def strategy_of(d: Draft, run: Run, word: object) -> IdempotencyStrategy | None:
    """A strategy by its word; None, and the task failed, where it is none."""
    if word is None or word == "":
        return IdempotencyStrategy.FAIL
    try:
        return IdempotencyStrategy(str(word))
    except ValueError:
        allowed = ", ".join(IdempotencyStrategy)
        fail(d, run, f"idempotencyStrategy is {word!r}: use one of {allowed}.", for_good=True)
        return None
