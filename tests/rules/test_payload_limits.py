"""Payloads above their limit: the task fails for good, or the workflow fails, with size and limit."""

import pytest

from engine.model.definitions import WorkflowTask
from engine.model.execution import EMPTY
from engine.model.facts import Limits
from engine.model.record import Json
from engine.model.status import ExecutionStatus, TaskStatus
from tests.builders import Bench, a_child, a_definition, a_fork, a_task

FAILED = ExecutionStatus.FAILED
FOR_GOOD = TaskStatus.FAILED_WITH_TERMINAL_ERROR
LARGE = "x" * 300
GIVEN = {"got": "${workflow.input.text}"}
LIMITS = Limits(task_payload=200, workflow_payload=1000)


def a_bench(*tasks: WorkflowTask, limits: Limits = LIMITS, **fields: Json) -> Bench:
    return Bench(
        a_definition(*tasks, **fields),
        a_definition(a_task("inner", "NOOP"), name="child"),
        a_definition(a_task("mend", "NOOP"), name="mending"),
        limits=limits,
    )


@pytest.mark.parametrize(
    "task",
    [
        a_task("t", input_parameters=GIVEN),
        a_task("t", "HTTP", input_parameters=GIVEN),
        a_task("t", "WAIT", input_parameters=GIVEN),
        a_task("t", "HUMAN", input_parameters=GIVEN),
        a_task("t", "INLINE", input_parameters={**GIVEN, "expression": "1"}),
        a_task("t", "JSON_JQ_TRANSFORM", input_parameters={**GIVEN, "queryExpression": "."}),
        a_task("t", "SET_VARIABLE", input_parameters=GIVEN),
        a_task("t", "EVENT", input_parameters=GIVEN, sink="conductor"),
        a_task("t", "NOOP", input_parameters=GIVEN),
        a_child("t", of="child", input_parameters=GIVEN),
        a_task("t", "START_WORKFLOW", input_parameters={"startWorkflow": {"name": "child"}, **GIVEN}),
        a_task("t", "DYNAMIC", dynamic_task_name_param="named",
               input_parameters={**GIVEN, "named": "some"}),
    ],
    ids=lambda task: task.type,
)  # fmt: skip
def test_a_task_of_any_kind_with_too_large_an_input_fails_for_good(task: WorkflowTask) -> None:
    bench = a_bench(task)
    w = bench.start(input={"text": LARGE})

    bench.expect(w, FAILED, t=FOR_GOOD)
    run = bench.run(w, "t")
    assert run.input == EMPTY
    assert run.reason is not None
    assert run.reason.startswith("The payload size: ")
    assert (
        f"of task: {run.task_id} in workflow: {w} is greater than the permissible limit: 200"
        in (run.reason)
    )
    assert len(bench.executions()) == 1
    assert bench.heard("outbox.filled") == []


def test_a_reported_output_above_the_limit_fails_its_task_for_good() -> None:
    bench = a_bench(a_task("t"))
    w = bench.start()
    bench.complete("t", {"text": LARGE})
    bench.expect(w, FAILED, t=FOR_GOOD)
    assert bench.run(w, "t").output == EMPTY
    assert "It is the task's output" in str(bench.run(w, "t").reason)


def test_a_sign_of_life_with_too_large_an_output_fails_its_task_for_good() -> None:
    bench = a_bench(a_task("t"))
    w = bench.start()
    bench.report(bench.poll("t")[0], TaskStatus.IN_PROGRESS, {"text": LARGE})
    bench.expect(w, FAILED, t=FOR_GOOD)


def test_a_scripts_answer_above_the_limit_fails_its_task_for_good() -> None:
    bench = a_bench(a_task("t", "INLINE", input_parameters={"expression": "big()"}))
    bench.conditions = lambda question: LARGE
    w = bench.start()
    bench.expect(w, FAILED, t=FOR_GOOD)
    assert bench.output(w, "t") == {}


def test_outputs_that_are_too_large_together_fail_the_join() -> None:
    bench = a_bench(*a_fork("f", [a_task("a")], [a_task("b")]))
    w = bench.start()
    for name in ("a", "b"):
        bench.complete(name, {"text": "x" * 150})
    bench.expect(w, FAILED, a=TaskStatus.COMPLETED, b=TaskStatus.COMPLETED, join=FOR_GOOD)


def test_a_childs_output_above_the_limit_of_a_task_fails_the_task_that_waits_for_it() -> None:
    child = a_definition(a_task("inner"), name="child", output_parameters={"all": [
        "${inner.output.text}", "${inner.output.text}",
    ]})  # fmt: skip
    bench = Bench(a_definition(a_child("t", of="child")), child, limits=LIMITS)
    w = bench.start()
    bench.complete("inner", {"text": "x" * 150})
    bench.expect(w, FAILED, t=FOR_GOOD)
    assert [one.status for one in bench.executions()] == [FAILED, ExecutionStatus.COMPLETED]


def test_a_terminate_task_with_too_large_an_output_fails_the_workflow() -> None:
    given = {"terminationStatus": "COMPLETED", "workflowOutput": "${a.output.list}"}
    bench = a_bench(a_task("a"), a_task("t", "TERMINATE", input_parameters=given))
    w = bench.start()
    bench.complete("a", {"list": ["x" * 150]})
    bench.expect(w, FAILED, t=FOR_GOOD)


def test_an_optional_task_with_too_large_an_output_is_passed_over() -> None:
    bench = a_bench(a_task("t", optional=True), a_task("after"))
    w = bench.start()
    bench.complete("t", {"text": LARGE})
    bench.expect(w, ExecutionStatus.RUNNING, t=TaskStatus.COMPLETED_WITH_ERRORS, after="SCHEDULED")


def test_an_output_above_the_limit_fails_the_workflow_and_is_not_kept() -> None:
    limits = Limits(task_payload=1000, workflow_payload=200)
    bench = a_bench(a_task("t"), limits=limits)
    w = bench.start()
    bench.complete("t", {"text": LARGE})
    bench.expect(w, FAILED, t=TaskStatus.COMPLETED)
    found = bench.execution(w)
    assert found.output == EMPTY
    assert str(found.reason).startswith(
        f"The payload size: 311 of workflow: {w} is greater than the permissible limit: 200 bytes"
    )


def test_a_failure_keeps_its_reason_when_its_output_is_too_large_as_well() -> None:
    limits = Limits(task_payload=1000, workflow_payload=200)
    outputs = {"text": "${a.output.text}"}
    bench = a_bench(a_task("a"), a_task("b"), limits=limits, output_parameters=outputs)
    w = bench.start()
    bench.complete("a", {"text": LARGE})
    bench.fail("b", "no such account", for_good=True)
    found = bench.execution(w)
    assert (found.status, found.output) == (FAILED, EMPTY)
    assert "no such account" in str(found.reason)
    assert "permissible limit: 200 bytes" in str(found.reason)


def test_a_failure_workflow_whose_input_would_be_too_large_is_not_started() -> None:
    limits = Limits(task_payload=1000, workflow_payload=400)
    bench = a_bench(a_task("a"), limits=limits, failure_workflow="mending")
    w = bench.start()
    bench.fail("a", for_good=True)
    assert len(bench.executions()) == 1
    pointer = bench.output(w)["conductor.failure_workflow"]
    assert pointer.startswith("Error workflow mending failed to start.")
    assert "permissible limit: 400 bytes" in pointer


def test_a_child_with_too_large_an_input_is_not_started() -> None:
    limits = Limits(task_payload=1000, workflow_payload=200)
    bench = a_bench(a_child("t", of="child", input_parameters=GIVEN), limits=limits)
    w = bench.start(input={"text": LARGE})
    bench.expect(w, FAILED, t=TaskStatus.FAILED)
    assert len(bench.executions()) == 1
    assert "permissible limit: 200 bytes" in str(bench.run(w, "t").reason)


def test_an_independent_execution_with_too_large_an_input_is_not_started() -> None:
    limits = Limits(task_payload=1000, workflow_payload=200)
    started = {"startWorkflow": {"name": "child", "input": GIVEN}}
    bench = a_bench(a_task("t", "START_WORKFLOW", input_parameters=started), limits=limits)
    w = bench.start(input={"text": LARGE})
    bench.expect(w, FAILED, t=TaskStatus.FAILED)
    assert len(bench.executions()) == 1
    assert "permissible limit: 200 bytes" in str(bench.run(w, "t").reason)
