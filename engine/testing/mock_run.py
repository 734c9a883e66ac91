"""Plays a definition on mocks: on a core of its own, a store in memory and a clock turned by hand.

Nothing of it reaches the outside, and no time passes for real. A test goes on as long as mocks,
scripts or waits with an end can move it; it stops, and says where, at whatever is left open.
"""

import heapq
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from engine.core.inbox import Asked
from engine.core.knowledge import Knowledge, ReadDefinition, ReadTaskDef
from engine.core.turn import Core, Question
from engine.expressions.scripts import ScriptAnswer, ScriptJob
from engine.expressions.templates import with_input_template
from engine.instruments.clock import HandClock
from engine.instruments.telemetry import Telemetry
from engine.model.definitions import SchemaDef, TaskDef
from engine.model.errors import InvalidInput, NotFound
from engine.model.events import Answer, Claim, Event, Result, Start
from engine.model.execution import Execution, Run
from engine.model.facts import Facts, Limits, Snapshot
from engine.model.ids import execution_id, task_place
from engine.model.record import Json, encode
from engine.model.requests import WorkflowTestRequest
from engine.model.status import TaskStatus
from engine.rules.rendering import workflow_json
from engine.rules.validation import registration_errors, require
from engine.store.memory import MemoryStore
from engine.tasks.kind import SCRIPT
from engine.tasks.restoring import restore
from engine.tasks.snapshot import inline_snapshot
from engine.tasks.view import View
from engine.testing.mocks import NO_MOCKS, Mocks, Outcome
from engine.testing.report import Report, Stop, report_of

Evaluate = Callable[[ScriptJob], ScriptAnswer]

SchemaComplaint = Callable[[SchemaDef, Json], str | None]
"""Why a value does not fit a schema."""

MOST_STEPS = 20_000
"""Turns and scripts a test may take before it counts as one that never ends."""

LIMITS = Limits(loop_iterations=1_000)
"""A test that goes round a loop more often than this is a mistake; an engine allows more."""

BEGINNING = 1_700_000_000_000
"""When a test begins, unless it is told else: an instant in November 2023."""

OUTSIDE = frozenset({"EVENT", "START_WORKFLOW"})
"""Types that the core itself would carry out, and never does in a test. HTTP and the like need no
entry: their worker does not exist here."""

ENGINE_OWN = frozenset({"JOIN", "EXCLUSIVE_JOIN", "DO_WHILE", "SUB_WORKFLOW"})
"""Types that stay open while others move, so that being open stops nothing."""

WORKER = "mock"

Place = tuple[int, int]
"""An attempt: execution and seq."""


@dataclass(frozen=True, slots=True)
class MockRun:
    """What a test came to."""

    workflow: dict[str, Json]
    """The execution with all its tasks, as the API shows one."""
    report: Report
    children: dict[str, dict[str, Json]]
    """Its sub-workflows, at any depth, by workflow id."""


def play(
    request: WorkflowTestRequest,
    task_def: ReadTaskDef,
    definition: ReadDefinition,
    evaluate: Evaluate,
    *,
    now: int = BEGINNING,
    limits: Limits = LIMITS,
    most_steps: int = MOST_STEPS,
    environment: dict[str, str] | None = None,
    schema_complaint: SchemaComplaint | None = None,
    randomness: Callable[[int], bytes] = os.urandom,
) -> MockRun:
    """Play a request. The catalogue (`task_def`, `definition`) is only read; `evaluate` runs the
    scripts, `schema_complaint` holds input and output to their schemas where it is given.

    InvalidInput: the request or its mocks cannot be played, or the test never comes to rest.
    """
    mocks = Mocks(request)
    table = _Table(evaluate, now, most_steps)
    knowledge = _HoldingKnowledge(
        task_def,
        definition,
        table.held,
        limits=limits,
        environment=environment,
        schema_complaint=schema_complaint,
    )
    table.sit_down(knowledge)
    start = _start(request, knowledge, schema_complaint)
    table.play(start, execution_id(now, randomness(10)), mocks)
    return table.outcome()


def _start(
    request: WorkflowTestRequest, knowledge: Knowledge, complain: SchemaComplaint | None
) -> Start:
    """The event that begins the test."""
    if request.input is None:
        raise InvalidInput("input is null: send an object, or leave the field out.")
    found = _snapshot(request, knowledge)
    given = with_input_template(request.input, found.definition.input_template)
    schema = found.definition.input_schema
    if complain is not None and schema is not None and found.definition.enforce_schema:
        complaint = complain(schema, given)
        if complaint is not None:
            raise InvalidInput(
                f"The input does not fit the inputSchema of {found.definition.name}: {complaint}"
            )
    return Start(
        definition=found.definition,
        definition_hash=found.hash,
        input=encode(given),
        correlation_id=request.correlation_id,
        priority=request.priority,
        created_by=request.created_by,
        isolated=True,
    )


def _snapshot(request: WorkflowTestRequest, knowledge: Knowledge) -> Snapshot:
    if request.workflow_def is not None:
        place = "startWorkflow.arg0.workflowDef"
        require(registration_errors(request.workflow_def, place, task_def=knowledge.task_def))
        facts = Facts(now=0, task_def=knowledge.task_def, definition=knowledge.definition)
        return inline_snapshot(request.workflow_def.json_value(), facts)
    if not request.name:
        raise InvalidInput("name is empty: give a registered workflow's, or send workflowDef.")
    found = knowledge.definition(request.name, request.version)
    if found is None:
        version = "null" if request.version is None else request.version
        raise NotFound(f"No such workflow defined. name={request.name}, version={version}")
    return found


class _HoldingKnowledge(Knowledge):
    """The catalogue, and the word which attempts a mock answers."""

    def __init__(
        self,
        task_def: ReadTaskDef,
        definition: ReadDefinition,
        held: Callable[[Execution, Run], bool],
        *,
        limits: Limits,
        environment: dict[str, str] | None,
        schema_complaint: SchemaComplaint | None,
    ) -> None:
        super().__init__(
            task_def,
            definition,
            limits=limits,
            environment=environment,
            jitter=False,
            schema_complaint=schema_complaint,
        )
        self._held = held

    def facts(self, now: int, payload: Callable[[int, str], bytes | None]) -> Facts:
        return replace(super().facts(now, payload), held=self._held)


@dataclass(order=True, slots=True)
class _Step:
    """What a mock does to an attempt at an instant: take it, or report on it."""

    at: int
    order: int
    place: Place = field(compare=False)
    event: Event = field(compare=False)


class _Table:
    """One test in play: the core, who is open, and what is going to happen when."""

    def __init__(self, evaluate: Evaluate, now: int, most_steps: int) -> None:
        self._evaluate = evaluate
        self._most_steps = most_steps
        self._clock = HandClock(now)
        self._store = MemoryStore()
        self._questions: deque[Question] = deque()
        self._executions: dict[int, Execution] = {}
        self._open: dict[Place, Run] = {}
        self._mocks: dict[int, Mocks] = {}
        self._assigned: set[Place] = set()
        """Attempts that a mock is at work on."""
        self._blocked: dict[Place, str] = {}
        self._steps: list[_Step] = []
        self._count = 0
        self._root = 0

    def sit_down(self, knowledge: Knowledge) -> None:
        """Take the place of an engine."""
        telemetry = Telemetry()
        telemetry.listen(self._hear)
        self._core = Core(self._store, knowledge, self._clock, telemetry, self._questions.append)

    def _hear(self, what: str, facts: dict[str, Any]) -> None:
        """Every attempt that moves is heard of after its commit."""
        execution: Execution | None = facts.get("execution")
        if execution is None:
            return
        self._executions[execution.key] = execution
        run: Run | None = facts.get("run")
        if run is not None and what == "task.moved":
            place = (execution.key, run.seq)
            self._open.pop(place, None)
            if run.open:
                self._open[place] = run

    # Mocks

    def held(self, execution: Execution, run: Run) -> bool:
        """Is this attempt answered by a mock instead of being carried out?"""
        if run.type == "SUB_WORKFLOW":
            return self._mocks_of(execution).answers(run)
        return run.type in OUTSIDE

    def _mocks_of(self, execution: Execution) -> Mocks:
        """Those of a child hang below its SUB_WORKFLOW task's; nobody else has any."""
        found = self._mocks.get(execution.key)
        if found is None:
            above = self._parent_run(execution)
            found = NO_MOCKS if above is None else self._mocks_of(above[0]).child(above[1])
            found = self._mocks[execution.key] = found or NO_MOCKS
        return found

    def _parent_run(self, execution: Execution) -> tuple[Execution, Run] | None:
        place = task_place(execution.parent_task_id or "")
        parent = None if place is None else self._core.live.get(place.execution)
        if place is None or parent is None or place.seq not in parent.runs:
            return None
        return parent, parent.runs[place.seq]

    # The game

    def play(self, start: Start, workflow_id: str, mocks: Mocks) -> None:
        """From the start until it is over, or nothing moves any more."""
        self._root = 1
        self._mocks[self._root] = mocks
        self._ask(start, workflow_id=workflow_id)
        while True:
            self._settle()
            if self._executions[self._root].status.terminal:
                return
            self._give_mocks()
            instant = self._next_instant()
            if instant is None:
                return
            self._clock.set(instant)
            while self._steps and self._steps[0].at <= instant:
                self._take(heapq.heappop(self._steps))

    def _ask(self, event: Event, key: int | None = None, workflow_id: str | None = None) -> None:
        reply: Future[Any] = Future()
        self._turn([Asked(event, key=key, workflow_id=workflow_id, reply=reply)])
        reply.result(0)

    def _turn(self, items: list[Any]) -> None:
        self._count += 1
        if self._count > self._most_steps:
            raise InvalidInput(
                f"The test has taken {self._most_steps} steps without coming to rest: look for a loop "
                "whose condition never turns false, and mock fewer iterations."
            )
        self._core.turn(items)

    def _settle(self) -> None:
        """Turns and scripts until nothing is left to do at this moment."""
        while True:
            items = self._core.due_items()
            if items:
                self._turn(items)
            elif self._questions:
                self._answer(self._questions.popleft())
            else:
                return

    def _answer(self, question: Question) -> None:
        answer = self._evaluate(question.job)
        event = Answer(
            seq=question.seq,
            asked=question.asked,
            value=answer.value,
            error=answer.error,
            timed_out=answer.retriable,
            not_finite=answer.not_finite,
            logs=answer.logs,
        )
        self._ask(event, key=question.execution)

    def _give_mocks(self) -> None:
        """Every open attempt that waits for somebody gets its next mock, or stands in the way."""
        self._blocked = {}
        for place, run in list(self._open.items()):
            execution = self._executions[place[0]]
            if place in self._assigned or execution.status.terminal or run.carrier == SCRIPT:
                continue
            mocks = self._mocks_of(execution)
            outcome = mocks.take(run) if self._waits(run, mocks) else None
            if outcome is not None:
                self._assign(place, execution, run, outcome)
            elif self._stands_in_the_way(run, mocks):
                used_up = mocks.mentions(run)
                self._blocked[place] = "its mocks are used up" if used_up else "needs a mock"

    @staticmethod
    def _waits(run: Run, mocks: Mocks) -> bool:
        """Can a mock answer it? A sub-workflow's own child may be at work."""
        if run.type == "SUB_WORKFLOW":
            return run.status is TaskStatus.IN_PROGRESS and run.child_id is None
        return run.type not in ENGINE_OWN

    def _stands_in_the_way(self, run: Run, mocks: Mocks) -> bool:
        if run.type == "SUB_WORKFLOW":
            return run.status is TaskStatus.IN_PROGRESS and run.child_id is None
        ends_by_itself = run.type == "WAIT" and run.due_at > 0
        return run.type not in ENGINE_OWN and not ends_by_itself

    def _assign(self, place: Place, execution: Execution, run: Run, outcome: Outcome) -> None:
        """Put on the clock what the mock says."""
        self._assigned.add(place)
        taken_at = max(self._clock.now(), run.due_at if run.carrier else 0) + outcome.waits_ms
        silent = outcome.status is TaskStatus.TIMED_OUT
        if silent:
            self._require_deadline(execution, run)
        if run.carrier is not None and not (silent and self._poll_deadline_only(execution, run)):
            self._put(taken_at, place, Claim(seq=run.seq, worker=WORKER))
        if not silent:
            report = Result(
                seq=run.seq,
                status=outcome.status,
                output=encode(outcome.output or {}),
                merge=True,
                reason=outcome.reason,
                worker=WORKER,
            )
            self._put(taken_at + outcome.takes_ms, place, report)

    def _put(self, at: int, place: Place, event: Event) -> None:
        self._count += 1
        heapq.heappush(self._steps, _Step(at, self._count, place, event))

    def _policy(self, execution: Execution, run: Run) -> TaskDef:
        return View(execution, Facts(now=0)).node_of(run).task_def

    def _require_deadline(self, execution: Execution, run: Run) -> None:
        policy = self._policy(execution, run)
        if not (
            policy.timeout_seconds
            or policy.total_timeout_seconds
            or policy.poll_timeout_seconds
            or policy.response_timeout_seconds
        ):
            raise InvalidInput(
                f"The mock of {run.reference} says TIMED_OUT, but the task has no deadline: give "
                "its task definition timeoutSeconds, or let the mock say FAILED."
            )

    def _poll_deadline_only(self, execution: Execution, run: Run) -> bool:
        policy = self._policy(execution, run)
        return bool(policy.poll_timeout_seconds) and not (
            policy.timeout_seconds or policy.total_timeout_seconds
        )

    def _take(self, step: _Step) -> None:
        """A mock acts, if its attempt is still open."""
        if step.place not in self._open:
            return
        self._ask(step.event, key=step.place[0])
        self._settle()
        if isinstance(step.event, Result):
            self._assigned.discard(step.place)

    def _next_instant(self) -> int | None:
        """The next instant at which something happens; None: only mocks could go on."""
        now = self._clock.now()
        going_on = [step.at for step in self._steps[:1]]
        waiting: list[int] = []
        for place, run in self._open.items():
            if self._executions[place[0]].status.terminal:
                continue
            own = run.due_at if run.carrier == SCRIPT else run.wake_at
            (waiting if place in self._blocked else going_on).append(own)
        going_on = [instant for instant in going_on if instant > now or self._is_step(instant)]
        if not going_on and self._blocked:
            return None
        waiting += [execution.wake_at for execution in self._executions.values()]
        candidates = going_on + [instant for instant in waiting if instant > now]
        return min(candidates, default=None)

    def _is_step(self, instant: int) -> bool:
        return bool(self._steps) and self._steps[0].at == instant

    # The outcome

    def outcome(self) -> MockRun:
        """Everything the store has, and the report."""
        views = {key: self._view(key) for key in sorted(self._store.keys())}
        root = views[self._root]
        return MockRun(
            workflow=_plain(root),
            report=self._report(root, views, ""),
            children={
                view.execution.id: _plain(view)
                for view in views.values()
                if view.execution.parent_id is not None
            },
        )

    def _view(self, key: int) -> View:
        loaded = self._store.load(key, payloads=True)
        if loaded is None:
            raise LookupError(f"execution {key} is gone")
        return View(restore(loaded.execution, loaded.runs), Facts(now=self._clock.now()))

    def _report(self, view: View, views: dict[int, View], path: str) -> Report:
        execution = view.execution
        children = {}
        stops = self._stops(execution, path)
        for below in views.values():
            run = self._task_of(below.execution, execution)
            if run is not None:
                child = self._report(below, views, f"{path}{run.reference}/")
                children[run.reference] = child
                stops += child.stops
        mocks = self._mocks_of(execution)
        return report_of(execution, self._clock.now(), mocks.unused(), stops, children)

    @staticmethod
    def _task_of(child: Execution, parent: Execution) -> Run | None:
        if child.parent_id != parent.id:
            return None
        runs = parent.runs.values()
        return next((run for run in runs if run.task_id == child.parent_task_id), None)

    def _stops(self, execution: Execution, path: str) -> list[Stop]:
        if execution.status.terminal:
            return []
        stops = [
            Stop(path + run.reference, run.type, self._blocked[execution.key, run.seq])
            for run in execution.runs.values()
            if (execution.key, run.seq) in self._blocked
        ]
        if execution.stuck:
            stops.append(Stop(path.rstrip("/"), "WORKFLOW", execution.stuck))
        return stops


def _plain(view: View) -> dict[str, Json]:
    """An execution as JSON without spliced bytes."""
    shown: dict[str, Json] = orjson.loads(orjson.dumps(workflow_json(view)))
    return shown
