"""What an execution waits for, and what a person can do about it, in sentences.

Words only: what is awaited is found elsewhere, and nothing is decided here.
"""

from collections.abc import Collection, Iterator

from engine.model.execution import Run
from engine.model.status import TaskStatus
from engine.rules.recheck import Waiting

Place = tuple[str | None, str | None]
"""A queue: its task type and its domain."""


def sentences_of(found: list[Waiting], now: int, own: Collection[Place]) -> tuple[str, ...]:
    """A sentence for each thing that could move an execution on; `own` are the queues whose tasks
    the engine carries out itself."""
    return tuple(dict.fromkeys(_sentence(item, now, own) for item in found))


def _sentence(item: Waiting, now: int, own: Collection[Place]) -> str:
    run = item.run
    if run is None:
        if item.what == "resume":
            return "It is paused until somebody resumes it"
        return "It waits for its turn: its rate limit lets no more in"
    since = _span(now - max(run.queued_at, run.started_at))
    ref = run.reference
    if item.what == "worker":
        return _with_a_worker(run, now, since, own=(run.carrier, run.domain) in own)
    words = {
        "script": f"{ref} has waited {since} for its script to be evaluated",
        "child": f"{ref} has waited {since} for its sub-workflow {run.child_id}",
        "instant": f"{ref} goes on in {_span(item.at - now)}",
        "message": f"{ref} has waited {since} for a message",
        "person": f"{ref} has waited {since} for somebody to complete it",
    }
    return words[item.what]


def _with_a_worker(run: Run, now: int, since: str, own: bool) -> str:
    if run.status is TaskStatus.IN_PROGRESS:
        who = run.worker or "a worker"
        left = f", and is given up in {_span(run.wake_at - now)}" if run.wake_at > now else ""
        return f"{run.reference} has been with {who} for {since}{left}"
    if run.due_at > now:
        again = f" (attempt {run.attempt + 1})" if run.attempt else ""
        can = "is carried out" if own else "can be polled"
        return f"{run.reference} {can} in {_span(run.due_at - now)}{again}"
    if own:
        return f"{run.reference} has waited {since} for the engine to carry it out"
    domain = f" of domain {run.domain}" if run.domain else ""
    return f"{run.reference} has waited {since} for a worker{domain} that polls {run.carrier}"


def steps_of(found: list[Waiting], own: Collection[Place]) -> Iterator[str]:
    """What a person can do; nothing for what goes on by itself."""
    for item in found:
        run = item.run
        if item.what == "resume":
            yield "Resume it."
        elif run is None or item.what in ("instant", "script"):
            continue
        elif item.what == "worker" and run.status is TaskStatus.SCHEDULED:
            if (run.carrier, run.domain) in own:
                continue
            domain = f" in domain {run.domain}" if run.domain else ""
            yield f"See that a worker polls {run.carrier}{domain}."
        elif item.what == "worker":
            yield f"See whether {run.worker or 'its worker'} is alive."
        elif item.what == "child":
            yield f"Look at the sub-workflow {run.child_id}."
        else:
            yield f"Complete {run.reference}, or let its sender know."


def _span(ms: int) -> str:
    """A length of time as people say it."""
    seconds = max(0, ms) // 1000
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {word}{'s' if count > 1 else ''}"
    return f"{seconds} second{'' if seconds == 1 else 's'}"
