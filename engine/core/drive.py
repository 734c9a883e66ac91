"""Who takes the core's turns: a thread of its own, or the event loop of the door that it serves.

On a door's loop a request, its decision and its answer stay in one thread, and what has come in
together is one group: nothing is handed over between threads that take turns at the interpreter.
"""

import asyncio
import threading
import traceback
from collections.abc import Callable

from engine.core.inbox import Inbox, Item, refuse
from engine.core.turn import Core

GROUP = 1024
"""Items taken in one turn at most."""

LONGEST_SLEEP = 1.0
"""Seconds; a clock that was set back is noticed within this time."""


CALM = 2
"""Rounds of a loop without a new item, after which a turn is taken."""


class Drive:
    """Drains the inbox into turns of a Core until it is stopped."""

    def __init__(
        self, core: Core, inbox: Inbox, on_failure: Callable[[], None] | None = None
    ) -> None:
        self.core = core
        self.inbox = inbox
        self.failure: BaseException | None = None
        """What ended it before its time. An engine without it must be started anew."""
        self._on_failure = on_failure
        self.idle = False
        """Nothing is to be done at this moment."""
        self._present: list[Item] = []
        """What the present turn is about."""
        self._stopping = threading.Event()

    def start(self) -> None:
        """Recover what the store has, then work."""
        raise NotImplementedError

    def stop(self, timeout: float = 10.0) -> None:
        """Finish the present group; what is still in the inbox is refused."""
        raise NotImplementedError

    def _advance(self) -> float:
        """Take a turn if anything is to be done; how many seconds to sleep, 0 for none."""
        core = self.core
        items = core.due_items()
        items += self.inbox.drain(GROUP - min(len(items), GROUP - 1))
        if items:
            self._present = items
            core.turn(items)
            self._present = []
        if len(self.inbox) or core.follow_up:
            return 0.0
        pause = (core.next_at() - core.clock.now()) / 1000
        return max(0.0, min(pause, LONGEST_SLEEP))

    def _fail(self, error: BaseException) -> None:
        self.failure = error
        trace = "".join(traceback.format_exception(error))
        self.core.telemetry.say("core.failed", error=str(error), trace=trace)
        for item in self._present:
            refuse(item, "The engine has failed; whether this was stored is unknown.")
        self.inbox.close()
        if self._on_failure is not None:
            self._on_failure()


class CoreThread(Drive):
    """Turns in a thread of their own: for notebooks, and for stores that are far away."""

    def __init__(
        self, core: Core, inbox: Inbox, on_failure: Callable[[], None] | None = None
    ) -> None:
        super().__init__(core, inbox, on_failure)
        self._thread = threading.Thread(target=self._run, name="reprise-core", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 10.0) -> None:
        self._stopping.set()
        self.inbox.ring()
        self._thread.join(timeout)
        self.inbox.close()

    def _run(self) -> None:
        self.inbox.reader = threading.get_ident()
        try:
            self._work()
        except BaseException as error:
            self._fail(error)
        finally:
            self.core.dismiss()

    def _work(self) -> None:
        self.core.recover()
        while not self._stopping.is_set():
            pause = self._advance()
            if pause:
                self.idle = True
                self.inbox.wait(pause)
                self.idle = False


class CoreLoop(Drive):
    """Turns between the callbacks of an event loop. A turn holds the loop until it is committed, so
    the store must be near."""

    def __init__(
        self,
        core: Core,
        inbox: Inbox,
        on_failure: Callable[[], None] | None,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(core, inbox, on_failure)
        self._loop = loop
        self._planned = False
        """A step is among the loop's next callbacks."""
        self._sleep: asyncio.TimerHandle | None = None
        self._ended = threading.Event()
        self._there = self._calm = 0

    def start(self) -> None:
        self._planned = True
        self.inbox.on_ring = self._ring
        self._loop.call_soon_threadsafe(self._begin)

    def stop(self, timeout: float = 10.0) -> None:
        self._stopping.set()
        if self._loop.is_running() and self.inbox.reader != threading.get_ident():
            self._ring()
            self._ended.wait(timeout)
        self._end()

    def _ring(self) -> None:
        if self._planned:
            return
        self._planned = True
        if threading.get_ident() == self.inbox.reader:
            self._loop.call_soon(self._step)
            return
        try:
            self._loop.call_soon_threadsafe(self._step)
        except RuntimeError:
            # The loop is closed: whoever stops the engine next refuses what is in the inbox.
            return

    def _begin(self) -> None:
        self.inbox.reader = threading.get_ident()
        try:
            self.core.recover()
        except BaseException as error:
            self._fail(error)
            self._end()
            return
        self._step()

    def _step(self) -> None:
        self._planned = False
        if self._sleep is not None:
            self._sleep.cancel()
            self._sleep = None
        if self._stopping.is_set() or self.failure is not None:
            self._end()
            return
        self.idle = False
        if self._more_may_come():
            self._ring()
            return
        try:
            pause = self._advance()
        except BaseException as error:
            self._fail(error)
            self._end()
            return
        if pause:
            self.idle = True
            self._sleep = self._loop.call_later(pause, self._step)
        else:
            self._ring()

    def _more_may_come(self) -> bool:
        """Requests that have arrived by now join the group: a commit costs the same for all."""
        there = len(self.inbox)
        if there > self._there:
            self._there, self._calm = there, 0
        else:
            self._calm += 1
        if there and there < GROUP and self._calm < CALM:
            return True
        self._there = self._calm = 0
        return False

    def _end(self) -> None:
        """No more turns: whoever waits is told. May be called again."""
        if self._ended.is_set():
            return
        self._ended.set()
        self.inbox.close()
        self.core.dismiss()
