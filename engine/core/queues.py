"""What each step means for the queues: attempts come in, are withdrawn, are counted."""

from engine.core.handout import Handout
from engine.core.step import Step
from engine.model.events import Claim
from engine.model.execution import Run
from engine.model.status import TaskStatus
from engine.store.contract import Ready
from engine.tasks.kind import SCRIPT


class Queues:
    """Keeps the hand-out in step with what has been decided."""

    def __init__(self, handout: Handout) -> None:
        self._handout = handout

    def _withdraw(self, key: int, was: Run | None, now: Run | None) -> None:
        """Take an attempt out of its queue when it is no longer to be handed out as it was."""
        if was is None or was.carrier is None or was.status is not TaskStatus.SCHEDULED:
            return
        stays = now is not None and now.carrier == was.carrier and now.status is was.status
        if not stays:
            self._handout.withdraw(was.carrier, was.domain, key, was.seq)

    def count(self, step: Step, by: int) -> None:
        """Keep the number of attempts in progress: what a step has moved, or has not after all."""
        for seq, was in step.before.items():
            run = step.changes.runs.get(seq)
            before = was is not None and in_hand(was)
            after = run is not None and in_hand(run)
            either = run or was
            if before != after and either is not None:
                self._handout.count(either.name, by if after else -by)

    def take_in(self, step: Step) -> None:
        """Put what a step has scheduled into the queues, and take out what it has withdrawn.
        Nothing leaves a queue before the commit."""
        key = step.execution.key
        if not isinstance(step.asked.event, Claim):
            for seq, was in step.before.items():
                self._withdraw(key, was, step.changes.runs.get(seq))
        for run in step.changes.runs.values():
            if run.carrier is not None and (
                run.status is TaskStatus.SCHEDULED or (run.carrier == SCRIPT and run.open)
            ):
                self.offer(key, run)

    def offer(self, key: int, run: Run) -> None:
        """An attempt with a carrier may be handed out."""
        if run.carrier is not None:
            self._handout.offer(
                Ready(key, run.seq, run.carrier, run.domain, run.priority, run.due_at)
            )


def in_hand(run: Run) -> bool:
    """Somebody is at work on it: it counts for its concurrency limit."""
    return run.status is TaskStatus.IN_PROGRESS and run.carrier is not None
