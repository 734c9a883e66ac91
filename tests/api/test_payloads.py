"""Payloads as files over REST, as clients of Conductor leave and fetch them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.api.door import Door, simple


@pytest.fixture(scope="module")
def storing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    folder: Path = tmp_path_factory.mktemp("payloads")
    with Door(payload_folder=str(folder), task_payload_threshold=1000) as found:
        yield found


def place_for(door: Door, of: str, operation: str, kind: str, path: str = "") -> dict[str, Any]:
    query = {"path": path, "operation": operation, "payloadType": kind}
    answer = door.ask("GET", f"{of}/externalstoragelocation", params=query)
    found: dict[str, Any] = door.good(answer).json()
    return found


def left(door: Door, of: str, kind: str, value: dict[str, Any]) -> str:
    """Leave a payload where the engine says; its path."""
    place = place_for(door, of, "WRITE", kind)
    door.good(door.ask("PUT", urlsplit(place["uri"]).path, json=value))
    path: str = place["path"]
    return path


def fetched(door: Door, of: str, kind: str, path: str) -> Any:
    place = place_for(door, of, "READ", kind, path)
    assert place["path"] == path
    return door.get(urlsplit(place["uri"]).path)


def two_tasks(door: Door, name: str) -> str:
    following = simple("two", f"{name}_next", inputParameters={"got": "${one.output.n}"})
    first = simple("one", f"{name}_task", inputParameters={"in": "${workflow.input.n}"})
    return door.define(name, first, following)


def test_a_payload_is_left_at_the_address_that_is_given_and_fetched_there(storing: Door) -> None:
    place = place_for(storing, "tasks", "WRITE", "TASK_OUTPUT")
    assert place["uri"] == f"http://engine/api/ext/payloads/{place['path']}"
    path = left(storing, "tasks", "TASK_OUTPUT", {"n": 1})
    assert fetched(storing, "tasks", "TASK_OUTPUT", path) == {"n": 1}


def test_an_address_is_secure_where_the_client_came_so(storing: Door) -> None:
    query = {"operation": "write", "payloadType": "workflow_input"}
    headers = {"x-forwarded-proto": "https", "host": "flows.test"}
    answer = storing.ask("GET", "workflow/external-storage-location", params=query, headers=headers)
    assert answer.json()["uri"].startswith("https://flows.test/api/ext/payloads/workflow_input_")


def test_input_and_output_by_path_go_through_a_whole_execution(storing: Door) -> None:
    name = two_tasks(storing, "by_path")
    given = left(storing, "workflow", "WORKFLOW_INPUT", {"n": 5})
    workflow_id = storing.start(name, externalInputPayloadStoragePath=given)
    task = storing.poll("by_path_task")
    assert task["inputData"] == {"in": 5}
    came = left(storing, "tasks", "TASK_OUTPUT", {"n": 6})
    storing.report(task, outputData=None, externalOutputPayloadStoragePath=came)

    assert storing.poll("by_path_next")["inputData"] == {"got": 6}
    shown = storing.execution(workflow_id)
    assert (shown["input"], shown["externalInputPayloadStoragePath"]) == ({}, given)
    first = shown["tasks"][0]
    assert (first["outputData"], first["externalOutputPayloadStoragePath"]) == ({}, came)


def test_a_report_by_path_is_taken_by_the_endpoint_that_gives_the_next_task(storing: Door) -> None:
    name = two_tasks(storing, "next_by_path")
    storing.start(name, input={"n": 1})
    storing.start(name, input={"n": 2})
    task = storing.poll("next_by_path_task")
    path = left(storing, "tasks", "TASK_OUTPUT", {"n": 6})
    report = {
        "workflowInstanceId": task["workflowInstanceId"],
        "taskId": task["taskId"],
        "status": "COMPLETED",
        "externalOutputPayloadStoragePath": path,
    }
    following = storing.post("tasks/update-v2", report).json()
    assert following["inputData"] == {"in": 2}
    assert storing.poll("next_by_path_next")["inputData"] == {"got": 6}


def test_a_large_output_is_fetched_by_its_path(storing: Door) -> None:
    workflow_id = storing.start(two_tasks(storing, "large"))
    large = {"n": "x" * 2000}
    storing.report(storing.poll("large_task"), outputData=large)

    shown = storing.execution(workflow_id)["tasks"][0]

    assert shown["outputData"] == {}
    path = shown["externalOutputPayloadStoragePath"]
    assert fetched(storing, "tasks", "TASK_OUTPUT", path) == large
    assert storing.poll("large_next")["inputData"] == {"got": large["n"]}


def test_a_search_shows_the_path_and_an_empty_map(storing: Door) -> None:
    name = two_tasks(storing, "searched")
    given = left(storing, "workflow", "WORKFLOW_INPUT", {"n": 5})
    storing.start(name, externalInputPayloadStoragePath=given)
    found = storing.get("workflow/search", query=f"workflowType={name}")["results"]
    assert [(row["input"], row["externalInputPayloadStoragePath"]) for row in found] == [
        ("{}", given)
    ]


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ({"operation": "DELETE", "payloadType": "TASK_INPUT"}, "operation is 'DELETE'"),
        ({"operation": "WRITE", "payloadType": "OUTPUT"}, "payloadType is 'OUTPUT'"),
        ({"operation": "READ", "payloadType": "TASK_INPUT"}, "path is empty"),
        ({"payloadType": "TASK_INPUT"}, "operation is missing"),
        (
            {"operation": "READ", "payloadType": "TASK_INPUT", "path": "../../etc/passwd"},
            "has not given out",
        ),
    ],
)
def test_a_question_for_a_place_that_cannot_be_is_refused(
    storing: Door, query: dict[str, str], complaint: str
) -> None:
    where = "tasks/externalstoragelocation"
    assert complaint in storing.refused(400, "GET", where, params=query)


@pytest.mark.parametrize("escape", ["..%2f..%2fetc%2fpasswd", "%2e%2e", "task_output_x.json"])
def test_no_path_leads_out_of_the_folder(storing: Door, escape: str) -> None:
    for method in ("GET", "PUT"):
        how: dict[str, Any] = {"json": {}} if method == "PUT" else {}
        assert storing.ask(method, f"ext/payloads/{escape}", **how).status_code in (400, 404, 405)


@pytest.mark.parametrize("body", [b"[1]", b'{"n":', b"", b"\x00\xff"])
def test_only_a_json_object_is_stored(storing: Door, body: bytes) -> None:
    path = place_for(storing, "tasks", "WRITE", "TASK_OUTPUT")["path"]
    storing.refused(400, "PUT", f"ext/payloads/{path}", content=body)
    storing.refused(404, "GET", f"ext/payloads/{path}")


def test_an_engine_without_a_folder_says_how_to_have_one(door: Door) -> None:
    query = {"operation": "WRITE", "payloadType": "TASK_OUTPUT"}
    where = "workflow/externalstoragelocation"
    assert "REPRISE_PAYLOAD_FOLDER" in door.refused(404, "GET", where, params=query)
    assert "payloads" not in door.get("ext/capabilities")["capabilities"]


def test_an_engine_with_a_folder_offers_it(storing: Door) -> None:
    assert "payloads" in storing.get("ext/capabilities")["capabilities"]


def test_what_replaces_a_payload_is_shown_inline_after_it_was_stored(storing: Door) -> None:
    name = two_tasks(storing, "replaced")
    given = left(storing, "workflow", "WORKFLOW_INPUT", {"n": 5})
    workflow_id = storing.start(name, externalInputPayloadStoragePath=given)
    half = left(storing, "tasks", "TASK_OUTPUT", {"n": 6})
    storing.report(
        storing.poll("replaced_task"), "IN_PROGRESS", externalOutputPayloadStoragePath=half
    )
    storing.report(storing.poll("replaced_task"), outputData={"n": 7})
    first = storing.execution(workflow_id)["tasks"][0]
    assert (first["outputData"], first.get("externalOutputPayloadStoragePath")) == ({"n": 7}, None)

    storing.delete(f"workflow/{workflow_id}")
    storing.post(f"workflow/{workflow_id}/rerun", {"workflowInput": {"n": 8}})
    shown = storing.execution(workflow_id)
    assert (shown["input"], shown.get("externalInputPayloadStoragePath")) == ({"n": 8}, None)
