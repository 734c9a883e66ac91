"""When a worker last asked a queue for tasks. Kept in memory; written down now and then."""

from dataclasses import dataclass

MOST = 10_000
"""Sightings in memory; beyond them the longest unseen are forgotten."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A worker asked a queue at an instant."""

    queue: str
    domain: str | None
    worker: str | None
    at: int


class Sightings:
    """The latest of each queue, domain and worker."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str | None, str | None], int] = {}
        self._unwritten: set[tuple[str, str | None, str | None]] = set()

    def note(self, queue: str, domain: str | None, worker: str | None, at: int) -> None:
        """A worker has asked."""
        place = (queue, domain, worker)
        if place not in self._seen and len(self._seen) >= MOST:
            oldest = sorted(list(self._seen.items()), key=lambda item: item[1])[: MOST // 10]
            for known, _ in oldest:
                self._seen.pop(known, None)
        self._seen[place] = at
        self._unwritten.add(place)

    def latest(self, queue: str | None = None) -> list[Sighting]:
        """All, or those of a queue."""
        return [
            Sighting(*place, at)
            for place, at in list(self._seen.items())
            if queue is None or place[0] == queue
        ]

    def unwritten(self) -> list[tuple[str, str | None, str, int]]:
        """What is to be written down since the last time, as the catalogue takes it."""
        places, self._unwritten = self._unwritten, set()
        return [(*place[:2], place[2] or "", self._seen.get(place, 0)) for place in places]
