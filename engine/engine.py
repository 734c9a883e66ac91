"""Engine: composes the store, the core, its thread, the services and the workers; starts and stops
them in order. No behaviour of its own."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Any

from engine.core.apart import Apart
from engine.core.drive import CoreLoop, CoreThread, Drive
from engine.core.inbox import Asked, Inbox
from engine.core.knowledge import Knowledge
from engine.core.turn import Core
from engine.instruments.clock import Clock, SystemClock
from engine.instruments.logbook import WRITTEN_DOWN, write_down
from engine.instruments.metrics import Metrics
from engine.instruments.telemetry import Telemetry
from engine.model.errors import EngineError
from engine.services.archive_shelf import ArchiveShelf
from engine.services.definitions import Definitions
from engine.services.executions import Executions
from engine.services.payloads import Payloads
from engine.services.port import ThreadPort
from engine.services.schedules import ROUND, Schedules
from engine.services.schemas import schema_complaint
from engine.services.secrets import Secrets, too_short
from engine.services.tasks import Tasks, handed_back
from engine.services.trigger_shelf import StoredShelf
from engine.services.triggers import Triggers
from engine.settings import Settings
from engine.store import catalogue
from engine.store.database import open_store
from engine.store.files import folder_of, owner_of
from engine.store.holding import in_hands_of
from engine.store.rowstore import RowStore
from engine.workers.delivery import (
    TASK_STATUS,
    WORKFLOW_STATUS,
    Delivery,
    HookSender,
    Routing,
)
from engine.workers.egress import Egress
from engine.workers.evaluation import Evaluation
from engine.workers.evaluators import EvaluatorPool
from engine.workers.functions import Worker
from engine.workers.housekeeping import Chores, Housekeeping
from engine.workers.http_call import Caller
from engine.workers.http_task import TASK as HTTP
from engine.workers.http_task import HttpCraft
from engine.workers.lane import Craft, LaneSettings
from engine.workers.llm_providers import Providers
from engine.workers.llm_task import Models
from engine.workers.mcp_task import ToolServers
from engine.workers.pool import LOCAL, WorkerPool
from engine.workers.reporting import Reporting

MEMORY = "memory:"

FIRE_SECONDS = 0.5
"""How often schedules are looked at."""


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
        self.secrets = self._secrets()
        self.metrics = self._metrics()
        # What keeps
        self.store = self._store()
        self.payloads = self._payloads()
        # What decides
        self.inbox = Inbox()
        self.reporting = Reporting(self.inbox, self.telemetry)
        self.evaluators = self._evaluators()
        self.evaluation = Evaluation(
            self.evaluators, self.settings.evaluators, self.reporting, self.secrets
        )
        self.core = self._core()
        self.port = ThreadPort(self.core, self.inbox)
        self.drive: Drive = CoreThread(self.core, self.inbox, self._failed)
        # What can be asked for
        self.archive = ArchiveShelf(self.port, self.store)
        self.definitions = Definitions(
            self.port, self.store, self.evaluators.evaluate, self.settings.environment()
        )
        self.executions = self._executions()
        self.tasks = Tasks(self.port, self.store, self.secrets, self.payloads)
        shelf = StoredShelf(self.port, self.store)
        self.triggers = Triggers(
            self.port, shelf, self.executions, self.tasks, self.evaluators.evaluate
        )
        self.schedules = Schedules(self.port, shelf, self.executions, self.telemetry)
        # What works beside the core
        self._caller = self._http_caller()
        self.workers = self._worker_pool()
        self.delivery = self._delivery()
        self.clockwork = self._clockwork()
        self.housekeeping = self._housekeeping()
        # How it runs
        self.on_failure: Callable[[], None] = _nothing
        """Called in the core's thread when that has failed: the engine must be started anew."""
        self._state = threading.Lock()
        self._started = self._stopped = False

    # The parts, in the order in which they are put together

    def _secrets(self) -> Secrets:
        """The secrets at hand; from now on no line of the logbook shows one."""
        at_hand = self.settings.secrets()
        secrets = Secrets(self.settings.secret, at_hand.values(), self.telemetry)
        self.telemetry.listen(partial(write_down, secrets.text), *WRITTEN_DOWN)
        for name in too_short(at_hand):
            self.telemetry.say("secret.too_short_to_mask", name=self.settings.secret_prefix + name)
        return secrets

    def _metrics(self) -> Metrics:
        metrics = Metrics(store=self.settings.database.partition(":")[0].partition("+")[0])
        self.telemetry.listen(metrics.hear)
        return metrics

    def _store(self) -> RowStore:
        """The database, and the folder of its payload files."""
        settings = self.settings
        fleeting = settings.database == MEMORY
        store = open_store("sqlite://" if fleeting else settings.database, settings.durability)
        try:
            store.folder = folder_of(store, settings.payload_folder)
        except EngineError:
            store.close()
            raise
        if store.folder is not None and fleeting:
            store.on_close.append(store.folder.clear)
        return store

    def _payloads(self) -> Payloads:
        return Payloads(
            self.store.folder,
            self.settings.limits,
            task_threshold=self.settings.task_payload_threshold,
            workflow_threshold=self.settings.workflow_payload_threshold,
            telemetry=self.telemetry,
            clean=self.secrets.payload,
            owner=lambda path: self.store.read(lambda session: owner_of(session, path)),
        )

    def _evaluators(self) -> EvaluatorPool:
        return EvaluatorPool(
            self.settings.evaluators,
            allow_python=self.settings.python_scripts,
            telemetry=self.telemetry,
        )

    def _core(self) -> Core:
        apart = Apart(
            self.payloads.keep,
            self.settings.task_payload_threshold,
            self.settings.workflow_payload_threshold,
            partial(self.payloads.note, "WRITE"),
        )
        knowledge = self._knowledge()
        return Core(self.store, knowledge, self.clock, self.telemetry, self.evaluation.ask, apart)

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
            named=self.payloads.named,
            tells_tasks=self.settings.task_listener is not None,
        )

    def _executions(self) -> Executions:
        return Executions(
            self.port,
            self.store,
            self.archive,
            payloads=self.payloads,
            sound=self.definitions.require_sound,
        )

    def _http_caller(self) -> Caller:
        settings = self.settings
        egress = Egress(
            settings.effective_reach,
            settings.allowed_hosts,
            settings.denied_hosts,
            own_port=settings.port,
        )
        return Caller(egress, settings.http_response_bytes, telemetry=self.telemetry)

    def _worker_pool(self) -> WorkerPool:
        """The workers of this process, those that are built in among them. Their work waits for the
        network, so their lanes are never quick."""
        threads = self.settings.worker_threads
        pool = WorkerPool(self.tasks, self.reporting, self.telemetry, threads)
        for word, craft in self._crafts().items():
            pool.open(LaneSettings(word, None, pool.worker_id, threads, most=threads), craft)
        return pool

    def _crafts(self) -> dict[str, Craft]:
        """How the built-in words are carried out. One that is left out, as those of models are
        without a provider, waits for workers from outside."""
        settings = self.settings
        crafts: dict[str, Craft] = {}
        if settings.http_worker:
            crafts[HTTP] = HttpCraft(self._caller)
        if settings.llm_urls:
            providers = Providers(settings.llm_urls, settings.secret, settings.secret_prefix)
            crafts |= Models(self._caller, providers, self.telemetry).crafts()
        if settings.llm_urls or settings.mcp_worker:
            crafts |= ToolServers(self._caller).crafts()
        return crafts

    def _delivery(self) -> Delivery:
        hooks = {
            WORKFLOW_STATUS: self.settings.workflow_listener,
            TASK_STATUS: self.settings.task_listener,
        }
        put_away = self.archive.put_away if self.settings.archive_listener else None
        routing = Routing(HookSender(self._caller), hooks, self.triggers.deliver, put_away)
        return Delivery(self.store, self.inbox, self.clock, self.telemetry, routing)

    def _clockwork(self) -> Housekeeping:
        """The thread that fires schedules: no chore may keep a slot waiting."""
        clockwork = Housekeeping(self.inbox, self.telemetry)
        clockwork.add("schedules", FIRE_SECONDS, self._fire)
        return clockwork

    def _fire(self) -> bool:
        """Serve the slots of schedules that have come; are there more?"""
        return self.schedules.fire_due(self.clock.now()) >= ROUND

    def _housekeeping(self) -> Housekeeping:
        keeper = Housekeeping(self.inbox, self.telemetry, lambda: self.drive.idle)
        Chores(
            keeper,
            self.store,
            self.clock,
            self.tasks.sightings,
            self.settings.retention_days,
            self.settings.archive,
            self.settings.payload_grace_hours,
        ).add_all()
        return keeper

    # What it does

    def employ(self, table: Mapping[str, Callable[..., Any]]) -> None:
        """Carry out here what a table names: task name -> function."""
        self.workers.add_all(Worker(name, call) for name, call in table.items())

    @property
    def running(self) -> bool:
        """Started, and not stopping."""
        return self._started and not self._stopped and self.drive.failure is None

    def start(self, loop: asyncio.AbstractEventLoop | None = None) -> "Engine":
        """Take up what the database holds, and work. `loop`: that of the door which serves this
        engine and nothing else; the core then takes its turns there if the store is near."""
        with self._state:
            if self._started:
                return self
            self._started = True
        if loop is not None and self.store.near:
            self.drive = CoreLoop(self.core, self.inbox, self._failed, loop)
        self._take_back()
        self.reporting.start()
        self.evaluation.start()
        self.drive.start()
        self.workers.start()
        self.delivery.start()
        self.housekeeping.start()
        self.clockwork.start()
        return self

    def _failed(self) -> None:
        self.on_failure()

    def _take_back(self) -> None:
        """What workers of an earlier process had in hand ended with that process."""
        line = "handed out again: the engine ended before this attempt had"
        for key, seq in self.store.read(lambda session: in_hands_of(session, LOCAL)):
            self.inbox.put(Asked(handed_back(seq, line), key=key))

    def stop(self) -> None:
        """Finish the present group, let running work end within its grace, let go of the database.
        May be called again, and before a start."""
        with self._state:
            if self._stopped:
                return
            self._stopped = True
        grace = self.settings.grace_seconds
        self.port.wind_down()
        self.clockwork.stop()
        self.workers.stop(grace)
        self.housekeeping.stop()
        self.delivery.stop()
        self.reporting.stop()
        self.evaluation.stop(grace)
        if self._started:
            self.drive.stop()
        self._caller.close()
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


def _nothing() -> None:
    """Nobody minds."""
