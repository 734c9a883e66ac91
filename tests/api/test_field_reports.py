"""What went wrong for people elsewhere, asked at the door of a whole engine; the number is the
report's. Reports about rules, polls and timers stand in the rooms of these."""

import threading
import time
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.api.door import Door, report_of, simple, wait
from tests.engine.builders import Bench, task, workflow
from tests.workers.web import Reply, Seen, web

Json = Any

INTEGERS = [9007199254740993, 18446744073709551615, -9223372036854775808]


def together(count: int, work: Callable[[int], Json]) -> list[Json]:
    """The same from many threads at the same moment."""
    ready = threading.Barrier(count)

    def one(number: int) -> Json:
        ready.wait(30)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def ended(door: Door, workflow_id: str) -> Json:
    """The execution, once it has ended."""
    execution = door.engine.executions
    deadline = time.monotonic() + 30
    pause = threading.Event()
    while execution.get(workflow_id, tasks=False)["status"] == "RUNNING":
        assert time.monotonic() < deadline, door.execution(workflow_id)
        pause.wait(0.005)
    return door.execution(workflow_id)


def inline(ref: str, expression: str, kind: str = "INLINE", **given: Json) -> Json:
    """A script task."""
    field = "queryExpression" if kind == "JSON_JQ_TRANSFORM" else "expression"
    return task(ref, kind, retryCount=0, inputParameters={field: expression, **given})


@pytest.mark.parametrize(
    "given",
    [
        {"t": None, "i": {}},
        {"t": "x", "i": {}},
        {"t": [{"name": "x"}], "i": {}},
        {"t": [{"name": "x", "taskReferenceName": "r"}] * 2, "i": {"r": {}}},
    ],
)
def test_fr_012_a_wrong_dynamic_fork_is_no_fault_of_the_start(door: Door, given: Json) -> None:
    fork = task(
        "d",
        "FORK_JOIN_DYNAMIC",
        inputParameters={"t": "${workflow.input.t}", "i": "${workflow.input.i}"},
        dynamicForkTasksParam="t",
        dynamicForkTasksInputParamName="i",
    )
    door.define("dynamic", fork, task("j", "JOIN"), simple("end", "dynamic_end"))
    found = ended(door, door.start("dynamic", input=given))
    assert found["status"] in ("FAILED", "TERMINATED")
    assert "Traceback" not in str(found) and found["reasonForIncompletion"]
    assert not [one for one in found["tasks"] if one["status"] in ("SCHEDULED", "IN_PROGRESS")]


def test_fr_030_a_key_that_many_send_at_once_starts_one_execution(door: Door) -> None:
    door.define("keys", wait("gate"))

    def start(strategy: str, key: str) -> Callable[[int], Json]:
        body = {"name": "keys", "idempotencyKey": key, "idempotencyStrategy": strategy}
        return lambda number: door.ask("POST", "workflow", json=body)

    same = together(12, start("RETURN_EXISTING", "kü 1"))
    assert {answer.status_code for answer in same} == {200}
    assert len({answer.text for answer in same}) == 1
    codes = Counter(answer.status_code for answer in together(12, start("FAIL", "k2")))
    assert codes == {200: 1, 409: 11}
    found = door.get("workflow/search", query="workflowType=keys")
    assert found["totalHits"] == 2
    assert door.execution(same[0].text)["idempotencyKey"] == "kü 1"
    for key in ("", None):
        body = {"name": "keys", "idempotencyKey": key, "idempotencyStrategy": "FAIL"}
        assert door.post("workflow", body).text != door.post("workflow", body).text


def test_fr_033_a_literal_placeholder_is_passed_on(door: Door) -> None:
    given = {
        "a": "$${a}",
        "b": "x $${a} y ${workflow.input.v}",
        "c": {"m": {"l": ["$${a}", "${workflow.input.v}", 1, None, True]}},
        "d": "${workflow.input.missing}",
        "e": "p${workflow.input.missing}s",
        "f": "${workflow.input.o}",
        "g": "${a",
        "h": "${workflow.input.s}",
    }
    door.define("literal", simple("one", "literal_task", inputParameters=given))
    value = {"v": "V", "o": {"n": 1.0, "t": [True]}, "s": "${workflow.input.v}"}
    door.start("literal", input=value)
    seen = door.poll("literal_task")["inputData"]
    assert seen == {
        "a": "${a}",
        "b": "x ${a} y V",
        "c": {"m": {"l": ["${a}", "V", 1, None, True]}},
        "d": None,
        "e": "pnulls",
        "f": {"n": 1.0, "t": [True]},
        "g": "${a",
        "h": "${workflow.input.v}",
    }


@pytest.mark.parametrize(
    ("program", "result", "all_results"),
    [(".a.b", None, [None]), ("empty", None, []), (".xs[]", 1, [1, 2, 3]), ("env|length", 0, [0])],
)
def test_fr_034_a_jq_program_may_yield_null_or_nothing(
    door: Door, program: str, result: Json, all_results: list[Json]
) -> None:
    door.define("jq", inline("q", program, "JSON_JQ_TRANSFORM", xs=[1, 2, 3]))
    found = ended(door, door.start("jq"))
    assert found["status"] == "COMPLETED"
    output = found["tasks"][0]["outputData"]
    assert (output.get("result"), output["resultList"]) == (result, all_results)


@pytest.mark.parametrize("program", ['error("no")', ".[", "1/0", "def f: f; f", "[range(1e9)]"])
def test_fr_034_a_jq_program_that_fails_fails_its_task(door: Door, program: str) -> None:
    door.define("jq_bad", inline("q", program, "JSON_JQ_TRANSFORM"))
    found = ended(door, door.start("jq_bad"))
    assert found["status"] == "FAILED" and found["tasks"][0]["reasonForIncompletion"]


def test_fr_035_large_integers_are_exact_to_the_digit(door: Door) -> None:
    """Through input, worker, variable, child, output and search. Those beyond 64 bits are exact where
    they are stored and shown as they came, and doubles once an expression has read them."""
    child = {"name": "inner", "version": 1, "tasks": [simple("in", "exact_inner")]}
    child["tasks"][0]["inputParameters"] = {"ids": "${workflow.input.ids}"}
    door.define(
        "exact",
        simple("one", "exact_task", inputParameters={"ids": "${workflow.input.ids}"}),
        task("keep", "SET_VARIABLE", inputParameters={"ids": "${one.output.ids}"}),
        task(
            "sub",
            "SUB_WORKFLOW",
            inputParameters={"ids": "${workflow.variables.ids}"},
            subWorkflowParam={"name": "inner", "workflowDefinition": child},
        ),
        outputParameters={"ids": "${workflow.variables.ids}"},
    )
    workflow_id = door.start("exact", input={"ids": INTEGERS})
    polled = door.poll("exact_task")
    assert polled["inputData"]["ids"] == INTEGERS
    door.report(polled, outputData={"ids": INTEGERS})
    inner = door.get("tasks/poll/batch/exact_inner", timeout=5000)[0]
    assert inner["inputData"]["ids"] == INTEGERS
    door.report(inner)
    found = ended(door, workflow_id)
    assert found["variables"]["ids"] == found["output"]["ids"] == INTEGERS
    row = door.get("workflow/search", query="workflowType=exact")["results"][0]
    assert all(str(number) in row["output"] for number in INTEGERS)


@pytest.mark.parametrize(
    "raw",
    ["NaN", "Infinity", "1e400", '"\\ud800"', "[" * 1200 + "]" * 1200, "9" * 5000],
    ids=["nan", "infinity", "overflow", "half a pair", "too deep", "too long"],
)
def test_fr_036_what_is_no_json_is_refused_and_not_stored(door: Door, raw: str) -> None:
    workflow_id = door.start(door.define("strict"))
    polled = door.poll("strict_task")
    head = f'"workflowInstanceId":"{workflow_id}","taskId":"{polled["taskId"]}"'
    body = f'{{{head},"status":"COMPLETED","outputData":{{"x":{raw}}}}}'
    headers = {"content-type": "application/json"}
    answer = door.ask("POST", "tasks", content=body.encode(), headers=headers)
    assert answer.status_code in (400, 413), answer.text
    assert door.execution(workflow_id)["tasks"][0]["status"] == "IN_PROGRESS"
    door.report(polled, outputData={"x": "NaN", "nul": "a\u0000b"})
    assert door.execution(workflow_id)["output"] == {"x": "NaN", "nul": "a\u0000b"}


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_fr_037_every_answer_of_success_is_one(status: int) -> None:
    with web(lambda seen: Reply(status)) as server, Bench() as bench:
        request = {"uri": server.url, "method": "POST", "body": {"a": 1}}
        bench.define(workflow("w", task("h", "HTTP", inputParameters={"http_request": request})))
        found = bench.run("w")
        assert found["status"] == "COMPLETED" and len(server.seen) == 1
    response = found["tasks"][0]["outputData"]["response"]
    assert response["statusCode"] == status and response.get("body") is None


def test_fr_037_a_failing_answer_is_asked_for_once_an_attempt() -> None:
    def answer(seen: Seen) -> Reply:
        return Reply(
            429, b'{"why":"busy"}', {"Retry-After": "0", "Content-Type": "application/json"}
        )

    with web(answer) as server, Bench() as bench:
        request = {"uri": server.url, "method": "GET"}
        bench.define_tasks({"name": "h", "retryCount": 1, "retryDelaySeconds": 0})
        bench.define(workflow("w", task("h", "HTTP", inputParameters={"http_request": request})))
        found = bench.run("w")
        assert len(server.seen) == 2
    assert [one["status"] for one in found["tasks"]] == ["FAILED", "FAILED"]
    assert found["tasks"][1]["outputData"]["response"]["body"] == {"why": "busy"}


def chooser(**more: Json) -> Json:
    case = {"big": [task("hit", "NOOP")]}
    return task("choose", "SWITCH", decisionCases=case, defaultCase=[], **more)


def test_fr_038_valid_definitions_are_taken(door: Door) -> None:
    expression = "$.items.filter(i => i > 10).length > 0 ? 'big' : 'small'"
    given = {"items": "${workflow.input.items}", "l": ["", "a"], "m": {"k": ""}, "n": None, "z": 0}
    switch = chooser(evaluatorType="javascript", expression=expression, inputParameters=given)
    name = door.define("valid", switch)
    found = ended(door, door.start(name, input={"items": [11]}))
    assert [one["referenceTaskName"] for one in found["tasks"]] == ["choose", "hit"]


def test_fr_038_a_script_that_cannot_be_read_is_refused_by_its_task(door: Door) -> None:
    switch = chooser(evaluatorType="javascript", expression="1 +", inputParameters={"a": 1})
    body = [{"name": "unread", "version": 1, "tasks": [switch]}]
    said = door.refused(400, "PUT", "metadata/workflow", json=body)
    assert "SyntaxError" in said and "at line 1" in said and "choose" in said
    assert said == door.refused(400, "POST", "metadata/workflow/validate", json=body[0])


def test_fr_038_nothing_is_run_at_registration(door: Door) -> None:
    switch = chooser(
        evaluatorType="javascript", expression="(() => { while (true) {} })()", inputParameters={}
    )
    began = time.monotonic()
    door.ask(
        "PUT", "metadata/workflow", json=[{"name": "endless", "version": 1, "tasks": [switch]}]
    )
    assert time.monotonic() - began < 2


NAMES = [
    "a/b", "a#b", "a?b", "a%2Fb", "a b", "a.b", "..", "ü日本", 'a"<img src=x onerror=1>',
    "n" * 255, "n" * 2000, "names", "search", "", " a ",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=[ascii(name)[:20] for name in NAMES])
def test_fr_039_a_name_is_refused_or_works_everywhere(door: Door, name: str) -> None:
    body = [{"name": name, "version": 1, "tasks": [wait("gate")]}]
    registered = door.ask("PUT", "metadata/workflow", json=body)
    if registered.status_code != 200:
        assert registered.status_code == 400, registered.text
        return
    place = f"metadata/workflow/{urllib.parse.quote(name, safe='')}"
    listed = {one["name"] for one in door.get("metadata/workflow")}
    assert name in listed
    assert door.ask("GET", f"{place}?version=1").json()["name"] == name
    workflow_id = door.start(name)
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    found = door.get("workflow/search", query=f"workflowType='{quoted}'")
    assert workflow_id in {row["workflowId"] for row in found["results"]}
    door.delete(f"workflow/{workflow_id}")
    door.delete(f"{place}/1")
    assert name not in {one["name"] for one in door.get("metadata/workflow")}


def test_fr_040_a_definition_is_overwritten_on_demand_alone(door: Door) -> None:
    first = {"name": "again", "version": 1, "tasks": [wait("one")]}
    second = {**first, "tasks": [wait("two")]}
    door.post("metadata/workflow", first)
    running = door.start("again")
    door.refused(409, "POST", "metadata/workflow", json=second)
    assert door.get("metadata/workflow/again")["tasks"][0]["taskReferenceName"] == "one"
    door.post("metadata/workflow", second, overwrite="true")
    assert door.get("metadata/workflow/again")["tasks"][0]["taskReferenceName"] == "two"
    shown = door.execution(running)["workflowDefinition"]
    assert shown["tasks"][0]["taskReferenceName"] == "one"


def test_fr_040_a_missing_version_is_the_first_and_text_is_a_number(door: Door) -> None:
    plain = {"name": "numbered", "tasks": [wait("one")]}
    door.post("metadata/workflow", plain)
    assert door.get("metadata/workflow/numbered")["version"] == 1
    door.post("metadata/workflow", {**plain, "version": "2"})
    assert door.get("metadata/workflow/numbered")["version"] == 2
    door.refused(409, "POST", "metadata/workflow", json={**plain, "version": 1})


def test_fr_040_of_many_who_register_a_version_one_succeeds(door: Door) -> None:
    body = {"name": "raced", "version": 1, "tasks": [wait("one")]}
    answers = together(10, lambda number: door.ask("POST", "metadata/workflow", json=body))
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 9}


def test_fr_041_the_latest_version_is_the_highest_number(door: Door) -> None:
    for version in (9, 10, 2, 1_000_000):
        body = {"name": "latest", "version": version, "tasks": [wait("one")]}
        door.post("metadata/workflow", body)
    param = {"name": "latest"}
    door.define("above", task("s", "SUB_WORKFLOW", subWorkflowParam=param))
    running = door.start("latest")
    assert door.execution(running)["workflowVersion"] == 1_000_000
    door.delete("metadata/workflow/latest/1000000")
    assert door.execution(door.start("latest"))["workflowVersion"] == 10
    assert door.execution(running)["status"] == "RUNNING"
    parent = door.start("above")
    deadline = time.monotonic() + 30
    while not (child := door.execution(parent)["tasks"][0].get("subWorkflowId")):
        assert time.monotonic() < deadline
    assert door.execution(child)["workflowVersion"] == 10
    door.delete(f"workflow/{running}")
    door.post(f"workflow/{running}/restart", useLatestDefinitions="true")
    assert door.execution(running)["workflowVersion"] == 10


HOSTILE = [
    "while (true) {}",
    "(function f() { return f() + 1 })()",
    "'x'.repeat(2 ** 30)",
    "this.constructor.constructor('return process')().env",
    "[].constructor.constructor('return globalThis')().process.exit()",
    "java.lang.Runtime.getRuntime().exec('id')",
    "Packages.java.lang.System.exit(1)",
    "require('fs').readFileSync('/etc/passwd')",
    "std.loadFile('/etc/passwd')",
    "os.exec(['id'])",
    "/(a+)+$/.test('a'.repeat(40) + '!')",
    "new Array(1e9).fill(0).sort()",
]


@pytest.mark.parametrize("script", HOSTILE)
def test_fr_050_a_hostile_script_fails_and_others_go_on(script: str) -> None:
    with Bench(http_worker=False) as bench:
        bench.define(workflow("bad", inline("i", script)), workflow("good", task("n", "NOOP")))
        began = time.monotonic()
        attack = bench.start("bad")
        for _ in range(5):
            assert bench.run("good")["status"] == "COMPLETED"
        found = bench.ended(attack)
        assert time.monotonic() - began < 10
    assert found["status"] == "FAILED", found["output"]
    assert found["tasks"][0]["reasonForIncompletion"]


def test_fr_050_nothing_stays_behind_for_the_next_script(door: Door) -> None:
    spoil = "Object.prototype.stolen = 1; Array.prototype.map = null; globalThis.x = 5; 'done'"
    door.define("spoil", inline("i", spoil))
    ended(door, door.start("spoil"))
    look = "[typeof x, typeof ({}).stolen, typeof [].map].join()"
    door.define("look", inline("i", look))
    found = ended(door, door.start("look"))
    assert found["output"]["result"] == "undefined,undefined,function"


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with Door() as found:
        yield found


def test_fr_027_an_answer_at_once_is_never_overtaken() -> None:
    """The server completes the task from outside before it has answered itself."""
    with Bench() as bench:

        def answer(seen: Seen) -> Reply:
            name = seen.headers["X-Workflow"]
            bench.engine.tasks.update_by_ref(name, "call", "COMPLETED", {"paid": True})
            return Reply(202)

        with web(answer) as server:
            headers = {"X-Workflow": "${workflow.workflowId}"}
            request = {"uri": server.url, "method": "POST", "headers": headers}
            call = task(
                "call", "HTTP", asyncComplete=True, inputParameters={"http_request": request}
            )
            bench.define(workflow("w", call, task("after", "NOOP")))
            for _ in range(20):
                found = bench.run("w")
                assert found["status"] == "COMPLETED"
                assert [one["referenceTaskName"] for one in found["tasks"]] == ["call", "after"]
                assert found["tasks"][0]["outputData"]["paid"] is True


def test_fr_023_a_report_of_progress_keeps_its_output(door: Door) -> None:
    workflow_id = door.start(door.define("beat"))
    polled = door.poll("beat_task")
    door.report(polled, "IN_PROGRESS", outputData={"done": 1})
    assert door.statuses(workflow_id) == ["one SCHEDULED"]
    again = door.poll("beat_task")
    assert (again["taskId"], again["outputData"]) == (polled["taskId"], {"done": 1})
    door.post("tasks", {**report_of(again, "IN_PROGRESS"), "extendLease": True})
    shown = door.execution(workflow_id)["tasks"][0]
    assert (shown["status"], shown["pollCount"]) == ("IN_PROGRESS", 2)


def test_fr_026_a_late_report_is_in_the_log(door: Door) -> None:
    door.define("late")
    workflow_id = door.start("late")
    polled = door.poll("late_task")
    door.delete(f"workflow/{workflow_id}")
    answer = door.report(polled, outputData={"tx": "t1"})
    assert answer.text == polled["taskId"]
    assert door.execution(workflow_id)["tasks"][0]["status"] == "CANCELED"
    assert "t1" not in str(door.execution(workflow_id)["tasks"][0]["outputData"])
    assert door.get(f"tasks/{polled['taskId']}/log")
