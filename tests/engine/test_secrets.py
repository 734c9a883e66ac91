"""A secret goes every way there is, and nothing that is kept or shown holds it afterwards."""

import base64
import itertools
import json
import logging
import urllib.parse
from pathlib import Path
from typing import Any

import pytest

from tests.api.door import Door, simple
from tests.engine.builders import Bench, task, workflow
from tests.workers.web import Reply, Seen, web

CANARY = 'kanari "voegel"/7+ %&x'
REFERENCE = "${workflow.secrets.CANARY}"
PIN = "${workflow.secrets.PIN}"
FOLDED = json.dumps({"user": "birdkeeper", "port": 5432, "cage": {"key": "zebrafinch-99"}})


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDUCTOR_SECRET_CANARY", CANARY)
    monkeypatch.setenv("CONDUCTOR_SECRET_FOLDED", FOLDED)


def in_base64(value: str) -> list[str]:
    return [base64.b64encode(b" " * shift + value.encode()).decode() for shift in range(3)]


def traces() -> list[bytes]:
    """What may be found nowhere: the value, within JSON too, URL-encoded, and in base64 from the
    characters on that belong to it alone."""
    plain = [CANARY, json.dumps(CANARY)[1:-1], json.dumps(CANARY, ensure_ascii=False)[1:-1]]
    quoted = [urllib.parse.quote(CANARY, safe=""), urllib.parse.quote_plus(CANARY)]
    coded = [text[4:24] for text in in_base64(CANARY)]
    return [text.encode() for text in [*plain, *quoted, *coded, "zebrafinch-99"]]


def assert_clean(where: str, data: bytes) -> None:
    for trace in traces():
        assert trace not in data, (where, trace, data[max(0, data.find(trace) - 200) :][:400])


def echo(seen: Seen) -> Reply:
    """A server that answers with what it was sent, in every form; on /fail as an error."""
    token = seen.headers.get("X-Token", "")
    told = {"path": seen.path, "token": token, "coded": in_base64(token), "body": str(seen.body)}
    status = 500 if seen.path.startswith("/fail") else 200
    header = {"X-Echo": urllib.parse.quote(token), "Content-Type": "application/json"}
    return Reply(status, json.dumps(told).encode(), header)


def the_ways(url: str) -> list[dict[str, Any]]:
    """A definition's tasks through which the secret goes."""
    script = "console.log($.key); encodeURIComponent($.key) + '|' + $.key"
    request = {"uri": f"{url}/x?k={REFERENCE}", "method": "POST", "headers": {"X-Token": REFERENCE}}
    failing = {**request, "uri": f"{url}/fail", "body": {"key": REFERENCE}}
    child = {"name": "kid", "version": 1, "tasks": [simple("within", "kid_task")]}
    child["tasks"][0]["inputParameters"] = {"key": "${workflow.input.key}"}
    return [
        task("call", "HTTP", inputParameters={"http_request": request}),
        task(
            "fails",
            "HTTP",
            optional=True,
            retryCount=0,
            inputParameters={"http_request": failing},
        ),
        task("script", "INLINE", inputParameters={"expression": script, "key": REFERENCE}),
        task(
            "throws",
            "INLINE",
            optional=True,
            inputParameters={"expression": "throw new Error('no: ' + $.key)", "key": REFERENCE},
        ),
        task(
            "jq",
            "JSON_JQ_TRANSFORM",
            inputParameters={
                "queryExpression": "[.key, (.key|@base64), (.key|@uri), {(.key): 1}]",
                "key": REFERENCE,
            },
        ),
        task("keep", "SET_VARIABLE", inputParameters={"kept": f"a {REFERENCE}"}),
        simple(
            "work",
            "work_task",
            inputParameters={
                "key": REFERENCE,
                "kept": "${workflow.variables.kept}",
                "cage": "${workflow.secrets.FOLDED.cage.key}",
            },
        ),
        task(
            "below",
            "SUB_WORKFLOW",
            inputParameters={"key": REFERENCE},
            subWorkflowParam={"name": "kid", "workflowDefinition": child},
        ),
        task(
            "end",
            "TERMINATE",
            inputParameters={
                "terminationStatus": "COMPLETED",
                "terminationReason": f"because of {REFERENCE}",
                "workflowOutput": {"key": REFERENCE, "kept": "${workflow.variables.kept}"},
            },
        ),
    ]


def awaited(door: Door, kind: str) -> Any:
    found = door.get(f"tasks/poll/batch/{kind}", workerid="me", timeout=5000)
    assert len(found) == 1, door.ask("GET", "workflow/search").text
    return found[0]


def spread(door: Door, item: dict[str, Any]) -> None:
    """A worker that tells its secret in every way it has, and fails, and then succeeds."""
    key, cage = item["inputData"]["key"], item["inputData"].get("cage")
    leak = {key: [key, f"id={urllib.parse.quote(key)}"], "coded": in_base64(key), "cage": cage}
    door.ask("POST", f"tasks/{item['taskId']}/log", content=f"I hold {key}".encode())
    how = {"outputData": leak, "reasonForIncompletion": f"{key} is wrong"}
    logs = [{"log": f"used {in_base64(key)[1]}", "createdTime": 1}]
    door.report(item, "IN_PROGRESS", logs=logs, **how)
    path = f"tasks/{item['workflowInstanceId']}/{item['referenceTaskName']}/COMPLETED"
    door.post(path, {**leak, "again": key})


def looks(door: Door, workflow_id: str) -> dict[str, bytes]:
    """What the API shows of an execution, below it, and about it."""
    shown = door.execution(workflow_id)
    ids = [workflow_id, *(t["subWorkflowId"] for t in shown["tasks"] if t.get("subWorkflowId"))]
    places = [f"workflow/{one}" for one in ids] + [f"ext/executions/{one}/ledger" for one in ids]
    for one in shown["tasks"]:
        places += [f"tasks/{one['taskId']}", f"tasks/{one['taskId']}/log"]
    places += ["workflow/search", "workflow/search-v2", "tasks/search", "tasks/search-v2"]
    places += ["/metrics", "secrets", "environment", "admin/config", "event/execution"]
    return {place: door.ask("GET", place).content for place in places}


def test_a_secret_is_nowhere_after_it_went_every_way(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """FR-049."""
    caplog.set_level(logging.DEBUG)
    file = tmp_path / "canary.db"
    with web(echo) as server, Door(database=f"sqlite:///{file}", http_worker=True) as door:
        door.define("canary", *the_ways(server.url))
        workflow_id = door.start("canary", input={"plain": REFERENCE})
        item = awaited(door, "work_task")
        assert item["inputData"]["key"] == CANARY, "a worker is given the value"
        assert item["inputData"]["kept"] == f"a {CANARY}"
        assert item["inputData"]["cage"] == "zebrafinch-99"
        assert server.seen[0].headers["X-Token"] == CANARY
        spread(door, item)
        spread(door, awaited(door, "kid_task"))
        stopped = door.ask("GET", f"workflow/{workflow_id}", params={"includeTasks": "false"})
        for place, content in looks(door, workflow_id).items():
            assert_clean(place, content)
        shown = door.execution(workflow_id)
        log = door.get(f"tasks/{item['taskId']}/log")
        door.engine.telemetry.say("chore.failed", chore="x", error=f"with {CANARY}")
    assert stopped.json()["status"] == shown["status"] == "COMPLETED"
    by_ref = {one["referenceTaskName"]: one for one in shown["tasks"]}
    assert by_ref["call"]["inputData"]["http_request"]["headers"]["X-Token"] == REFERENCE
    assert by_ref["call"]["outputData"]["response"]["body"]["token"] == "***"
    assert by_ref["fails"]["status"] == "COMPLETED_WITH_ERRORS"
    assert by_ref["script"]["outputData"]["result"] == "***|***"
    assert by_ref["throws"]["reasonForIncompletion"].count("***") == 1
    assert by_ref["jq"]["outputData"]["result"][0] == "***"
    assert shown["variables"] == {"kept": f"a {REFERENCE}"}
    assert by_ref["work"]["outputData"]["again"] == "***"
    assert shown["output"] == {"key": REFERENCE, "kept": f"a {REFERENCE}"}
    assert log[0]["log"] == "I hold ***"
    assert "with ***" in caplog.text
    assert_clean("log", caplog.text.encode())
    for part in tmp_path.iterdir():
        assert_clean(part.name, part.read_bytes())


def test_a_function_here_that_tells_its_secret_is_scrubbed() -> None:
    def tell(key: str) -> dict[str, str]:
        raise ValueError(f"refused with {key}")

    with Bench(http_worker=False) as bench:
        bench.engine.employ({"tell": tell})
        told = task("tell", retryCount=0, inputParameters={"key": REFERENCE})
        bench.define(workflow("told", told))
        found = bench.run("told")
    assert "refused with ***" in found["tasks"][0]["reasonForIncompletion"]
    assert_clean("execution", json.dumps(found).encode())


def test_conditions_see_the_reference_and_never_the_value() -> None:
    case = {"decisionCases": {"yes": [task("hit", "NOOP")]}, "defaultCase": [task("miss", "NOOP")]}
    switch = task(
        "choose",
        "SWITCH",
        evaluatorType="javascript",
        expression="$.key.startsWith('$' + '{workflow') ? 'yes' : 'no'",
        inputParameters={"key": REFERENCE},
        **case,
    )
    with Bench(http_worker=False) as bench:
        bench.define(workflow("seen", switch))
        assert [item["referenceTaskName"] for item in bench.run("seen")["tasks"]] == [
            "choose",
            "hit",
        ]


def test_a_value_that_was_replaced_is_masked_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = itertools.count(1)

    def tell(key: str) -> dict[str, str]:
        monkeypatch.setenv("CONDUCTOR_SECRET_CANARY", f"the-new-value-{next(numbers)}")
        return {"old": CANARY, "given": key}

    with Bench(http_worker=False) as bench:
        bench.engine.employ({"tell": tell})
        bench.define(workflow("turned", task("tell", inputParameters={"key": REFERENCE})))
        first, second = bench.run("turned"), bench.run("turned")
    assert first["tasks"][0]["outputData"] == {"old": "***", "given": "***"}
    assert second["tasks"][0]["outputData"] == {"old": "***", "given": "***"}


def test_a_secret_too_short_to_be_masked_is_named_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CONDUCTOR_SECRET_PIN", "12345")
    with Bench(http_worker=False) as bench:
        bench.define(workflow("paid", simple("pay", "pay", inputParameters={"pin": PIN})))
        bench.start("paid")
        assert bench.engine.tasks.poll("pay")[0]["inputData"] == {"pin": "12345"}
    assert "secret.too_short_to_mask name=CONDUCTOR_SECRET_PIN" in caplog.text
    assert "12345" not in caplog.text
