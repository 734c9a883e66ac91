"""Say once what happened; whoever listens logs it, counts it, traces it."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Listener = Callable[[str, dict[str, Any]], None]

_log = logging.getLogger("reprise")


class Telemetry:
    """A list of listeners. A listener that raises is dropped from that call, never heard of."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._by_name: dict[str, list[Listener]] = {}
        self._hearing: dict[str, tuple[Listener, ...]] = {}
        """Who hears of what, worked out when it is first said."""

    def listen(self, listener: Listener, *names: str) -> None:
        """Hear everything from now on, or what bears one of these names."""
        if not names:
            self._listeners.append(listener)
        for name in names:
            self._by_name.setdefault(name, []).append(listener)
        self._hearing = {}

    def say(self, what: str, **facts: Any) -> None:
        """A constant name, and the facts as keywords."""
        hearing = self._hearing.get(what)
        if hearing is None:
            hearing = (*self._listeners, *self._by_name.get(what, ()))
            self._hearing[what] = hearing
        for listener in hearing:
            try:
                listener(what, facts)
            except Exception:
                _log.exception("a telemetry listener failed on %s", what)

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Say it once it is done, and how many seconds it took; nothing if it raises."""
        begun = time.perf_counter()
        yield
        self.say(what, seconds=time.perf_counter() - begun)
