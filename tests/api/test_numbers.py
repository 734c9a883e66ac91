"""Numbers that could be read and never stored are refused where they come in, by field."""

import pytest

from tests.api.door import Door, simple

HUGE = 10**30
"""Beyond 64 bits."""
LONG = 2**62
"""Within 64 bits, but not as milliseconds."""


@pytest.mark.parametrize("field", ["version", "timeoutSeconds", "createTime"])
@pytest.mark.parametrize("number", [HUGE, LONG, -HUGE])
def test_a_number_of_a_definition_that_is_too_large_is_named(
    door: Door, field: str, number: int
) -> None:
    body = {"name": "large", "tasks": [simple("s", "s")], field: number}
    document = door.ask("POST", "metadata/workflow", json=body).json()
    assert document["status"] == 400
    found = document["validationErrors"][0]
    assert (found["path"], found["invalidValue"]) == (field, str(number))
    assert "9007199254740991" in found["message"]


def test_a_delay_that_would_never_end_is_refused_before_it_can_hold_anything_up(
    door: Door,
) -> None:
    body = {"name": "delayed", "tasks": [{**simple("s", "s"), "startDelay": LONG}]}
    assert door.ask("POST", "metadata/workflow", json=body).status_code == 400
    policy = {"name": "s", "retryDelaySeconds": HUGE}
    assert door.ask("POST", "metadata/taskdefs", json=[policy]).status_code == 400
    door.define("called_back")
    door.start("called_back")
    task = door.poll("called_back_task")
    ids = {part: task[part] for part in ("taskId", "workflowInstanceId")}
    report = {**ids, "status": "IN_PROGRESS", "callbackAfterSeconds": LONG}
    assert door.ask("POST", "tasks", json=report).status_code == 400


def test_a_version_that_is_too_large_is_no_reason_for_a_failure(door: Door) -> None:
    message = door.refused(400, "DELETE", f"metadata/workflow/some/{HUGE}")
    assert "does not fit into 64 bits" in message


def test_half_a_sign_beside_a_long_number_is_refused_before_it_reaches_anything(door: Door) -> None:
    door.define("half")
    workflow_id = door.start("half")
    task = door.poll("half_task")
    long = '"n": 99999999999999999999999'
    place = f'"workflowInstanceId": "{workflow_id}", "taskId": "{task["taskId"]}"'
    for path, body in (
        ("workflow/half", rf'{{"a": "\ud800", {long}}}'),
        ("workflow", rf'{{"name": "half", "correlationId": "\ud800", "input": {{{long}}}}}'),
        ("tasks", rf'{{{place}, "status": "COMPLETED", "workerId": "\ud800", {long}}}'),
        (
            "tasks/update-v2",
            rf'{{{place}, "status": "COMPLETED", "outputData": {{"\ud800": 1, {long}}}}}',
        ),
    ):
        headers = {"content-type": "application/json"}
        message = door.refused(400, "POST", path, content=body.encode(), headers=headers)
        assert message.startswith("JSON parse error")
    assert door.statuses(workflow_id) == ["one IN_PROGRESS"]
