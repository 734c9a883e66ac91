"""Queues at the door: what waits, what is handed out, what is put back, who reads event queues."""

from typing import Any

import pytest

from tests.api.door import Door, simple, wait

Json = Any


def test_what_waits_and_what_is_handed_out_is_told_by_queue(door: Door) -> None:
    door.define("q_told", simple("one", "q_told_task"))
    door.start("q_told")
    for _ in range(3):
        door.start("q_told", taskToDomain={"q_told_task": "blue"})
    door.poll("q_told_task", domain="blue")
    plain, blue = "q_told_task", "blue:q_told_task"
    everything = door.get("tasks/queue/all")
    assert (everything[plain], everything[blue]) == (1, 2)
    verbose = door.get("tasks/queue/all/verbose")
    assert verbose[plain] == {"a": {"size": 1, "uacked": 0}}
    assert verbose[blue] == {"a": {"size": 2, "uacked": 1}}
    assert door.get("tasks/queue/sizes", taskType=[plain, blue, "none_such"]) == {
        plain: 1,
        blue: 2,
        "none_such": 0,
    }
    assert door.get("tasks/queue/size", taskType="q_told_task", domain="blue") == 2
    assert "taskType is missing" in door.refused(400, "GET", "tasks/queue/sizes")


@pytest.mark.parametrize("which", ["isolationGroupId", "executionNamespace"])
def test_nothing_waits_in_the_queue_of_an_isolated_group(door: Door, which: str) -> None:
    door.start(door.define(f"isolated_{which}", simple("one", "isolated_task")))
    assert door.get("tasks/queue/size", taskType="isolated_task", **{which: "g"}) == 0
    assert door.get("tasks/queue/size", taskType="isolated_task") > 0


def test_requeued_tasks_are_handed_out_again_and_their_first_worker_may_still_report(
    door: Door,
) -> None:
    door.define("lost", simple("one", "lost_task"), outputParameters={"x": "${one.output.x}"})
    ids = [door.start("lost") for _ in range(3)]
    first = door.get("tasks/poll/batch/lost_task", count=2, workerid="gone")
    door.report(first[0], "IN_PROGRESS", outputData={"half": 1}, callbackAfterSeconds=600)
    assert door.get("tasks/poll/batch/lost_task", count=5, workerid="gone")[0]["pollCount"] == 1
    answer = door.post("tasks/queue/requeue/lost_task")
    assert (answer.text, answer.headers["content-type"]) == ("3", "text/plain;charset=UTF-8")
    again = door.get("tasks/poll/batch/lost_task", count=5, workerid="here")
    assert {task["workflowInstanceId"] for task in again} == set(ids[1:])
    assert {(task["pollCount"], task["workerId"]) for task in again} == {(2, "here")}
    door.report(first[1], outputData={"x": 1}, workerId="gone")
    done = door.execution(first[1]["workflowInstanceId"])
    assert (done["status"], done["output"]) == ("COMPLETED", {"x": 1})
    log = door.get(f"tasks/{first[1]['taskId']}/log")
    assert [line["log"] for line in log] == ["put back into its queue by somebody"]


def test_requeueing_keeps_domains_and_what_a_task_has_reported(door: Door) -> None:
    door.define("far", simple("one", "far_task"))
    door.start("far", taskToDomain={"far_task": "eu"})
    task = door.poll("far_task", domain="eu")
    door.report(task, "IN_PROGRESS", outputData={"half": 1})
    door.poll("far_task", domain="eu")
    assert door.post("tasks/queue/requeue/far_task").text == "1"
    assert door.get("tasks/queue/all")["eu:far_task"] == 1
    assert door.poll("far_task", domain="eu")["outputData"] == {"half": 1}


def test_what_the_engine_carries_out_itself_is_not_requeued(door: Door) -> None:
    door.start(door.define("own", wait("gate")))
    for word in ("WAIT", "HTTP", "JOIN", "nobody_asks_for_this"):
        assert door.post(f"tasks/queue/requeue/{word}").text == "0"


def test_open_tasks_of_a_type_are_listed_the_newest_first(door: Door) -> None:
    door.define("pends", simple("one", "pends_task"), wait("gate_pends"))
    ids = [door.start("pends") for _ in range(4)]
    door.report(door.poll("pends_task"))
    door.poll("pends_task")
    found = door.get("admin/task/pends_task")
    assert [task["workflowInstanceId"] for task in found] == ids[:0:-1]
    assert [task["status"] for task in found] == ["SCHEDULED", "SCHEDULED", "IN_PROGRESS"]
    assert door.get("admin/task/pends_task", start=1, count=1) == found[1:2]
    assert [task["taskType"] for task in door.get("admin/task/gate_pends")] == ["WAIT"]
    assert door.get("admin/task/nobody_asks_for_this") == []
    assert "count is -1" in door.refused(400, "GET", "admin/task/pends_task?count=-1")
    door.delete(f"workflow/{ids[3]}")
    assert len(door.get("admin/task/pends_task")) == 2


def test_a_poll_for_nothing_is_given_nothing(door: Door) -> None:
    door.start(door.define("none_asked", simple("one", "none_task")))
    for count in (0, -1):
        assert door.get("tasks/poll/batch/none_task", count=count) == []
    assert door.get("tasks/queue/size", taskType="none_task") == 1


def test_the_event_queues_are_those_that_active_handlers_read() -> None:
    start = {"action": "start_workflow", "start_workflow": {"name": "q"}}
    with Door() as door:
        assert door.get("admin/queues") == {} and door.get("admin/queues", verbose="true") == {}
        for name, event, active in (
            ("on", "conductor:paid", True),
            ("too", "conductor:paid", True),
            ("more", "conductor:shop:sent", True),
            ("off", "conductor:silent", False),
        ):
            handler = {"name": name, "event": event, "active": active, "actions": [start]}
            door.post("event", handler)
        assert door.get("admin/queues") == {
            "conductor:paid": "paid",
            "conductor:shop:sent": "shop:sent",
        }
        assert door.get("admin/queues", verbose="true") == {
            "conductor:paid": {"paid": 0},
            "conductor:shop:sent": {"shop:sent": 0},
        }
        assert door.get("queue/size") == {} and door.get("queue/") == {}


def test_a_repair_says_whether_anything_had_been_left_undone(door: Door) -> None:
    workflow_id = door.start(door.define("sound", wait("gate")))
    place = "admin/consistency/verifyAndRepair"
    assert door.post(f"{place}/{workflow_id}").text == "false"
    for path in (f"{place}/nobody", "admin/sweep/requeue/nobody"):
        door.refused(404, "POST", path)


def test_an_update_through_the_queue_reaches_the_named_task_alone(door: Door) -> None:
    workflow_id = door.start(door.define("named", wait("one"), wait("two")))
    one = door.execution(workflow_id)["tasks"][0]["taskId"]
    place = f"queue/update/{workflow_id}/task/{one}"
    door.post(f"{place}/COMPLETED", {"a": 1})
    assert "is over" in door.refused(404, "POST", f"{place}/COMPLETED", json={})
    assert door.statuses(workflow_id) == ["one COMPLETED", "two IN_PROGRESS"]
    other = door.start("named")
    wrong = f"queue/update/{other}/task/{one}/COMPLETED"
    assert "is none of workflow" in door.refused(400, "POST", wrong, json={})
