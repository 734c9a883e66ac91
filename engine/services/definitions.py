"""What a caller can ask about definitions: register and fetch workflows and task policies."""

from collections.abc import Sequence

from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.errors import InvalidInput, NotFound
from engine.services.port import Port
from engine.store import catalogue
from engine.store.rowstore import RowStore


class Definitions:
    """The catalogue: written as errands of the core, read on connections of its own."""

    def __init__(self, port: Port, store: RowStore) -> None:
        self._port = port
        self._store = store

    def register(self, definition: WorkflowDef, *, overwrite: bool = True) -> WorkflowDef:
        """Store a workflow definition under its name and version."""
        if not definition.name:
            raise InvalidInput("name is empty: give the workflow definition a name.")
        now = self._port.core.clock.now()
        kept: WorkflowDef = self._port.errand(
            lambda session: catalogue.put_workflow(session, definition, now, overwrite)
        )
        return kept

    def get(self, name: str, version: int | None = None) -> WorkflowDef:
        """A workflow definition; without a version the highest."""
        found = self._store.read(lambda session: catalogue.workflow(session, name, version))
        if found is None:
            shown = "null" if version is None else version
            raise NotFound(f"No such workflow found by name: {name}, version: {shown}")
        return found

    def register_tasks(self, definitions: Sequence[TaskDef]) -> list[TaskDef]:
        """Store task definitions under their names."""
        for definition in definitions:
            if not definition.name:
                raise InvalidInput("name is empty: give the task definition a name.")
        now = self._port.core.clock.now()
        kept: list[TaskDef] = self._port.errand(
            lambda session: catalogue.put_tasks(session, definitions, now)
        )
        return kept

    def task(self, name: str) -> TaskDef:
        """A task definition."""
        found = self._store.read(lambda session: catalogue.task(session, name))
        if found is None:
            raise NotFound(f"No such taskType found by name: {name}")
        return found
