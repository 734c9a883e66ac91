"""The core thread: drain, take a turn, sleep until something comes or is due."""

import threading
from concurrent.futures import Future
from typing import Any

from engine.core.inbox import Inbox, Item
from engine.core.turn import Core
from engine.model.errors import NotTaken

GROUP = 256
"""Items taken in one turn at most."""

LONGEST_SLEEP = 1.0
"""Seconds; a clock that was set back is noticed within this time."""


class CoreThread:
    """Runs a Core until it is stopped."""

    def __init__(self, core: Core, inbox: Inbox) -> None:
        self.core = core
        self.inbox = inbox
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reprise-core", daemon=True)

    def start(self) -> None:
        """Recover what the store has, then work."""
        self._thread.start()

    def stop(self, timeout: float = 10.0) -> None:
        """Finish the present group; what is still in the inbox is refused."""
        self._stopping.set()
        self.inbox.ring()
        self._thread.join(timeout)
        for item in self.inbox.drain(1_000_000):
            _refuse(item)

    def _run(self) -> None:
        core = self.core
        core.recover()
        while not self._stopping.is_set():
            items = core.due_items()
            items += self.inbox.drain(GROUP - min(len(items), GROUP - 1))
            if items:
                core.turn(items)
                continue
            pause = (core.next_at() - core.clock.now()) / 1000
            self.inbox.wait(max(0.0, min(pause, LONGEST_SLEEP)))


def _refuse(item: Item) -> None:
    reply: Future[Any] | None = item.reply
    if reply is not None and reply.set_running_or_notify_cancel():
        reply.set_exception(NotTaken("The engine is stopping; nothing was stored."))
