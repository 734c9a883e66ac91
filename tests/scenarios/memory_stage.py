"""A stage in memory: core and services without a thread, a clock turned by hand."""

from collections import deque
from collections.abc import Callable
from typing import Any, cast

import orjson
from sqlmodel import col, func, select

from engine.core.inbox import Asked
from engine.core.knowledge import Knowledge
from engine.core.questions import Question, event_of
from engine.core.turn import Core
from engine.instruments.clock import HandClock
from engine.instruments.telemetry import Telemetry
from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.errors import EngineError, InvalidInput
from engine.model.requests import (
    RerunRequest,
    SkipRequest,
    StartWorkflowRequest,
    TaskResult,
    WorkflowTestRequest,
)
from engine.rules.validation import registration_errors, require, task_def_errors
from engine.services.executions import Executions
from engine.services.port import DirectPort
from engine.services.removal import Removal
from engine.services.schemas import schema_complaint
from engine.services.secrets import Secrets
from engine.services.tasks import Tasks
from engine.services.trigger_shelf import MemoryShelf, StoredShelf
from engine.services.triggers import Triggers
from engine.store.contract import Store
from engine.store.memory import MemoryStore
from engine.store.messages import delivered, outbox
from engine.store.rowstore import RowStore
from engine.store.tables import ExecutionRow
from engine.tasks.at_once import MESSAGE
from engine.testing.mock_run import play
from engine.workers.evaluators import EvaluatorPool
from tests.scenarios.language import Json, Refused


class MemoryRemoval(Removal):
    """Removal from a store without rows."""

    def _take_out(self, key: int, session: Any) -> None:
        session.forget(key)
        self._port.core.live.let_go(key)


class MemoryStage:
    """Everything a scenario needs, in this process and thread; on any store."""

    def __init__(self, evaluators: EvaluatorPool, store: Store | None = None) -> None:
        self.evaluators = evaluators
        self.clock = HandClock()
        self.store = store or MemoryStore()
        self.poisons: list[str] = []
        self.task_defs: dict[str, TaskDef] = {}
        self.definitions: dict[tuple[str, int], WorkflowDef] = {}
        self.questions: deque[Question] = deque()
        knowledge = Knowledge(
            self.task_defs.get,
            self._definition,
            jitter=False,
            schema_complaint=schema_complaint,
        )
        telemetry = Telemetry()
        telemetry.listen(self._hear)
        self.core = Core(self.store, knowledge, self.clock, telemetry, self.questions.append)
        self.port = DirectPort(self.core)
        self.executions = Executions(self.port, self.store)
        self.tasks = Tasks(self.port, self.store, Secrets({}.get))
        rows = self.store if isinstance(self.store, RowStore) else None
        removal = MemoryRemoval if rows is None else Removal
        self.removal = removal(self.port, cast(RowStore, self.store), self.executions)
        self.shelf = MemoryShelf() if rows is None else StoredShelf(self.port, rows)
        self.triggers = Triggers(
            self.port, self.shelf, self.executions, self.tasks, evaluators.evaluate
        )
        self.heard = 0
        """Event messages that were handed over."""

    def _hear(self, what: str, facts: dict[str, Any]) -> None:
        if what == "event.poisoned":
            self.poisons.append(facts["trace"])

    def _definition(self, name: str, version: int | None) -> WorkflowDef | None:
        if version is not None:
            return self.definitions.get((name, version))
        versions = [number for known, number in self.definitions if known == name]
        return self.definitions[name, max(versions)] if versions else None

    def register(self, definition: dict[str, Json]) -> None:
        read = refusing(lambda: WorkflowDef.read(definition))
        refusing(lambda: require(registration_errors(read, task_def=self.task_defs.get)))
        self.definitions[read.name or "", read.version] = read
        self.core.knowledge.changed()

    def register_task(self, definition: dict[str, Json]) -> None:
        read = refusing(lambda: TaskDef.read(definition))
        refusing(lambda: require(task_def_errors(read)))
        self.task_defs[read.name or ""] = read
        self.core.knowledge.changed()

    def register_handler(self, handler: dict[str, Json]) -> None:
        refusing(lambda: self.triggers.add(handler))

    def deliver(self, event: str, payload: Json) -> None:
        self.heard += 1
        number = self.heard
        refusing(lambda: self.triggers.deliver(event, payload, f"m{number:06}"))

    def event_executions(self) -> list[list[str]]:
        records = sorted(
            self.triggers.executions(),
            key=lambda record: (
                record["created"],
                record["messageId"],
                record["name"],
                record["id"],
            ),
        )
        return [[record["name"], record["status"]] for record in records]

    def start(self, request: dict[str, Json]) -> str:
        read = StartWorkflowRequest.read(request)
        return refusing(lambda: self.executions.start(read))

    def execution(self, workflow_id: str) -> dict[str, Json]:
        found: dict[str, Json] = orjson.loads(
            orjson.dumps(refusing(lambda: self.executions.get(workflow_id)))
        )
        return found

    def poll(
        self, task_type: str, worker: str, domain: str | None, count: int
    ) -> list[dict[str, Json]]:
        return refusing(
            lambda: self.tasks.poll(
                task_type, worker=worker, domain=domain, count=count, timeout_ms=0
            )
        )

    def report(self, result: dict[str, Json]) -> None:
        refusing(lambda: self.tasks.update(TaskResult.read(result)))

    def verb(self, verb: str, workflow_id: str, **options: Json) -> None:
        executions = self.executions
        verbs: dict[str, Callable[[], Any]] = {
            "pause": lambda: executions.pause(workflow_id),
            "resume": lambda: executions.resume(workflow_id),
            "decide": lambda: executions.decide(workflow_id),
            "resetcallbacks": lambda: executions.reset_callbacks(workflow_id),
            "restart": lambda: executions.restart(workflow_id, use_latest=options["latest"]),
            "retry": lambda: executions.retry(
                workflow_id, resume_subworkflow_tasks=options["resume_sub"]
            ),
            "terminate": lambda: executions.terminate(workflow_id, options["reason"]),
            "skip": lambda: executions.skip(
                workflow_id, options["ref"], SkipRequest.read(options["request"])
            ),
            "rerun": lambda: executions.rerun(workflow_id, RerunRequest.read(options["request"])),
            "remove": lambda: self.removal.remove(workflow_id, options["archive"]),
        }
        refusing(verbs[verb])

    def test(self, request: dict[str, Json]) -> dict[str, Json]:
        read = WorkflowTestRequest.read(request)
        found = refusing(
            lambda: play(read, self.task_defs.get, self._definition, self.evaluators.evaluate)
        )
        return found.workflow

    def count(self, name: str) -> int:
        if isinstance(self.store, MemoryStore):
            rows = [self.store.load(key) for key in self.store.numbers()]
            return sum(1 for row in rows if row and row.execution.definition.name == name)
        assert isinstance(self.store, RowStore)
        counted = select(func.count()).where(col(ExecutionRow.name) == name)
        found: int = self.store.read(lambda session: session.exec(counted).one())
        return found

    def queue_size(self, name: str) -> int:
        domain, _, task_type = name.rpartition(":")
        return self.core.handout.sizes(self.clock.now()).get((task_type, domain or None), 0)

    def advance(self, seconds: float) -> None:
        """Move the clock in one step: whatever was due meanwhile is noticed late."""
        self.clock.advance(int(seconds * 1000))
        self.settle()

    def settle(self) -> None:
        """Turns, script answers and event messages until nothing is left to do at this moment."""
        self._answer_scripts()
        while messages := self._messages():
            for topic, body in messages:
                if topic == MESSAGE:
                    self.triggers.deliver(body["event"], body["payload"], body["id"])
            self._answer_scripts()
        if self.poisons:
            raise AssertionError(self.poisons[0])

    def _messages(self) -> list[tuple[str, Any]]:
        """What the outside has not been told yet."""
        if isinstance(self.store, RowStore):
            parcels = self.store.read(outbox)
            numbers = [parcel.number for parcel in parcels]
            self.port.errand(lambda session: delivered(session, numbers), catalogue=False)
            return [(parcel.topic, parcel.body) for parcel in parcels]
        assert isinstance(self.store, MemoryStore)
        messages, self.store.messages = self.store.messages, []
        return messages

    def _answer_scripts(self) -> None:
        self.port.settle()
        while self.questions:
            question = self.questions.popleft()
            answer = self.evaluators.evaluate(question.job)
            self.core.turn([Asked(event_of(question, answer), key=question.execution)])
            self.port.settle()


def refusing(work: Callable[[], Any]) -> Any:
    """Errors of the engine as refusals with their status."""
    try:
        return work()
    except EngineError as error:
        violations = error.violations if isinstance(error, InvalidInput) else ()
        message = "; ".join([error.message, *(found.message for found in violations)])
        raise Refused(error.status, message) from error
