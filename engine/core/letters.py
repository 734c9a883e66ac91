"""Letters that wait in the store: each is put on its way once, and known until it is delivered."""

from collections.abc import Iterable

from engine.core.inbox import Asked
from engine.store.contract import Store


class Letters:
    """The stored letters of this engine's executions."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: set[int] = set()
        """Letters that are on their way, or held."""

    def fetch(self, most: int) -> list[Asked]:
        """The events of up to `most` letters that are new, oldest first; any others that are new
        are held until the engine starts again."""
        found: list[Asked] = []
        for stored in self._store.letters():
            if stored.id in self._known:
                continue
            self._known.add(stored.id)
            if len(found) < most:
                letter = stored.letter
                found.append(Asked(letter.event, workflow_id=letter.to, letter=stored.id))
        return found

    def delivered(self, ids: Iterable[int]) -> None:
        """These have been applied, and are gone."""
        self._known.difference_update(ids)
