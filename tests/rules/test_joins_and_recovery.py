"""Joins and recoveries where they meet: who is waited for again, and what is taken out."""

from engine.model.events import Rerun, Retry
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.recheck import recheck
from tests.builders import (
    Bench,
    a_child,
    a_definition,
    a_dynamic_fork,
    a_fork,
    a_switch,
    a_task,
    a_task_def,
    after,
    an_execution,
    facts_at,
    latest,
    result,
    statuses,
)

FOR_GOOD = TaskStatus.FAILED_WITH_TERMINAL_ERROR
BRANCHES = {
    "tasks": [{"name": ref, "taskReferenceName": ref, "type": "SIMPLE"} for ref in ("x", "y")],
    "inputs": {},
}


def test_an_outer_join_hears_the_join_of_a_dynamic_fork() -> None:
    inner = a_dynamic_fork("inner", join="inner_join")
    execution = an_execution(*a_fork("outer", inner, [a_task("b")]), input=BRANCHES)
    after(execution, result(execution, "b"), result(execution, "x"), result(execution, "y"))
    assert latest(execution, "join").status is TaskStatus.COMPLETED
    assert execution.status is ExecutionStatus.COMPLETED


def test_a_join_waits_once_more_for_a_permissive_child_that_runs_again() -> None:
    branches = [a_child("sub", "kid", permissive=True)], [a_task("b")]
    bench = Bench(
        a_definition(*a_fork("fork", *branches)),
        a_definition(a_task("k"), name="kid"),
        task_defs=[a_task_def("k")],
    )
    w = bench.start()
    child = bench.run(w, "sub").child_id or ""
    bench.fail("k")
    bench.ask(child, Retry())
    bench.complete("b")
    bench.expect(w, ExecutionStatus.RUNNING, join=TaskStatus.IN_PROGRESS)
    bench.complete("k")
    bench.expect(w, ExecutionStatus.COMPLETED, join=TaskStatus.COMPLETED)


def test_a_rerun_takes_out_what_a_dynamic_fork_inside_a_switch_has_made() -> None:
    fork = a_dynamic_fork("fork")
    switch = a_switch("switch", {"a": fork}, input_parameters={"case": "a"})
    execution = an_execution(a_task("first"), switch, input=BRANCHES)
    after(execution, result(execution, "first"))
    after(execution, result(execution, "x"))
    after(execution, result(execution, "y", FOR_GOOD))
    after(execution, Rerun(task_id=latest(execution, "first").task_id))
    assert statuses(execution) == {"first": "SCHEDULED"}
    after(execution, result(execution, "first"))
    assert statuses(execution)["x"] == "SCHEDULED"


def test_the_first_of_three_attempts_can_be_rerun() -> None:
    facts = facts_at(0, a_task_def("a", retry_count=2))
    execution = an_execution(a_task("a"), facts=facts)
    first = latest(execution, "a").task_id
    for _ in range(3):
        after(execution, result(execution, "a", TaskStatus.FAILED), facts=facts)
    after(execution, Rerun(task_id=first), facts=facts)
    assert [run.task_id for run in execution.runs.values()] == [first]
    assert recheck(execution) == []


def test_a_retry_replaces_what_failed_and_what_was_cancelled_and_nothing_else() -> None:
    branches = [a_task("a")], [a_task("b")], [a_task("c")]
    execution = an_execution(*a_fork("fork", *branches))
    after(execution, result(execution, "a"), result(execution, "b", FOR_GOOD), Retry())
    attempts = {run.reference: run.attempt for run in execution.runs.values()}
    assert attempts == {"fork": 0, "a": 0, "b": 1, "c": 1, "join": 0}
    assert latest(execution, "join").status is TaskStatus.IN_PROGRESS


def test_a_rerun_in_one_branch_leaves_the_others_alone() -> None:
    branches = [a_task("a1"), a_task("a2")], [a_task("b1"), a_task("b2")]
    execution = an_execution(*a_fork("fork", *branches), a_task("end"))
    for reference in ("a1", "b1", "a2", "b2", "end"):
        after(execution, result(execution, reference))
    kept = latest(execution, "a2").ended_at
    after(execution, Rerun(task_id=latest(execution, "b1").task_id))
    assert statuses(execution) == {
        "fork": "COMPLETED", "a1": "COMPLETED", "b1": "SCHEDULED", "a2": "COMPLETED",
    }  # fmt: skip
    assert latest(execution, "a2").ended_at == kept
    for reference in ("b1", "b2", "end"):
        after(execution, result(execution, reference))
    assert execution.status is ExecutionStatus.COMPLETED


def test_what_a_rerun_reopens_or_removes_is_kept_aside_as_it_was() -> None:
    bench = Bench(a_definition(a_task("a"), a_task("b")), task_defs=[a_task_def("b")])
    w = bench.start()
    bench.complete("a", {"v": 1})
    bench.fail("b", "broken")
    bench.ask(w, Rerun(task_id=bench.run(w, "a").task_id))
    aside = bench.store.aside[bench.execution(w).key]
    assert {(run.reference, run.status) for run in aside} == {
        ("a", TaskStatus.COMPLETED),
        ("b", TaskStatus.FAILED),
    }
