"""Inputs in the forms in which people and expressions write them."""

import pytest

from engine.model.record import Json
from engine.model.status import TaskStatus
from tests.builders import Bench, a_definition, a_task, an_execution, latest


@pytest.mark.parametrize("blank", ["", "  ", None])
def test_a_blank_duration_or_instant_counts_as_none(blank: str | None) -> None:
    for name in ("duration", "until"):
        execution = an_execution(a_task("w", "WAIT", input_parameters={name: blank}))
        assert latest(execution, "w").status is TaskStatus.IN_PROGRESS
        assert latest(execution, "w").due_at == 0
    both = an_execution(a_task("w", "WAIT", input_parameters={"duration": "5s", "until": blank}))
    assert latest(both, "w").due_at > 0


@pytest.mark.parametrize("size", [2, "2", 2.0])
@pytest.mark.parametrize("blocking", [False, "false"])
def test_a_pull_reads_numbers_and_flags_that_are_texts(size: Json, blocking: Json) -> None:
    given = {"batchSize": size, "blocking": blocking}
    bench = Bench(a_definition(a_task("p", "PULL_WORKFLOW_MESSAGES", input_parameters=given)))
    assert bench.output(bench.start(), "p") == {"messages": [], "count": 0}


def test_an_element_of_a_dynamic_fork_may_say_more_about_its_task() -> None:
    fork = a_task(
        "f",
        "FORK_JOIN_DYNAMIC",
        input_parameters={
            "forkTaskType": "EVENT",
            "forkTaskInputs": [{"sink": "conductor:orders", "n": 1, "asyncComplete": True}],
        },
    )
    execution = an_execution(fork, a_task("j", "JOIN"))
    run = latest(execution, "_EVENT_0")
    assert run.status is TaskStatus.IN_PROGRESS
    assert b'"event_produced":"conductor:order:orders"' in (run.output or b"")


def test_what_an_element_cannot_say_about_its_task_is_its_input_alone() -> None:
    element = {"joinOn": 5, "name": "ada", "type": "gift", "taskReferenceName": "me"}
    fork = a_task(
        "f",
        "FORK_JOIN_DYNAMIC",
        input_parameters={"forkTaskName": "pack", "forkTaskInputs": [element]},
    )
    run = latest(an_execution(fork, a_task("j", "JOIN")), "_pack_0")
    assert (run.type, run.status) == ("pack", TaskStatus.SCHEDULED)
    assert run.input == (
        b'{"joinOn":5,"name":"ada","type":"gift","taskReferenceName":"me","__index":0}'
    )
