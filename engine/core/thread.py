"""The core thread: drain, take a turn, sleep until something comes or is due."""

import threading
import traceback
from collections.abc import Callable

from engine.core.inbox import Inbox, Item, refuse
from engine.core.turn import Core

GROUP = 1024
"""Items taken in one turn at most."""

LONGEST_SLEEP = 1.0
"""Seconds; a clock that was set back is noticed within this time."""


class CoreThread:
    """Runs a Core until it is stopped."""

    def __init__(
        self, core: Core, inbox: Inbox, on_failure: Callable[[], None] | None = None
    ) -> None:
        self.core = core
        self.inbox = inbox
        self.failure: BaseException | None = None
        """What ended the thread before its time. An engine without it must be started anew."""
        self._on_failure = on_failure
        self.idle = False
        """Nothing is to be done at this moment."""
        self._present: list[Item] = []
        """What the present turn is about."""
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
        self.inbox.close()

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self.failure = error
            trace = "".join(traceback.format_exception(error))
            self.core.telemetry.say("core.failed", error=str(error), trace=trace)
            for item in self._present:
                refuse(item, "The engine has failed; whether this was stored is unknown.")
            self.inbox.close()
            if self._on_failure is not None:
                self._on_failure()
        finally:
            self.core.dismiss()

    def _work(self) -> None:
        core = self.core
        core.recover()
        while not self._stopping.is_set():
            items = core.due_items()
            items += self.inbox.drain(GROUP - min(len(items), GROUP - 1))
            if items:
                self._present = items
                core.turn(items)
                continue
            self._present = []
            pause = (core.next_at() - core.clock.now()) / 1000
            self.idle = True
            self.inbox.wait(max(0.0, min(pause, LONGEST_SLEEP)))
            self.idle = False
