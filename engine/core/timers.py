"""The next minute of due times. The store has all of them; memory holds what is near."""

import heapq

from engine.store.contract import Store, Wake

HORIZON_MS = 60_000
REFILL_MS = 30_000
MOST = 20_000


class Timers:
    """A heap of the instants that are near. An entry that no longer holds wakes a decision that
    changes nothing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._heap: list[tuple[int, int, int]] = []
        self._known: set[tuple[int, int, int]] = set()
        self._filled_at = 0
        self._horizon = 0

    def set(self, at: int, execution: int, seq: int | None) -> None:
        """An instant at which a decision is due; 0 for none."""
        entry = (at, execution, -1 if seq is None else seq)
        if 0 < at <= self._horizon and entry not in self._known:
            self._known.add(entry)
            heapq.heappush(self._heap, entry)

    def take(self, now: int) -> list[Wake]:
        """What is due; the heap is refilled from the store twice a minute."""
        if now >= self._filled_at + REFILL_MS or now > self._horizon:
            self._refill(now)
        taken = []
        while self._heap and self._heap[0][0] <= now:
            entry = heapq.heappop(self._heap)
            self._known.discard(entry)
            at, execution, seq = entry
            taken.append(Wake(at, execution, None if seq < 0 else seq))
        return taken

    def next_at(self) -> int:
        """The next instant at which `take` will give something, or should refill."""
        refill = self._filled_at + REFILL_MS
        return min(self._heap[0][0], refill) if self._heap else refill

    def lag(self, now: int) -> int:
        """How long the first of what is near has been due. Any thread may ask."""
        first = self._heap[:1]
        return max(0, now - first[0][0]) if first else 0

    def _refill(self, now: int) -> None:
        self._filled_at = now
        self._horizon = now + HORIZON_MS
        found = self._store.due(self._horizon, MOST)
        if len(found) == MOST:
            # More than memory takes: the rest is asked for when these have passed.
            self._horizon = found[-1].at
            self._filled_at = min(now, self._horizon - REFILL_MS)
        for wake in found:
            self.set(wake.at, wake.execution, wake.seq)
