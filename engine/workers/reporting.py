"""Bringing answers back to the core: sent again for as long as the store cannot take them.

Work that was carried out is never thrown away because a disk was full for a moment.
"""

import threading
from collections import deque
from collections.abc import Callable
from functools import partial

from engine.core.inbox import Asked, Heard, Inbox
from engine.instruments.telemetry import Telemetry
from engine.model.errors import EngineError
from engine.model.events import Event

AGAIN_SECONDS = 1.0

Taken = Callable[[], None]


class Reporting:
    """Sends events of work that was done, until each is stored or refused for good."""

    def __init__(self, inbox: Inbox, telemetry: Telemetry) -> None:
        self._inbox = inbox
        self._telemetry = telemetry
        self._failed: deque[tuple[int, Event, Taken]] = deque()
        self._closed = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reprise-reports", daemon=True)

    def start(self) -> None:
        """Begin to look after reports that were not taken."""
        self._thread.start()

    def stop(self) -> None:
        """Send nothing again from now on."""
        self._closed.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def send(self, key: int, event: Event, then: Taken) -> None:
        """Report; `then` is called once it is stored, or refused for good."""
        heard = Heard(partial(self._told, key, event, then))
        self._inbox.put(Asked(event, key=key, reply=heard))

    def _told(self, key: int, event: Event, then: Taken, error: BaseException | None) -> None:
        if isinstance(error, EngineError) and error.retryable and not self._closed.is_set():
            self._failed.append((key, event, then))
            self._wake.set()
            return
        if error is not None:
            self._telemetry.say("report.refused", execution=key, event=event, error=str(error))
        then()

    def _run(self) -> None:
        while not self._closed.is_set():
            self._wake.wait()
            self._wake.clear()
            if self._closed.wait(AGAIN_SECONDS):
                return
            for _ in range(len(self._failed)):
                self.send(*self._failed.popleft())
