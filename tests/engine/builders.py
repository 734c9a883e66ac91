"""Engines, definitions and waiting for tests that run the real thing."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from engine.engine import Engine
from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.requests import StartWorkflowRequest
from engine.settings import Settings

Json = dict[str, Any]

DEADLINE_SECONDS = 30.0


def task(name: str, type_: str = "SIMPLE", **fields: Any) -> Json:
    """A workflow task whose reference name is its name."""
    return {"name": name, "taskReferenceName": name, "type": type_, **fields}


def workflow(name: str, *tasks: Json, **fields: Any) -> Json:
    """A workflow definition."""
    return {"name": name, "version": 1, "tasks": list(tasks), **fields}


class Bench:
    """A running engine, and short ways to ask it."""

    def __init__(self, **settings: Any) -> None:
        self.engine = Engine(Settings(**{"database": "memory:", "port": 1, **settings}))
        self._moved = threading.Condition()
        self.engine.telemetry.listen(self._hear)

    def _hear(self, what: str, facts: Json) -> None:
        with self._moved:
            self._moved.notify_all()

    def __enter__(self) -> "Bench":
        self.engine.start()
        return self

    def __exit__(self, *rest: object) -> None:
        self.engine.stop()

    def define(self, *definitions: Json) -> None:
        for definition in definitions:
            self.engine.definitions.register(WorkflowDef.read(definition))

    def define_tasks(self, *definitions: Json) -> None:
        self.engine.definitions.register_tasks([TaskDef.read(item) for item in definitions])

    def start(self, name: str, **given: Any) -> str:
        return self.engine.executions.start(StartWorkflowRequest(name=name, input=given))

    def get(self, workflow_id: str) -> Json:
        found: Json = orjson.loads(orjson.dumps(self.engine.executions.get(workflow_id)))
        return found

    def until(self, condition: Callable[[], Any]) -> Any:
        """Look whenever the core has moved something, until there is something to see."""
        with self._moved:
            seen = self._moved.wait_for(condition, DEADLINE_SECONDS)
        assert seen, "it did not happen in time"
        return seen

    def ended(self, workflow_id: str) -> Json:
        """The execution, once it has ended."""

        def over() -> bool:
            found = self.engine.executions.get(workflow_id, tasks=False)
            return found["status"] not in ("RUNNING", "PAUSED")

        self.until(over)
        return self.get(workflow_id)

    def run(self, name: str, **given: Any) -> Json:
        return self.ended(self.start(name, **given))

    def task_of(self, workflow_id: str, ref: str) -> Json | None:
        """The latest attempt of a reference name."""
        found = [t for t in self.get(workflow_id)["tasks"] if t["referenceTaskName"] == ref]
        return found[-1] if found else None

    def in_status(self, workflow_id: str, ref: str, status: str) -> Json:
        """The task, once it stands so."""

        def there() -> Json | None:
            found = self.task_of(workflow_id, ref)
            return found if found is not None and found["status"] == status else None

        found: Json = self.until(there)
        return found


def tasks_of(execution: Json) -> dict[str, Json]:
    """The latest attempt of each reference name."""
    return {item["referenceTaskName"]: item for item in execution["tasks"]}


def outputs(execution: Json, refs: Sequence[str]) -> list[Any]:
    """The outputs of tasks."""
    return [tasks_of(execution)[ref]["outputData"] for ref in refs]
