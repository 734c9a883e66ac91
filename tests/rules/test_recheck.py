"""The answer from scratch sees what is wrong: each test breaks one thing in a sound execution."""

from engine.model.execution import Execution
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.recheck import recheck, waits
from tests.builders import a_fork, a_task, after, an_execution, latest, result


def a_running_fork() -> Execution:
    execution = an_execution(*a_fork("fork", [a_task("a")], [a_task("b")]), a_task("end"))
    return after(execution, result(execution, "a"))


def test_a_sound_execution_has_nothing_wrong_with_it() -> None:
    assert recheck(a_running_fork()) == []


def test_a_successor_that_is_missing_is_seen() -> None:
    execution = an_execution(a_task("a"), a_task("b"))
    after(execution, result(execution, "a"))
    del execution.runs[execution.latest["b"]]
    assert "b must exist in iteration 0" in recheck(execution)


def test_a_task_that_nothing_leads_to_is_seen() -> None:
    execution = a_running_fork()
    stray = latest(execution, "a").copy()
    stray.seq, stray.ref, stray.reference = 99, "end", "end"
    execution.runs[99] = stray
    assert "end exists, but nothing leads to it" in recheck(execution)


def test_a_join_that_ended_too_early_is_seen() -> None:
    execution = a_running_fork()
    latest(execution, "join").status = TaskStatus.COMPLETED
    assert any("join has ended without ['b']" in wrong for wrong in recheck(execution))


def test_a_join_that_waits_for_nobody_is_seen() -> None:
    execution = a_running_fork()
    other = latest(execution, "b")
    other.status, other.executed, other.carrier = TaskStatus.COMPLETED, True, None
    assert "join waits for nothing any more" in recheck(execution)


def test_a_failure_that_was_not_acted_upon_is_seen() -> None:
    execution = an_execution(a_task("a"))
    run = latest(execution, "a")
    run.status, run.executed, run.carrier = TaskStatus.FAILED, True, None
    assert "a is FAILED, yet the workflow is RUNNING" in recheck(execution)


def test_a_counter_that_is_off_by_one_is_seen() -> None:
    execution = a_running_fork()
    execution.left["join"] += 1
    execution.open -= 1
    found = " ".join(recheck(execution))
    assert "left is" in found and "open is" in found


def test_an_execution_that_nothing_will_wake_is_seen() -> None:
    execution = an_execution(a_task("a"))
    latest(execution, "a").carrier = None
    assert any("nothing will ever wake it" in wrong for wrong in recheck(execution))


def test_open_work_of_an_ended_execution_is_seen() -> None:
    execution = an_execution(a_task("a"))
    execution.status = ExecutionStatus.FAILED
    assert "it is FAILED, yet a is SCHEDULED" in recheck(execution)


def test_what_an_execution_waits_for_has_a_name() -> None:
    timer = a_task("timer", "WAIT", input_parameters={"duration": "10s"})
    branches = [a_task("a")], [timer], [a_task("human", "HUMAN")]
    execution = an_execution(*a_fork("fork", *branches))
    assert [item.what for item in waits(execution)] == ["worker", "instant", "person"]
