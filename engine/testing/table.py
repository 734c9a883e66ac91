"""One test in play: a core on a store in memory, who is open, and what is going to happen when.

Mocks act at instants of the test's own clock; between them time jumps to whatever is due next.
"""

import heapq
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from engine.core.inbox import Asked
from engine.core.knowledge import Knowledge
from engine.core.questions import Question, event_of
from engine.core.turn import Core
from engine.expressions.scripts import ScriptAnswer, ScriptJob
from engine.instruments.clock import HandClock
from engine.instruments.telemetry import Telemetry
from engine.model.definitions import TaskDef
from engine.model.errors import InvalidInput
from engine.model.events import Claim, Event, Result, Start
from engine.model.execution import Execution, Run
from engine.model.facts import Facts
from engine.model.ids import task_place
from engine.model.record import encode
from engine.model.status import TaskStatus
from engine.store.memory import MemoryStore
from engine.tasks.kind import SCRIPT
from engine.tasks.view import View
from engine.testing.mocks import NO_MOCKS, Mocks, Outcome

Evaluate = Callable[[ScriptJob], ScriptAnswer]

OUTSIDE = frozenset({"EVENT", "START_WORKFLOW"})
"""Types that the core itself would carry out, and never does in a test. HTTP and the like need no
entry: their worker does not exist here."""

ENGINE_OWN = frozenset({"JOIN", "EXCLUSIVE_JOIN", "DO_WHILE", "SUB_WORKFLOW"})
"""Types that stay open while others move, so that being open stops nothing."""

WORKER = "mock"

ROOT = 1
"""The number of the execution that is played: the first in its store."""

Place = tuple[int, int]
"""An attempt: execution and seq."""


@dataclass(order=True, slots=True)
class _Step:
    """What a mock does to an attempt at an instant: take it, or report on it."""

    at: int
    order: int
    place: Place = field(compare=False)
    event: Event = field(compare=False)
    then: Event | None = field(compare=False, default=None)
    """The report that follows once it is taken."""
    takes_ms: int = field(compare=False, default=0)
    """How long after that."""


class Table:
    """Plays one execution and what it starts."""

    def __init__(self, evaluate: Evaluate, now: int, most_steps: int) -> None:
        self._evaluate = evaluate
        self._most_steps = most_steps
        self.clock = HandClock(now)
        self.store = MemoryStore()
        self.blocked: dict[Place, str] = {}
        """Open attempts that nothing in the test can move, and why not."""
        self._questions: deque[Question] = deque()
        self._executions: dict[int, Execution] = {}
        self._open: dict[Place, Run] = {}
        self._mocks: dict[int, Mocks] = {}
        self._assigned: set[Place] = set()
        """Attempts that a mock is at work on."""
        self._steps: list[_Step] = []
        self._held: list[_Step] = []
        """Claims that the concurrency limit of their task definition forbids for now."""
        self._count = 0

    def sit_down(self, knowledge: Knowledge) -> None:
        """Take the place of an engine."""
        telemetry = Telemetry()
        telemetry.listen(self._hear)
        self._core = Core(self.store, knowledge, self.clock, telemetry, self._questions.append)

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

    # Who answers

    def held(self, execution: Execution, run: Run) -> bool:
        """Is this attempt answered by a mock instead of being carried out?"""
        if run.type == "SUB_WORKFLOW":
            return self.mocks_of(execution).answers(run)
        return run.type in OUTSIDE

    def mocks_of(self, execution: Execution) -> Mocks:
        """The mocks for an execution. Those of a child hang below its SUB_WORKFLOW task's; nobody else has any."""
        found = self._mocks.get(execution.key)
        if found is None:
            above = self._parent_run(execution)
            found = NO_MOCKS if above is None else self.mocks_of(above[0]).child(above[1])
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
        self._mocks[ROOT] = mocks
        self._ask(start, workflow_id=workflow_id)
        while True:
            self._settle()
            if self._executions[ROOT].status.terminal:
                return
            self._let_go_on()
            self._give_mocks()
            instant = self._next_instant()
            if instant is None:
                return
            self.clock.set(instant)
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
        self._ask(event_of(question, answer), key=question.execution)

    def _give_mocks(self) -> None:
        """Every open attempt that waits for somebody gets its next mock, or stands in the way."""
        self.blocked = {}
        for place, run in list(self._open.items()):
            execution = self._executions[place[0]]
            if place in self._assigned or execution.status.terminal or run.carrier == SCRIPT:
                continue
            mocks = self.mocks_of(execution)
            outcome = mocks.take(run) if self._waits(run, mocks) else None
            if outcome is not None:
                self._assign(place, execution, run, outcome)
            elif self._stands_in_the_way(run, mocks):
                used_up = mocks.mentions(run)
                self.blocked[place] = "its mocks are used up" if used_up else "needs a mock"

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
        taken_at = max(self.clock.now(), run.due_at if run.carrier else 0) + outcome.waits_ms
        silent = outcome.status is TaskStatus.TIMED_OUT
        if silent:
            self._require_deadline(execution, run)
        report = None if silent else self._report(run, outcome)
        if run.carrier is not None and not (silent and self._poll_deadline_only(execution, run)):
            claim = Claim(seq=run.seq, worker=WORKER)
            self._put(taken_at, place, claim, then=report, takes_ms=outcome.takes_ms)
        elif report is not None:
            self._put(taken_at + outcome.takes_ms, place, report)

    @staticmethod
    def _report(run: Run, outcome: Outcome) -> Result:
        return Result(
            seq=run.seq,
            status=outcome.status,
            output=encode(outcome.output or {}),
            merge=True,
            reason=outcome.reason,
            worker=WORKER,
        )

    def _put(
        self, at: int, place: Place, event: Event, then: Event | None = None, takes_ms: int = 0
    ) -> None:
        self._count += 1
        heapq.heappush(self._steps, _Step(at, self._count, place, event, then, takes_ms))

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
        if step.place not in self._open or self._limited(step):
            return
        self._ask(step.event, key=step.place[0])
        if step.then is not None:
            self._put(self.clock.now() + step.takes_ms, step.place, step.then)
        self._settle()
        if isinstance(step.event, Result):
            self._assigned.discard(step.place)

    def _limited(self, step: _Step) -> bool:
        """Must a claim wait, because a limit of its task definition is reached?"""
        if not isinstance(step.event, Claim):
            return False
        run, now = self._open[step.place], self.clock.now()
        policy = self._policy(self._executions[step.place[0]], run)
        handout = self._core.handout
        if handout.admits(run, policy, now):
            handout.handed_out(run, policy, now)
            return False
        free_at = handout.free_at(run, policy, now)
        if free_at:
            self._put(free_at, step.place, step.event, step.then, step.takes_ms)
        else:
            self._held.append(step)
        return True

    def _let_go_on(self) -> None:
        """Claims that were held back are made where there is room by now."""
        held, self._held = self._held, []
        for step in held:
            run = self._open.get(step.place)
            if run is None:
                continue
            policy = self._policy(self._executions[step.place[0]], run)
            if self._core.handout.admits(run, policy, self.clock.now()):
                self._put(self.clock.now(), step.place, step.event, step.then, step.takes_ms)
            else:
                self._held.append(step)

    def _next_instant(self) -> int | None:
        """The next instant at which something happens; None: only mocks could go on."""
        now = self.clock.now()
        going_on = [step.at for step in self._steps[:1]]
        waiting: list[int] = []
        for place, run in self._open.items():
            if self._executions[place[0]].status.terminal:
                continue
            own = run.due_at if run.carrier == SCRIPT else run.wake_at
            (waiting if place in self.blocked else going_on).append(own)
        going_on = [instant for instant in going_on if instant > now or self._is_step(instant)]
        if not going_on and self.blocked:
            return None
        waiting += [execution.wake_at for execution in self._executions.values()]
        candidates = going_on + [instant for instant in waiting if instant > now]
        return min(candidates, default=None)

    def _is_step(self, instant: int) -> bool:
        return bool(self._steps) and self._steps[0].at == instant
