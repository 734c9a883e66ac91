"""A person passes a task over, or has it run again with another input."""

import pytest

from engine.model.errors import Conflict
from engine.model.events import Rerun, Retry, Skip
from engine.model.record import decode
from engine.model.status import ExecutionStatus, TaskStatus
from tests.builders import (
    Bench,
    a_child,
    a_definition,
    a_fork,
    a_loop,
    a_switch,
    a_task,
    a_task_def,
    after,
    an_execution,
    statuses,
)


def test_a_task_in_a_loops_body_is_not_skipped_and_the_refusal_says_why() -> None:
    execution = an_execution(a_task("h", "HUMAN"), a_loop("again", a_task("x")))
    with pytest.raises(Conflict) as refused:
        after(execution, Skip(ref="x"))
    assert "loop again" in refused.value.message
    assert statuses(execution) == {"h": "IN_PROGRESS"}


def test_a_rerun_gives_a_task_that_is_done_at_once_its_new_input() -> None:
    bench = Bench(a_definition(a_task("v", "SET_VARIABLE", input_parameters={"a": 1}), a_task("z")))
    w = bench.start()
    bench.fail("z", for_good=True)
    bench.ask(w, Rerun(task_id=bench.run(w, "v").task_id, task_input={"a": 2}))
    bench.expect(w, ExecutionStatus.RUNNING, v=TaskStatus.COMPLETED, z=TaskStatus.SCHEDULED)
    assert bench.execution(w).variables == b'{"a":2}'


def test_a_rerun_of_a_switch_with_another_input_takes_another_case() -> None:
    switch = a_switch("s", {"a": [a_task("x")], "b": [a_task("y")]})
    bench = Bench(a_definition(switch))
    w = bench.start(input={"case": "a"})
    bench.fail("x", for_good=True)
    bench.ask(w, Rerun(task_id=bench.run(w, "s").task_id, task_input={"case": "b"}))
    bench.expect(w, ExecutionStatus.RUNNING, s=TaskStatus.COMPLETED, y=TaskStatus.SCHEDULED, x=None)


@pytest.mark.parametrize("given", [{"a": 2}, {"workflowInput": {"a": 2}}])
def test_a_rerun_of_a_sub_workflow_hands_the_new_input_to_its_new_child(
    given: dict[str, object],
) -> None:
    bench = Bench(
        a_definition(a_child("s", of="kid", input_parameters={"a": 1}), a_task("z")),
        a_definition(a_task("k"), name="kid"),
    )
    w = bench.start()
    bench.complete("k")
    bench.fail("z", for_good=True)
    bench.ask(w, Rerun(task_id=bench.run(w, "s").task_id, task_input=given))
    assert decode(bench.execution(bench.run(w, "s").child_id or "").input) == {"a": 2}


def family(**fields: object) -> Bench:
    return Bench(
        a_definition(a_child("s", of="kid"), a_task("z"), **fields),
        a_definition(a_task("k"), a_task("k2"), name="kid"),
        task_defs=[a_task_def("k"), a_task_def("k2"), a_task_def("z")],
    )


@pytest.mark.parametrize("z_fails", [True, False])
def test_a_rerun_in_a_child_that_ended_well_runs_again_what_follows_it(z_fails: bool) -> None:
    bench = family()
    w = bench.start()
    bench.complete("k")
    bench.complete("k2")
    bench.fail("z") if z_fails else bench.complete("z")
    child = bench.run(w, "s").child_id or ""
    bench.ask(child, Rerun(task_id=bench.run(child, "k2").task_id))
    bench.expect(w, ExecutionStatus.RUNNING, s=TaskStatus.IN_PROGRESS, z=None)
    bench.complete("k2")
    bench.expect(w, ExecutionStatus.RUNNING, s=TaskStatus.COMPLETED, z=TaskStatus.SCHEDULED)
    bench.complete("z")
    bench.expect(w, ExecutionStatus.COMPLETED)


def test_a_retried_child_is_not_ended_at_once_by_the_failure_beside_it() -> None:
    bench = Bench(
        a_definition(*a_fork("f", [a_child("s", of="kid")], [a_task("b")])),
        a_definition(a_task("k"), name="kid"),
        task_defs=[a_task_def("b")],
    )
    w = bench.start()
    child = bench.run(w, "s").child_id or ""
    bench.fail("b")
    bench.expect(child, ExecutionStatus.TERMINATED)
    bench.ask(child, Retry())
    bench.expect(w, ExecutionStatus.RUNNING, s=TaskStatus.IN_PROGRESS, b=TaskStatus.SCHEDULED)
    assert [run.attempt for run in bench.attempts(w, "b")] == [0, 1]
    bench.complete("k")
    bench.complete("b")
    bench.expect(w, ExecutionStatus.COMPLETED)
