"""Engine: composes the store, the core, its thread, the services and the workers; starts and stops
them in order. No behaviour of its own."""

import threading
from types import TracebackType

from engine.core.inbox import Asked, Inbox
from engine.core.knowledge import Knowledge
from engine.core.thread import CoreThread
from engine.core.turn import Core
from engine.instruments.clock import Clock, SystemClock
from engine.instruments.telemetry import Telemetry
from engine.model.events import Result
from engine.model.status import TaskStatus
from engine.services.definitions import Definitions
from engine.services.executions import Executions
from engine.services.port import ThreadPort
from engine.services.schemas import schema_complaint
from engine.services.tasks import Tasks
from engine.settings import Settings
from engine.store import catalogue
from engine.store.database import open_store
from engine.store.holding import in_hands_of
from engine.workers.evaluation import Evaluation
from engine.workers.evaluators import EvaluatorPool
from engine.workers.pool import LOCAL, WorkerPool
from engine.workers.reporting import Reporting

MEMORY = "memory:"


class Engine:
    """One engine on one database. A context manager: started on entry, stopped on exit."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        clock: Clock | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.clock: Clock = clock or SystemClock()
        self.telemetry = telemetry or Telemetry()
        url = self.settings.database
        self.store = open_store("sqlite://" if url == MEMORY else url, self.settings.durability)
        self.inbox = Inbox()
        self.reporting = Reporting(self.inbox, self.telemetry)
        self.evaluators = EvaluatorPool(
            self.settings.evaluators, allow_python=self.settings.python_scripts
        )
        self.evaluation = Evaluation(self.evaluators, self.settings.evaluators, self.reporting)
        self.core = Core(
            self.store, self._knowledge(), self.clock, self.telemetry, self.evaluation.ask
        )
        self.port = ThreadPort(self.core, self.inbox)
        self.thread = CoreThread(self.core, self.inbox)
        self.executions = Executions(self.port, self.store)
        self.tasks = Tasks(self.port, self.store, self.settings.secret)
        self.definitions = Definitions(
            self.port, self.store, self.evaluators.evaluate, self.settings.environment()
        )
        self.workers = WorkerPool(
            self.tasks, self.reporting, self.telemetry, self.settings.worker_threads
        )
        self._state = threading.Lock()
        self._started = self._stopped = False

    def _knowledge(self) -> Knowledge:
        store = self.store
        return Knowledge(
            lambda name: store.read(lambda session: catalogue.task(session, name)),
            lambda name, version: store.read(
                lambda session: catalogue.workflow(session, name, version)
            ),
            limits=self.settings.limits,
            environment=self.settings.environment(),
            schema_complaint=schema_complaint,
        )

    @property
    def running(self) -> bool:
        """Started, and not stopping."""
        return self._started and not self._stopped

    def start(self) -> "Engine":
        """Take up what the database holds, and work."""
        with self._state:
            if self._started:
                return self
            self._started = True
        self._take_back()
        self.reporting.start()
        self.evaluation.start()
        self.thread.start()
        self.workers.start()
        return self

    def _take_back(self) -> None:
        """What workers of an earlier process had in hand ended with that process."""
        line = "handed out again: the engine ended before this attempt had"
        for key, seq in self.store.read(lambda session: in_hands_of(session, LOCAL)):
            event = Result(seq=seq, status=TaskStatus.IN_PROGRESS, merge=True, logs=(line,))
            self.inbox.put(Asked(event, key=key))

    def stop(self) -> None:
        """Finish the present group, let running work end within its grace, let go of the database.
        May be called again, and before a start."""
        with self._state:
            if self._stopped:
                return
            self._stopped = True
        grace = self.settings.grace_seconds
        self.workers.stop(grace)
        self.reporting.stop()
        self.evaluation.stop(grace)
        if self._started:
            self.thread.stop()
        self.store.close()

    def __enter__(self) -> "Engine":
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
