"""Sub-workflows: what stops definitions that start each other."""

from typing import Any

import pytest

from engine.model.definitions import WorkflowTask
from engine.model.events import Retry, Terminate
from engine.model.facts import Limits
from engine.model.ids import depth_of
from engine.model.record import decode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.tasks.children import DEEPEST
from tests.builders import Bench, a_child, a_definition, a_fork, a_task, a_task_def


def test_definitions_that_start_each_other_in_a_circle_come_to_an_end_that_says_so() -> None:
    bench = Bench(
        a_definition(a_child("s", of="there"), name="here"),
        a_definition(a_child("s", of="here"), name="there"),
    )
    w = bench.start("here")
    bench.expect(w, ExecutionStatus.FAILED, s=TaskStatus.FAILED)
    family = bench.executions()
    assert len(family) == DEEPEST + 1
    assert all(one.status is ExecutionStatus.FAILED for one in family)
    deepest = max(family, key=lambda one: depth_of(one.id))
    assert "nested 100 deep" in str(deepest.reason) and "started by itself" in str(deepest.reason)


def a_starter(ref: str, of: str, **fields: str) -> WorkflowTask:
    return a_task(ref, "START_WORKFLOW", input_parameters={"startWorkflow": {"name": of, **fields}})


def test_a_workflow_that_starts_itself_comes_to_an_end_that_names_the_limit() -> None:
    bench = Bench(a_definition(a_starter("again", of="order")), limits=Limits(descendants=20))
    bench.start()
    family = bench.executions()
    assert len(family) == 21
    ends = [one.status for one in family]
    assert ends == [ExecutionStatus.COMPLETED] * 20 + [ExecutionStatus.FAILED]
    assert "20 executions within a day" in str(family[-1].reason)
    assert "order would be one more" in str(family[-1].reason)


def test_a_circle_of_sub_workflows_that_forks_is_bounded_in_total_and_fails_as_a_whole() -> None:
    twice = a_fork("fork", [a_child("s", of="order")], [a_child("t", of="order")])
    bench = Bench(a_definition(*twice), limits=Limits(descendants=50))
    w = bench.start()
    family = bench.executions()
    assert len(family) <= 52
    assert all(one.status.terminal for one in family)
    assert "50 executions within a day" in str(bench.execution(w).reason)


def test_the_limit_is_a_roots_own_and_that_of_a_day() -> None:
    bench = Bench(
        a_definition(a_starter("next", of="leaf")),
        a_definition(a_task("wait", "HUMAN"), a_child("kid", of="leaf"), name="two"),
        a_definition(a_task("k", "NOOP"), name="leaf"),
        limits=Limits(descendants=1),
    )
    for _ in range(3):
        bench.expect(bench.start(), ExecutionStatus.COMPLETED)
    two = [bench.start("two") for _ in range(3)]
    for w in two:
        bench.answer(w, "wait", TaskStatus.COMPLETED)
        bench.expect(w, ExecutionStatus.COMPLETED)
    chain = a_definition(
        a_task("nap", "WAIT", input_parameters={"duration": "30 h"}),
        a_starter("again", of="chain"),
        name="chain",
    )
    bench.register(chain)
    bench.start("chain")
    for _ in range(4):
        bench.advance(30 * 3600)
    ends = [one.status for one in bench.executions() if one.definition.name == "chain"]
    assert ends == [ExecutionStatus.COMPLETED] * 4 + [ExecutionStatus.RUNNING]


POST: dict[str, Any] = {
    "input_template": {"kind": "letter"},
    "input_schema": {
        "name": "post",
        "type": "JSON",
        "data": {"type": "object", "properties": {"to": {"type": "string"}}},
    },
}


def posting(*tasks: WorkflowTask, **fields: Any) -> Bench:
    kid = a_definition(a_task("k"), name="kid", **POST)
    return Bench(a_definition(*tasks, **fields), kid)


def test_whatever_starts_a_workflow_completes_its_input_from_the_template() -> None:
    bench = posting(
        a_child("s", of="kid", input_parameters={"to": "ada"}),
        a_task(
            "more",
            "START_WORKFLOW",
            input_parameters={"startWorkflow": {"name": "kid", "input": {"to": "bob"}}},
        ),
        a_task("end", "TERMINATE", input_parameters={"terminationStatus": "FAILED"}),
        failure_workflow="kid",
    )
    bench.start()
    bench.complete("k")
    inputs = [decode(one.input) for one in bench.executions()][1:]
    assert [item["kind"] for item in inputs] == ["letter"] * 3
    assert [item.get("to") for item in inputs] == ["ada", "bob", None]


@pytest.mark.parametrize(
    "task",
    [
        a_child("s", of="kid", input_parameters={"to": 7}),
        a_task(
            "s",
            "START_WORKFLOW",
            input_parameters={"startWorkflow": {"name": "kid", "input": {"to": 7}}},
        ),
    ],
)
def test_a_child_whose_input_breaks_its_schema_fails_the_task_that_would_start_it(
    task: WorkflowTask,
) -> None:
    bench = posting(task)
    bench.complain = lambda schema, value: "to: 7 is no text" if value.get("to") == 7 else None
    bench.wake_up()
    w = bench.start()
    bench.expect(w, ExecutionStatus.FAILED, s=TaskStatus.FAILED)
    assert "does not fit the inputSchema of kid: to: 7 is no text" in str(bench.run(w, "s").reason)
    assert len(bench.executions()) == 1


KIDS = a_definition(a_task("k"), name="kid", output_parameters={"by": "${k.output.by}"})


def keyed(ref: str, strategy: str | None, **fields: Any) -> WorkflowTask:
    param = {"name": "kid", "idempotencyKey": "k1", "idempotencyStrategy": strategy}
    return a_task(ref, "SUB_WORKFLOW", sub_workflow_param=param, **fields)


def test_a_started_workflow_has_its_idempotency_key_like_any_start() -> None:
    same = {"of": "kid", "idempotencyKey": "k1"}
    bench = Bench(
        a_definition(
            a_starter("first", **same),
            a_starter("again", **same, idempotencyStrategy="RETURN_EXISTING"),
            a_starter("never", **same),
        ),
        KIDS,
    )
    w = bench.start()
    (kid,) = (one for one in bench.executions() if one.definition.name == "kid")
    assert kid.idempotency_key == "k1"
    assert bench.output(w, "first") == bench.output(w, "again") == {"workflowId": kid.id}
    bench.expect(w, ExecutionStatus.FAILED, never=TaskStatus.FAILED)
    assert kid.id in str(bench.run(w, "never").reason)


def test_two_branches_that_start_one_key_at_once_start_one_execution() -> None:
    same = {"of": "kid", "idempotencyKey": "k1", "idempotencyStrategy": "RETURN_EXISTING"}
    bench = Bench(
        a_definition(*a_fork("f", [a_starter("one", **same)], [a_starter("two", **same)])), KIDS
    )
    w = bench.start()
    assert bench.output(w, "one") == bench.output(w, "two")
    assert len(bench.executions()) == 2


def test_a_sub_workflow_whose_key_is_taken_fails_its_task() -> None:
    bench = Bench(a_definition(keyed("s", None)), KIDS)
    bench.start()
    second = bench.start()
    bench.expect(second, ExecutionStatus.FAILED, s=TaskStatus.FAILED)
    assert "idempotencyKey k1" in str(bench.run(second, "s").reason)


def test_a_sub_workflow_that_returns_the_existing_one_ends_as_that_ends() -> None:
    bench = Bench(a_definition(keyed("s", "RETURN_EXISTING")), KIDS)
    first, second = bench.start(), bench.start()
    child = bench.run(first, "s").child_id
    bench.expect(second, ExecutionStatus.RUNNING, s=TaskStatus.IN_PROGRESS)
    assert bench.output(second, "s") == {"subWorkflowId": child}
    bench.complete("k", {"by": "ada"})
    bench.advance(2)
    third = bench.start()
    for w in (first, second, third):
        bench.expect(w, ExecutionStatus.COMPLETED, s=TaskStatus.COMPLETED)
        assert bench.output(w, "s") == {"by": "ada", "subWorkflowId": child}


def test_ending_who_waits_for_the_child_of_another_does_not_end_that_child() -> None:
    bench = Bench(a_definition(keyed("s", "RETURN_EXISTING")), KIDS)
    first, second = bench.start(), bench.start()
    bench.ask(second, Terminate(reason="enough"))
    bench.expect(first, ExecutionStatus.RUNNING)
    bench.expect(bench.run(first, "s").child_id or "", ExecutionStatus.RUNNING)


def test_a_retry_of_a_sub_workflow_takes_its_key_over_from_the_attempt_that_failed() -> None:
    bench = Bench(a_definition(keyed("s", "FAIL")), KIDS, task_defs=[a_task_def("k")])
    w = bench.start()
    bench.fail("k")
    bench.expect(w, ExecutionStatus.FAILED)
    bench.ask(w, Retry())
    bench.complete("k")
    bench.expect(w, ExecutionStatus.COMPLETED)


def test_a_workflow_that_its_rate_limit_rejects_fails_the_task_that_would_start_it() -> None:
    limit = {"rateLimitKey": "x", "concurrentExecLimit": 1, "policy": "REJECT"}
    bench = Bench(
        a_definition(a_starter("one", of="kid"), a_task("gap"), a_starter("two", of="kid")),
        a_definition(a_task("k"), name="kid", rate_limit_config=limit),
    )
    w = bench.start()
    bench.complete("gap")
    bench.expect(w, ExecutionStatus.FAILED, one=TaskStatus.COMPLETED, two=TaskStatus.FAILED)
    assert "rate limit of workflow kid is reached" in str(bench.run(w, "two").reason)


def test_of_two_that_start_a_limited_workflow_at_once_the_second_is_held_back_and_not_lost() -> (
    None
):
    limit = {"rateLimitKey": "x", "concurrentExecLimit": 1, "policy": "REJECT"}
    forked = a_fork("f", [a_starter("one", of="kid")], [a_starter("two", of="kid")])
    bench = Bench(
        a_definition(*forked), a_definition(a_task("k"), name="kid", rate_limit_config=limit)
    )
    w = bench.start()
    bench.complete("k")
    bench.complete("k")
    for ref in ("one", "two"):
        bench.expect(bench.output(w, ref)["workflowId"], ExecutionStatus.COMPLETED)
