"""What waits for workers, and who came for it."""

from collections.abc import Sequence

from engine.model.record import Json
from engine.services.port import Port
from engine.services.tasks import Tasks
from engine.store import messages, reading
from engine.store.rowstore import RowStore

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
        found = self._store.read(reading.queue_sizes)
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

    def event_queue_sizes(self) -> dict[str, int]:
        """How many messages wait in each event queue."""
        return self._store.read(messages.queue_sizes)


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
