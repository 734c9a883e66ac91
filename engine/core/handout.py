"""Ready work: which attempts may be handed out now, in what order, within which limits, and who
waits for some.

A projection of the attempts' rows: memory holds a bounded window of the queue.
"""

import heapq
from collections import deque
from dataclasses import dataclass, field

from engine.core.inbox import Wanted
from engine.model.definitions import TaskDef
from engine.model.execution import Run
from engine.store.contract import Ready, Store

WINDOW = 20_000
"""Entries of one queue that memory holds; the store has all of them."""

QueueName = tuple[str, str | None]
Entry = tuple[int, int, int, int]
"""Minus priority, deliverable from, execution, seq: heaps give the first in this order."""


@dataclass(slots=True)
class Queue:
    """The work of one type and domain."""

    ready: list[Entry] = field(default_factory=list)
    later: list[tuple[int, Entry]] = field(default_factory=list)
    known: dict[tuple[int, int], Entry] = field(default_factory=dict)
    """What is in the heaps and still holds; an entry that is not here is passed over."""
    waiting: deque[Wanted] = field(default_factory=deque)
    more: bool = False
    """The store has work of this queue that memory has not."""


class Handout:
    """All queues."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queues: dict[QueueName, Queue] = {}
        self._taken: dict[str, int] = {}
        self._windows: dict[str, deque[int]] = {}
        self._held: dict[str, list[tuple[QueueName, Entry]]] = {}
        self._awake: set[QueueName] = set()
        self._waited: set[QueueName] = set()

    def fill(self) -> None:
        """Begin with what the store has."""
        found = self._store.ready(None, WINDOW)
        for item in found:
            self.offer(item)
        if len(found) == WINDOW:
            for queue in self._queues.values():
                queue.more = True
        self._taken = dict(self._store.taken(()))

    def offer(self, item: Ready) -> None:
        """An attempt that may be handed out, now or from its due time on."""
        name = (item.carrier, item.domain)
        queue = self._queues.setdefault(name, Queue())
        place = (item.execution, item.seq)
        entry = (-item.priority, item.due_at, *place)
        if queue.known.get(place) == entry:
            return
        if len(queue.known) >= WINDOW:
            queue.more = True
            return
        queue.known[place] = entry
        if item.due_at:
            heapq.heappush(queue.later, (item.due_at, entry))
        else:
            heapq.heappush(queue.ready, entry)
        self._awake.add(name)

    def take(self, name: QueueName, now: int) -> Ready | None:
        """The next attempt of a queue; it may turn out to be gone when it is claimed."""
        queue = self._queues.get(name)
        if queue is None:
            return None
        self._ripen(queue, now)
        if not queue.ready and queue.more:
            self._refill(name, queue)
            self._ripen(queue, now)
        while queue.ready:
            entry = heapq.heappop(queue.ready)
            if queue.known.get(entry[2:]) == entry:
                break
        else:
            return None
        del queue.known[entry[2:]]
        return Ready(entry[2], entry[3], name[0], name[1], -entry[0], entry[1])

    def withdraw(self, carrier: str, domain: str | None, execution: int, seq: int) -> None:
        """An attempt is not to be handed out any more."""
        queue = self._queues.get((carrier, domain))
        if queue is not None:
            queue.known.pop((execution, seq), None)

    @staticmethod
    def _ripen(queue: Queue, now: int) -> None:
        while queue.later and queue.later[0][0] <= now:
            heapq.heappush(queue.ready, heapq.heappop(queue.later)[1])

    def _refill(self, name: QueueName, queue: Queue) -> None:
        found = self._store.ready(name[0], WINDOW)
        queue.more = len(found) == WINDOW
        for item in found:
            self.offer(item)

    # Limits

    def admits(self, run: Run, policy: TaskDef, now: int) -> bool:
        """May one more of this task definition be in progress, and be handed out just now?"""
        limit = policy.concurrent_exec_limit or 0
        if limit > 0 and self._taken.get(run.name, 0) >= limit:
            return False
        rate = policy.rate_limit_per_frequency
        if rate > 0:
            window = self._windows.setdefault(run.name, deque())
            span = max(1, policy.rate_limit_frequency_in_seconds) * 1000
            while window and window[0] <= now - span:
                window.popleft()
            if len(window) >= rate:
                return False
        return True

    def handed_out(self, run: Run, policy: TaskDef, now: int) -> None:
        """An attempt has been handed out: it counts for its rate."""
        if policy.rate_limit_per_frequency > 0:
            self._windows.setdefault(run.name, deque()).append(now)

    def free_at(self, run: Run, policy: TaskDef, now: int) -> int:
        """When the rate admits one more; 0 where it is not the rate that forbids it."""
        window = self._windows.get(run.name)
        rate = policy.rate_limit_per_frequency
        if rate <= 0 or not window or len(window) < rate:
            return 0
        span = max(1, policy.rate_limit_frequency_in_seconds) * 1000
        return max(window[-rate] + span, now + 1)

    def hold(self, item: Ready, run: Run, policy: TaskDef, now: int) -> bool:
        """Put an attempt back that a limit forbids: until a slot or the window frees. Is it the
        rate that forbids it?"""
        free_at = self.free_at(run, policy, now)
        if free_at:
            queue = self._queues.setdefault((item.carrier, item.domain), Queue())
            entry = (-item.priority, item.due_at, item.execution, item.seq)
            queue.known[item.execution, item.seq] = entry
            heapq.heappush(queue.later, (free_at, entry))
            return True
        entry = (-item.priority, item.due_at, item.execution, item.seq)
        self._held.setdefault(run.name, []).append(((item.carrier, item.domain), entry))
        return False

    def count(self, run_name: str, by: int) -> None:
        """One attempt more, or one less, of a task definition is in progress."""
        self._taken[run_name] = self._taken.get(run_name, 0) + by
        if by < 0 and run_name in self._held:
            for name, entry in self._held.pop(run_name):
                self.offer(Ready(entry[2], entry[3], name[0], name[1], -entry[0], entry[1]))

    # Those who wait

    def wait(self, wanted: Wanted) -> None:
        """Nothing is there for this worker yet."""
        name = (wanted.carrier, wanted.domain)
        self._queues.setdefault(name, Queue()).waiting.append(wanted)
        self._waited.add(name)

    def answerable(self, now: int) -> list[Wanted]:
        """Waiting workers whose queue has something now."""
        found: list[Wanted] = []
        awake, self._awake = self._awake, set()
        for name in awake:
            queue = self._queues[name]
            self._ripen(queue, now)
            left = len(queue.ready)
            while queue.waiting and left > 0:
                wanted = queue.waiting.popleft()
                if not wanted.reply.cancelled():
                    found.append(wanted)
                    left -= wanted.count
            if queue.later:
                self._awake.add(name)
        return found

    def overdue(self, now: int) -> list[Wanted]:
        """Waiting workers whose time is over."""
        found = []
        for queue in self._waited_for():
            over = [wanted for wanted in queue.waiting if wanted.until <= now]
            if over:
                found += over
                queue.waiting = deque(w for w in queue.waiting if w.until > now)
        return found

    def next_at(self) -> int:
        """The next instant at which a waiting worker must be answered or delayed work ripens;
        0 for none."""
        instants = []
        for queue in self._waited_for():
            instants.append(min(wanted.until for wanted in queue.waiting))
            if queue.later:
                instants.append(queue.later[0][0])
        return min(instants, default=0)

    def _waited_for(self) -> list[Queue]:
        """The queues that some worker waits for: few, however many there are."""
        self._waited = {name for name in self._waited if self._queues[name].waiting}
        return [self._queues[name] for name in self._waited]

    def sizes(self, now: int) -> dict[QueueName, int]:
        """Entries per queue in memory, due or not."""
        return {name: len(queue.known) for name, queue in self._queues.items()}
