"""Executions in the archive: put away once they have ended, still there to be read, and brought back
when somebody acts on one."""

from collections.abc import Callable
from functools import partial
from typing import Any

from engine.services.port import Port
from engine.store import archive, retention, words
from engine.store.archive import Archived
from engine.store.kin import archived_kin
from engine.store.rowstore import RowStore


class ArchiveShelf:
    """What retention and listeners have put away."""

    def __init__(self, port: Port, store: RowStore) -> None:
        self._port = port
        self._store = store

    def find(self, place: str | int) -> Archived | None:
        """An archived execution, whole, by its workflow id or its number."""
        return self._store.read(lambda session: archive.get(session, place))

    def payloads_of(self, found: Archived) -> Callable[[int, str], bytes | None]:
        """What reads its payloads, by seq and side."""
        return partial(found.payload, self._store.folder)

    def put_away(self, workflow_id: str) -> None:
        """Archive an execution that has ended. One that runs again by now, or has been archived or
        removed already, stays as it is."""
        key = self._store.key_of(workflow_id)
        if key is None:
            return
        gone: list[tuple[str, str]] = []
        self._port.errand(partial(self._put_away, key, gone), catalogue=False)
        for name, status in gone:
            self._port.core.telemetry.say("execution.archived", name=name, status=status)

    def _put_away(self, key: int, gone: list[tuple[str, str]], session: Any) -> None:
        core = self._port.core
        if retention.put_away(session, key, core.clock.now(), lambda *who: gone.append(who)):
            core.live.let_go(key)

    def bring_back(self, workflow_id: str) -> None:
        """Put it among the living again, if it is here, and with it what acting on it may reach:
        those above it and below it. Their stories and their logs come along."""
        for key in self._store.read(lambda session: archived_kin(session, workflow_id)):
            self._port.errand(partial(self._bring_back, key), catalogue=False)

    def _bring_back(self, key: int, session: Any) -> None:
        found = archive.get(session, key)
        if found is not None:
            self._store.write_within(archive.release(session, found))

    def remove(self, workflow_id: str) -> bool:
        """Remove an archived execution for good; whether there was one."""
        found = self.find(workflow_id)
        if found is None:
            return False
        keys = [found.loaded.execution.key]

        def work(session: Any) -> None:
            archive.forget(session, keys)
            words.forget_words(session, keys)

        self._port.errand(work, catalogue=False)
        return True
