"""Handing out work: order, limits, domains, and workers that wait."""

from concurrent.futures import Future

from engine.core.inbox import Wanted
from engine.model.events import Pause, Terminate
from engine.model.status import TaskStatus
from tests.builders import Bench, a_definition, a_fork, a_task, a_task_def

FAILED = TaskStatus.FAILED


def a_bench(**policy: object) -> Bench:
    return Bench(a_definition(a_task("a")), task_defs=[a_task_def("a", **policy)])


def refs(bench: Bench, count: int, domain: str | None = None) -> list[str]:
    return [handed.execution.id for handed in bench.poll("a", count, domain)]


def test_work_is_handed_out_in_the_order_in_which_it_came() -> None:
    bench = a_bench()
    started = [bench.start() for _ in range(4)]
    assert refs(bench, 10) == started


def test_a_higher_priority_goes_first() -> None:
    bench = a_bench()
    low, high = bench.start(priority=1), bench.start(priority=9)
    assert refs(bench, 2) == [high, low]


def test_a_worker_never_gets_more_than_it_asked_for() -> None:
    bench = a_bench()
    for _ in range(5):
        bench.start()
    assert [len(bench.poll("a", 3)) for _ in range(3)] == [3, 2, 0]


def test_an_attempt_is_handed_out_once() -> None:
    bench = a_bench()
    bench.start()
    assert (len(bench.poll("a")), len(bench.poll("a"))) == (1, 0)


def test_a_delayed_attempt_is_not_there_before_its_time() -> None:
    bench = a_bench(retry_count=1, retry_delay_seconds=30)
    bench.start()
    bench.fail("a")
    bench.advance(29)
    assert bench.poll("a") == []
    bench.advance(1)
    assert len(bench.poll("a")) == 1


def test_one_poll_for_many_keeps_to_the_concurrency_limit() -> None:
    bench = a_bench(concurrent_exec_limit=2)
    for _ in range(5):
        bench.start()
    assert len(bench.poll("a", 5)) == 2
    assert bench.poll("a", 5) == []


def test_a_slot_is_free_again_whichever_way_its_attempt_ends() -> None:
    bench = a_bench(concurrent_exec_limit=1, response_timeout_seconds=10, retry_count=0)
    for _ in range(4):
        bench.start()
    bench.complete("a")
    bench.fail("a")
    (third,) = bench.poll("a")
    bench.ask(third.execution.id, Terminate())
    (fourth,) = bench.poll("a")
    bench.start()
    assert bench.poll("a") == []
    bench.advance(10)
    assert bench.status(fourth.execution.id).terminal
    assert len(bench.poll("a")) == 1


def test_slots_are_counted_from_the_attempts_after_a_restart() -> None:
    bench = a_bench(concurrent_exec_limit=1)
    bench.start()
    bench.start()
    (first,) = bench.poll("a")
    bench.wake_up()
    assert bench.poll("a") == []
    bench.report(first, TaskStatus.COMPLETED)
    assert len(bench.poll("a")) == 1


def test_an_attempt_that_merely_waits_takes_no_slot() -> None:
    human = a_task("wait", "HUMAN", name="a")
    bench = Bench(
        a_definition(*a_fork("fork", [human], [a_task("b", name="a")])),
        task_defs=[a_task_def("a", concurrent_exec_limit=1)],
    )
    bench.start()
    assert len(bench.poll("a")) == 1
    bench.wake_up()
    bench.start()
    assert bench.poll("a") == []


def test_a_rate_limit_lets_through_so_many_in_a_window_and_then_the_next() -> None:
    bench = a_bench(rate_limit_per_frequency=2, rate_limit_frequency_in_seconds=10)
    for _ in range(5):
        bench.start()
    assert len(bench.poll("a", 5)) == 2
    bench.advance(9)
    assert bench.poll("a", 5) == []
    bench.advance(1)
    assert len(bench.poll("a", 5)) == 2


def test_work_of_a_domain_is_for_workers_of_that_domain() -> None:
    bench = a_bench()
    bench.start(task_to_domain={"a": "eu"})
    assert bench.poll("a") == []
    assert len(bench.poll("a", domain="eu")) == 1


def test_of_several_domains_the_first_with_a_worker_is_chosen() -> None:
    bench = a_bench()
    bench.poll("a", domain="us")
    w = bench.start(task_to_domain={"a": "eu, us, NO_DOMAIN"})
    assert bench.run(w, "a").domain == "us"


def test_a_waiting_worker_is_woken_by_the_turn_that_brings_work() -> None:
    bench = a_bench()
    wanted = bench.wanted("a", wait_ms=5000)
    bench.core.turn([wanted])
    assert not wanted.reply.done()
    w = bench.start()
    assert [handed.execution.id for handed in wanted.reply.result(0)] == [w]


def test_a_waiting_worker_gets_nothing_when_its_time_is_over() -> None:
    bench = a_bench()
    wanted = bench.wanted("a", wait_ms=5000)
    bench.core.turn([wanted])
    assert bench.core.next_at() <= bench.clock.now() + 5000
    bench.advance(5)
    assert wanted.reply.result(0) == []


def test_a_worker_that_has_gone_away_takes_nothing() -> None:
    bench = a_bench()
    wanted = Wanted("a", None, 1, "w", bench.clock.now() + 5000, Future())
    bench.core.turn([wanted])
    wanted.reply.cancel()
    bench.start()
    assert len(bench.poll("a")) == 1


def test_work_of_an_execution_that_has_ended_leaves_the_queue() -> None:
    bench = a_bench()
    w = bench.start()
    bench.ask(w, Terminate())
    assert bench.poll("a") == []


def test_scheduled_work_of_a_paused_execution_can_still_be_polled() -> None:
    bench = a_bench()
    w = bench.start()
    bench.ask(w, Pause())
    assert len(bench.poll("a")) == 1


def test_a_report_of_progress_puts_the_work_back_until_its_callback() -> None:
    bench = a_bench()
    w = bench.start()
    (handed,) = bench.poll("a")
    bench.report(handed, TaskStatus.IN_PROGRESS, {"half": True}, callback_after=60)
    assert bench.poll("a") == []
    bench.advance(60)
    (again,) = bench.poll("a")
    assert again.run.task_id == handed.run.task_id
    assert bench.output(w, "a") == {"half": True}
