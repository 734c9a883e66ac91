"""Executions and their attempts as they are committed, among the living or in the archive. The only
room where what a store holds becomes a `View`; nothing is changed here."""

from collections.abc import Callable
from functools import partial

from engine.model.errors import NotFound
from engine.model.execution import Execution
from engine.model.facts import Facts
from engine.model.ids import task_place
from engine.model.record import Json
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.rendering import workflow_json
from engine.rules.task_rendering import spliced, task_json
from engine.services.archive_shelf import ArchiveShelf
from engine.services.port import Port
from engine.store.contract import Store
from engine.tasks.restoring import restore
from engine.tasks.view import View


class Committed:
    """Reading one execution or one attempt."""

    def __init__(self, port: Port, store: Store, archive: ArchiveShelf | None = None) -> None:
        self._port = port
        self._store = store
        self._archive = archive

    # Views

    def view(self, workflow_id: str, payloads: bool = True) -> View:
        """An execution with its attempts. NotFound when there is none."""
        key = self._store.key_of(workflow_id)
        found = self._archived(workflow_id) if key is None else self.view_of(key, payloads)
        if found is None:
            raise NotFound(f"No such workflow found by id: {workflow_id}")
        return found

    def view_of(self, key: int, payloads: bool = False) -> View | None:
        """The same by number; None when there is none."""
        loaded = self._store.load(key, payloads)
        if loaded is None:
            return self._archived(key)
        return self._living(restore(loaded.execution, loaded.runs))

    def head(self, workflow_id: str) -> View:
        """An execution without its attempts. NotFound when there is none."""
        found = self._store.head(workflow_id)
        return self.view(workflow_id, payloads=False) if found is None else self._living(found)

    def _living(self, execution: Execution) -> View:
        facts = Facts(
            now=self._port.core.clock.now(),
            payload=partial(self._store.payload, execution.key),
            outputs=partial(self._store.outputs, execution.key),
        )
        return View(execution, facts)

    def _archived(self, place: str | int) -> View | None:
        """From the archive an execution always comes with its payloads."""
        if self._archive is None or (found := self._archive.find(place)) is None:
            return None
        facts = Facts(now=self._port.core.clock.now(), payload=self._archive.payloads_of(found))
        return View(restore(found.loaded.execution, found.loaded.runs), facts)

    # Executions

    def get(self, workflow_id: str, tasks: bool = True) -> dict[str, Json]:
        """An execution in Conductor's JSON."""
        view = self.view(workflow_id) if tasks else self.head(workflow_id)
        return workflow_json(view, tasks)

    def shown(self, key: int, tasks: bool = True) -> dict[str, Json] | None:
        """The same by number; None when there is none."""
        view = self.view_of(key, payloads=tasks)
        return None if view is None else workflow_json(view, tasks)

    def stand(self, workflow_id: str) -> tuple[ExecutionStatus, dict[int, TaskStatus]]:
        """Its status and that of each attempt."""
        execution = self.view(workflow_id, payloads=False).execution
        return execution.status, {seq: run.status for seq, run in execution.runs.items()}

    def status(self, workflow_id: str, output: bool, variables: bool) -> dict[str, Json]:
        """Conductor's WorkflowStatus: an execution in a few words."""
        view = self.head(workflow_id)
        execution = view.execution
        shown: dict[str, Json] = {"workflowId": execution.id, "status": execution.status.value}
        if execution.correlation_id:
            shown["correlationId"] = execution.correlation_id
        if output:
            held = execution.output
            held = view.facts.payload(0, "output") if held is None else held
            shown["output"] = spliced(held, execution.definition.masked_fields)
        if variables:
            shown["variables"] = spliced(execution.variables, execution.definition.masked_fields)
        return shown

    # Attempts

    def task(self, task_id: str) -> dict[str, Json]:
        """An attempt in Conductor's JSON. NotFound when there is none."""
        found = self._task(task_id, self.view_of)
        if found is None:
            raise NotFound(f"Task not found for taskId: {task_id}")
        return found

    def archived_task(self, task_id: str) -> dict[str, Json] | None:
        """The same of an archived execution alone; None when there is none."""
        return self._task(task_id, self._archived)

    def _task(self, task_id: str, look: Callable[[int], View | None]) -> dict[str, Json] | None:
        place = task_place(task_id)
        found = None if place is None else self.task_in(look(place.execution), place.seq)
        # An id in other letters stands for the same place, and is nobody's id all the same.
        return found if found is not None and found["taskId"] == task_id else None

    @staticmethod
    def task_in(view: View | None, seq: int) -> dict[str, Json] | None:
        """An attempt of an execution by its seq; None when it is gone."""
        run = None if view is None else view.execution.runs.get(seq)
        return None if view is None or run is None else task_json(view, run)
