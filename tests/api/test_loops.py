"""A loop that is under way, from outside: every answer shows all rounds that are over."""

import json
from collections.abc import Iterator

import pytest

from tests.api.door import Door, Json, simple


@pytest.fixture
def open_loop(door: Door) -> Iterator[Json]:
    """The record of a loop in its third round, as its execution shows it."""
    loop = {
        "name": "over",
        "taskReferenceName": "over",
        "type": "DO_WHILE",
        "loopCondition": "",
        "items": "${workflow.input.list}",
        "loopOver": [simple("one", "rounds_task")],
    }
    door.define("rounds", loop)
    workflow_id = door.start("rounds", input={"list": ["x", "y", "z"]})
    for number in (1, 2):
        door.report(door.poll("rounds_task"), outputData={"n": number})
    found = door.execution(workflow_id)["tasks"][0]
    yield found
    door.delete(f"workflow/{workflow_id}")


WHOLE = {
    "iteration": 3,
    "loopIndex": 2,
    "loopItem": "z",
    "1": {"one": {"n": 1}},
    "2": {"one": {"n": 2}},
}


def test_an_execution_and_a_task_by_itself_show_the_rounds(door: Door, open_loop: Json) -> None:
    assert open_loop["outputData"] == WHOLE
    assert door.get(f"tasks/{open_loop['taskId']}")["outputData"] == WHOLE
    page = door.get(f"workflow/{open_loop['workflowInstanceId']}/tasks")
    assert page["results"][0]["outputData"] == WHOLE
    seq = open_loop["seq"]
    shown = door.get(f"ext/executions/{open_loop['workflowInstanceId']}/tasks/{seq}")
    assert shown["outputData"] == WHOLE


def test_searches_show_the_rounds(door: Door, open_loop: Json) -> None:
    query = f"workflowId='{open_loop['workflowInstanceId']}' AND taskType='DO_WHILE'"
    (summary,) = door.get("tasks/search", query=query)["results"]
    assert json.loads(summary["output"]) == WHOLE
    (whole,) = door.get("tasks/search-v2", query=query)["results"]
    assert whole["outputData"] == WHOLE
