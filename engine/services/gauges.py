"""What stands at this moment, under Conductor's names for it. Reads indexes of what is open and what
memory holds already; the history is never looked at."""

from collections import Counter
from collections.abc import Iterable

from engine.instruments.metrics import series
from engine.model.errors import EngineError
from engine.model.status import EXECUTION_LIVE, TaskStatus
from engine.services.port import Port
from engine.services.queues import INTERNAL, queue_name
from engine.services.sightings import Sightings
from engine.store import messages, reading, standing
from engine.store.rowstore import RowStore
from engine.store.standing import Queue

UNATTENDED_MS = 5 * 60 * 1000
"""A queue that no worker has asked for so long has none."""
MOST_QUEUES = 500
"""Queues whose first attempt is looked at."""
NOBODY = "unknown"
"""The owner of what has none."""


class Gauges:
    """Everything that is measured when somebody asks, and at no other time."""

    def __init__(self, port: Port, store: RowStore, sightings: Sightings) -> None:
        self._core = port.core
        self._store = store
        self._sightings = sightings

    def now(self) -> dict[str, float]:
        """All series with their values."""
        now = self._core.clock.now()
        depths = self._store.read(reading.queue_sizes)
        return {
            **self._workflows(),
            **self._queues(depths, now),
            **self._waiting(),
            **self._stuck(depths, now),
            **self._messages(),
            "timer_lag_seconds": self._core.timers.lag(now) / 1000,
        }

    def _workflows(self) -> dict[str, float]:
        running: Counter[str] = Counter()
        for (name, status), count in self._store.read(reading.counts).items():
            if status in EXECUTION_LIVE:
                running[name] += count
        return {
            series("workflow_running", workflowName=name, ownerApp=self._owner_of(name)): count
            for name, count in running.items()
        }

    def _owner_of(self, workflow: str) -> str:
        """By the latest registered version."""
        try:
            found = self._core.knowledge.definition(workflow, None)
        except EngineError:
            return NOBODY
        return NOBODY if found is None else found.definition.owner_app or NOBODY

    def _owner_of_task(self, name: str) -> str:
        found = self._core.knowledge.task_def(name)
        return NOBODY if found is None else found.owner_app or NOBODY

    def _queues(self, depths: dict[Queue, int], now: int) -> dict[str, float]:
        shown: dict[str, float] = {}
        for (carrier, domain), count in depths.items():
            owner, name = self._owner_of_task(carrier), queue_name(carrier, domain)
            shown[series("task_queue_depth", taskType=name, ownerApp=owner)] = count
        for name, count in self._store.taken(()).items():
            owner = self._owner_of_task(name)
            shown[series("task_in_progress", taskType=name, ownerApp=owner)] = count
        looked_at = sorted(depths, key=str)[:MOST_QUEUES]
        for head in self._store.read(lambda s: standing.heads(s, looked_at, now)):
            place = series("task_pending_time", workflowName=head.workflow, taskType=head.carrier)
            shown[place] = max(shown.get(place, 0), now - head.ready_at)
        return shown

    def _waiting(self) -> dict[str, float]:
        found = self._store.read(standing.waiting)
        for name, count in self._store.read(standing.held_back).items():
            found[name, "throttled"] = count
        return {
            series("workflow_waiting_total", workflow=name, kind=kind): count
            for (name, kind), count in found.items()
        }

    def _stuck(self, depths: dict[Queue, int], now: int) -> dict[str, float]:
        before = now - UNATTENDED_MS
        forsaken = self._forsaken(depths, before)
        found = {
            "event_not_taken": self._store.read(standing.stuck),
            "no_worker": self._store.read(lambda s: standing.unattended(s, forsaken, before)),
        }
        return {
            series("workflow_stuck_total", workflow=name, rule=rule): count
            for rule, counts in found.items()
            for name, count in counts.items()
        }

    def _forsaken(self, queues: Iterable[Queue], before: int) -> list[Queue]:
        """Those that no worker has asked since an instant and of which none has anything in hand."""
        seen: set[Queue] = {(s.queue, s.domain) for s in self._sightings.latest() if s.at > before}
        left = [q for q in queues if q not in seen and not q[0].startswith(INTERNAL)]
        if left:
            seen |= {
                (w.queue, w.domain) for w in self._store.read(reading.workers) if w.at > before
            }
            in_hand = TaskStatus.IN_PROGRESS
            seen |= set(self._store.read(lambda s: reading.queue_sizes(s, in_hand)))
        return [queue for queue in left if queue not in seen]

    def _messages(self) -> dict[str, float]:
        found = self._store.read(standing.undelivered)
        return {
            "outbox_pending": sum(found.values()),
            # The engine's own queues are the only ones there are.
            series("event_queue_depth", queueType="conductor"): found.get(messages.EVENT, 0),
        }
