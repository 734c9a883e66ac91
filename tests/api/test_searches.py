"""Finding executions and tasks by Conductor's query words."""

import pytest

from tests.api.door import Door, wait


def ids(found: object) -> list[str]:
    assert isinstance(found, dict)
    return [row["workflowId"] for row in found["results"]]


def test_a_found_execution_is_shown_in_a_summary(door: Door) -> None:
    door.define("summed", outputParameters={"y": "${one.output.y}"})
    workflow_id = door.start("summed", correlationId="c-sum", input={"a": 5, "n": None}, priority=3)
    task = door.poll("summed_task")
    door.report(task, outputData={"y": 1})
    found = door.get("workflow/search", query="workflowType IN (summed) AND status IN (COMPLETED)")
    row = found["results"][0]
    assert (found["totalHits"], row["workflowId"]) == (1, workflow_id)
    assert (row["workflowType"], row["version"], row["correlationId"]) == ("summed", 1, "c-sum")
    assert (row["input"], row["output"]) == ('{"a":5,"n":null}', '{"y":1}')
    assert (row["inputSize"], row["outputSize"], row["priority"]) == (16, 7, 3)
    assert row["startTime"].endswith("Z") and "T" in row["endTime"]
    assert (row["parentWorkflowId"], row["failedReferenceTaskNames"]) == ("", "")


@pytest.mark.parametrize("kind", ["workflow", "tasks"])
def test_a_number_that_no_field_can_hold_is_refused_with_the_field_and_the_value(
    door: Door, kind: str
) -> None:
    huge = 10**23
    for query in (f"startTime > {huge}", f"executionTime < -{huge}", f"updateTime IN (1,{huge})"):
        message = door.refused(400, "GET", f"{kind}/search", params={"query": query})
        assert query.split()[0] in message and str(huge) in message


def test_the_query_words_of_the_clients_are_understood(door: Door) -> None:
    workflow_id = door.start(door.define("asked_for", wait("gate")), correlationId="c-asked")
    other = door.start(door.define("asked_too", wait("gate")))
    door.delete(f"workflow/{other}")
    for query in (
        "workflowType IN (asked_for)",
        "status='RUNNING' AND workflowType IN (asked_for)",
        'correlationId = "c-asked"',
        f"workflowId IN ({workflow_id},{other}) AND status IN (RUNNING) AND startTime>1700000000000",
        "workflowType='asked_f*' AND classifier = workflow",
    ):
        assert ids(door.get("workflow/search", query=query)) == [workflow_id], query
    assert ids(door.get("workflow/search", query="workflowType IN ()")) == []


def test_pages_are_sorted_and_counted(door: Door) -> None:
    door.define("paged", wait("gate"))
    started = [door.start("paged") for _ in range(3)]
    asked = {"query": "workflowType IN (paged)", "size": 2}
    assert ids(door.get("workflow/search", **asked, sort="startTime:ASC")) == started[:2]
    assert ids(door.get("workflow/search", **asked, sort="startTime:ASC", start=2)) == started[2:]
    assert ids(door.get("workflow/search", **asked)) == started[:0:-1]
    counted = door.get("workflow/search", query=asked["query"], size=0)
    assert (counted["totalHits"], counted["results"]) == (3, [])


SEARCHES = ("workflow/search", "workflow/search-by-tasks-v2", "tasks/search", "tasks/search-v2")


def test_a_size_of_minus_one_is_everything_and_no_page_begins_before_the_first(door: Door) -> None:
    door.define("boundless", wait("gate"))
    for _ in range(3):
        door.start("boundless")
    for path in SEARCHES:
        found = door.get(path, query="workflowType = boundless", size=-1, start=-5)
        assert (found["totalHits"], len(found["results"])) == (3, 3), path


def test_a_page_of_less_than_nothing_is_bad_input(door: Door) -> None:
    for path in SEARCHES:
        said = door.refused(400, "GET", path, params={"size": -2})
        assert "size is -2: it must be 0 or more" in said


@pytest.mark.parametrize(
    "query",
    [
        {"query": "nonsense"},
        {"query": "startTime>abc"},
        {"start": "abc"},
        {"size": "abc"},
        {"size": 5001},
    ],
)
def test_searches_that_cannot_be_understood_are_bad_input(door: Door, query: object) -> None:
    for path in ("workflow/search", "workflow/search-v2", "workflow/search-by-tasks"):
        door.refused(400, "GET", path, params=query)


def test_whole_executions_are_found_without_their_tasks(door: Door) -> None:
    workflow_id = door.start(door.define("whole", wait("gate")))
    found = door.get("workflow/search-v2", query="workflowType IN (whole)")["results"][0]
    assert (found["workflowId"], found["tasks"]) == (workflow_id, [])


def test_tasks_are_found_and_so_are_their_executions(door: Door) -> None:
    workflow_id = door.start(door.define("tasked"), correlationId="c-task")
    task = door.poll("tasked_task", workerid="w7")
    query = {"query": "taskType = 'tasked_task' AND status = IN_PROGRESS"}
    row = door.get("tasks/search", **query)["results"][0]
    assert (row["taskId"], row["workflowId"]) == (task["taskId"], workflow_id)
    assert (row["workflowType"], row["correlationId"]) == ("tasked", "c-task")
    assert door.get("tasks/search-v2", **query)["results"][0]["workerId"] == "w7"
    assert ids(door.get("workflow/search-by-tasks", **query)) == [workflow_id]
    assert ids(door.get("workflow/search-by-tasks-v2", **query)) == [workflow_id]
    pending = door.get("admin/task/tasked_task")
    assert [item["taskId"] for item in pending] == [task["taskId"]]


def test_only_executions_without_a_parent_on_demand(door: Door) -> None:
    door.define("below", wait("gate"))
    param = {"name": "below", "version": 1}
    child = {
        "name": "s",
        "taskReferenceName": "s",
        "type": "SUB_WORKFLOW",
        "subWorkflowParam": param,
    }
    workflow_id = door.start(door.define("above", child))
    query = {"query": "workflowType IN (above,below)"}
    assert len(ids(door.get("workflow/search", **query))) == 2
    assert ids(door.get("workflow/search", **query, topLevelOnly="true")) == [workflow_id]


def test_executions_are_found_by_correlation_id(door: Door) -> None:
    door.define("related", wait("gate"))
    open_one, ended = (door.start("related", correlationId="c-rel") for _ in range(2))
    door.delete(f"workflow/{ended}")
    found = door.post("workflow/related/correlated", ["c-rel", "none"]).json()
    assert [row["workflowId"] for row in found["c-rel"]] == [open_one] and found["none"] == []
    both = door.post("workflow/related/correlated?includeClosed=True&includeTasks=True", ["c-rel"])
    assert {row["workflowId"] for row in both.json()["c-rel"]} == {open_one, ended}
    assert door.post("workflow/related/correlated", []).json() == {}
    assert door.get("workflow/related/correlated/none") == []
    batch = {"correlationIds": ["c-rel"], "workflowNames": ["related", "unknown"]}
    found = door.post("workflow/correlated/batch", batch).json()
    assert [row["workflowId"] for row in found["c-rel"]] == [open_one]


def test_running_executions_are_listed_by_name(door: Door) -> None:
    workflow_id = door.start(door.define("runs", wait("gate")))
    assert door.get("workflow/running/runs", version=1) == [workflow_id]
    assert door.get("workflow/running/runs?startTime=1&endTime=2") == []
    assert door.get("workflow/running/unknown") == []
    door.refused(400, "GET", "workflow/running/runs?version=abc")


def test_the_tasks_of_an_execution_come_in_pages(door: Door) -> None:
    workflow_id = door.start(door.define("pages", wait("one"), wait("two")))
    door.post(f"tasks/{workflow_id}/one/COMPLETED", {})
    place = f"workflow/{workflow_id}/tasks"
    assert door.get(place, count=1)["totalHits"] == 2
    assert len(door.get(place, count=1)["results"]) == 1
    found = door.get(place, status=["COMPLETED", "FAILED"])
    assert (found["totalHits"], found["results"][0]["referenceTaskName"]) == (1, "one")
    assert door.get(place, status="NONSENSE") == {"totalHits": 0, "results": []}


def test_masked_fields_are_masked_in_every_answer(door: Door) -> None:
    door.define("masked", wait("gate"), maskedFields=["card"])
    workflow_id = door.start("masked", input={"card": "4711", "who": "ann"})
    found = door.get("workflow/search", query="workflowType IN (masked)")["results"][0]
    assert "4711" not in found["input"] and "ann" in found["input"]
    assert door.execution(workflow_id)["input"]["card"] == "***"
