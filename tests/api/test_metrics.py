"""Each metric, from the deed that it counts to the text that is scraped."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from engine.instruments.clock import HandClock
from engine.services.gauges import UNATTENDED_MS
from engine.store.tables import Outbox
from engine.workers.housekeeping import Chores
from tests.api.door import Door, simple, wait
from tests.api.test_payloads import fetched

BIG = {"text": "x" * 2000}


@pytest.fixture
def door(timed_door: Door) -> Door:
    return timed_door


def scraped(door: Door) -> dict[str, float]:
    """Every series with its value."""
    lines = door.ask("GET", "/metrics").text.splitlines()
    pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


def of(door: Door, name: str) -> dict[str, float]:
    """The series of one name, by their labels."""
    found = scraped(door).items()
    return {
        series.removeprefix(name).strip("{}"): value
        for series, value in found
        if series == name or series.startswith(f"{name}{{")
    }


def human(ref: str) -> dict[str, Any]:
    return {"name": ref, "taskReferenceName": ref, "type": "HUMAN"}


# Starts and ends


def test_starts_that_are_refused_are_counted_by_workflow_and_owner(door: Door) -> None:
    door.define("kept", ownerApp="shop")
    key = {"idempotencyKey": "once", "idempotencyStrategy": "FAIL"}
    door.start("kept", **key)
    door.refused(409, "POST", "workflow", json={"name": "kept", **key})
    door.refused(404, "POST", "workflow", json={"name": "nobodys"})
    assert of(door, "workflow_start_error_total") == {
        'workflowName="kept",ownerApp="shop"': 1,
        'workflowName="nobodys",ownerApp="unknown"': 1,
    }
    assert of(door, "workflow_running") == {'workflowName="kept",ownerApp="shop"': 1}


def test_what_goes_into_the_archive_is_counted_whoever_puts_it_there(
    door: Door, clock: HandClock
) -> None:
    door.define("old")
    ids = [door.ended("old", status) for status in ("FAILED", "COMPLETED", "COMPLETED")]
    for workflow_id in (ids[0], ids[0], ids[1]):
        door.engine.archive.put_away(workflow_id)
    clock.advance(2 * 24 * 3600 * 1000)
    engine = door.engine
    sightings = engine.tasks.sightings
    Chores(engine.housekeeping, engine.store, clock, sightings, 1.0, archive=True).take_away()
    assert of(door, "workflow_archived_total") == {
        'workflowName="old",workflowStatus="FAILED"': 1,
        'workflowName="old",workflowStatus="COMPLETED"': 2,
    }


def test_what_is_removed_for_good_is_not_archived(door: Door) -> None:
    workflow_id = door.ended(door.define("gone"))
    door.delete(f"workflow/{workflow_id}/remove?archiveWorkflow=false")
    assert of(door, "workflow_archived_total") == {}


# What stands


def test_workflows_that_only_wait_are_counted_by_what_they_wait_for(door: Door) -> None:
    fork = {
        "name": "fork",
        "taskReferenceName": "fork",
        "type": "FORK_JOIN",
        "forkTasks": [[human("h")], [simple("one", "busy_task")]],
    }
    join = {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["h", "one"]}
    door.define("approved", human("boss"))
    door.define("timed", wait("later", inputParameters={"duration": "1 hour"}))
    door.define("told", wait("word"))
    door.define("busy", fork, join)
    door.define("gated", rateLimitConfig={"rateLimitKey": "all", "concurrentExecLimit": 1})
    for name in ("approved", "approved", "timed", "told", "busy", "gated", "gated", "gated"):
        door.start(name)
    paused = door.start("told")
    door.put(f"workflow/{paused}/pause")
    assert of(door, "workflow_waiting_total") == {
        'workflow="approved",kind="approval"': 2,
        'workflow="timed",kind="timer"': 1,
        'workflow="told",kind="event"': 1,
        'workflow="gated",kind="throttled"': 2,
    }
    door.report(door.poll("busy_task"))
    assert of(door, "workflow_waiting_total")['workflow="busy",kind="approval"'] == 1


def test_workflows_that_no_worker_comes_for_are_stuck_until_one_does(
    door: Door, clock: HandClock
) -> None:
    door.define("lonely")
    door.start("lonely")
    door.start("lonely")
    clock.advance(UNATTENDED_MS - 1)
    assert of(door, "workflow_stuck_total") == {}
    clock.advance(1)
    assert of(door, "workflow_stuck_total") == {'workflow="lonely",rule="no_worker"': 2}
    door.poll("lonely_task", count=1)
    assert of(door, "workflow_stuck_total") == {}
    clock.advance(UNATTENDED_MS + 1)
    assert of(door, "workflow_stuck_total") == {}, "its worker is at work on another one"


def test_a_workflow_with_an_event_that_could_not_be_taken_is_stuck(door: Door) -> None:
    workflow_id = door.start(door.define("hurt"))
    mark = text("UPDATE execution SET stuck = 'Due could not be taken' WHERE id = :id")
    door.engine.port.errand(lambda session: session.execute(mark, {"id": workflow_id}))
    assert of(door, "workflow_stuck_total") == {'workflow="hurt",rule="event_not_taken"': 1}


def test_the_first_task_of_a_queue_tells_how_long_it_has_waited(
    door: Door, clock: HandClock
) -> None:
    door.start(door.define("slow"))
    clock.advance(7_000)
    door.start("slow")
    place = 'workflowName="slow",taskType="slow_task"'
    assert of(door, "task_pending_time") == {place: 7_000}
    door.poll("slow_task", count=1)
    assert of(door, "task_pending_time") == {place: 0}


def test_tasks_are_counted_for_the_owner_of_their_definition(door: Door) -> None:
    door.post("metadata/taskdefs", [{"name": "owned_task", "ownerApp": "shop"}])
    door.define("owned")
    door.start("owned")
    door.start("owned")
    door.poll("owned_task", count=1)
    place = 'taskType="owned_task",ownerApp="shop"'
    assert of(door, "task_queue_depth") == {place: 1}
    assert of(door, "task_in_progress") == {place: 1}


def test_messages_that_wait_for_the_outside_are_counted() -> None:
    with Door(workflow_listener="http://127.0.0.1:1/nobody") as door:
        door.start(door.define("heard", workflowStatusListenerEnabled=True))

        def fill(session: Any) -> None:
            body = b'{"sink": "http://127.0.0.1:1/nobody"}'
            session.add(Outbox(execution=1, topic="workflow_status", created_at=1, body=body))

        assert of(door, "outbox_pending") == {"": 1}
        door.engine.port.errand(fill)
        assert of(door, "outbox_pending") == {"": 2}
        assert of(door, "event_queue_depth") == {'queueType="conductor"': 0}


# Workers


def test_hand_outs_that_a_limit_forbids_are_counted_by_the_limit(door: Door) -> None:
    door.post("metadata/taskdefs", [{"name": "single_task", "concurrentExecLimit": 1}])
    door.post(
        "metadata/taskdefs",
        [{"name": "rare_task", "rateLimitPerFrequency": 1, "rateLimitFrequencyInSeconds": 60}],
    )
    for name in ("single", "rare"):
        door.define(name)
        door.start(name)
        door.start(name)
        assert len(door.get(f"tasks/poll/batch/{name}_task", count=2, timeout=0)) == 1
    assert of(door, "task_concurrent_execution_limited_total") == {'taskType="single_task"': 1}
    assert of(door, "task_rate_limited_total") == {'taskType="rare_task"': 1}


def test_polls_are_counted_by_domain_and_refused_ones_by_why(door: Door) -> None:
    door.get("tasks/poll/batch/some", timeout=0)
    door.get("tasks/poll/batch/some", timeout=0, domain="eu")
    door.refused(400, "GET", "tasks/poll/batch/some?timeout=9000&domain=eu")
    assert of(door, "task_poll_total") == {'taskType="some"': 2}
    assert of(door, "task_poll_count_total") == {
        'taskType="some",domain="NO_DOMAIN"': 1,
        'taskType="some",domain="eu"': 1,
    }
    assert of(door, "task_poll_error_total") == {
        'taskType="some",domain="eu",exception="InvalidInput"': 1
    }


# Payloads


def test_payloads_that_are_files_are_counted_when_written_and_when_read(tmp_path: Path) -> None:
    with Door(
        payload_folder=str(tmp_path), task_payload_threshold=1000, workflow_payload_threshold=1000
    ) as door:
        one = simple("one", "large_task", inputParameters={"in": "${workflow.input.text}"})
        workflow_id = door.start(door.define("large", one), input=BIG)
        door.start("large", input={"text": "small"})
        door.report(door.poll("large_task", count=1), outputData=BIG)
        path = door.execution(workflow_id)["externalInputPayloadStoragePath"]
        assert fetched(door, "workflow", "WORKFLOW_INPUT", path) == BIG
        assert of(door, "external_payload_storage_usage_total") == {
            'name="large",operation="WRITE",payloadType="WORKFLOW_INPUT"': 1,
            'name="large",operation="READ",payloadType="WORKFLOW_INPUT"': 1,
            'name="large_task",operation="WRITE",payloadType="TASK_INPUT"': 1,
            'name="large_task",operation="READ",payloadType="TASK_INPUT"': 1,
            'name="large_task",operation="WRITE",payloadType="TASK_OUTPUT"': 1,
            'name="large",operation="WRITE",payloadType="WORKFLOW_OUTPUT"': 1,
        }


# Events and schedules


def test_messages_and_what_handlers_do_with_them_are_counted(door: Door) -> None:
    def handler(name: str, starts: str) -> dict[str, Any]:
        action = {"action": "start_workflow", "start_workflow": {"name": starts}}
        return {"name": name, "event": "conductor:in", "active": True, "actions": [action]}

    door.define("begun")
    door.post("event", handler("good", "begun"))
    door.post("event", handler("bad", "nobodys"))
    door.engine.triggers.deliver("conductor:in", {"a": 1}, "m1")
    queue = 'queueType="conductor",queueName="in"'
    assert of(door, "event_queue_messages_processed_total") == {queue: 1}
    assert of(door, "event_queue_messages_handled_total") == {queue: 1}
    assert of(door, "event_queue_messages_error_total") == {}
    begins = 'event="conductor:in",handler="{}",action="start_workflow"'
    assert of(door, "event_execution_success_total") == {begins.format("good"): 1}
    assert of(door, "event_execution_error_total") == {
        begins.format("bad") + ',exception="NotFound"': 1
    }
    assert of(door, "event_action_error_total") == {
        'action="start_workflow",entityName="nobodys",event="conductor:in"': 1
    }


def test_slots_of_schedules_are_timed_and_failed_ones_counted(door: Door, clock: HandClock) -> None:
    door.define("nightly")
    for name, starts in (("works", "nightly"), ("fails", "nobodys")):
        door.post(
            "scheduler/schedules",
            {
                "name": name,
                "cronExpression": "0 0 * * * *",
                "startWorkflowRequest": {"name": starts},
            },
        )
    door.engine.schedules.fire_due(clock.now() + 3_600_000)
    shown = scraped(door)
    assert shown["scheduler_handler_seconds_count"] == 2
    assert shown["scheduler_handler_batch_sum"] == 2
    assert shown["scheduler_handler_batch_count"] == 1
    assert shown["scheduler_handler_error_total"] == 1
