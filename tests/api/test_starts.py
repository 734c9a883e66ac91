"""Starting executions: at once, by name, in line, with a key, and waiting for them."""

import pytest

from tests.api.door import Door, simple, wait


def test_an_unknown_definition_is_told_in_the_words_of_each_endpoint(door: Door) -> None:
    body = {"name": "nobody"}
    assert door.refused(404, "POST", "workflow", json=body) == (
        "No such workflow defined. name=nobody, version=null"
    )
    assert door.refused(404, "POST", "workflow", json={**body, "version": 7}) == (
        "No such workflow defined. name=nobody, version=7"
    )
    assert door.refused(404, "POST", "workflow/nobody?version=3", json={}) == (
        "No such workflow found by name: nobody, version: 3"
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "Workflow name cannot be null or empty"),
        ({"name": None}, "Workflow name cannot be null or empty"),
        ({"name": ""}, "name is empty"),
        ({"name": "asked", "input": None}, "NULL input passed when starting workflow"),
        ({"name": "asked", "priority": 100}, "priority: 100 should be maximum 99"),
        ({"name": "asked", "priority": -1}, "priority: -1 should be minimum 0"),
        ({"name": "x", "workflowDef": {"name": "x"}}, "WorkflowTask list cannot be empty"),
    ],
)
def test_a_start_that_can_never_succeed_is_bad_input(door: Door, body: object, words: str) -> None:
    door.define("asked")
    assert words in door.refused(400, "POST", "workflow", json=body)


@pytest.mark.parametrize("version", [0, -1])
def test_version_zero_is_not_the_newest(door: Door, version: int) -> None:
    door.define("zero")
    door.refused(404, "POST", "workflow", json={"name": "zero", "version": version})


def test_what_a_start_says_is_what_is_shown(door: Door) -> None:
    door.define("shown", wait("gate"))
    workflow_id = door.start(
        "shown",
        correlationId="c1",
        priority=7,
        createdBy="ann",
        taskToDomain={"*": "blue"},
        input={"a": 1},
    )
    shown = door.execution(workflow_id)
    assert shown["workflowName"] == "shown" and shown["workflowVersion"] == 1
    assert (shown["correlationId"], shown["priority"], shown["createdBy"]) == ("c1", 7, "ann")
    assert (shown["taskToDomain"], shown["input"]) == ({"*": "blue"}, {"a": 1})
    assert shown["workflowDefinition"]["tasks"][0]["taskReferenceName"] == "gate"


def test_the_person_who_starts_is_remembered(door: Door) -> None:
    door.define("person", wait("gate"))
    headers = {"x-reprise-person": "J%C3%BCrgen"}
    workflow_id = door.ask("POST", "workflow", json={"name": "person"}, headers=headers).text
    assert door.execution(workflow_id)["createdBy"] == "Jürgen"


def test_an_in_line_definition_runs_without_being_registered(door: Door) -> None:
    definition = {"name": "inline", "version": 3, "tasks": [wait("gate")]}
    workflow_id = door.post("workflow", {"name": "inline", "workflowDef": definition}).text
    assert door.execution(workflow_id)["workflowVersion"] == 3
    door.refused(404, "GET", "metadata/workflow/inline")


def test_an_in_line_definition_is_held_to_the_rules_of_registration(door: Door) -> None:
    definition = {"name": "inline_unsound", "tasks": [simple("a", "a"), simple("a", "b")]}
    request = {"name": "inline_unsound", "workflowDef": definition}
    for path in ("workflow", "workflow/execute/inline_unsound/1", "workflow/test"):
        answer = door.ask("POST", path, json=request)
        assert answer.status_code == 400, (path, answer.text)
        assert "Workflow.arg0.workflowDef" in answer.text, answer.text


def test_a_key_starts_one_execution(door: Door) -> None:
    door.define("keyed", wait("gate"))
    key = {"name": "keyed", "idempotencyKey": "k1"}
    first = door.post("workflow", {**key, "idempotencyStrategy": "FAIL"}).text
    again = door.post("workflow", {**key, "idempotencyStrategy": "RETURN_EXISTING"}).text
    assert again == first
    door.refused(409, "POST", "workflow", json={**key, "idempotencyStrategy": "FAIL"})
    door.refused(409, "POST", "workflow", json={**key, "idempotencyStrategy": "FAIL_ON_RUNNING"})
    door.delete(f"workflow/{first}")
    fresh = door.post("workflow", {**key, "idempotencyStrategy": "FAIL_ON_RUNNING"}).text
    assert fresh != first
    assert door.execution(fresh)["idempotencyKey"] == "k1"


def test_a_strategy_without_a_key_means_nothing(door: Door) -> None:
    door.define("keyless", wait("gate"))
    ids = {door.start("keyless", idempotencyStrategy="FAIL") for _ in range(2)}
    assert len(ids) == 2


def test_waiting_ends_at_a_wait(door: Door) -> None:
    door.define("until", wait("gate"))
    found = door.post("workflow/execute/until/1?requestId=r1", {"name": "until"}).json()
    assert (found["responseType"], found["requestId"]) == ("TARGET_WORKFLOW", "r1")
    assert (found["status"], found["signalTimeout"]) == ("RUNNING", False)
    assert found["tasks"][0]["referenceTaskName"] == "gate"
    assert found["targetWorkflowId"] == found["workflowId"]
    for name in ("createTime", "updateTime", "priority", "variables", "output"):
        assert name in found


def test_waiting_ends_with_its_time_and_the_execution_goes_on(door: Door) -> None:
    door.define("patience")
    found = door.post("workflow/execute/patience/0?waitForSeconds=1", {}).json()
    assert (found["signalTimeout"], found["targetWorkflowStatus"]) == (True, "RUNNING")
    assert door.poll("patience_task")["workflowInstanceId"] == found["workflowId"]


def test_waiting_ends_past_a_named_task(door: Door) -> None:
    noop = {"name": "noop", "taskReferenceName": "done", "type": "NOOP"}
    door.define("past", noop, simple("more", "past_more"))
    path = "workflow/execute/past/1?waitUntilTaskRef=other,done&waitForSeconds=60"
    found = door.post(path, {}).json()
    assert (found["status"], found["signalTimeout"]) == ("RUNNING", False)


def test_the_blocking_task_inside_a_child_can_be_shown(door: Door) -> None:
    door.define("inner", wait("gate"))
    param = {"name": "inner", "version": 1}
    child = {
        "name": "sub",
        "taskReferenceName": "sub",
        "type": "SUB_WORKFLOW",
        "subWorkflowParam": param,
    }
    door.define("outer", child)
    path = "workflow/execute/outer/1?returnStrategy="
    task = door.post(f"{path}BLOCKING_TASK", {}).json()
    assert (task["responseType"], task["referenceTaskName"]) == ("BLOCKING_TASK", "gate")
    assert task["workflowId"] != task["targetWorkflowId"]
    blocking = door.post(f"{path}BLOCKING_WORKFLOW", {}).json()
    assert blocking["tasks"][0]["referenceTaskName"] == "gate"
    signalled = door.post(f"tasks/{task['targetWorkflowId']}/COMPLETED/signal/sync", {"x": 1})
    assert signalled.json()["targetWorkflowStatus"] == "COMPLETED"
    assert door.execution(task["workflowId"])["tasks"][0]["outputData"] == {"x": 1}


def test_where_nothing_blocks_the_workflow_itself_is_shown(door: Door) -> None:
    door.define("free")
    path = "workflow/execute/free/1?waitForSeconds=1&returnStrategy=BLOCKING_TASK_INPUT"
    assert door.post(path, {}).json()["responseType"] == "TARGET_WORKFLOW"


@pytest.mark.parametrize(
    ("status", "path"),
    [
        (404, "workflow/execute/nobody/1"),
        (400, "workflow/execute/nobody/abc"),
        (400, "workflow/execute/nobody/1?returnStrategy=SOMETHING"),
        (400, "workflow/execute/nobody/1?waitForSeconds=x"),
    ],
)
def test_waiting_for_what_cannot_be_is_refused(door: Door, status: int, path: str) -> None:
    door.refused(status, "POST", path, json={})


def test_a_signal_goes_to_the_wait_that_blocks(door: Door) -> None:
    workflow_id = door.start(door.define("signal", wait("one"), wait("two")))
    answer = door.ask("POST", f"tasks/{workflow_id}/COMPLETED/signal", json={"a": 1})
    assert (answer.status_code, answer.content) == (200, b"")
    assert door.statuses(workflow_id) == ["one COMPLETED", "two IN_PROGRESS"]
    path = f"tasks/{workflow_id}/COMPLETED/signal/sync?returnStrategy=BLOCKING_TASK"
    assert door.post(path, {}).json()["targetWorkflowStatus"] == "COMPLETED"
    quiet = door.ask("POST", f"tasks/{workflow_id}/COMPLETED/signal", json={})
    assert quiet.status_code == 200
    message = door.refused(404, "POST", path, json={})
    assert message == f"Found no blocked task in workflow {workflow_id} to signal"
    assert "returnStrategy is 'X'" in door.refused(400, "POST", path[:-13] + "X", json={})


@pytest.mark.parametrize("way", ["signal", "signal/sync"])
def test_a_signal_of_an_unknown_status_is_bad_input_also_where_nothing_blocks(
    door: Door, way: str
) -> None:
    workflow_id = door.start(door.define("unblocked"))
    for status in ("DONE", "completed", "SCHEDULED"):
        message = door.refused(400, "POST", f"tasks/{workflow_id}/{status}/{way}", json={})
        assert status in message


def test_a_priority_in_the_query_has_the_bounds_of_one_in_the_body(door: Door) -> None:
    door.define("bounded")
    over = door.refused(400, "POST", "workflow/bounded?priority=100", json={})
    assert "99 is the maximum priority value" in over
    under = door.refused(400, "POST", "workflow/bounded?priority=-1", json={})
    assert "0 is the minimum priority value" in under


def test_a_mock_test_plays_a_definition_and_keeps_nothing(door: Door) -> None:
    door.define("mocked", outputParameters={"x": "${one.output.x}"})
    mocks = {"one": [{"status": "COMPLETED", "output": {"x": 7}}]}
    body = {"name": "mocked", "taskRefToMockOutput": mocks}
    found = door.post("workflow/test", body).json()
    assert (found["status"], found["output"]) == ("COMPLETED", {"x": 7})
    door.refused(404, "GET", f"workflow/{found['workflowId']}")
    unmocked = door.post("workflow/test", {"name": "mocked"}).json()
    assert unmocked["status"] == "RUNNING"
    told = door.post("ext/test", body).json()
    assert told["report"]["attempts"] == {"one": 1}
    door.refused(404, "POST", "workflow/test", json={"name": "nobody"})


def test_a_mock_test_holds_its_input_to_the_schema(door: Door) -> None:
    data = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    schema = {"name": "s", "version": 1, "type": "JSON", "data": data}
    door.define("schemed", wait("gate"), inputSchema=schema, enforceSchema=True)
    said = door.refused(400, "POST", "workflow/test", json={"name": "schemed", "input": {"n": "x"}})
    assert "does not fit the inputSchema of schemed: n:" in said
    assert door.post("workflow/test", {"name": "schemed", "input": {"n": 1}}).status_code == 200


def test_a_mock_test_without_a_name_is_refused(door: Door) -> None:
    door.refused(400, "POST", "workflow/test", json={})


def test_a_version_that_no_definition_can_have_is_refused(door: Door) -> None:
    door.define("versioned")
    for version in ("abc", str(10**23)):
        path = f"workflow/execute/versioned/{version}"
        assert "version is" in door.refused(400, "POST", path, json={})
