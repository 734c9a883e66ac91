"""TERMINATE has the last word: nothing runs past one that has done its work, whoever asks for it."""

from engine.model.events import Rerun, Retry
from engine.model.execution import Execution
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.recheck import recheck
from tests.builders import (
    Bench,
    a_child,
    a_definition,
    a_fork,
    a_task,
    a_task_def,
    after,
    an_execution,
    latest,
    result,
    statuses,
)

FAILED = {"terminationStatus": "FAILED", "terminationReason": "enough"}


def a_stop(**given: str) -> list:  # type: ignore[type-arg]
    return [a_task("a"), a_task("stop", "TERMINATE", input_parameters={**FAILED, **given})]


def ended_by_its_terminate(**given: str) -> Execution:
    execution = an_execution(*a_fork("fork", a_stop(**given), [a_task("b")]), a_task("end"))
    return after(execution, result(execution, "a"))


def test_a_retry_beside_a_terminate_that_has_done_its_work_ends_as_that_says() -> None:
    execution = after(ended_by_its_terminate(), Retry())
    assert (execution.status, execution.reason) == (ExecutionStatus.FAILED, "enough")
    assert statuses(execution)["b"] == "CANCELED"
    assert latest(execution, "b").attempt == 1
    assert recheck(execution) == []


def test_a_rerun_in_another_branch_ends_as_the_terminate_that_stays_says() -> None:
    execution = ended_by_its_terminate(terminationStatus="COMPLETED", workflowOutput="fast")
    assert execution.status is ExecutionStatus.COMPLETED
    after(execution, Rerun(task_id=latest(execution, "b").task_id))
    assert execution.status is ExecutionStatus.COMPLETED
    assert execution.output == b'{"output":"fast"}'
    assert statuses(execution)["b"] == "CANCELED"


def test_a_rerun_from_before_a_terminate_reaches_it_anew() -> None:
    execution = ended_by_its_terminate()
    after(execution, Rerun(task_id=latest(execution, "a").task_id))
    assert execution.status is ExecutionStatus.RUNNING
    assert "stop" not in statuses(execution)
    after(execution, result(execution, "a"))
    assert (execution.status, execution.reason) == (ExecutionStatus.FAILED, "enough")


def test_a_child_that_is_retried_ends_with_the_parent_that_its_terminate_has_ended() -> None:
    bench = Bench(
        a_definition(*a_fork("fork", a_stop(), [a_child("sub", of="kid")])),
        a_definition(a_task("k"), name="kid"),
    )
    w = bench.start()
    child = bench.run(w, "sub").child_id or ""
    bench.complete("a")
    bench.ask(child, Retry())
    bench.expect(w, ExecutionStatus.FAILED, sub=TaskStatus.CANCELED)
    bench.expect(child, ExecutionStatus.TERMINATED, k=TaskStatus.CANCELED)


def test_a_permissive_failure_is_not_hidden_by_a_terminate_that_completes_the_workflow() -> None:
    stop = a_task("stop", "TERMINATE", input_parameters={"terminationStatus": "COMPLETED"})
    bench = Bench(a_definition(a_task("a", permissive=True), stop), task_defs=[a_task_def("a")])
    w = bench.start()
    bench.fail("a", "broken")
    bench.expect(w, ExecutionStatus.FAILED, a=TaskStatus.FAILED, stop=TaskStatus.COMPLETED)
    failed = bench.execution(w)
    assert str(failed.reason).endswith("failed with status: FAILED and reason: 'broken'")
    assert failed.failed_task_id == bench.run(w, "a").task_id
