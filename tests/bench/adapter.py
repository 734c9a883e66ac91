"""The engine in process, as a benchmark of durable engines drives it: on a file, fully flushed."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from sqlmodel import Session, col, func, select

from engine.engine import Engine
from engine.instruments.collector import collect_rarely
from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.requests import StartWorkflowRequest
from engine.settings import Settings
from engine.store.reading import correlated
from engine.store.tables import TaskRow
from engine.workers.functions import Worker

ENDS = ("workflow.completed", "workflow.failed", "workflow.terminated", "workflow.timed_out")

Json = dict[str, Any]


class Ends:
    """Which executions have ended, and how: heard from the core after the commit."""

    def __init__(self) -> None:
        self._ended: dict[str, str] = {}
        self._changed = threading.Condition()
        self._awaited: set[str] = set()

    def hear(self, what: str, facts: Json) -> None:
        """A telemetry listener."""
        if what not in ENDS:
            return
        with self._changed:
            name = facts["execution"].id
            self._ended[name] = what
            if self._awaited:
                self._awaited.discard(name)
                if not self._awaited:
                    self._changed.notify_all()

    def wait(self, ids: Sequence[str]) -> None:
        """Return when all have completed; raise on any other end."""
        with self._changed:
            self._awaited = {name for name in ids if name not in self._ended}
            self._changed.wait_for(lambda: not self._awaited)
            other = [name for name in ids if self._ended[name] != "workflow.completed"]
        if other:
            raise RuntimeError(f"{len(other)} did not complete, {other[0]} among them")


class Adapter:
    """What the benchmark asks of an engine."""

    def __init__(
        self, url: str, task_defs: Sequence[Json], workers: dict[str, Callable[..., Any]]
    ) -> None:
        self._url = url
        self._task_defs = [TaskDef.read(item) for item in task_defs]
        self._workers = [Worker(name, call) for name, call in workers.items()]

    def open(self, recover: bool) -> None:
        """Start the engine, on what a killed process left if there is something."""
        collect_rarely()
        self._ends = Ends()
        self._engine = Engine(Settings(database=self._url, http_worker=False))
        self._engine.telemetry.listen(self._ends.hear, *ENDS)
        self._engine.workers.add_all(self._workers)
        self._engine.start()
        if not recover:
            self._engine.definitions.register_tasks(self._task_defs)

    def register(self, definition: Json) -> None:
        """A workflow definition."""
        self._engine.definitions.register(WorkflowDef.read(definition))

    def start(self, name: str, correlation_ids: Sequence[str]) -> list[str]:
        """One execution for each correlation id; all are stored on return."""
        begun: list[Future[str]] = [
            self._engine.executions.begin(StartWorkflowRequest(name=name, correlation_id=wanted))
            for wanted in correlation_ids
        ]
        return [reply.result() for reply in begun]

    def wait(self, ids: Sequence[str]) -> None:
        """Until all have completed."""
        self._ends.wait(ids)

    def find(self, correlation_ids: Sequence[str]) -> list[str]:
        """The executions that were started with these."""

        def found(session: Session) -> list[str]:
            return [correlated(session, wanted, ended=True)[0] for wanted in correlation_ids]

        return self._engine.store.read(found)

    def signal(self, ids: Sequence[str], ref: str) -> None:
        """Complete a WAIT task in each."""
        tasks = self._engine.tasks

        def complete(name: str) -> None:
            tasks.update_by_ref(name, ref, "COMPLETED", {})

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(complete, ids))

    def parked(self, ref: str) -> int:
        """Executions that wait at a task now."""
        asked = select(func.count()).where(
            col(TaskRow.ref) == ref, col(TaskRow.status) == "IN_PROGRESS"
        )
        return self._engine.store.read(lambda session: session.exec(asked).one())

    def close(self) -> None:
        """Stop."""
        self._engine.stop()
