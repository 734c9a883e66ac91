"""An execution that was put away is read, found and brought back at the door as if it had not been."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.door import Door, simple

Json = Any


@pytest.fixture
def door() -> Iterator[Door]:
    """An engine of its own: what is archived here must not be found elsewhere."""
    with Door() as found:
        yield found


def put_away(door: Door, *ids: str) -> None:
    for workflow_id in ids:
        door.engine.archive.put_away(workflow_id)
        assert door.engine.store.key_of(workflow_id) is None


def failed(door: Door, **request: Json) -> str:
    """An execution of two tasks, of which the second has failed."""
    door.define("kept", simple("one", "kept_one"), simple("two", "kept_two"))
    workflow_id = door.start("kept", **request)
    door.report(door.poll("kept_one"), outputData={"o": "albatross"})
    logs = [{"log": "oh"}]
    door.report(door.poll("kept_two"), "FAILED_WITH_TERMINAL_ERROR", logs=logs)
    return workflow_id


def child(door: Door) -> tuple[str, str]:
    """A failed execution whose failed task is a failed sub-workflow; the parent's and the child's."""
    door.define("below", simple("one", "below_one"))
    param = {"name": "below", "version": 1}
    nested = {"name": "s", "taskReferenceName": "s", "type": "SUB_WORKFLOW"}
    door.define("above", {**nested, "subWorkflowParam": param})
    parent = door.start("above")
    task = door.poll("below_one")
    door.report(task, "FAILED_WITH_TERMINAL_ERROR")
    assert door.execution(parent)["status"] == "FAILED"
    return parent, task["workflowInstanceId"]


def test_every_search_finds_an_archived_execution_as_it_was(door: Door) -> None:
    workflow_id = failed(door, correlationId="c", input={"who": "ann"}, priority=3)
    open_one = door.start("kept", correlationId="c")
    asked = {"query": "workflowType = kept AND correlationId = c"}
    ended = {"query": "status IN (COMPLETED,FAILED_WITH_TERMINAL_ERROR)"}
    tasks = {**ended, "sort": "referenceTaskName:ASC"}
    places: list[tuple[str, Json]] = [
        ("workflow/search", asked),
        ("workflow/search-v2", asked),
        ("workflow/search-by-tasks", ended),
        ("workflow/search-by-tasks-v2", ended),
        ("tasks/search", tasks),
        ("tasks/search-v2", tasks),
        ("workflow/kept/correlated/c", {"includeClosed": True, "includeTasks": True}),
        (f"workflow/{workflow_id}", {}),
        (f"workflow/{workflow_id}/tasks", {}),
        (f"workflow/{workflow_id}/status", {"includeOutput": True}),
    ]
    before = [door.get(place, **query) for place, query in places]
    assert [before[0]["totalHits"], before[2]["totalHits"], before[4]["totalHits"]] == [2, 1, 2]
    put_away(door, workflow_id)
    assert [door.get(place, **query) for place, query in places] == before
    assert door.post("workflow/kept/correlated?includeClosed=true", ["c"]).json()["c"] != []
    assert door.get("workflow/search", **asked, freeText="ann")["totalHits"] == 1
    assert door.get("workflow/running/kept") == [open_one]


def test_tasks_and_logs_of_an_archived_execution_are_read_by_their_id(door: Door) -> None:
    workflow_id = failed(door)
    task = door.execution(workflow_id)["tasks"][1]
    put_away(door, workflow_id)
    assert door.get(f"tasks/{task['taskId']}") == task
    assert [line["log"] for line in door.get(f"tasks/{task['taskId']}/log")] == ["oh"]
    other = f"{task['taskId'][:-1]}{'1' if task['taskId'][-1] == '0' else '0'}"
    assert "Task not found" in door.refused(404, "GET", f"tasks/{other}")


@pytest.mark.parametrize("verb", ["retry", "restart", "rerun"])
def test_acting_on_an_archived_execution_brings_it_back(door: Door, verb: str) -> None:
    workflow_id = failed(door)
    put_away(door, workflow_id)
    door.post(f"workflow/{workflow_id}/{verb}", {} if verb == "rerun" else None)
    assert door.execution(workflow_id)["status"] == "RUNNING"
    if verb != "retry":
        door.report(door.poll("kept_one"))
    door.report(door.poll("kept_two"))
    assert door.execution(workflow_id)["status"] == "COMPLETED"
    found = door.get("workflow/search", query=f"workflowId = {workflow_id}")
    assert [(row["workflowId"], row["status"]) for row in found["results"]] == [
        (workflow_id, "COMPLETED")
    ]
    assert door.get("ext/overview")["byStatus"] == {"COMPLETED": 1}


def test_an_archived_execution_is_rerun_from_one_of_its_tasks(door: Door) -> None:
    workflow_id = failed(door)
    second = door.execution(workflow_id)["tasks"][1]["taskId"]
    put_away(door, workflow_id)
    door.post(f"workflow/{workflow_id}/rerun", {"reRunFromTaskId": second})
    assert door.statuses(workflow_id) == ["one COMPLETED", "two SCHEDULED"]


def test_a_child_that_is_retried_brings_its_archived_parent_along(door: Door) -> None:
    parent, below = child(door)
    put_away(door, below, parent)
    door.post(f"workflow/{below}/retry")
    assert [door.execution(id_)["status"] for id_ in (below, parent)] == ["RUNNING", "RUNNING"]
    door.report(door.poll("below_one"))
    assert [door.execution(id_)["status"] for id_ in (below, parent)] == ["COMPLETED", "COMPLETED"]


def test_a_parent_goes_on_with_the_archived_child_it_had(door: Door) -> None:
    parent, below = child(door)
    put_away(door, below)
    door.post(f"workflow/{parent}/retry?resumeSubworkflowTasks=true")
    task = door.poll("below_one")
    assert task["workflowInstanceId"] == below
    door.report(task)
    assert door.execution(parent)["status"] == "COMPLETED"


def test_a_task_of_an_archived_child_can_be_rerun_from_the_parent(door: Door) -> None:
    parent, below = child(door)
    task = door.execution(below)["tasks"][0]["taskId"]
    put_away(door, parent, below)
    door.post(f"workflow/{parent}/rerun", {"reRunFromTaskId": task})
    assert door.poll("below_one")["workflowInstanceId"] == below


def test_verbs_on_what_nobody_knows_are_refused_with_an_archive_too(door: Door) -> None:
    put_away(door, failed(door))
    for verb in ("retry", "restart"):
        door.refused(404, "POST", f"workflow/nobody/{verb}")


def test_an_archived_execution_refuses_what_a_living_one_would(door: Door) -> None:
    workflow_id = failed(door)
    put_away(door, workflow_id)
    assert "has ended" in door.refused(409, "PUT", f"workflow/{workflow_id}/pause")
    door.refused(409, "PUT", f"workflow/{workflow_id}/resume")
    door.refused(409, "POST", f"workflow/{workflow_id}/resetcallbacks")
    door.put(f"workflow/decide/{workflow_id}")
    assert door.engine.store.key_of(workflow_id) is None
    door.delete(f"workflow/{workflow_id}")
    assert door.execution(workflow_id)["status"] == "TERMINATED"


def test_a_late_report_on_an_archived_task_changes_nothing(door: Door) -> None:
    workflow_id = failed(door)
    task = door.execution(workflow_id)["tasks"][1]
    put_away(door, workflow_id)
    assert door.report(task).text == task["taskId"]
    assert door.execution(workflow_id)["tasks"][1] == task
    door.refused(404, "POST", "tasks", json={**task, "taskId": "nobody"})


@pytest.mark.parametrize("archive", [True, False])
def test_what_is_removed_by_hand_is_gone_from_the_archive_too(door: Door, archive: bool) -> None:
    workflow_id = failed(door)
    put_away(door, workflow_id)
    door.delete(f"workflow/{workflow_id}/remove", archiveWorkflow=archive)
    door.refused(404, "GET", f"workflow/{workflow_id}")
    assert door.get("workflow/search")["totalHits"] == 0
    assert door.get("ext/overview")["total"] == 0
    door.refused(404, "DELETE", f"workflow/{workflow_id}/remove")


def test_an_archived_execution_still_answers_for_its_idempotency_key(door: Door) -> None:
    key = {"idempotencyKey": "once", "idempotencyStrategy": "RETURN_EXISTING"}
    workflow_id = failed(door, **key)
    put_away(door, workflow_id)
    assert door.start("kept", **key) == workflow_id
    again = door.start("kept", **{**key, "idempotencyStrategy": "FAIL_ON_RUNNING"})
    assert again != workflow_id
