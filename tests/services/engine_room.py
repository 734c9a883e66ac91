"""Core and services without a thread, on any store, with a clock turned by hand."""

from typing import Any

from engine.core.apart import Apart
from engine.core.knowledge import Knowledge
from engine.core.turn import Core
from engine.expressions.scripts import ScriptAnswer, ScriptJob
from engine.instruments.clock import HandClock
from engine.instruments.telemetry import Telemetry
from engine.model.definitions import WorkflowDef
from engine.model.facts import Limits
from engine.services.executions import Executions
from engine.services.payloads import Payloads
from engine.services.port import DirectPort
from engine.services.schedules import Schedules
from engine.services.secrets import Secrets
from engine.services.tasks import Tasks
from engine.services.trigger_shelf import MemoryShelf, StoredShelf, TriggerShelf
from engine.services.triggers import Triggers
from engine.store.contract import Store
from engine.store.rowstore import RowStore


class EngineRoom:
    """What starts things, and what it starts. Conditions are answered by `answers`."""

    def __init__(
        self,
        store: Store,
        now: int,
        shelf: TriggerShelf | None = None,
        payloads: Payloads | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.store = store
        self.clock = HandClock(now)
        self.definitions: dict[str, WorkflowDef] = {}
        self.answers: dict[str, ScriptAnswer] = {}
        self.asked: list[ScriptJob] = []
        knowledge = Knowledge(
            lambda name: None, lambda name, version: self.definitions.get(name), limits=limits
        )
        telemetry = Telemetry()
        apart = None
        if payloads is not None:
            apart = Apart(payloads.keep, payloads.task_threshold, payloads.workflow_threshold)
        self.core = Core(store, knowledge, self.clock, telemetry, lambda question: None, apart)
        self.port = DirectPort(self.core)
        self.executions = Executions(self.port, store, payloads=payloads)
        self.tasks = Tasks(self.port, store, Secrets({}.get), payloads)
        rows = store if isinstance(store, RowStore) else None
        self.shelf = shelf or (MemoryShelf() if rows is None else StoredShelf(self.port, rows))
        self.triggers = Triggers(self.port, self.shelf, self.executions, self.tasks, self.evaluate)
        self.schedules = Schedules(self.port, self.shelf, self.executions, telemetry)

    def evaluate(self, job: ScriptJob) -> ScriptAnswer:
        self.asked.append(job)
        return self.answers[job.source]

    def register(self, name: str, *tasks: dict[str, Any]) -> None:
        listed = list(tasks) or [{"name": "work", "taskReferenceName": "work"}]
        self.definitions[name] = WorkflowDef.read({"name": name, "tasks": listed})
        self.core.knowledge.changed()

    def task(self, workflow_id: str, ref: str) -> dict[str, Any]:
        """The newest attempt of a reference name, as the API shows it."""
        shown = self.executions.get(workflow_id)
        found = [task for task in shown["tasks"] if task["referenceTaskName"] == ref]
        return self.executions.task(found[-1]["taskId"])
