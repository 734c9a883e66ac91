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
        if not waiting and str(given.get("blocking", True)).lower() != "false":
            return NOTHING
        taken = waiting[: max(1, min(_whole(given.get("batchSize")), MOST_AT_ONCE))]
        d.set(mailbox=encode(waiting[len(taken) :]))
        d.end(run, TaskStatus.COMPLETED, {"messages": taken, "count": len(taken)})
        return NOTHING


def _whole(value: Json) -> int:
    """A number, also one that is written as a text; else 1."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 1
