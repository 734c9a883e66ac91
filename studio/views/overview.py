"""What needs a person now: counts, failing groups, people waited for, backlog, the newest runs.

Everything is made from answers that were asked for elsewhere. Unknown stays unknown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from studio.views import wording
from studio.views.executions import ExecutionRow, FailingGroup

DAY_MS: Final = 86_400_000
POLL_PATIENCE_MS: Final = 60_000
"""A worker that has not asked for so long counts as gone."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task that waits for a person."""

    execution_id: str
    ref: str
    task_id: str
    type: str
    definition: str
    since_ms: int
    about: str


def waiting_of(tasks: Iterable[Mapping[str, Any]]) -> list[Waiting]:
    """Task summaries of open HUMAN and WAIT tasks, the longest wait first."""
    found = [
        Waiting(
            execution_id=str(task.get("workflowId") or task.get("workflowInstanceId") or ""),
            ref=str(task.get("referenceTaskName") or task.get("taskDefName") or ""),
            task_id=str(task.get("taskId") or ""),
            type=str(task.get("taskType") or ""),
            definition=str(task.get("workflowType") or ""),
            since_ms=wording.millis(task.get("startTime") or task.get("scheduledTime")),
            about=wording.asked_in(str(task.get("input") or "")),
        )
        for task in tasks
    ]
    return sorted(found, key=lambda one: one.since_ms)


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A queue: how many wait, and who has asked for them lately."""

    name: str
    domain: str
    waiting: int
    workers: tuple[str, ...]
    last_poll_ms: int

    @property
    def alone(self) -> bool:
        """Tasks wait and nobody asks for them."""
        return self.waiting > 0 and not self.workers


def queue_rows(
    sizes: Mapping[str, int], polls: Iterable[Mapping[str, Any]], now_ms: int
) -> list[QueueRow]:
    """Sizes by queue (`domain:type`) joined with who polled; the most urgent first."""
    asked: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for poll in polls:
        key = str(poll.get("queueName") or ""), str(poll.get("domain") or "")
        asked.setdefault(key, []).append(poll)
    waiting: dict[tuple[str, str], int] = dict.fromkeys(asked, 0)
    for queue, size in sizes.items():
        domain, _, name = queue.rpartition(":")
        waiting[name, domain] = waiting.get((name, domain), 0) + size
    rows = []
    for (name, domain), size in waiting.items():
        known = asked.get((name, domain), [])
        recent = [
            str(poll.get("workerId") or "unnamed")
            for poll in known
            if now_ms - wording.millis(poll.get("lastPollTime")) < POLL_PATIENCE_MS
        ]
        last = max((wording.millis(poll.get("lastPollTime")) for poll in known), default=0)
        rows.append(QueueRow(name, domain, size, tuple(dict.fromkeys(recent)), last))
    return sorted(rows, key=lambda row: (not row.alone, -row.waiting, row.name))


@dataclass(frozen=True, slots=True)
class Overview:
    """The first page."""

    failed: int
    groups: Sequence[FailingGroup]
    running: int
    paused: int
    waiting: Sequence[Waiting]
    queues: Sequence[QueueRow]
    recent: Sequence[ExecutionRow]

    @property
    def queued(self) -> int:
        return sum(row.waiting for row in self.queues)
