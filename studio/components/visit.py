"""Visit: one run of a page. Whom it asks, for whom, and what time it is there."""

import time
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Self

from studio.client.client import Actor, Client


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Visit:
    """Handed down from the page to all that it draws."""

    client: Client
    person: str
    zone: tzinfo
    now_ms: int
    dark: bool

    def actor(self, reason: str = "") -> Actor:
        return Actor(self.person, reason)

    def fresh(self) -> Self:
        """The same visit now: a part that is drawn again by itself needs the time of its drawing."""
        return replace(self, now_ms=now_ms())
