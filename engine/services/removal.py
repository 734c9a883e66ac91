"""Taking executions away for good because somebody asks for it, from the archive too. (What
retention or a listener archives can still be read.)"""

from functools import partial
from typing import Any

from engine.model.errors import InvalidInput, NotFound
from engine.services.archive_shelf import ArchiveShelf
from engine.services.executions import Executions
from engine.services.port import Port
from engine.store import retention
from engine.store.rowstore import RowStore


class Removal:
    """Removes single executions when somebody asks for it."""

    def __init__(
        self,
        port: Port,
        store: RowStore,
        executions: Executions,
        archive: ArchiveShelf | None = None,
    ) -> None:
        self._port = port
        self._store = store
        self._executions = executions
        self._archive = archive

    def remove(
        self, workflow_id: str, archive: bool, by: str | None = None, why: str | None = None
    ) -> None:
        """Remove an execution for good; as with Conductor, `archive` takes ended ones alone. One that
        still runs is ended first, so that nothing of it stays in a queue or counts against a limit.
        """
        if self._archive is not None and self._archive.remove(workflow_id):
            return
        key = self._store.key_of(workflow_id)
        view = None if key is None else self._executions.view_of(key)
        if key is None or view is None:
            raise NotFound(f"No such workflow found by id: {workflow_id}")
        if not view.status.terminal:
            if archive:
                raise InvalidInput(
                    f"Cannot archive workflow: {workflow_id} with status: {view.status}. "
                    "End it first, or remove it for good with archiveWorkflow=false."
                )
            self._executions.terminate(workflow_id, why or "removed", by=by)
        self._port.errand(partial(self._take_out, key), catalogue=False)

    def _take_out(self, key: int, session: Any) -> None:
        core = self._port.core
        retention.remove(session, key, keep=False, now=core.clock.now())
        core.live.let_go(key)

    def terminate_and_remove(
        self, workflow_id: str, archive: bool, reason: str | None, by: str | None = None
    ) -> None:
        """End it, whatever its state, then remove it; a COMPLETED one is refused."""
        self._executions.terminate(workflow_id, reason, by=by)
        self.remove(workflow_id, archive, by, reason)
