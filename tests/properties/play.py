"""Random orders of events: one execution and its children, played on a bench that doubts every
step."""

from dataclasses import fields, replace

from engine.core.questions import Question
from engine.model.definitions import WorkflowDef
from engine.model.errors import EngineError
from engine.model.events import (
    Claim,
    Decide,
    Due,
    Event,
    Pause,
    Rerun,
    ResetCallbacks,
    Restart,
    Result,
    Resume,
    Retry,
    SetVariables,
    Skip,
    Terminate,
)
from engine.model.execution import Execution, Run
from engine.model.record import Json
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.decide import decide
from engine.rules.recheck import recheck
from engine.tasks.kind import SCRIPT
from engine.tasks.restoring import restore
from tests.builders import Bench, facts_at
from tests.properties.definitions import Pick, task_defs, the_child

COMPLETED, FAILED = TaskStatus.COMPLETED, TaskStatus.FAILED
BAD = FAILED, TaskStatus.FAILED_WITH_TERMINAL_ERROR, TaskStatus.CANCELED
LOOPS = 3


def picture(execution: Execution) -> object:
    """All that an execution is, without what was merely remembered."""
    kept = {
        item.name: getattr(execution, item.name)
        for item in fields(Execution)
        if item.name not in ("decoded", "runs", "nodes", "definition")
    }
    kept["left"], kept["busy"] = dict(execution.left), dict(execution.busy)
    kept["unsettled"] = set(execution.unsettled)
    kept["latest"], kept["last_of"] = dict(execution.latest), dict(execution.last_of)
    return kept, {seq: run.copy() for seq, run in execution.runs.items()}


class Play:
    """One random story. Every step is followed by all checks."""

    def __init__(self, definition: WorkflowDef, number: Pick) -> None:
        self.number = number
        self.bench = Bench(definition, the_child(), task_defs=task_defs())
        self.bench.conditions = self.condition
        self.told: list[str] = []
        self.root = self.bench.start("order")
        self.check()

    @staticmethod
    def condition(question: Question) -> Json:
        return question.asked < LOOPS

    # What can happen

    def step(self) -> None:
        """Something happens."""
        steps = [self.report] * 6 + [self.fail] * 3 + [self.late, self.claim, self.time]
        steps += [self.restarted_engine, self.verb, self.look]
        steps[self.number(len(steps))]()
        self.check()

    def open_runs(self) -> list[tuple[Execution, Run]]:
        found = []
        for execution in self.executions():
            if not execution.status.terminal:
                found += [(execution, run) for run in execution.runs.values() if run.open]
        return [
            (execution, run)
            for execution, run in found
            if run.carrier not in (None, SCRIPT) or run.type in ("WAIT", "HUMAN")
        ]

    def executions(self) -> list[Execution]:
        keys = self.bench.store.numbers()
        loaded = [self.bench.store.load(key, payloads=True) for key in keys]
        return [restore(item.execution, item.runs) for item in loaded if item is not None]

    def send(self, execution: Execution, event: Event) -> None:
        """An event for an execution, decided on the side first: what is only decided, and what is
        refused, has changed nothing."""
        self.told.append(f"{execution.id}: {event}")
        before = picture(execution)
        facts = facts_at(self.bench.clock.now(), *task_defs(), definitions=(the_child(),))
        refused = False
        try:
            decide(execution, event, facts)
        except EngineError:
            refused = True
        assert picture(execution) == before
        try:
            self.bench.ask(execution.id, event)
        except EngineError:
            assert refused
            assert picture(self.bench.execution(execution.id)) == before

    def report(self, status: TaskStatus = COMPLETED) -> None:
        found = self.open_runs()
        if found:
            execution, run = found[self.number(len(found))]
            self.send(execution, Result(seq=run.seq, status=status, output=b'{"v":1}'))

    def fail(self) -> None:
        self.report(BAD[max(0, self.number(6) - 3)])

    def late(self) -> None:
        """A report on what has ended long ago, or ended with its execution."""
        ended = [
            (execution, run)
            for execution in self.executions()
            for run in execution.runs.values()
            if run.status.terminal
        ]
        if ended:
            execution, run = ended[self.number(len(ended))]
            before = picture(execution)
            self.send(execution, Result(seq=run.seq, status=COMPLETED, output=b'{"late":1}'))
            assert settled_picture(self.bench.execution(execution.id)) == settled_picture_of(before)

    def claim(self) -> None:
        found = [item for item in self.open_runs() if item[1].status is TaskStatus.SCHEDULED]
        if found:
            execution, run = found[self.number(len(found))]
            self.send(execution, Claim(seq=run.seq, worker="w"))

    def time(self) -> None:
        seconds = (1, 6, 25, 61)[self.number(4)]
        self.told.append(f"{seconds} seconds pass")
        self.bench.advance(seconds)

    def restarted_engine(self) -> None:
        self.told.append("the engine is started anew")
        self.bench.wake_up()
        self.bench.settle()

    def look(self) -> None:
        executions = self.executions()
        execution = executions[self.number(len(executions))]
        self.send(execution, (Decide(), Due(), Due(seq=1))[self.number(3)])

    def a_skip(self, execution: Execution) -> Event:
        tasks = list(execution.definition.all_tasks())
        return Skip(ref=tasks[self.number(len(tasks))].ref)

    def verb(self) -> None:
        executions = self.executions()
        execution = executions[self.number(len(executions))]
        runs = list(execution.runs.values())
        verbs: list[Event] = [
            Pause(), Resume(), Resume(), Terminate(reason="enough"), Retry(), Retry(),
            Retry(resume_subworkflow_tasks=True), Rerun(), Restart(), ResetCallbacks(),
            SetVariables(variables={"x": 1}), self.a_skip(execution),
        ]  # fmt: skip
        if runs:
            verbs += [Rerun(task_id=runs[self.number(len(runs))].task_id)] * 4
        self.send(execution, verbs[self.number(len(verbs))])

    def finish(self) -> None:
        """Whatever has happened: when all that can be done is done, everything ends."""
        for _ in range(400):
            alive = [item for item in self.executions() if not item.status.terminal]
            if not alive:
                return
            for execution in alive:
                if execution.status is ExecutionStatus.PAUSED:
                    self.send(execution, Resume())
            found = self.open_runs()
            if found:
                execution, run = found[0]
                self.send(execution, Result(seq=run.seq, status=COMPLETED))
            else:
                self.bench.advance(10)
            self.check()
        raise AssertionError(f"it does not end: {[vars_of(item) for item in self.executions()]}")

    # What must hold

    def check(self) -> None:
        """Nothing raised, every execution in the store agrees with its definition, and what is in
        memory equals what is stored."""
        poisoned = self.bench.heard("event.poisoned")
        assert not poisoned, poisoned[0]["trace"]
        for execution in self.executions():
            wrong = recheck(execution)
            assert not wrong, (execution.id, wrong, vars_of(execution))
            key = execution.key
            live = self.bench.core.live.get(key)
            assert live is not None
            wrong = recheck(
                live, lambda seq, side, key=key: self.bench.store.payload(key, seq, side)
            )
            assert not wrong, (execution.id, "in memory", wrong)


def vars_of(execution: Execution) -> dict[str, object]:
    runs = [
        (run.seq, run.reference, run.status.value, run.attempt, run.executed, run.retried)
        for run in execution.runs.values()
    ]
    return {"status": execution.status.value, "reason": execution.reason, "runs": runs}


def settled_picture(execution: Execution) -> object:
    """Without the moment of the last write, which a task log may move."""
    return settled_picture_of(picture(execution))


def settled_picture_of(found: object) -> object:
    kept, runs = found  # type: ignore[misc]
    return {k: v for k, v in kept.items() if k not in ("updated_at", "line")}, {
        seq: replace(run) for seq, run in runs.items()
    }
