"""A small world of executions, workers and faults, all of it from one seed."""

import random
from collections import Counter

from engine.core.inbox import Handed
from engine.model.definitions import WorkflowDef
from engine.model.events import Result
from engine.model.execution import Execution
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.recheck import recheck
from tests.builders import (
    Bench,
    a_child,
    a_definition,
    a_dynamic_fork,
    a_fork,
    a_loop,
    a_task,
    a_task_def,
)
from tests.core.stores import FaultyStore

DONE, FAILED = TaskStatus.COMPLETED, TaskStatus.FAILED
NAMES = ("pick", "pack", "send")


def definitions() -> list[WorkflowDef]:
    """A bit of everything that waits, spreads, repeats and retries."""
    fork = a_fork("fork", [a_task("left", name="pick")], [a_child("sub", "kid")])
    loop = a_loop("loop", a_task("body", name="pack"))
    wait = a_task("wait", "WAIT", input_parameters={"duration": "20s"})
    wide = a_dynamic_fork("wide", join="wide_join")
    last = a_task("last", name="send")
    return [
        a_definition(a_task("first", name="pick"), *fork, loop, wait, *wide, last),
        a_definition(a_task("kid", name="send"), name="kid"),
    ]


class World:
    """Starts, polls, reports, breaks, restarts; then lets everything come to its end."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.store = FaultyStore()
        policies = [
            a_task_def(name, retry_count=50, retry_delay_seconds=3, response_timeout_seconds=30)
            for name in NAMES
        ]
        self.bench = Bench(*definitions(), store=self.store, task_defs=policies)
        self.bench.conditions = lambda question: question.asked < 3
        self.at_work: list[Handed] = []
        self.answered: list[tuple[int, Result]] = []
        self.acknowledged: Counter[str] = Counter()
        """Completions that the engine has confirmed, by task id."""
        self.taken: Counter[tuple[str, int]] = Counter()
        """Hand-outs that were committed, by task id and delivery."""

    def live_through(self, moments: int) -> None:
        happenings = [self.start, self.poll, self.poll, self.report, self.report, self.report]
        happenings += [self.repeat, self.vanish, self.time, self.fault, self.restart, self.clock]
        for _ in range(moments):
            self.rng.choice(happenings)()

    def come_to_an_end(self) -> None:
        self.store.failures = 0
        self.bench.advance(60)
        for _ in range(2000):
            if all(execution.status.terminal for execution in self.bench.executions()):
                return
            for name in NAMES:
                self.at_work += self.bench.poll(name, 50)
            while self.at_work:
                self.answer(self.at_work.pop(), DONE)
            self.bench.advance(5)
        raise AssertionError([waiting(item) for item in self.bench.executions()])

    # What happens

    def start(self) -> None:
        tasks = [
            {"name": "pack", "taskReferenceName": f"w{n}", "type": "SIMPLE"}
            for n in range(self.rng.randrange(4))
        ]
        try:
            self.bench.start(input={"tasks": tasks, "inputs": {}})
        except Exception as error:
            assert type(error).__name__ == "NotTaken", error

    def poll(self) -> None:
        for handed in self.bench.poll(self.rng.choice(NAMES), self.rng.randrange(1, 6)):
            self.taken[handed.run.task_id, handed.run.poll_count] += 1
            self.at_work.append(handed)

    def report(self) -> None:
        if self.at_work:
            handed = self.at_work.pop(self.rng.randrange(len(self.at_work)))
            self.answer(handed, FAILED if self.rng.random() < 0.1 else DONE)

    def answer(self, handed: Handed, status: TaskStatus) -> None:
        event = Result(seq=handed.run.seq, status=status, output=b'{"v":1}')
        key = handed.execution.key
        before = self.stored_status(key, handed.run.seq)
        if self.send(key, event):
            self.answered.append((key, event))
            if status is DONE and before is TaskStatus.IN_PROGRESS:
                self.acknowledged[handed.run.task_id] += 1
        elif self.rng.random() < 0.7:
            self.at_work.append(handed)

    def stored_status(self, key: int, seq: int) -> TaskStatus | None:
        loaded = self.store.load(key)
        runs = {} if loaded is None else {run.seq: run for run in loaded.runs}
        return runs[seq].status if seq in runs else None

    def send(self, key: int, event: Result) -> bool:
        """True when the engine has confirmed it."""
        loaded = self.store.load(key)
        assert loaded is not None
        reply = self.bench.send(loaded.execution.id, event)
        self.bench.settle()
        return reply.exception(0) is None

    def repeat(self) -> None:
        """An answer that was confirmed comes once more."""
        if self.answered:
            self.send(*self.rng.choice(self.answered))

    def vanish(self) -> None:
        """A worker is never heard of again."""
        if self.at_work and self.rng.random() < 0.3:
            self.at_work.pop(0)

    def time(self) -> None:
        self.bench.advance(self.rng.choice([0.1, 1, 5, 31]))

    def fault(self) -> None:
        self.store.in_doubt = self.rng.random() < 0.3
        self.store.failures = self.rng.randrange(3)

    def restart(self) -> None:
        """The process dies; what was in its memory is gone."""
        if self.rng.random() < 0.5:
            self.bench.wake_up()

    def clock(self) -> None:
        """The clock is set: back by up to a minute, or an hour on."""
        if self.rng.random() < 0.2:
            self.bench.clock.advance(self.rng.choice([-60_000, -5_000, 3_600_000]))

    # What must hold

    def faults(self) -> list[str]:
        found = []
        for execution in self.bench.executions():
            found += [f"{execution.id}: {wrong}" for wrong in recheck(execution)]
            if execution.status is not ExecutionStatus.COMPLETED:
                found.append(f"{execution.id} is {execution.status}: {execution.reason}")
            if execution.stuck:
                found.append(f"{execution.id} is stuck: {execution.stuck}")
            pairs = Counter((run.reference, run.attempt) for run in execution.runs.values())
            found += [f"{execution.id}: {pair} twice" for pair, n in pairs.items() if n > 1]
            found += [
                f"{execution.id}: {run.reference} was confirmed, yet it is {run.status}"
                for run in execution.runs.values()
                if self.acknowledged[run.task_id] and run.status is not DONE
            ]
        found += [f"{task} confirmed {n} times" for task, n in self.acknowledged.items() if n > 1]
        found += [f"{task} handed out {n} times" for task, n in self.taken.items() if n > 1]
        if self.store.letters():
            found.append(f"{len(self.store.letters())} letters were never delivered")
        return found


def waiting(execution: Execution) -> object:
    open_ = [(run.reference, run.status.value) for run in execution.runs.values() if run.open]
    return execution.id, execution.status.value, execution.stuck, open_
