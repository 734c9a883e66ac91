"""PULL_WORKFLOW_MESSAGES: takes messages that were posted to the execution."""

from collections.abc import Sequence

from engine.model.execution import Run
from engine.model.record import Json, decode, encode
from engine.model.status import TaskStatus
from engine.tasks.at_once import AtOnce
from engine.tasks.draft import Draft
from engine.tasks.kind import NOTHING
from engine.tasks.plan import Node

MOST_AT_ONCE = 100


class PullMessages(AtOnce):
    """Completes with up to `batchSize` messages; with `blocking`, waits for the first."""

    def act(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        given = d.input(run)
        waiting: list[Json] = decode(d.field("mailbox")) or []
        if not waiting and given.get("blocking", True):
            return NOTHING
        size = given.get("batchSize", 1)
        size = size if isinstance(size, int) and not isinstance(size, bool) else 1
        taken = waiting[: max(1, min(size, MOST_AT_ONCE))]
        d.set(mailbox=encode(waiting[len(taken) :]))
        d.end(run, TaskStatus.COMPLETED, {"messages": taken, "count": len(taken)})
        return NOTHING
