"""What is kept up to date beside the attempts equals what the attempts themselves say."""

from engine.model.events import Rerun, Restart
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.recheck import counters, recheck
from engine.tasks.view import View
from tests.builders import (
    Bench,
    a_definition,
    a_dynamic_fork,
    a_loop,
    a_task,
    a_task_def,
    after,
    an_execution,
    facts_at,
    latest,
    result,
)

FAILED, COMPLETED = TaskStatus.FAILED, TaskStatus.COMPLETED


def test_a_restarted_dynamic_fork_still_knows_its_branches() -> None:
    branches = [{"name": "x", "taskReferenceName": "x", "type": "SIMPLE"}]
    execution = an_execution(
        *a_dynamic_fork("fork"), input={"tasks": branches, "inputs": {}}, facts=facts_at()
    )
    after(execution, result(execution, "x", TaskStatus.FAILED_WITH_TERMINAL_ERROR), Restart())
    after(execution, result(execution, "x"))
    assert latest(execution, "join").status is COMPLETED
    assert execution.status is ExecutionStatus.COMPLETED


def test_an_older_attempt_that_is_rerun_is_the_latest_again() -> None:
    facts = facts_at(0, a_task_def("a", retry_count=1))
    execution = an_execution(a_task("a"), facts=facts)
    first = latest(execution, "a")
    after(execution, result(execution, "a", FAILED), facts=facts)
    after(execution, result(execution, "a", FAILED), Rerun(task_id=first.task_id), facts=facts)
    assert latest(execution, "a").task_id == first.task_id
    assert recheck(execution) == []


def test_after_a_rerun_inside_a_loop_the_newest_iteration_is_the_one_before() -> None:
    loop = a_loop("loop", a_task("a"), a_task("b"), items=[1, 2, 3])
    execution = an_execution(loop)
    for reference in ("a__1", "b__1", "a__2", "b__2", "a__3"):
        after(execution, result(execution, reference))
    after(execution, result(execution, "b__3", TaskStatus.FAILED_WITH_TERMINAL_ERROR))
    after(execution, Rerun(task_id=latest(execution, "a__2").task_id))
    newest = View(execution, facts_at()).newest("b")
    assert newest is not None and newest.reference == "b__1"
    assert counters(execution) == []


def test_keep_last_n_drops_every_attempt_of_an_old_iteration() -> None:
    facts = facts_at(0, a_task_def("a", retry_count=1))
    loop = a_loop("loop", a_task("a"), items=[1, 2], input_parameters={"keepLastN": 1})
    execution = an_execution(loop, facts=facts)
    after(execution, result(execution, "a__1", FAILED), facts=facts)
    after(execution, result(execution, "a__1"), facts=facts)
    after(execution, result(execution, "a__2"), facts=facts)
    assert [run.reference for run in execution.runs.values()] == ["loop", "a__2"]
    assert counters(execution) == []


def test_an_execution_that_merely_waits_is_let_go_and_one_with_work_is_kept() -> None:
    bench = Bench(a_definition(a_task("a"), a_task("pause", "WAIT")))
    bench.start()
    assert len(bench.core.live) == 1
    bench.complete("a")
    assert len(bench.core.live) == 0
