"""What workers report, by task id and by reference name, and what is answered."""

import pytest

from engine.instruments.clock import HandClock
from tests.api.door import Door, report_of, simple, wait

NOBODY = "00000000-0000-0000-0000-000000000000"


def test_a_report_is_answered_with_the_task_id(door: Door) -> None:
    workflow_id = door.start(door.define("told"))
    task = door.poll("told_task")
    answer = door.report(task, outputData={"x": 1})
    assert (answer.text, answer.headers["content-type"]) == (
        task["taskId"],
        "text/plain;charset=UTF-8",
    )
    assert door.execution(workflow_id)["status"] == "COMPLETED"


def test_late_and_repeated_reports_are_accepted_and_change_nothing(door: Door) -> None:
    workflow_id = door.start(door.define("late"))
    task = door.poll("late_task")
    door.report(task, outputData={"first": True})
    for status in ("COMPLETED", "FAILED", "IN_PROGRESS"):
        assert door.report(task, status, outputData={"again": 1}).text == task["taskId"]
    assert door.execution(workflow_id)["tasks"][0]["outputData"] == {"first": True}


def test_a_report_with_the_next_task_hands_it_out_to_the_same_worker(door: Door) -> None:
    door.define("next", simple("one", "next_task"), simple("two", "next_task"))
    door.start("next")
    body = report_of(door.poll("next_task"), workerId="w1")
    following = door.post("tasks/update-v2", body).json()
    assert (following["referenceTaskName"], following["workerId"]) == ("two", "w1")
    assert (following["status"], following["pollCount"]) == ("IN_PROGRESS", 1)
    last = door.ask("POST", "tasks/update-v2", json=report_of(following))
    assert (last.status_code, last.content) == (204, b"")


def test_a_sign_of_life_is_answered_without_another_task(door: Door) -> None:
    door.define("alive")
    door.start("alive")
    door.start("alive")
    task = door.poll("alive_task", count=1)
    answer = door.ask("POST", "tasks/update-v2", json=report_of(task, "IN_PROGRESS"))
    assert answer.status_code == 204


def test_reports_on_what_is_gone_do_not_switch_workers_to_the_old_way(door: Door) -> None:
    body = {"workflowInstanceId": NOBODY, "taskId": NOBODY, "status": "COMPLETED"}
    assert door.ask("POST", "tasks/update-v2", json=body).status_code == 204
    message = door.refused(404, "POST", "tasks", json=body)
    assert message == f"No such workflow found by id: {NOBODY}"
    workflow_id = door.start(door.define("present"))
    known = {**body, "workflowInstanceId": workflow_id}
    assert door.refused(404, "POST", "tasks", json=known) == f"No such task found by id: {NOBODY}"


@pytest.mark.parametrize("path", ["tasks", "tasks/update-v2"])
def test_reports_that_cannot_be_understood_are_bad_input(door: Door, path: str) -> None:
    workflow_id = door.start(door.define("understood"))
    task = door.execution(workflow_id)["tasks"][0]
    assert "Task ID cannot be null or empty" in door.refused(
        400, "POST", path, json={"status": "COMPLETED", "workflowInstanceId": workflow_id}
    )
    assert "Workflow Id cannot be null or empty" in door.refused(
        400, "POST", path, json={"status": "COMPLETED", "taskId": task["taskId"]}
    )
    for status in ("DONE", "completed", "SCHEDULED", "TIMED_OUT", "COMPLETED_WITH_ERRORS", None):
        door.refused(400, "POST", path, json=report_of(task, status))
    bad = report_of(task, "COMPLETED", outputData=[1])
    door.refused(400, "POST", path, json=bad)
    cut = {"content": b'{"taskId": ', "headers": {"content-type": "application/json"}}
    assert "JSON parse error" in door.refused(400, "POST", path, **cut)
    assert door.execution(workflow_id)["tasks"][0]["status"] == "SCHEDULED"


def test_a_report_that_names_another_workflow_is_refused(door: Door) -> None:
    door.define("mixed")
    one, other = door.start("mixed"), door.start("mixed")
    task = door.execution(one)["tasks"][0]
    body = {**report_of(task), "workflowInstanceId": other}
    assert "belongs to another workflow" in door.refused(400, "POST", "tasks", json=body)


def test_an_extended_lease_changes_no_status(door: Door) -> None:
    workflow_id = door.start(door.define("lease"))
    task = door.poll("lease_task")
    door.report(task, "IN_PROGRESS", extendLease=True, outputData={"ignored": 1})
    shown = door.execution(workflow_id)["tasks"][0]
    assert (shown["status"], shown["outputData"]) == ("IN_PROGRESS", {})


def test_a_lease_that_is_extended_a_moment_late_is_still_held() -> None:
    """Clients look once a second whether a lease is to be extended."""
    clock = HandClock()
    with Door(clock=clock) as door:
        door.post("metadata/taskdefs", [definition("moment_task", 3)])
        workflow_id = door.start(door.define("moment"))
        task = door.poll("moment_task")

        def status_after(ms: int) -> str:
            clock.advance(ms)
            door.put(f"workflow/decide/{workflow_id}")
            found: str = door.execution(workflow_id)["tasks"][0]["status"]
            return found

        assert status_after(3_300) == "IN_PROGRESS"
        door.report(task, "IN_PROGRESS", extendLease=True)
        assert status_after(3_300) == "IN_PROGRESS"
        assert status_after(700) == "TIMED_OUT"


def definition(name: str, response_timeout_seconds: int) -> dict[str, object]:
    """A task that is not tried again."""
    return {"name": name, "retryCount": 0, "responseTimeoutSeconds": response_timeout_seconds}


def test_a_negative_delay_is_none(door: Door) -> None:
    door.define("hasty")
    door.start("hasty")
    door.report(door.poll("hasty_task"), "IN_PROGRESS", callbackAfterSeconds=-1)
    assert door.poll("hasty_task")["pollCount"] == 2


def test_a_task_is_completed_by_its_reference_name_and_the_output_is_merged(door: Door) -> None:
    workflow_id = door.start(door.define("named", wait("gate"), simple("then", "named_then")))
    place = f"tasks/{workflow_id}/gate"
    door.post(f"{place}/IN_PROGRESS", {"a": 1})
    task_id = door.post(f"{place}/COMPLETED?workerid=me", {"b": 2}).text
    gate = door.execution(workflow_id)["tasks"][0]
    assert (gate["taskId"], gate["outputData"]) == (task_id, {"a": 1, "b": 2})


def test_a_reference_that_nothing_is_open_under_is_quietly_passed(door: Door) -> None:
    workflow_id = door.start(door.define("quiet", wait("gate")))
    for place in (f"tasks/{NOBODY}/x/COMPLETED", f"tasks/{workflow_id}/x/COMPLETED"):
        answer = door.ask("POST", place, json={})
        assert (answer.status_code, answer.content) == (200, b"")
        assert "Found no running task x" in door.refused(404, "POST", f"{place}/sync", json={})
    assert "report one of" in door.refused(400, "POST", f"tasks/{workflow_id}/gate/DONE", json={})


def test_a_synchronous_update_answers_with_the_workflow(door: Door) -> None:
    workflow_id = door.start(door.define("synced", wait("gate")))
    headers = {"accept": "text/plain"}
    path = f"tasks/{workflow_id}/gate/COMPLETED/sync"
    answer = door.ask("POST", path, json={"by": "me"}, headers=headers)
    assert answer.headers["content-type"] == "application/json"
    assert (answer.json()["workflowId"], answer.json()["status"]) == (workflow_id, "COMPLETED")


def test_a_log_is_kept_as_it_was_sent(door: Door) -> None:
    door.define("logged")
    door.start("logged")
    task = door.poll("logged_task")
    place = f"tasks/{task['taskId']}/log"
    assert door.ask("GET", place).status_code == 204
    line = 'say \\"x\\" ü\nand more'
    assert door.ask("POST", place, content=line.encode()).status_code == 200
    entry = door.get(place)[0]
    assert (entry["log"], entry["taskId"]) == (line, task["taskId"])
    assert entry["createdTime"] > 1_600_000_000_000
    assert "The body is empty" in door.refused(400, "POST", place)
    assert door.ask("POST", f"tasks/{NOBODY}/log", content=b"x").status_code == 200
    assert door.ask("GET", f"tasks/{NOBODY}/log").status_code == 204


def test_logs_of_a_report_are_kept(door: Door) -> None:
    door.define("noted")
    door.start("noted")
    task = door.poll("noted_task")
    door.report(task, logs=[{"log": "one", "createdTime": 1795983487}, {"log": "two"}])
    assert [line["log"] for line in door.get(f"tasks/{task['taskId']}/log")] == ["one", "two"]


def test_a_task_is_found_by_its_id(door: Door) -> None:
    workflow_id = door.start(door.define("found"), input={"a": 1})
    task = door.execution(workflow_id)["tasks"][0]
    shown = door.get(f"tasks/{task['taskId']}")
    assert shown["workflowInstanceId"] == workflow_id
    message = door.refused(404, "GET", "tasks/update-v2")
    assert message == "Task not found for taskId: update-v2"


def test_queue_sizes_count_what_waits_and_not_what_is_in_hand(door: Door) -> None:
    door.define("sized")
    for domain in (None, None, "blue"):
        door.start("sized", taskToDomain={"sized_task": domain} if domain else {})
    door.poll("sized_task", count=1)
    sizes = door.get("tasks/queue/sizes", taskType=["sized_task", "none"])
    assert sizes == {"sized_task": 1, "none": 0}
    assert door.get("tasks/queue/size", taskType="sized_task", domain="blue") == 1
    everything = door.get("tasks/queue/all")
    assert everything["sized_task"] == 1 and everything["blue:sized_task"] == 1
    assert list(everything) == sorted(everything)
    verbose = door.get("tasks/queue/all/verbose")
    assert verbose["sized_task"] == {"a": {"size": 1, "uacked": 1}}
    assert door.post("tasks/queue/requeue/sized_task").text == "3"
    assert "taskType is missing" in door.refused(400, "GET", "tasks/queue/size")


def test_a_report_on_an_ended_workflow_is_accepted_and_changes_nothing(door: Door) -> None:
    workflow_id = door.start(door.define("vain"))
    task = door.poll("vain_task")
    door.delete(f"workflow/{workflow_id}", reason="enough")
    assert door.report(task).text == task["taskId"]
    assert door.execution(workflow_id)["status"] == "TERMINATED"
