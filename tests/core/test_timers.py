"""Time: every instant rings once, also across restarts and when the clock is set back."""

from engine.core.timers import HORIZON_MS
from engine.model.events import Due
from engine.model.status import ExecutionStatus, TaskStatus
from tests.builders import Bench, a_definition, a_task, a_task_def

COMPLETED = ExecutionStatus.COMPLETED


def a_wait(seconds: int) -> Bench:
    return Bench(a_definition(a_task("wait", "WAIT", input_parameters={"duration": f"{seconds}s"})))


def test_a_wait_ends_at_its_instant_and_not_before() -> None:
    bench = a_wait(10)
    w = bench.start()
    bench.advance(9.999)
    bench.expect(w, ExecutionStatus.RUNNING)
    bench.advance(0.001)
    bench.expect(w, COMPLETED)


def test_a_wait_beyond_the_horizon_is_fetched_from_the_store_in_time() -> None:
    seconds = 3 * HORIZON_MS // 1000
    bench = a_wait(seconds)
    w = bench.start()
    for _ in range(seconds - 1):
        bench.advance(1)
    bench.expect(w, ExecutionStatus.RUNNING)
    bench.advance(1)
    bench.expect(w, COMPLETED)


def test_an_instant_that_passed_while_the_engine_was_down_rings_at_its_start() -> None:
    bench = a_wait(10)
    w = bench.start()
    bench.clock.advance(3_600_000)
    bench.wake_up()
    bench.settle()
    bench.expect(w, COMPLETED)


def test_a_timer_that_rings_too_early_is_set_once_more() -> None:
    bench = a_wait(60)
    w = bench.start()
    bench.clock.advance(60_000)
    due = bench.core.due_items()
    bench.clock.advance(-20_000)
    bench.core.turn(due)
    bench.expect(w, ExecutionStatus.RUNNING)
    assert bench.core.next_at() <= bench.run(w, "wait").due_at
    bench.advance(20)
    bench.expect(w, COMPLETED)


def test_a_workflow_timeout_that_rings_too_early_is_set_once_more() -> None:
    definition = a_definition(
        a_task("a", "HUMAN"), timeout_seconds=60, timeout_policy="TIME_OUT_WF"
    )
    bench = Bench(definition)
    w = bench.start()
    bench.clock.advance(60_000)
    due = bench.core.due_items()
    bench.clock.advance(-20_000)
    bench.core.turn(due)
    bench.expect(w, ExecutionStatus.RUNNING)
    bench.advance(20)
    bench.expect(w, ExecutionStatus.TIMED_OUT)


def test_a_timer_that_no_longer_holds_changes_nothing_and_leaves_no_line() -> None:
    policy = a_task_def("a", response_timeout_seconds=10)
    bench = Bench(a_definition(a_task("a")), task_defs=[policy])
    w = bench.start()
    (handed,) = bench.poll("a")
    bench.advance(9)
    bench.extend(handed)
    line = bench.execution(w).line
    bench.advance(1)
    bench.ask(w, Due(seq=handed.run.seq))
    assert bench.execution(w).line == line
    assert bench.run(w, "a").status is TaskStatus.IN_PROGRESS
    bench.advance(9)
    bench.expect(w, ExecutionStatus.TIMED_OUT, a=TaskStatus.TIMED_OUT)


def test_a_jump_of_the_clock_rings_everything_that_is_due() -> None:
    bench = a_wait(10)
    started = [bench.start() for _ in range(20)]
    bench.advance(3600)
    assert {bench.status(w) for w in started} == {COMPLETED}
