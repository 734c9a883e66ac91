"""The present moment: the system's clock, and one that a test turns by hand."""

import time
from typing import Protocol


class Clock(Protocol):
    """Where the present moment comes from."""

    def now(self) -> int:
        """Epoch milliseconds."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


class HandClock:
    """Stands still until somebody turns it."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def advance(self, ms: int) -> None:
        """Move on by milliseconds."""
        self._now += ms

    def set(self, now: int) -> None:
        """Move to an instant; the clock never goes back."""
        self._now = max(self._now, now)
