"""What people reported about queues, limits and clocks. The number in a name is the report's."""

import random

import pytest

from engine.core.inbox import Handed
from engine.model.events import Terminate
from engine.model.status import ExecutionStatus, TaskStatus
from engine.store.contract import Group
from tests.builders import Bench, a_definition, a_task, a_task_def
from tests.core.stores import FaultyStore


@pytest.mark.parametrize("seed", range(40))
def test_fr_021_a_timer_rings_once_however_the_clock_is_set(seed: int) -> None:
    numbers = random.Random(seed)
    wait = a_task("w", "WAIT", input_parameters={"duration": "60s"})
    policy = a_task_def("a", retry_count=1, retry_delay_seconds=30)
    bench = Bench(a_definition(wait, a_task("a")), task_defs=[policy])
    w = bench.start()
    due_at = bench.run(w, "w").due_at
    bench.clock.advance(numbers.randrange(59_000, 62_000))
    items = bench.core.due_items()
    bench.clock.advance(-numbers.randrange(120_000))
    if items:
        bench.core.turn(items)
    if numbers.random() < 0.5:
        bench.wake_up()
    while bench.clock.now() < due_at + 1000:
        bench.advance(numbers.choice([1, 7, 20]))
    bench.expect(w, ExecutionStatus.RUNNING, w=TaskStatus.COMPLETED, a=TaskStatus.SCHEDULED)
    assert len(bench.attempts(w, "a")) == 1
    bench.fail("a")
    bench.advance(numbers.choice([30, 3600]))
    bench.complete("a")
    bench.expect(w, ExecutionStatus.COMPLETED)


@pytest.mark.parametrize("count", [1, 3, 100])
def test_fr_022_what_is_in_progress_is_what_was_delivered(count: int) -> None:
    bench = Bench(a_definition(a_task("a")), task_defs=[a_task_def("a")])
    for _ in range(40):
        bench.start()
    delivered: set[str] = set()
    while got := bench.poll("a", count):
        assert len(got) <= count
        assert not delivered & {handed.run.task_id for handed in got}
        delivered |= {handed.run.task_id for handed in got}
        at_work = {
            run.task_id
            for execution in bench.executions()
            for run in execution.runs.values()
            if run.status is TaskStatus.IN_PROGRESS
        }
        assert at_work == delivered


class Watched(FaultyStore):
    """Remembers how many attempts were ever in progress at a time."""

    most = 0

    def commit(self, group: Group) -> None:
        super().commit(group)
        self.most = max(self.most, self.taken(["a"])["a"])


@pytest.mark.parametrize("limit", [1, 3])
def test_fr_024_a_concurrency_limit_neither_leaks_nor_is_exceeded(limit: int) -> None:
    numbers, store = random.Random(limit), Watched()
    policy = a_task_def("a", concurrent_exec_limit=limit, response_timeout_seconds=20)
    bench = Bench(a_definition(a_task("a")), task_defs=[policy], store=store)
    for _ in range(60):
        bench.start()
    at_work: list[Handed] = []
    for moment in range(3000):
        if all(execution.status.terminal for execution in bench.executions()):
            break
        at_work += bench.poll("a", numbers.choice([1, 5]))
        if moment % 25 == 10:
            bench.wake_up()
        if moment % 17 == 5:
            store.failures = 1
        if at_work:
            end(bench, at_work.pop(), numbers.random())
        bench.advance(1)
    assert {execution.status.terminal for execution in bench.executions()} == {True}
    assert store.most == limit


def end(bench: Bench, handed: Handed, chance: float) -> None:
    """Most work ends well, some does not, some is never heard of again."""
    bench.store.failures = 0  # type: ignore[attr-defined]
    if chance < 0.05:
        return
    if chance < 0.10:
        bench.ask(handed.execution.id, Terminate())
        return
    bench.report(handed, TaskStatus.FAILED if chance < 0.20 else TaskStatus.COMPLETED)
