"""The scenarios that are told in words: what is asked at the door, and what comes of it. The others
of them stand beside their subject; the last test says where each of the 24 is."""

import ast
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from engine.instruments.clock import HandClock
from engine.model.errors import BadDatabase
from engine.model.facts import Limits
from engine.settings import Settings
from engine.workers.housekeeping import Chores
from tests.api.door import Door, report_of, simple, wait
from tests.scenarios.rest_stage import RestStage

TESTS = Path(__file__).parents[1]
SCENARIOS = TESTS / "data" / "scenarios.jsonl"
NOBODY = "00000000-0000-0000-0000-000000000000"
START = 1_704_067_200_000
MINUTE = 60_000

Json = Any


class Stage:
    """The door, with a clock turned by hand."""

    def __init__(self, **settings: Any) -> None:
        self.clock = HandClock(START)
        self.door = Door(self.clock, limits=settings.pop("limits", Limits()), **settings)
        self.rest = RestStage(self.door, self.clock)

    def __enter__(self) -> "Stage":
        self.door.__enter__()
        return self

    def __exit__(self, *rest: Any) -> None:
        self.door.__exit__(*rest)

    def advance(self, ms: int) -> None:
        self.rest.advance(ms / 1000)

    def task(self, workflow_id: str, reference: str) -> Json:
        """The newest attempt of a reference name."""
        tasks = self.door.execution(workflow_id)["tasks"]
        return [task for task in tasks if task["referenceTaskName"] == reference][-1]


@pytest.fixture
def stage() -> Iterator[Stage]:
    with Stage() as found:
        yield found


def sub(ref: str, name: str) -> Json:
    """A SUB_WORKFLOW task."""
    param = {"name": name, "version": 1}
    return {
        "name": ref,
        "taskReferenceName": ref,
        "type": "SUB_WORKFLOW",
        "subWorkflowParam": param,
    }


def waits_of_the_second_retry(stage: Stage, jitter: int, runs: int) -> list[int]:
    """Milliseconds that a third attempt is held back, in so many executions."""
    door, name = stage.door, f"r{jitter}"
    policy = {"retryCount": 3, "retryDelaySeconds": 2, "retryLogic": "EXPONENTIAL_BACKOFF"}
    policy |= {"maxRetryDelaySeconds": 3, "backoffJitterMs": jitter, "timeoutSeconds": 0}
    door.post("metadata/taskdefs", [{"name": name, **policy}])
    door.define(name, simple("t1", name))
    for _ in range(runs):
        door.start(name)
    for _ in range(2):
        polled = door.get(f"tasks/poll/batch/{name}", count=runs)
        assert len(polled) == runs
        for task in polled:
            door.report(task, "FAILED")
        failed_at = stage.clock.now()
        stage.advance(6000)
    found = []
    for task in polled:
        key = door.engine.store.key_of(task["workflowInstanceId"])
        last = door.engine.store.load(key).runs[-1]
        shown = stage.task(task["workflowInstanceId"], "t1")
        assert (shown["retryCount"], shown["callbackAfterSeconds"]) == (2, 3)
        found.append(last.due_at - failed_at)
    return found


def test_jitter_comes_after_the_cap_and_only_lengthens_the_wait(stage: Stage) -> None:
    """RTY-07."""
    waits = waits_of_the_second_retry(stage, 2000, runs=200)
    assert all(3000 <= wait <= 5000 for wait in waits)
    assert min(waits) < 3500 and max(waits) > 4500
    assert waits_of_the_second_retry(stage, 0, runs=1) == [3000]


def test_bulk_operations_answer_for_each_id(stage: Stage) -> None:
    """BLK-01."""
    door = stage.door
    door.define("many")
    ended = door.ended("many", "COMPLETED")
    first, second = door.start("many"), door.start("many")
    body = [first, ended, NOBODY, second]
    answer = door.put("workflow/bulk/pause", body)
    assert answer.status_code == 200
    assert answer.json()["bulkSuccessfulResults"] == [first, second]
    errors = answer.json()["bulkErrorResults"]
    assert set(errors) == {ended, NOBODY}
    for one in (ended, NOBODY):
        single = door.ask("PUT", f"workflow/{one}/pause").json()
        assert errors[one] == single["message"]
    statuses = [door.execution(one)["status"] for one in (first, ended, second)]
    assert statuses == ["PAUSED", "COMPLETED", "PAUSED"]
    for bad in ([], [first] + [NOBODY] * 1000):
        door.refused(400, "PUT", "workflow/bulk/resume", json=bad)
    assert door.execution(first)["status"] == "PAUSED"


def test_a_bulk_retry_starts_a_new_child(stage: Stage) -> None:
    """BLK-02."""
    door = stage.door
    door.define("kid")
    door.define("parent", sub("s", "kid"))
    parent = door.start("parent")
    old = stage.task(parent, "s")["subWorkflowId"]
    door.report(door.poll("kid_task"), "FAILED_WITH_TERMINAL_ERROR")
    stage.rest.settle()
    assert door.execution(parent)["status"] == "FAILED"
    door.post("workflow/bulk/retry", [parent])
    stage.rest.settle()
    again = stage.task(parent, "s")
    assert (again["retryCount"], again["status"]) == (1, "IN_PROGRESS")
    assert again["subWorkflowId"] not in (old, None)
    assert door.execution(old)["status"] == "FAILED"


def test_an_update_by_reference_name_means_the_open_round_and_merges(stage: Stage) -> None:
    """UPR-01."""
    door = stage.door
    loop = {"name": "lp", "taskReferenceName": "lp", "type": "DO_WHILE", "loopOver": [wait("wa")]}
    door.define("rounds", {**loop, "loopCondition": "$.lp['iteration'] < 3"}, wait("after"))
    door.define("kept", simple("a", "kept_a"))
    first, second = door.start("rounds"), door.start("kept")
    door.post(f"tasks/{first}/wa/COMPLETED", {})
    stage.rest.settle()
    door.report(door.poll("kept_a"), "IN_PROGRESS", outputData={"p": 1})

    answer = door.post(f"tasks/{first}/wa/COMPLETED", {"k": 1})
    done = stage.task(first, "wa__2")
    assert (done["status"], done["outputData"]) == ("COMPLETED", {"k": 1})
    assert answer.text == done["taskId"]
    assert answer.headers["content-type"].startswith("text/plain")
    assert stage.task(first, "wa__1")["outputData"] == {}
    door.post(f"tasks/{second}/a/COMPLETED", {"q": 2})
    assert stage.task(second, "a")["outputData"] == {"p": 1, "q": 2}

    stage.rest.settle()
    before = door.execution(first)
    nothing = door.ask("POST", f"tasks/{first}/nothing/COMPLETED", json={})
    assert (nothing.status_code, nothing.content) == (200, b"")
    assert door.execution(first) == before
    door.refused(404, "POST", f"tasks/{first}/nothing/COMPLETED/sync", json={})
    whole = door.post(f"tasks/{first}/wa/COMPLETED/sync", {"k": 3}).json()
    assert whole["workflowId"] == first
    rounds = [task["status"] for task in whole["tasks"] if task["referenceTaskName"] == "wa__3"]
    assert rounds == ["COMPLETED"]


def test_a_report_brings_the_next_task_of_its_type() -> None:
    """UPR-02."""
    with Door() as door:
        door.define("pair", simple("a", "pair_a"))
        first, second = door.start("pair"), door.start("pair")
        task = door.poll("pair_a", workerid="w1", count=1)
        assert task["workflowInstanceId"] == first
        following = door.post("tasks/update-v2", report_of(task, workerId="w1")).json()
        assert following["workflowInstanceId"] == second
        assert (following["status"], following["workerId"]) == ("IN_PROGRESS", "w1")
        assert following["pollCount"] == 1
        last = door.ask("POST", "tasks/update-v2", json=report_of(following, workerId="w1"))
        assert (last.status_code, last.content) == (204, b"")


def test_polls_for_nothing_answer_at_once_or_in_their_time_and_are_remembered() -> None:
    """POL-01."""
    with Door() as door:
        single = door.ask("GET", "tasks/poll/A", params={"workerid": "w1"})
        assert (single.status_code, single.content) == (204, b"")
        path = "tasks/poll/batch/A?count=3&timeout="
        assert "5 seconds" in door.refused(400, "GET", f"{path}6000")
        answer = door.ask("GET", f"{path}200&workerid=w2&domain=d")
        assert (answer.status_code, answer.json()) == (200, [])
        assert answer.elapsed.total_seconds() < 2
        door.ask("GET", f"{path}0&workerid=w3&domain=d")
        newest = {row.get("domain"): row for row in door.get("tasks/queue/polldata", taskType="A")}
        assert set(newest) == {None, "d"}
        assert newest[None]["workerId"] == "w1" and newest["d"]["workerId"] == "w3"
        assert all(row["lastPollTime"] > START for row in newest.values())
        assert len(door.get("tasks/queue/polldata", taskType="A")) == 2


@pytest.mark.parametrize(
    ("strategy", "shown"),
    [
        ("TARGET_WORKFLOW", "parent"),
        ("BLOCKING_WORKFLOW", "child"),
        ("BLOCKING_TASK", "task"),
        ("BLOCKING_TASK_INPUT", "task"),
    ],
)
def test_a_signal_reaches_the_wait_inside_a_child(strategy: str, shown: str) -> None:
    """SIG-01."""
    with Door() as door:
        door.define("kid", wait("gate"), wait("second"))
        door.define("outer", sub("s", "kid"))
        began = door.post("workflow/execute/outer/1?returnStrategy=BLOCKING_TASK", {}).json()
        parent, child = began["targetWorkflowId"], began["workflowId"]
        path = f"tasks/{parent}/COMPLETED/signal"
        found = door.post(f"{path}/sync?returnStrategy={strategy}", {"ok": True}).json()
        assert found["responseType"] == strategy and found["targetWorkflowId"] == parent
        assert found["workflowId"] == (parent if shown == "parent" else child)
        if shown == "task":
            assert (found["referenceTaskName"], found["status"]) == ("second", "IN_PROGRESS")
        gate, second = door.execution(child)["tasks"]
        assert (gate["status"], gate["outputData"]) == ("COMPLETED", {"ok": True})
        assert (second["referenceTaskName"], second["status"]) == ("second", "IN_PROGRESS")
        assert door.ask("POST", path, json={}).status_code == 200
        assert door.execution(child)["status"] == "COMPLETED"
        door.refused(404, "POST", f"{path}/sync", json={})
        assert door.ask("POST", path, json={}).status_code == 200


def test_a_synchronous_execution_waits_no_longer_than_it_must() -> None:
    """EXE-01."""
    with Door() as door:
        script = {"expression": "1 + 1", "evaluatorType": "javascript"}
        inline = {"name": "i", "taskReferenceName": "i", "type": "INLINE"}
        door.define("inline", {**inline, "inputParameters": script})
        door.define("worker", simple("a", "exe_a"), simple("b", "exe_b"))
        done = door.post("workflow/execute/inline/1", {"input": {}}).json()
        assert (done["status"], done["output"]) == ("COMPLETED", {"result": 2})
        late = door.post("workflow/execute/worker/1?waitForSeconds=1", {}).json()
        assert (late["status"], late["signalTimeout"]) == ("RUNNING", True)
        assert [task["referenceTaskName"] for task in late["tasks"]] == ["a"]
        door.report(door.poll("exe_a"))

        def work() -> None:
            found = door.get("tasks/poll/batch/exe_a", timeout=5000)
            door.report(found[0])

        worker = threading.Thread(target=work)
        worker.start()
        path = "workflow/execute/worker/1?waitUntilTaskRef=a&waitForSeconds=20"
        early = door.post(path, {}).json()
        worker.join()
        assert (early["status"], early["signalTimeout"]) == ("RUNNING", False)
        assert [task["status"] for task in early["tasks"]] == ["COMPLETED", "SCHEDULED"]
        latest = door.post("workflow/execute/inline/0", {"input": {}}).json()
        assert latest["status"] == "COMPLETED"


def test_the_query_grammar_finds_what_it_says(stage: Stage) -> None:
    """SRC-01."""
    door = stage.door
    door.define("a")
    door.define("b", wait("gate"))
    first = door.ended("a", "COMPLETED", correlationId="c1")
    stage.advance(MINUTE)
    second = door.ended("a", "FAILED", correlationId="c2")
    stage.advance(MINUTE)
    third = door.start("b", correlationId="c1")

    def found(query: str, **more: Json) -> list[str]:
        answer = door.get("workflow/search", query=query, sort="startTime:ASC", **more)
        return [row["workflowId"] for row in answer["results"]]

    assert found("workflowType=a") == [first, second]
    assert found("workflowType='a' AND status=FAILED") == [second]
    assert found("status IN (FAILED,RUNNING)") == [second, third]
    assert found("correlationId=c*") == [first, second, third]
    assert found(f"startTime>{START}") == [second, third]
    assert found(f"startTime<{START + MINUTE}") == [first]
    descending = {"sort": "startTime:DESC"}
    rows = door.get("workflow/search", **descending)["results"]
    assert [row["workflowId"] for row in rows] == [third, second, first]
    page = door.get("workflow/search", start=1, size=1, **descending)
    assert ([row["workflowId"] for row in page["results"]], page["totalHits"]) == ([second], 3)
    rows = door.get("workflow/search", query="", freeText="*")["results"]
    assert [row["workflowId"] for row in rows] == [third, second, first]
    said = door.refused(400, "GET", "workflow/search", params={"query": "workflowType LIKE a"})
    assert "Incorrectly formatted query string" in said
    door.refused(400, "GET", "workflow/search", params={"size": 5001})


def test_summaries_are_texts_and_the_second_version_gives_whole_records(stage: Stage) -> None:
    """SRC-02."""
    door = stage.door
    door.define("shaped")
    workflow_id = door.start("shaped", input={"n": 1})
    stage.advance(1500)
    door.report(door.poll("shaped_task"), "FAILED_WITH_TERMINAL_ERROR", outputData={"o": [1]})
    summary = door.get("workflow/search")
    assert set(summary) == {"totalHits", "results"} and summary["totalHits"] == 1
    row = summary["results"][0]
    assert row["startTime"] == "2024-01-01T00:00:00.000Z"
    assert (row["endTime"], row["executionTime"]) == ("2024-01-01T00:00:01.500Z", 1500)
    assert (row["input"], row["failedReferenceTaskNames"]) == ('{"n":1}', "one")
    assert isinstance(row["output"], str)
    whole = door.get("workflow/search-v2")["results"][0]
    assert (whole["workflowId"], whole["startTime"], whole["input"]) == (
        workflow_id,
        START,
        {"n": 1},
    )
    task = door.get("tasks/search")["results"][0]
    assert isinstance(task["input"], str) and isinstance(task["output"], str)
    assert re.fullmatch(r"2024-01-01T00:00:0\d\.\d{3}Z", task["scheduledTime"])
    whole_task = door.get("tasks/search-v2")["results"][0]
    assert (whole_task["referenceTaskName"], whole_task["outputData"]) == ("one", {"o": [1]})
    other = door.define("twice", wait("x1"), wait("x2"))
    both = door.start(other)
    door.post(f"tasks/{both}/x1/COMPLETED", {})
    rows = door.get("workflow/search-by-tasks", query="taskType=WAIT")["results"]
    assert [row["workflowId"] for row in rows] == [both]


def test_the_counters_that_an_operator_relies_on() -> None:
    """MET-01: Conductor's names and labels, in the form of Prometheus."""
    with Door() as door:
        door.post(
            "metadata/taskdefs", [{"name": "m_task", "retryCount": 1, "retryDelaySeconds": 0}]
        )
        door.define("m")
        door.start("m")
        door.report(door.poll("m_task"), "FAILED")
        door.report(door.poll("m_task"), "COMPLETED")
        lines = door.ask("GET", "/actuator/prometheus").text.splitlines()
    workflow = 'workflowName="m"'
    once = 'taskType="m_task",includeRetries="false",status='
    assert f'workflow_start_success_total{{{workflow},version="1",ownerApp="unknown"}} 1' in lines
    assert f'workflow_execution_seconds_count{{{workflow},ownerApp="unknown"}} 1' in lines
    assert 'task_poll_total{taskType="m_task"} 2' in lines
    assert 'task_queue_wait_seconds_count{taskType="m_task"} 2' in lines
    assert f'task_execution_seconds_count{{{once}"FAILED"}} 1' in lines
    assert f'task_execution_seconds_count{{{once}"COMPLETED"}} 1' in lines


def test_a_payload_above_its_limit_is_refused_and_wedges_nothing() -> None:
    """PAY-01."""
    with Stage(limits=Limits(task_payload=2048, workflow_payload=2048)) as stage:
        door = stage.door
        workflow_id = door.start(door.define("large"))
        door.report(door.poll("large_task"), outputData={"x": "y" * 3000})
        task = stage.task(workflow_id, "one")
        assert (task["status"], task["outputData"]) == ("FAILED_WITH_TERMINAL_ERROR", {})
        assert "3008" in task["reasonForIncompletion"] and "2048" in task["reasonForIncompletion"]
        assert door.execution(workflow_id)["status"] == "FAILED"
        body = {"name": "large", "input": {"x": "y" * 3000}}
        said = door.refused(413, "POST", "workflow", json=body)
        assert "3008" in said and "2048" in said
        assert door.get("workflow/running/large") == []


def put_away(engine: Engine) -> None:
    """What the chore of retention does once a minute, with everything that has ended."""
    keeper, sightings = engine.housekeeping, engine.tasks.sightings
    Chores(keeper, engine.store, engine.clock, sightings, 1 / 1440, archive=True).take_away()


def test_an_archived_execution_is_read_and_brought_back(stage: Stage) -> None:
    """ARC-01, put away for its age. (By a listener of its definition: see the tests of the door.)"""
    door = stage.door
    door.define("kept", simple("one", "kept_task"), simple("two", "kept_two"))
    workflow_id = door.start("kept", input={"n": 1})
    door.report(door.poll("kept_task"), outputData={"o": 1})
    door.report(door.poll("kept_two"), "FAILED_WITH_TERMINAL_ERROR", logs=[{"log": "oh"}])
    before = door.execution(workflow_id)
    stage.advance(2 * MINUTE)
    put_away(door.engine)
    assert door.engine.store.key_of(workflow_id) is None
    assert door.execution(workflow_id) == before
    found = door.get("workflow/search", query="status = FAILED", freeText="kept")
    assert [row["workflowId"] for row in found["results"]] == [workflow_id]
    door.post(f"workflow/{workflow_id}/retry")
    assert door.statuses(workflow_id) == [
        "one COMPLETED",
        "two FAILED_WITH_TERMINAL_ERROR",
        "two SCHEDULED",
    ]
    assert door.get(f"tasks/{before['tasks'][1]['taskId']}/log")[0]["log"] == "oh"
    door.report(door.poll("kept_two"))
    assert door.execution(workflow_id)["status"] == "COMPLETED"
    found = door.get("workflow/search", query=f"workflowId={workflow_id}")
    assert found["totalHits"] == 1


def test_the_log_of_a_task_holds_what_was_posted_and_what_was_reported(stage: Stage) -> None:
    """LOG-01."""
    door = stage.door
    door.define("logged")
    door.start("logged")
    task = door.poll("logged_task")
    place = f"tasks/{task['taskId']}/log"
    silent = door.ask("GET", place)
    assert (silent.status_code, silent.content) == (204, b"")
    door.good(door.ask("POST", place, content=b"by hand"))
    door.report(task, "IN_PROGRESS", logs=[{"log": "x", "createdTime": 5}])
    lines = door.get(place)
    assert [line["log"] for line in lines] == ["by hand", "x"]
    assert all(set(line) == {"log", "taskId", "createdTime"} for line in lines)
    assert {line["taskId"] for line in lines} == {task["taskId"]}
    unknown = door.ask("GET", f"tasks/{NOBODY}/log")
    assert (unknown.status_code, unknown.content) == (204, b"")


def test_a_second_engine_on_one_database_is_refused(url: str) -> None:
    """DUR-02. One engine owns a database, on SQLite and on PostgreSQL: a second one is refused by
    name before it has handed out or decided anything, so that nothing can be done twice. When the
    first has gone, the next takes up its work."""
    first = Engine(Settings(database=url, evaluators=1, http_worker=False, port=1)).start()
    with pytest.raises(BadDatabase, match="in use by"):
        Engine(Settings(database=url))
    assert first.running
    first.stop()
    with Engine(Settings(database=url, evaluators=1, http_worker=False, port=1)) as second:
        assert second.running


def named_in_tests() -> set[str]:
    """The scenarios that the docstring of a test names."""
    pattern = re.compile(r"\b[A-Z]{3}-\d{2}\b")
    named: set[str] = set()
    for file in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                named.update(pattern.findall(ast.get_docstring(node) or ""))
    return named


def test_every_scenario_in_words_has_a_test_that_names_it() -> None:
    told = [json.loads(line) for line in SCENARIOS.read_text().splitlines()]
    by_hand = {scenario["id"] for scenario in told if scenario.get("manual")}
    assert len(by_hand) == 24
    assert by_hand - named_in_tests() == set()
