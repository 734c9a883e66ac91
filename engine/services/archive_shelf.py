"""Executions in the archive: still there to be read, and brought back when somebody acts on one."""

from typing import Any

from engine.services.port import Port
from engine.store import archive
from engine.store.archive import Archived
from engine.store.rowstore import RowStore


class ArchiveShelf:
    """What retention and people have put away."""

    def __init__(self, port: Port, store: RowStore) -> None:
        self._port = port
        self._store = store

    def find(self, workflow_id: str) -> Archived | None:
        """An archived execution, whole."""
        return self._store.read(lambda session: archive.get(session, workflow_id))

    def bring_back(self, workflow_id: str) -> None:
        """Put it among the living again, if it is here; its story and its logs come along."""
        if self.find(workflow_id) is None:
            return

        def work(session: Any) -> None:
            found = archive.get(session, workflow_id)
            if found is not None:
                self._store.write_within(found.group())
                archive.drop(session, found, revived=True)

        self._port.errand(work, catalogue=False)
