"""Port: how a service asks the core. One for the core thread, one that takes turns by itself."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, Protocol

from engine.core.inbox import Asked, Errand, Handed, Inbox, Wanted, refuse
from engine.core.turn import Core
from engine.model.errors import EngineError, NotTaken
from engine.model.events import Event, Start
from engine.store.contract import StoreFailed

PATIENCE_SECONDS = 30.0
"""How long a caller waits for a turn before it is told to ask again."""


class Port(Protocol):
    """Asks the core for something."""

    core: Core

    def send(self, asked: Asked) -> "Future[Any]":
        """Put an event in; the future is resolved after its commit."""
        ...

    def want(self, wanted: Wanted) -> "Future[list[Handed]]":
        """Ask for work."""
        ...

    def errand(self, work: Callable[[Any], Any], *, catalogue: bool = True) -> Any:
        """Run cold work on the write connection and wait for its value. `catalogue`: it may change
        what decisions know."""
        ...

    def wait(self, reply: "Future[Any]") -> Any:
        """The value of a reply, or its error."""
        ...


def in_words(error: Exception) -> EngineError | None:
    """An error as one that a caller understands; None for a fault of ours."""
    if isinstance(error, EngineError):
        return error
    if isinstance(error, StoreFailed):
        return NotTaken(f"The store cannot be reached: {error}. Ask again.")
    return None


def ask(
    port: Port,
    event: Event,
    *,
    key: int | None = None,
    workflow_id: str | None = None,
    urgent: bool = False,
) -> Any:
    """Send an event and wait for what it came to."""
    reply: Future[Any] = Future()
    asked = Asked(event, key=key, workflow_id=workflow_id, reply=reply, urgent=urgent)
    return port.wait(port.send(asked))


class ThreadPort:
    """Asks a core that runs in its own thread."""

    def __init__(self, core: Core, inbox: Inbox) -> None:
        self.core = core
        self._inbox = inbox
        self._winding_down = False

    def wind_down(self) -> None:
        """The engine is about to stop: nothing is begun any more, what runs may be reported."""
        self._winding_down = True

    def send(self, asked: Asked) -> "Future[Any]":
        reply = asked.reply if isinstance(asked.reply, Future) else Future[Any]()
        asked.reply = reply
        if self._winding_down and isinstance(asked.event, Start):
            refuse(asked)
        else:
            self._inbox.put(asked)
        return reply

    def want(self, wanted: Wanted) -> "Future[list[Handed]]":
        if self._winding_down:
            wanted.reply.set_result([])
        else:
            self._inbox.put(wanted)
        return wanted.reply

    def errand(self, work: Callable[[Any], Any], *, catalogue: bool = True) -> Any:
        errand = Errand(work, catalogue=catalogue)
        self._inbox.put(errand)
        return self.wait(errand.reply)

    def wait(self, reply: "Future[Any]") -> Any:
        if not reply.done() and self._inbox.reader == threading.get_ident():
            raise RuntimeError("the thread that takes the core's turns waits for one of them")
        try:
            return reply.result(PATIENCE_SECONDS)
        except FutureTimeout:
            raise NotTaken(
                f"The engine did not answer within {PATIENCE_SECONDS:.0f} seconds. "
                "Whether the request was stored is unknown; look before sending it again."
            ) from None


class DirectPort:
    """Takes turns in the caller's thread: for mock runs, tests and simulation."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def send(self, asked: Asked) -> "Future[Any]":
        reply = asked.reply if isinstance(asked.reply, Future) else Future[Any]()
        asked.reply = reply
        self.core.turn([asked])
        self.settle()
        return reply

    def want(self, wanted: Wanted) -> "Future[list[Handed]]":
        self.core.turn([wanted])
        self.settle()
        if not wanted.reply.done():
            wanted.reply.cancel()
            wanted.reply = Future()
            wanted.reply.set_result([])
        return wanted.reply

    def errand(self, work: Callable[[Any], Any], *, catalogue: bool = True) -> Any:
        errand = Errand(work, catalogue=catalogue)
        self.core.turn([errand])
        return self.wait(errand.reply)

    def wait(self, reply: "Future[Any]") -> Any:
        return reply.result(0)

    def settle(self) -> None:
        """Take turns until nothing is due at this moment."""
        while items := self.core.due_items():
            self.core.turn(items)
