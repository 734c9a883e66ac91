"""A preview tells what a person's verb would do, and does nothing."""

from typing import Any

from engine.model.definitions import WorkflowDef
from engine.model.events import Claim, Event, Rerun, Restart, Result, Retry, Start, Terminate
from engine.model.execution import Execution
from engine.model.facts import Facts
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.decide import decide
from engine.rules.preview import Preview, preview

FACTS = Facts(now=1_000)


def a_run_of(*kinds: str) -> Execution:
    """An execution of these tasks in a row, just started; refs are `a`, `b` and so on."""
    tasks = [
        {"name": kind.lower(), "taskReferenceName": ref, "type": kind}
        for ref, kind in zip("abcdef", kinds, strict=False)
    ]
    definition = WorkflowDef.read({"name": "row", "tasks": tasks})
    execution = Execution(
        key=1, id="w", definition=definition, definition_hash="row" + "".join(kinds)
    )
    happen(execution, Start(definition=definition, definition_hash=execution.definition_hash))
    return execution


def happen(execution: Execution, *events: Event) -> None:
    """Decide and apply."""
    for event in events:
        execution.apply(decide(execution, event, FACTS))


def ended(execution: Execution, seq: int, status: TaskStatus) -> None:
    """A worker takes an attempt and reports its end."""
    happen(execution, Claim(seq=seq), Result(seq=seq, status=status))


def seen(execution: Execution, event: Event) -> Preview:
    """The preview, after which everything is as before."""
    before: Any = (dict(execution.runs), execution.status, execution.next_seq)
    found = preview(execution, event, FACTS)
    assert (execution.runs, execution.status, execution.next_seq) == before
    return found


def test_a_retry_runs_what_failed_and_reuses_what_ended_well() -> None:
    execution = a_run_of("SIMPLE", "SIMPLE", "SIMPLE")
    ended(execution, 1, TaskStatus.COMPLETED)
    ended(execution, 2, TaskStatus.FAILED_WITH_TERMINAL_ERROR)
    found = seen(execution, Retry())
    assert (found.runs_again, found.reused, found.begins) == (("b",), ("a",), ())
    assert found.status == ExecutionStatus.RUNNING


def test_a_rerun_runs_a_task_and_what_followed_it() -> None:
    execution = a_run_of("SIMPLE", "SIMPLE", "SIMPLE")
    for seq in (1, 2, 3):
        ended(execution, seq, TaskStatus.COMPLETED)
    found = seen(execution, Rerun(task_id=execution.runs[2].task_id))
    assert (found.runs_again, found.reused) == (("b", "c"), ("a",))


def test_a_restart_runs_everything_again() -> None:
    execution = a_run_of("SIMPLE", "SIMPLE")
    ended(execution, 1, TaskStatus.COMPLETED)
    ended(execution, 2, TaskStatus.COMPLETED)
    found = seen(execution, Restart())
    assert (found.runs_again, found.reused) == (("a", "b"), ())


def test_an_end_cancels_what_is_open() -> None:
    execution = a_run_of("SIMPLE", "SIMPLE")
    ended(execution, 1, TaskStatus.COMPLETED)
    found = seen(execution, Terminate())
    assert (found.cancelled, found.reused) == (("b",), ("a",))
    assert found.status == ExecutionStatus.TERMINATED


def test_what_is_refused_is_told_with_its_reason() -> None:
    found = seen(a_run_of("SIMPLE"), Retry())
    assert found.refused == "Workflow is still running.  status=RUNNING"
    assert found.json_value()["refused"] == found.refused
