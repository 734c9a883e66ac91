"""Events in, replies out. People's verbs are taken before machines' reports; what a caller waits
for is resolved only after its commit."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from engine.model.errors import NotTaken
from engine.model.events import Event
from engine.model.execution import Execution, Run
from engine.tasks.plan import Node


class Heard:
    """A reply that nobody waits for: what comes of the event is handed to a function, in the
    core's thread. A Future without the lock that makes waiting possible, and its price."""

    __slots__ = ("_then", "_told")

    def __init__(self, then: "Callable[[BaseException | None], None]") -> None:
        self._then = then
        self._told = False

    def done(self) -> bool:
        """Has it been handed over?"""
        return self._told

    def set_running_or_notify_cancel(self) -> bool:
        """Nobody can cancel it."""
        return True

    def set_result(self, value: Any) -> None:
        """The event is stored."""
        self._told = True
        self._then(None)

    def set_exception(self, error: BaseException | None) -> None:
        """The event is refused, or was not stored."""
        self._told = True
        self._then(error)


@dataclass(slots=True)
class Asked:
    """An event for one execution, and whoever waits for its outcome."""

    event: Event
    key: int | None = None
    workflow_id: str | None = None
    reply: "Future[Any] | Heard | None" = None
    letter: int | None = None
    """The stored letter that carries it."""
    urgent: bool = False
    """Asked by a person."""
    newborn: bool = False
    """A start under an id that was made up just now: there is nothing to look for."""


@dataclass(slots=True)
class Handed:
    """An attempt that was handed to a worker. Its parts are never edited, so any thread may read."""

    execution: Execution
    run: Run
    node: Node
    input: bytes


@dataclass(slots=True)
class Wanted:
    """A worker asks for work. The future is given a list of Handed, at once or when there is some."""

    carrier: str
    domain: str | None
    count: int
    worker: str | None
    until: int
    """Wait for work until this instant (epoch milliseconds)."""
    reply: "Future[list[Handed]]" = field(default_factory=Future)


@dataclass(slots=True)
class Errand:
    """A short piece of cold work for the write connection."""

    work: Callable[[Any], Any]
    reply: "Future[Any]" = field(default_factory=Future)
    catalogue: bool = True
    """It may change what decisions know; what was read of the catalogue is forgotten."""


Item = Asked | Wanted | Errand


class Inbox:
    """Filled from any thread, drained by whoever takes the core's turns."""

    def __init__(self) -> None:
        self._people: deque[Item] = deque()
        self._machines: deque[Item] = deque()
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._rung = False
        self._gate = threading.Lock()
        self._closed = False
        self.reader: int | None = None
        """The thread that drains it: it can wait for no reply."""
        self.on_ring: Callable[[], None] = self._sound
        """How the reader is woken."""

    def put(self, item: Item) -> None:
        """Add an item and wake the core."""
        urgent = isinstance(item, Errand) or (isinstance(item, Asked) and item.urgent)
        (self._people if urgent else self._machines).append(item)
        if self._closed:
            self._refuse_all()
        else:
            self.on_ring()

    def close(self) -> None:
        """Nobody drains it any more: refuse what is in it, and whatever comes."""
        self._closed = True
        self._refuse_all()

    def _refuse_all(self) -> None:
        with self._gate:
            for item in self.drain(len(self)):
                refuse(item)

    def ring(self) -> None:
        """Wake the core without an item."""
        self.on_ring()

    def _sound(self) -> None:
        if not self._rung:
            self._rung = True
            self._bell.put(None)

    def drain(self, most: int) -> list[Item]:
        """Up to `most` items, people's first, without waiting."""
        taken: list[Item] = []
        for side in (self._people, self._machines):
            while side and len(taken) < most:
                taken.append(side.popleft())
        return taken

    def wait(self, seconds: float) -> None:
        """Sleep until something is put in, or the time is over."""
        if not self._people and not self._machines:
            try:
                self._bell.get(timeout=seconds)
            except Empty:
                return
        # What is put in from here on rings anew; what was put in before is found by the next look.
        self._rung = False

    def __len__(self) -> int:
        return len(self._people) + len(self._machines)


def refuse(item: Item, why: str = "The engine is stopping; nothing was stored.") -> None:
    """Nobody will take it: whoever waits is told so."""
    reply: Future[Any] | Heard | None = getattr(item, "reply", None)
    if reply is not None and not reply.done() and reply.set_running_or_notify_cancel():
        reply.set_exception(NotTaken(why))
