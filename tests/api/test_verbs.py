"""What people do to executions, by the state these are in."""

import pytest

from tests.api.door import Door, simple, wait

NOBODY = "00000000-0000-0000-0000-000000000000"


def in_state(door: Door, name: str, state: str) -> str:
    """An execution of a fresh one-task definition in this state."""
    door.define(name)
    if state in ("RUNNING", "PAUSED"):
        workflow_id = door.start(name)
        if state == "PAUSED":
            door.put(f"workflow/{workflow_id}/pause")
        return workflow_id
    return door.ended(name, state)


CASES = [
    ("PUT", "pause", "RUNNING", 200, "PAUSED"),
    ("PUT", "pause", "PAUSED", 200, "PAUSED"),
    ("PUT", "pause", "COMPLETED", 409, "COMPLETED"),
    ("PUT", "pause", "FAILED", 409, "FAILED"),
    ("PUT", "resume", "RUNNING", 409, "RUNNING"),
    ("PUT", "resume", "PAUSED", 200, "RUNNING"),
    ("PUT", "resume", "COMPLETED", 409, "COMPLETED"),
    ("POST", "restart", "RUNNING", 409, "RUNNING"),
    ("POST", "restart", "COMPLETED", 204, "RUNNING"),
    ("POST", "restart", "TERMINATED", 204, "RUNNING"),
    ("POST", "retry", "RUNNING", 404, "RUNNING"),
    ("POST", "retry", "PAUSED", 404, "PAUSED"),
    ("POST", "retry", "COMPLETED", 409, "COMPLETED"),
    ("POST", "retry", "FAILED", 204, "RUNNING"),
    ("POST", "retry", "TERMINATED", 204, "RUNNING"),
    ("POST", "rerun", "RUNNING", 409, "RUNNING"),
    ("POST", "rerun", "COMPLETED", 200, "RUNNING"),
    ("POST", "rerun", "FAILED", 200, "RUNNING"),
    ("POST", "resetcallbacks", "RUNNING", 204, "RUNNING"),
    ("POST", "resetcallbacks", "PAUSED", 204, "PAUSED"),
    ("POST", "resetcallbacks", "COMPLETED", 409, "COMPLETED"),
    ("DELETE", "", "RUNNING", 200, "TERMINATED"),
    ("DELETE", "", "COMPLETED", 409, "COMPLETED"),
    ("DELETE", "", "FAILED", 200, "TERMINATED"),
    ("DELETE", "", "TERMINATED", 200, "TERMINATED"),
    ("DELETE", "remove", "RUNNING", 400, "RUNNING"),
    ("DELETE", "remove", "COMPLETED", 200, None),
    ("DELETE", "remove?archiveWorkflow=false", "RUNNING", 200, None),
    ("DELETE", "terminate-remove", "PAUSED", 200, None),
    ("DELETE", "terminate-remove", "COMPLETED", 409, "COMPLETED"),
    ("PUT", "skiptask/one", "RUNNING", 409, "RUNNING"),
    ("PUT", "skiptask/nobody", "RUNNING", 400, "RUNNING"),
    ("PUT", "skiptask/one", "PAUSED", 409, "PAUSED"),
    ("PUT", "skiptask/one", "COMPLETED", 409, "COMPLETED"),
]


@pytest.mark.parametrize(("method", "verb", "state", "answer", "then"), CASES)
def test_a_verb_does_what_the_state_allows(
    door: Door, method: str, verb: str, state: str, answer: int, then: str | None
) -> None:
    number = CASES.index((method, verb, state, answer, then))
    workflow_id = in_state(door, f"verb{number}", state)
    place = f"workflow/{workflow_id}/{verb}".rstrip("/")
    found = door.ask(method, place, json={})
    assert found.status_code == answer, found.text
    assert bool(found.content) == (answer >= 400 or verb == "rerun")
    shown = door.ask("GET", f"workflow/{workflow_id}/status")
    assert shown.json().get("status") == (then or 404)


@pytest.mark.parametrize(
    ("method", "verb"), sorted({(method, verb.partition("?")[0]) for method, verb, *_ in CASES})
)
def test_every_verb_says_that_an_execution_is_unknown(door: Door, method: str, verb: str) -> None:
    place = f"workflow/{NOBODY}/{verb}".rstrip("/")
    message = door.refused(404, method, place, json={})
    assert message == f"No such workflow found by id: {NOBODY}"


def test_a_skipped_task_takes_its_output_from_the_body(door: Door) -> None:
    door.define("skipping", simple("one", "skipping_task"), simple("two", "skipping_two"))
    workflow_id = door.start("skipping")
    body = {"taskInput": {"i": 1}, "taskOutput": {"o": 2}}
    door.put(f"workflow/{workflow_id}/skiptask/two?skipTaskRequest=%7B%27x%27%7D", body)
    door.report(door.poll("skipping_task"))
    shown = door.execution(workflow_id)
    skipped = next(task for task in shown["tasks"] if task["referenceTaskName"] == "two")
    assert (skipped["status"], skipped["inputData"], skipped["outputData"]) == (
        "SKIPPED",
        {"i": 1},
        {"o": 2},
    )
    assert shown["status"] == "COMPLETED"


def test_a_rerun_from_a_task_keeps_what_came_before(door: Door) -> None:
    door.define("again", simple("one", "again_one"), simple("two", "again_two"))
    workflow_id = door.start("again")
    door.report(door.poll("again_one"))
    door.report(door.poll("again_two"))
    one, two = door.execution(workflow_id)["tasks"]
    body = {"reRunFromTaskId": two["taskId"], "taskInput": {"n": 1}}
    assert door.post(f"workflow/{workflow_id}/rerun", body).text == workflow_id
    tasks = door.execution(workflow_id)["tasks"]
    assert [task["taskId"] for task in tasks] == [one["taskId"], two["taskId"]]
    assert (tasks[1]["status"], tasks[1]["inputData"]) == ("SCHEDULED", {"n": 1})


def test_a_rerun_from_an_unknown_task_is_bad_input(door: Door) -> None:
    workflow_id = door.ended(door.define("lost"))
    body = {"reRunFromTaskId": NOBODY}
    assert NOBODY in door.refused(400, "POST", f"workflow/{workflow_id}/rerun", json=body)


def test_a_restart_by_the_newest_definition_needs_one(door: Door) -> None:
    workflow_id = door.ended(door.define("newest"))
    door.delete("metadata/workflow/newest/1")
    place = f"workflow/{workflow_id}/restart"
    message = door.refused(404, "POST", f"{place}?useLatestDefinitions=true")
    assert message == f"Unable to find latest definition for {workflow_id}"
    assert door.ask("POST", place).status_code == 204


def test_who_did_what_and_why_is_written_down(door: Door) -> None:
    workflow_id = door.start(door.define("why"))
    place = f"/api/workflow/{workflow_id}"
    headers = {"x-reprise-person": "ann"}
    door.ask("PUT", f"{place}/pause?reason=look", headers=headers)
    named = {**headers, "x-reprise-reason": "looked%20enough"}
    door.ask("PUT", f"{place}/resume", headers=named)
    door.ask("DELETE", f"{place}?reason=no%20use", headers=headers)
    lines = door.get(f"ext/executions/{workflow_id}/ledger")["lines"]
    assert [(line["cause"], line.get("by"), line.get("why")) for line in lines] == [
        ("Start", None, None),
        ("Pause", "ann", "look"),
        ("Resume", "ann", "looked enough"),
        ("Terminate", "ann", "no use"),
    ]
    assert door.execution(workflow_id)["reasonForIncompletion"] == "no use"


def test_variables_are_merged_from_outside(door: Door) -> None:
    workflow_id = door.start(door.define("vars", wait("gate"), variables={"a": 1, "b": [1]}))
    place = f"workflow/{workflow_id}/variables"
    assert door.post(place, {"a": 2}).json()["variables"] == {"a": 2, "b": [1]}
    assert door.post(f"{place}?appendArray=true", {"b": [2]}).json()["variables"]["b"] == [1, 2]
    door.delete(f"workflow/{workflow_id}")
    door.refused(409, "POST", place, json={"a": 3})


def test_a_state_update_reports_and_merges_at_once(door: Door) -> None:
    workflow_id = door.start(door.define("state", wait("gate"), wait("last")))
    result = {"status": "COMPLETED", "outputData": {"ok": True}}
    body = {"taskReferenceName": "gate", "taskResult": result, "variables": {"v": 1}}
    found = door.post(f"workflow/{workflow_id}/state?requestId=r&waitForSeconds=5", body).json()
    assert (found["requestId"], found["variables"]) == ("r", {"v": 1})
    assert door.statuses(workflow_id) == ["gate COMPLETED", "last IN_PROGRESS"]


def test_a_state_update_of_a_task_that_is_not_open_changes_nothing(door: Door) -> None:
    workflow_id = door.start(door.define("closed"))
    path = f"workflow/{workflow_id}/state"
    result = {"status": "COMPLETED"}
    for status, more in (
        (404, {"taskReferenceName": "never", "taskResult": result}),
        (400, {"taskReferenceName": "one", "taskResult": {"status": "DONE"}}),
        (400, {"taskResult": result}),
    ):
        door.refused(status, "POST", path, json={"variables": {"a": 1}, **more})
    assert door.execution(workflow_id)["variables"] == {}


def test_an_ended_mailbox_takes_no_message(door: Door) -> None:
    workflow_id = door.start(door.define("mail", wait("gate")))
    assert door.post(f"workflow/{workflow_id}/messages", {"a": 1}).text.count("-") == 4
    door.delete(f"workflow/{workflow_id}")
    door.refused(409, "POST", f"workflow/{workflow_id}/messages", json={})


def test_a_removed_execution_leaves_its_queue_and_its_limits(door: Door) -> None:
    door.post("metadata/taskdefs", [{"name": "room_task", "concurrentExecLimit": 1}])
    door.define("room")
    first, second = door.start("room"), door.start("room")
    assert door.poll("room_task", count=5)["workflowInstanceId"] == first
    door.delete(f"workflow/{first}/remove", archiveWorkflow=False)
    assert door.poll("room_task", timeout=5000)["workflowInstanceId"] == second
    door.delete(f"workflow/{second}/remove", archiveWorkflow=False)
    assert door.get("tasks/queue/all").get("room_task", 0) == 0


def test_bulk_verbs_answer_for_each_execution(door: Door) -> None:
    door.define("many")
    one, two = door.start("many"), door.start("many")

    def bulk(method: str, verb: str) -> tuple[list[str], set[str]]:
        found = door.ask(method, f"workflow/bulk/{verb}", json=[one, NOBODY, two]).json()
        return found["bulkSuccessfulResults"], set(found["bulkErrorResults"])

    assert bulk("PUT", "pause") == ([one, two], {NOBODY})
    assert bulk("PUT", "resume") == ([one, two], {NOBODY})
    assert bulk("POST", "retry") == ([], {one, two, NOBODY})
    assert bulk("POST", "terminate?reason=enough") == ([one, two], {NOBODY})
    assert bulk("POST", "restart") == ([one, two], {NOBODY})
    assert bulk("DELETE", "remove") == ([], {one, two, NOBODY})
    found = door.post("workflow/bulk/search?includeTasks=false", [one]).json()
    shown = found["bulkSuccessfulResults"][0]
    assert (shown["workflowId"], shown["tasks"]) == (one, [])
    assert {"startTime", "updateTime", "workflowName"} <= shown.keys()
    assert bulk("DELETE", "terminate-remove") == ([one, two], {NOBODY})
    door.refused(404, "GET", f"workflow/{one}")


def test_bulk_takes_one_to_a_thousand_ids(door: Door) -> None:
    path = "workflow/bulk/pause"
    assert door.refused(400, "PUT", path, json=[]) == "WorkflowIds list cannot be null."
    assert "1000 workflows" in door.refused(400, "PUT", path, json=["x"] * 1001)
    door.refused(400, "PUT", path, json={})
    door.refused(400, "PUT", path, json=[1])
    door.refused(400, "PUT", path)
