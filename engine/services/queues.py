"""What waits for workers and for event queues, who came for it, and what is put back."""

from collections.abc import Sequence

from engine.core.inbox import Asked
from engine.model.record import Json
from engine.model.status import TaskStatus
from engine.services.port import Port
from engine.services.searches import require_page
from engine.services.tasks import Tasks, handed_back
from engine.store import messages, reading, triggers
from engine.store.rowstore import RowStore
from engine.tasks import words

INTERNAL = "#"
"""Carriers that begin with this are none of a worker's."""


class Queues:
    """Sizes of queues, sightings of workers."""

    def __init__(self, port: Port, store: RowStore, tasks: Tasks) -> None:
        self._port = port
        self._store = store
        self._tasks = tasks

    def sizes(self) -> dict[str, int]:
        """Waiting tasks by queue name (`domain:type`), sorted."""
        return self._by_name(TaskStatus.SCHEDULED)

    def handed_out(self) -> dict[str, int]:
        """Tasks that workers have in hand, by the queue they were taken from."""
        return self._by_name(TaskStatus.IN_PROGRESS)

    def _by_name(self, status: TaskStatus) -> dict[str, int]:
        found = self._store.read(lambda session: reading.queue_sizes(session, status))
        named = {
            queue_name(carrier, domain): size
            for (carrier, domain), size in found.items()
            if not carrier.startswith(INTERNAL)
        }
        return dict(sorted(named.items()))

    def sizes_of(self, names: Sequence[str]) -> dict[str, int]:
        """Waiting tasks of some queues; 0 for an unknown one."""
        found = self.sizes()
        return {name: found.get(name, 0) for name in names}

    def latest_polls(self, queue: str) -> list[dict[str, Json]]:
        """Conductor's PollData of a queue: who asked last in each domain, and when."""
        newest: dict[Json, dict[str, Json]] = {}
        for poll in self.polls(queue):
            newest.setdefault(poll.get("domain"), poll)
        return list(newest.values())

    def polls(self, queue: str | None = None) -> list[dict[str, Json]]:
        """The same for every worker, of a queue or of all; the latest of a queue first."""
        latest: dict[tuple[str, str | None, str | None], int] = {}
        for row in self._store.read(lambda session: reading.workers(session, queue)):
            latest[row.queue, row.domain or None, row.worker or None] = row.at
        for seen in self._tasks.sightings.latest(queue):
            place = (seen.queue, seen.domain, seen.worker)
            latest[place] = max(seen.at, latest.get(place, 0))
        return [
            _poll_data(*place, at)
            for place, at in sorted(latest.items(), key=lambda item: (item[0][0], -item[1]))
        ]

    def requeue(self, task_type: str, by: str | None = None) -> int:
        """Put back what workers have in hand of a type, in any domain, so that it is handed out
        again, as after they were lost; how many tasks are in its queue then. One who has it all
        the same may still report. What the engine carries out by itself is left alone."""
        if task_type in words.OPERATORS or task_type in words.QUEUED:
            return 0
        found = self._store.read(lambda session: reading.queued(session, task_type))
        line = f"put back into its queue by {by or 'somebody'}"
        replies = [
            self._port.send(Asked(handed_back(seq, line, by), key=key))
            for key, seq, status in found
            if status == TaskStatus.IN_PROGRESS
        ]
        for reply in replies:
            self._port.wait(reply)
        return len(found)

    def open_attempts(self, task_type: str, start: int, count: int) -> list[tuple[int, int]]:
        """Where tasks of a type stand that are not over: execution and seq, the newest first."""
        require_page(start=start, count=count)
        return self._store.read(lambda s: reading.open_attempts(s, task_type, start, count))

    # Event queues

    def event_queue_sizes(self) -> dict[str, int]:
        """How many messages wait in each event queue that has any, by its full name."""
        return dict(sorted(self._store.read(messages.waiting_events).items()))

    def event_queues(self) -> dict[str, str]:
        """The queues that active event handlers read: each event and the name its provider knows
        the queue by."""
        found = self._store.read(lambda session: triggers.handlers(session, active_only=True))
        events = sorted({str(document["event"]) for document in found})
        return {event: event.partition(":")[2] or event for event in events}


def queue_name(carrier: str, domain: str | None) -> str:
    """A queue as Conductor names it."""
    return f"{domain}:{carrier}" if domain else carrier


def _poll_data(queue: str, domain: str | None, worker: str | None, at: int) -> dict[str, Json]:
    shown: dict[str, Json] = {"queueName": queue}
    if domain:
        shown["domain"] = domain
    if worker:
        shown["workerId"] = worker
    return {**shown, "lastPollTime": at}
