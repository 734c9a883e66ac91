"""Why an execution stopped or what it waits for, as the door tells it."""

import pytest
from sqlalchemy import text

from engine.instruments.clock import HandClock
from tests.api.door import Door, Json, simple, wait

NOBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def door(timed_door: Door) -> Door:
    return timed_door


def told(door: Door, workflow_id: str) -> Json:
    return door.get(f"ext/executions/{workflow_id}/diagnosis")


def a_failed_family(door: Door) -> tuple[str, str, str]:
    """A parent that failed for the task of its grandchild; their ids from above down."""
    door.define("kid")
    for name, below in (("middle", "kid"), ("top", "middle")):
        nested = {"name": "s", "taskReferenceName": f"{name}_s", "type": "SUB_WORKFLOW"}
        door.define(name, {**nested, "subWorkflowParam": {"name": below, "version": 1}})
    top = door.start("top")
    task = door.poll("kid_task")
    door.report(task, "FAILED_WITH_TERMINAL_ERROR", reasonForIncompletion="no route", workerId="me")
    middle = door.execution(top)["tasks"][0]["subWorkflowId"]
    return top, middle, task["workflowInstanceId"]


def test_what_a_running_execution_waits_for_is_told(door: Door, clock: HandClock) -> None:
    workflow_id = door.start(door.define("asked", wait("gate"), simple("one", "asked_one")))
    clock.advance(180_000)
    assert told(door, workflow_id) == {
        "workflowId": workflow_id,
        "headline": "gate has waited 3 minutes for somebody to complete it",
        "path": [],
        "waiting": ["gate has waited 3 minutes for somebody to complete it"],
        "nextSteps": ["Complete gate, or let its sender know."],
    }
    door.post(f"tasks/{workflow_id}/gate/COMPLETED", {})
    assert told(door, workflow_id)["nextSteps"] == ["See that a worker polls asked_one."]
    door.put(f"workflow/{workflow_id}/pause")
    assert told(door, workflow_id)["waiting"][0] == "It is paused until somebody resumes it"


@pytest.mark.parametrize(
    ("http_worker", "words"),
    [(True, "call is carried out in 1 minute"), (False, "call can be polled in 1 minute")],
)
def test_what_this_engine_carries_out_itself_asks_for_no_worker(
    clock: HandClock, http_worker: bool, words: str
) -> None:
    call = {"name": "call", "taskReferenceName": "call", "type": "HTTP", "startDelay": 60}
    given = {"http_request": {"uri": "http://127.0.0.1:9"}}
    with Door(clock=clock, http_worker=http_worker) as door:
        workflow_id = door.start(door.define("calls", {**call, "inputParameters": given}))
        found = told(door, workflow_id)
    assert found["headline"] == words
    assert ("See that a worker polls HTTP." in found["nextSteps"]) is not http_worker


def test_a_failure_is_followed_down_to_the_task_where_it_began(door: Door) -> None:
    top, middle, kid = a_failed_family(door)
    found = told(door, top)
    task = door.execution(kid)["tasks"][0]
    assert found["headline"] == "one in its sub-workflow kid failed: no route"
    assert found["cause"] == {
        "workflowId": kid,
        "workflow": "kid",
        "taskId": task["taskId"],
        "reference": "one",
        "task": "kid_task",
        "type": "kid_task",
        "status": "FAILED_WITH_TERMINAL_ERROR",
        "attempts": 1,
        "reason": "no route",
        "worker": "me",
    }
    assert found["path"] == [top, middle, kid]
    assert found["fingerprint"] == told(door, kid)["fingerprint"]
    assert found["nextSteps"] and found["waiting"] == []


def test_what_is_archived_is_diagnosed_as_it_was(door: Door) -> None:
    family = a_failed_family(door)
    before = told(door, family[0])
    for workflow_id in family:
        door.engine.archive.put_away(workflow_id)
        assert door.engine.store.key_of(workflow_id) is None
    assert told(door, family[0]) == before


def test_a_child_that_was_removed_leaves_its_parents_own_task_as_the_cause(door: Door) -> None:
    top, middle, _ = a_failed_family(door)
    door.delete(f"workflow/{middle}/remove", archiveWorkflow="false")
    found = told(door, top)
    assert (found["cause"]["reference"], found["path"]) == ("top_s", [top])


def test_a_stuck_execution_says_what_could_not_be_taken(door: Door) -> None:
    workflow_id = door.start(door.define("hurt"))
    mark = text("UPDATE execution SET stuck = 'Due could not be taken' WHERE id = :id")
    door.engine.port.errand(lambda session: session.execute(mark, {"id": workflow_id}))
    found = told(door, workflow_id)
    assert found["headline"] == "It is stuck: Due could not be taken"
    assert found["fingerprint"] and found["nextSteps"] and "cause" not in found
    assert found["waiting"] == ["one has waited 0 seconds for a worker that polls hurt_task"]


def test_a_completed_execution_has_nothing_to_wait_for_and_nothing_to_do(door: Door) -> None:
    found = told(door, door.ended(door.define("well"), "COMPLETED"))
    assert (found["waiting"], found["nextSteps"]) == ([], [])


def test_an_unknown_execution_has_no_diagnosis(door: Door) -> None:
    assert NOBODY in door.refused(404, "GET", f"ext/executions/{NOBODY}/diagnosis")


def test_a_server_that_diagnoses_says_so(door: Door) -> None:
    assert "diagnosis" in door.get("ext/capabilities")["capabilities"]
