"""Large payloads of every kind of task and of executions, over REST on a database of its own: shown by
path, fetched by it, resolved wherever they are needed, and gone with their execution."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.model.facts import Limits
from tests.api.door import Door, simple
from tests.api.test_payloads import fetched, left, place_for
from tests.workers.web import Reply, web

LARGE = "x" * 20_000
TEXT = {"text": "${workflow.input.text}"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("large")


@pytest.fixture(scope="module")
def door(folder: Path) -> Iterator[Door]:
    with Door(
        database=f"sqlite:///{folder / 'reprise.db'}",
        payload_folder=str(folder / "payloads"),
        task_payload_threshold=10_000,
        workflow_payload_threshold=15_000,
        http_worker=True,
    ) as found:
        yield found


def payload_files(door: Door) -> set[str]:
    assert door.engine.store.folder is not None
    return set(os.listdir(door.engine.store.folder.place))


def stored_bytes(folder: Path) -> int:
    """What the database takes on the disk."""
    return sum(file.stat().st_size for file in folder.glob("reprise.db*"))


def finished(door: Door, workflow_id: str) -> dict[str, Any]:
    """An execution, once its scripts and calls are done."""
    deadline, pause = time.monotonic() + 30, threading.Event()
    while door.get(f"workflow/{workflow_id}/status")["status"] == "RUNNING":
        assert time.monotonic() < deadline, door.execution(workflow_id)
        pause.wait(0.01)
    shown: dict[str, Any] = door.execution(workflow_id)
    return shown


def tasks_of(shown: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {task["referenceTaskName"]: task for task in shown["tasks"]}


def as_input(door: Door, task: dict[str, Any]) -> Any:
    """A task's input by its path, which stands for an empty map."""
    assert task["inputData"] == {}
    return fetched(door, "tasks", "TASK_INPUT", task["externalInputPayloadStoragePath"])


def as_output(door: Door, task: dict[str, Any]) -> Any:
    assert task["outputData"] == {}
    return fetched(door, "tasks", "TASK_OUTPUT", task["externalOutputPayloadStoragePath"])


def test_large_input_and_output_of_a_task_and_its_workflow_are_shown_by_path(
    door: Door, folder: Path
) -> None:
    one = simple("one", "all_sides_task", inputParameters=TEXT)
    two = simple("two", "all_sides_next", inputParameters={"size": "${one.output.text}"})
    name = door.define("all_sides", one, two, outputParameters={"text": "${one.output.text}"})
    before = stored_bytes(folder)
    workflow_id = door.start(name, input={"text": LARGE})
    polled = door.poll("all_sides_task")
    assert polled["inputData"] == {"text": LARGE}
    assert "externalInputPayloadStoragePath" not in polled
    door.report(polled, outputData={"text": LARGE.upper()})
    assert door.poll("all_sides_next")["inputData"] == {"size": LARGE.upper()}
    door.report({"taskId": tasks_of(door.execution(workflow_id))["two"]["taskId"],
                 "workflowInstanceId": workflow_id}, outputData={})  # fmt: skip

    shown = door.execution(workflow_id)
    assert (shown["status"], shown["input"], shown["output"]) == ("COMPLETED", {}, {})
    asked = shown["externalInputPayloadStoragePath"]
    assert fetched(door, "workflow", "WORKFLOW_INPUT", asked) == {"text": LARGE}
    came = shown["externalOutputPayloadStoragePath"]
    assert fetched(door, "workflow", "WORKFLOW_OUTPUT", came) == {"text": LARGE.upper()}
    first = tasks_of(shown)["one"]
    assert as_input(door, first) == {"text": LARGE}
    assert as_output(door, first) == {"text": LARGE.upper()}
    assert as_output(door, door.get(f"tasks/{first['taskId']}")) == {"text": LARGE.upper()}
    assert stored_bytes(folder) - before < 400_000


def test_sub_workflows_forks_joins_loops_and_scripts_keep_large_payloads_as_files(
    door: Door,
) -> None:
    door.define(
        "large_child",
        {"name": "script", "taskReferenceName": "script", "type": "INLINE",
         "inputParameters": {**TEXT, "expression": "(function(){ return $.text + $.text; })()"}},
        outputParameters={"text": "${script.output.result}"},
    )  # fmt: skip
    jq = {"name": "jq", "taskReferenceName": "jq", "type": "JSON_JQ_TRANSFORM",
          "inputParameters": {**TEXT, "queryExpression": "{big: (.text + .text)}"}}  # fmt: skip
    child = {"name": "child", "taskReferenceName": "child", "type": "SUB_WORKFLOW",
             "inputParameters": TEXT, "subWorkflowParam": {"name": "large_child"}}  # fmt: skip
    rounds = {"name": "rounds", "taskReferenceName": "rounds", "type": "DO_WHILE",
              "loopCondition": "$.rounds.iteration < 2",
              "loopOver": [{**jq, "taskReferenceName": "each"}]}  # fmt: skip
    name = door.define(
        "large_kinds",
        {"name": "fork", "taskReferenceName": "fork", "type": "FORK_JOIN",
         "forkTasks": [[jq], [child]]},
        {"name": "join", "taskReferenceName": "join", "type": "JOIN", "joinOn": ["jq", "child"]},
        rounds,
    )  # fmt: skip
    workflow_id = door.start(name, input={"text": LARGE})
    shown = finished(door, workflow_id)
    assert shown["status"] == "COMPLETED", shown.get("reasonForIncompletion")
    tasks = tasks_of(shown)
    twice = LARGE + LARGE
    assert as_output(door, tasks["jq"])["result"] == {"big": twice}
    assert as_output(door, tasks["child"])["text"] == twice
    joined = as_output(door, tasks["join"])
    assert (joined["jq"]["result"]["big"], joined["child"]["text"]) == (twice, twice)
    assert as_output(door, tasks["each__2"])["result"] == {"big": twice}
    assert as_output(door, tasks["rounds"])["2"]["each"]["result"] == {"big": twice}
    assert as_input(door, tasks["child"])["workflowInput"] == {"text": LARGE}
    below = door.execution(tasks["child"]["subWorkflowId"])
    path = below["externalInputPayloadStoragePath"]
    assert fetched(door, "workflow", "WORKFLOW_INPUT", path) == {"text": LARGE}
    assert as_output(door, tasks_of(below)["script"])["result"] == twice
    path = below["externalOutputPayloadStoragePath"]
    assert fetched(door, "workflow", "WORKFLOW_OUTPUT", path) == {"text": twice}


def test_a_large_answer_of_an_http_task_is_a_file(door: Door) -> None:
    body = b'{"text":"' + LARGE.encode() + b'"}'
    with web(lambda seen: Reply(200, body, {"Content-Type": "application/json"})) as server:
        call = {"name": "call", "taskReferenceName": "call", "type": "HTTP",
                "inputParameters": {"http_request": {"uri": f"{server.url}/", "method": "GET"}}}  # fmt: skip
        name = door.define("large_http", call)
        shown = finished(door, door.start(name))
    output = as_output(door, tasks_of(shown)["call"])
    assert output["response"]["body"] == {"text": LARGE}


def test_a_search_shows_paths_of_tasks_and_outputs(door: Door) -> None:
    name = door.define("large_search", simple("one", "large_search_task", inputParameters=TEXT))
    door.start(name, input={"text": LARGE})
    door.report(door.poll("large_search_task"), outputData={"text": LARGE})
    [row] = door.get("workflow/search", query=f"workflowType={name}")["results"]
    assert (row["input"], row["output"]) == ("{}", "{}")
    assert row["externalOutputPayloadStoragePath"].startswith("content_")
    [task] = door.get("tasks/search", query=f"workflowType={name}")["results"]
    assert (task["input"], task["output"]) == ("{}", "{}")
    assert task["externalInputPayloadStoragePath"].startswith("content_")


def test_a_retry_after_a_restart_of_the_engine_reads_inputs_from_their_files(
    tmp_path: Path,
) -> None:
    how = {
        "database": f"sqlite:///{tmp_path / 'reprise.db'}",
        "payload_folder": str(tmp_path / "payloads"),
        "task_payload_threshold": 1000,
        "workflow_payload_threshold": 1000,
    }
    with Door(**how) as first:
        one = simple("one", "again_task", inputParameters=TEXT)
        two = simple("two", "again_next", inputParameters={"t": "${one.output.text}"})
        name = first.define("again", one, two)
        workflow_id = first.start(name, input={"text": LARGE})
        first.report(first.poll("again_task"), outputData={"text": LARGE})
        first.report(first.poll("again_next"), "FAILED_WITH_TERMINAL_ERROR")
    with Door(**how) as second:
        second.post(f"workflow/{workflow_id}/retry")
        assert second.poll("again_next")["inputData"] == {"t": LARGE}
        second.delete(f"workflow/{workflow_id}")
        second.post(f"workflow/{workflow_id}/rerun", {})
        assert second.poll("again_task")["inputData"] == {"text": LARGE}


def test_files_go_when_their_execution_is_removed_and_shared_ones_with_the_last(
    door: Door,
) -> None:
    name = door.define("removed", simple("one", "removed_task", inputParameters=TEXT))
    before = payload_files(door)
    text = "removed" * 5_000
    ids = [door.start(name, input={"text": text}) for _ in range(2)]
    assert len(payload_files(door) - before) == 1
    door.delete(f"workflow/{ids[0]}/remove", archiveWorkflow="false")
    assert len(payload_files(door) - before) == 1
    assert door.poll("removed_task")["inputData"] == {"text": text}
    door.delete(f"workflow/{ids[1]}/remove", archiveWorkflow="false")
    assert payload_files(door) == before


def test_a_start_workflow_task_follows_the_path_of_its_request(door: Door) -> None:
    door.define("by_path_child", simple("one", "by_path_child_task", inputParameters=TEXT))
    path = left(door, "workflow", "WORKFLOW_INPUT", {"text": "by path"})
    request = {"name": "by_path_child", "externalInputPayloadStoragePath": path}
    starter = {"name": "starter", "taskReferenceName": "starter", "type": "START_WORKFLOW",
               "inputParameters": {"startWorkflow": request}}  # fmt: skip
    shown = finished(door, door.start(door.define("by_path_parent", starter)))
    assert shown["status"] == "COMPLETED"
    started = door.execution(tasks_of(shown)["starter"]["outputData"]["workflowId"])
    assert (started["input"], started["externalInputPayloadStoragePath"]) == ({}, path)
    assert door.poll("by_path_child_task")["inputData"] == {"text": "by path"}


def test_a_start_workflow_task_whose_path_leads_nowhere_fails_and_names_the_field(
    door: Door,
) -> None:
    door.define("no_child", simple("one", "no_child_task"))
    request = {
        "name": "no_child",
        "externalInputPayloadStoragePath": f"workflow_input_{'0' * 32}.json",
    }
    starter = {"name": "starter", "taskReferenceName": "starter", "type": "START_WORKFLOW",
               "inputParameters": {"startWorkflow": request}}  # fmt: skip
    shown = finished(door, door.start(door.define("nowhere", starter)))
    assert shown["status"] == "FAILED"
    reason = tasks_of(shown)["starter"]["reasonForIncompletion"]
    assert "startWorkflow.externalInputPayloadStoragePath cannot be followed" in reason
    assert "No payload found by path" in reason


def test_a_state_update_takes_an_output_by_its_path(door: Door) -> None:
    one = simple("one", "state_task")
    two = simple("two", "state_next", inputParameters={"n": "${one.output.n}"})
    workflow_id = door.start(door.define("state_by_path", one, two))
    path = left(door, "tasks", "TASK_OUTPUT", {"n": 7})
    result = {"status": "COMPLETED", "externalOutputPayloadStoragePath": path}
    door.post(
        f"workflow/{workflow_id}/state",
        {"taskReferenceName": "one", "taskResult": result},
        waitForSeconds=1,
    )
    task = tasks_of(door.execution(workflow_id))["one"]
    assert (task["outputData"], task["externalOutputPayloadStoragePath"]) == ({}, path)
    assert door.poll("state_next")["inputData"] == {"n": 7}


def test_a_state_update_whose_path_leads_nowhere_is_refused_and_changes_nothing(
    door: Door,
) -> None:
    workflow_id = door.start(door.define("state_nowhere", simple("one", "state_nowhere_task")))
    path = f"task_output_{'0' * 32}.json"
    update = {
        "taskReferenceName": "one",
        "taskResult": {"status": "COMPLETED", "externalOutputPayloadStoragePath": path},
        "variables": {"told": True},
    }
    complaint = door.refused(400, "POST", f"workflow/{workflow_id}/state", json=update)
    assert "taskResult.externalOutputPayloadStoragePath cannot be followed" in complaint
    assert door.execution(workflow_id)["variables"] == {}


def test_a_mock_test_takes_its_input_by_path(door: Door) -> None:
    name = door.define("tested", simple("one", "tested_task", inputParameters=TEXT))
    path = left(door, "workflow", "WORKFLOW_INPUT", {"text": "tried"})
    asked = {
        "name": name,
        "externalInputPayloadStoragePath": path,
        "taskRefToMockOutput": {"one": [{"status": "COMPLETED", "output": {}}]},
    }
    shown = door.post("workflow/test", asked).json()
    assert shown["input"] == {"text": "tried"}
    assert tasks_of(shown)["one"]["inputData"] == {"text": "tried"}
    asked["externalInputPayloadStoragePath"] = f"workflow_input_{'0' * 32}.json"
    complaint = door.refused(400, "POST", "workflow/test", json=asked)
    assert "externalInputPayloadStoragePath cannot be followed" in complaint


def test_a_path_for_the_mocks_of_a_sub_workflow_is_refused_by_its_field(door: Door) -> None:
    name = door.define("tested_child", simple("one", "tested_child_task"))
    asked = {
        "name": name,
        "subWorkflowTestRequest": {"sub": {"name": "x", "externalInputPayloadStoragePath": "y"}},
    }
    complaint = door.refused(400, "POST", "workflow/test", json=asked)
    assert "subWorkflowTestRequest.sub.externalInputPayloadStoragePath" in complaint


def test_a_place_is_given_for_every_kind_of_payload(door: Door) -> None:
    for of, kind in (("tasks", "TASK_INPUT"), ("workflow", "WORKFLOW_OUTPUT")):
        assert place_for(door, of, "WRITE", kind)["path"].startswith(kind.lower())


def test_what_is_archived_can_be_read_and_run_again_with_its_files(tmp_path: Path) -> None:
    with Door(
        payload_folder=str(tmp_path),
        task_payload_threshold=1000,
        workflow_payload_threshold=1000,
        retention_days=-1.0,
        archive=True,
    ) as door:
        one = simple("one", "put_away_task", inputParameters=TEXT)
        workflow_id = door.start(door.define("put_away", one), input={"text": LARGE})
        door.report(door.poll("put_away_task"), outputData={"text": LARGE})
        store = door.engine.store
        door.engine.archive.put_away(workflow_id)
        assert store.key_of(workflow_id) is None
        path = door.execution(workflow_id)["externalInputPayloadStoragePath"]
        assert fetched(door, "workflow", "WORKFLOW_INPUT", path) == {"text": LARGE}

        door.post(f"workflow/{workflow_id}/rerun", {})
        assert door.poll("put_away_task")["inputData"] == {"text": LARGE}
        assert store.folder is not None and store.folder.holds(path)
        door.delete(f"workflow/{workflow_id}/remove", archiveWorkflow="false")
        assert payload_files(door) == set()


def test_a_missing_file_stops_its_execution_alone(tmp_path: Path) -> None:
    how = {
        "database": f"sqlite:///{tmp_path / 'reprise.db'}",
        "payload_folder": str(tmp_path / "payloads"),
        "task_payload_threshold": 1000,
    }
    with Door(**how) as first:
        name = first.define("missing", simple("one", "missing_task", inputParameters=TEXT))
        broken = first.start(name, input={"text": LARGE})
        lost = payload_files(first)
    for path in lost:
        next((tmp_path / "payloads").rglob(path)).unlink()
    with Door(**how) as second:
        assert second.get("tasks/poll/batch/missing_task", workerid="me") == []
        assert "cannot be read from" in second.get(f"ext/executions/{broken}/outline")["stuck"]
        second.start(name, input={"text": "fine"})
        assert second.poll("missing_task")["inputData"] == {"text": "fine"}


@pytest.mark.parametrize(
    ("method", "verb", "body", "named"),
    [
        ("POST", "rerun", {"workflowInput": {"t": "x" * 600}}, "workflowInput"),
        ("POST", "rerun", {"taskInput": {"t": "x" * 600}}, "taskInput"),
        ("PUT", "skiptask/one", {"taskOutput": {"t": "x" * 600}}, "taskOutput"),
        ("POST", "variables", {"t": "x" * 600}, "variables"),
    ],
)
def test_what_people_send_is_held_to_the_limits(
    limited: Door, method: str, verb: str, body: dict[str, Any], named: str
) -> None:
    workflow_id = limited.start("limited")
    complaint = limited.refused(413, method, f"workflow/{workflow_id}/{verb}", json=body)
    assert named in complaint and "greater than the permissible limit" in complaint


@pytest.fixture(scope="module")
def limited() -> Iterator[Door]:
    limits = Limits(task_payload=500, workflow_payload=500, variables=500)
    with Door(limits=limits) as found:
        found.define("limited", simple("first", "limited_first"), simple("one", "limited_one"))
        yield found
