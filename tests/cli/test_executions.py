"""Starting, looking, finding, following, steering."""

import json
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from studio.cli.progress import follow
from studio.client.client import Actor, Client
from studio.client.errors import Busy
from tests.cli.terminal import EngineTerminal, Json, Terminal, ended, noted, simple
from tests.client.conductor_data import a_failed_order
from tests.client.fake_conductor import Server


def test_a_start_writes_the_id_alone(terminal: EngineTerminal) -> None:
    terminal.define("e_start")
    id_ = terminal.good("start", "e_start", "--correlation-id", "A-1", "--input", '{"n": 1}')
    found = terminal.client.execution(id_.strip())
    assert (found["correlationId"], found["input"], found["createdBy"]) == ("A-1", {"n": 1}, "ada")


def test_the_input_may_come_from_a_file_or_standard_input(
    terminal: EngineTerminal, tmp_path: Path
) -> None:
    terminal.define("e_input")
    file = tmp_path / "in.json"
    file.write_text('{"from": "file"}')
    first = terminal.good("start", "e_input", "--input", f"@{file}").strip()
    second = terminal.good("start", "e_input", "--input", "@-", answer='{"from": "pipe"}').strip()
    assert terminal.client.execution(first)["input"] == {"from": "file"}
    assert terminal.client.execution(second)["input"] == {"from": "pipe"}


def test_an_input_that_is_no_object_is_a_usage_error(terminal: EngineTerminal) -> None:
    assert "no JSON object" in terminal.bad(2, "start", "e_any", "--input", "[1]")
    assert "column 2" in terminal.bad(2, "start", "e_any", "--input", "{oops")


def test_standard_input_that_is_no_text_is_a_usage_error(terminal: EngineTerminal) -> None:
    for words in (("start", "e_any", "--input", "@-"), ("status", "-")):
        result = terminal.type(*words, answer=b"\xff")
        assert result.exit_code == 2 and "it is not UTF-8" in result.stderr


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "[" * 100_000, "1" * 5000])
def test_an_input_that_no_json_holds_is_a_usage_error(terminal: EngineTerminal, value: str) -> None:
    terminal.bad(2, "start", "e_any", "--input", f'{{"a": {value}}}')


def test_waiting_writes_the_output_and_succeeds_when_it_completes(
    terminal: EngineTerminal,
) -> None:
    terminal.define("e_wait", noted(), outputParameters={"said": "${workflow.variables.said}"})
    out = terminal.good("start", "e_wait", "--wait", "--input", '{"word": "hello"}')
    assert json.loads(out) == {"said": "hello"}


def test_waiting_for_a_failure_is_code_1_with_its_reason(terminal: EngineTerminal) -> None:
    terminal.define("e_fail", ended("stop", "FAILED", "no stock"))
    assert "no stock" in terminal.bad(1, "start", "e_fail", "--wait")


def test_waiting_ends_when_the_time_is_over(terminal: EngineTerminal) -> None:
    terminal.define("e_long")
    assert "goes on" in terminal.bad(1, "start", "e_long", "--wait", "--timeout", "0")


def test_an_unknown_definition_cannot_be_started(terminal: EngineTerminal) -> None:
    terminal.bad(3, "start", "e_nobody")


def test_the_status_says_where_an_execution_stands(terminal: EngineTerminal) -> None:
    id_ = terminal.start(terminal.define("e_status"))
    shown = terminal.good("status", id_)
    assert "RUNNING" in shown and "one (SCHEDULED)" in shown
    document = terminal.json("status", id_)[0]
    assert document["status"] == "RUNNING" and "tasks" not in document


def test_the_status_says_what_is_waited_for_and_what_to_do(terminal: EngineTerminal) -> None:
    id_ = terminal.start(terminal.define("e_awaited"))
    lines = terminal.good("status", id_).splitlines()
    awaited = next(line for line in lines if line.startswith("waits for"))
    assert "for a worker that polls one" in awaited
    assert lines[-1].split(maxsplit=1) == ["next", "See that a worker polls one."]
    told = terminal.json("status", id_)[0]["diagnosis"]
    assert told["headline"] in awaited and told["nextSteps"] == ["See that a worker polls one."]


def test_the_status_of_many_open_tasks_stays_short(terminal: EngineTerminal) -> None:
    branches = [[simple(f"b{number}")] for number in range(8)]
    fork = {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": branches}
    join = {
        "name": "j", "taskReferenceName": "j", "type": "JOIN",
        "joinOn": [f"b{number}" for number in range(8)],
    }  # fmt: skip
    id_ = terminal.start(terminal.define("e_wide", fork, join))
    shown = terminal.good("status", id_)
    assert "polls b4" in shown and "polls b5" not in shown
    assert shown.count("and 3 more; --json shows all") == 2
    assert len(terminal.json("status", id_)[0]["diagnosis"]["waiting"]) == 8


def test_the_status_of_a_failure_says_where_it_began_and_what_can_be_done(
    terminal: EngineTerminal,
) -> None:
    terminal.define("e_kid")
    param = {"name": "e_kid", "version": 1}
    below = {"name": "s", "taskReferenceName": "s", "type": "SUB_WORKFLOW"}
    id_ = terminal.start(terminal.define("e_above", {**below, "subWorkflowParam": param}))
    child = terminal.client.execution(id_)["tasks"][0]["subWorkflowId"]
    terminal.client.report(child, "one", "FAILED_WITH_TERMINAL_ERROR", {}, Actor("test"))
    lines = [line.split(maxsplit=1) for line in terminal.type("status", id_).stdout.splitlines()]
    facts = {line[0]: line[1] for line in lines}
    assert "one in its sub-workflow e_kid failed" in facts["diagnosis"]
    assert ["began", f"in   {child}"] in lines
    assert facts["next"].startswith("Trying the same again is useless")
    assert terminal.json("status", id_)[0]["diagnosis"]["path"] == [id_, child]


def test_the_status_of_what_is_stuck_says_so_and_what_goes_on(terminal: EngineTerminal) -> None:
    id_ = terminal.start(terminal.define("e_stuck"))
    mark = text("UPDATE execution SET stuck = 'Due could not be taken' WHERE id = :id")
    terminal.engine.port.errand(lambda session: session.execute(mark, {"id": id_}))
    shown = terminal.good("status", id_)
    assert "diagnosis  It is stuck: Due could not be taken" in shown
    assert "waits for  one has waited" in shown and "report both" in shown


def test_the_status_of_what_is_done_has_nothing_to_do(terminal: EngineTerminal) -> None:
    shown = terminal.good("status", terminal.start(terminal.define("e_done", noted())))
    assert "diagnosis" not in shown and "next" not in shown


def test_a_conductor_that_knows_no_diagnosis_tells_the_status_all_the_same() -> None:
    terminal = Terminal(Server().add(a_failed_order("order-1")).app())
    result = terminal.type("status", "order-1")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "FAILED" in result.stdout and "next" not in result.stdout
    assert "diagnosis" not in terminal.json("status", "order-1")[0]


def test_the_status_of_a_failed_execution_is_code_1(terminal: EngineTerminal) -> None:
    bad = terminal.start(terminal.define("e_failed", ended("stop", "FAILED", "no stock")))
    good = terminal.start(terminal.define("e_well", noted()))
    result = terminal.type("status", bad, good)
    assert result.exit_code == 1
    assert "no stock" in result.stdout and "COMPLETED" in result.stdout


def test_a_whole_execution_has_its_tasks_on_demand(terminal: EngineTerminal) -> None:
    id_ = terminal.start(terminal.define("e_whole"), word="x")
    assert terminal.json("get-execution", id_)[0].get("tasks", []) == []
    assert len(terminal.json("get-execution", id_, "--tasks")[0]["tasks"]) == 1
    assert "SCHEDULED" in terminal.good("get-execution", id_, "--tasks")


def test_a_search_finds_by_conductor_s_words(terminal: EngineTerminal) -> None:
    name = terminal.define("e_search")
    ids = [terminal.start(name) for _ in range(3)]
    query = f"workflowType = {name}"
    assert len(terminal.json("search", query)) == 3
    assert len(terminal.json("search", query, "--size", "2")) == 2
    assert sorted(terminal.good("search", query, "--ids", "--all").split()) == sorted(ids)
    assert "2 of 3" in terminal.type("search", query, "--size", "2").stderr
    assert terminal.good("search", "workflowType = e_none") == "No execution matches.\n"


def test_all_pages_are_read_and_no_execution_comes_twice() -> None:
    many = [a_failed_order(f"order-{number:04}") for number in range(1_203)]
    terminal = Terminal(Server().add(*many).app())
    ids = terminal.good("search", "--ids", "--all").split()
    assert len(ids) == len(set(ids)) == 1_203


def test_a_query_that_cannot_be_read_is_refused(terminal: EngineTerminal) -> None:
    terminal.bad(4, "search", "nonsense")


def test_watching_tells_every_move_and_ends_with_the_execution(terminal: EngineTerminal) -> None:
    id_ = terminal.start(terminal.define("e_watch", noted("first"), noted("second")))
    lines = terminal.json("watch", id_)
    assert [(line.get("task"), line["status"]) for line in lines] == [
        ("first", "COMPLETED"),
        ("second", "COMPLETED"),
        (None, "COMPLETED"),
    ]
    assert "second  COMPLETED" in terminal.good("watch", id_)


def test_watching_a_failure_on_a_conductor_is_code_1_with_its_reason() -> None:
    terminal = Terminal(Server().add(a_failed_order("order-1")).app())
    result = terminal.type("watch", "order-1")
    assert result.exit_code == 1
    assert "track #1" in result.stdout or "poll_carrier #1" in result.stdout
    assert "order-1 is FAILED" in result.stderr


def a_server_that_answers(*statuses: int) -> tuple[Client, list[float]]:
    """A Conductor that answers looks with these codes in turn: 200 is running, 201 completed."""
    left = list(statuses)

    def answer(request: httpx.Request) -> httpx.Response:
        if not request.url.path.startswith("/api/workflow/"):
            return httpx.Response(404, json={"message": "no such path"})
        code = left.pop(0) if left else statuses[-1]
        if code == 503:
            return httpx.Response(503, json={"message": "stopping"})
        status = "COMPLETED" if code == 201 else "RUNNING"
        return httpx.Response(200, json={"workflowId": "w", "status": status, "tasks": []})

    http = httpx.Client(base_url="http://server/api", transport=httpx.MockTransport(answer))
    return Client(http), []


def test_watching_outlives_a_server_that_is_started_again() -> None:
    client, rests = a_server_that_answers(200, 503, 503, 200, 201)
    told: list[Json] = []
    assert follow(client, "w", told.append, rest=rests.append)
    assert [change["status"] for change in told] == ["RUNNING", "COMPLETED"]
    assert len(rests) == 4


def test_watching_gives_up_on_a_server_that_stays_away() -> None:
    client, rests = a_server_that_answers(200, 503)
    with pytest.raises(Busy):
        follow(client, "w", lambda change: None, rest=rests.append)
    assert 60 < sum(rests) < 120
    with pytest.raises(Busy):
        follow(client, "w", lambda change: None, rest=rests.append)


def test_verbs_act_on_each_id_and_the_reason_is_kept(terminal: EngineTerminal) -> None:
    name = terminal.define("e_verbs")
    ids = [terminal.start(name) for _ in range(2)]
    assert terminal.good("pause", *ids).splitlines() == [f"{id_}: paused." for id_ in ids]
    assert [terminal.status(id_) for id_ in ids] == ["PAUSED", "PAUSED"]
    terminal.good("resume", "-", answer="\n".join(ids))
    terminal.good("terminate", ids[0], "--reason", "wrong customer")
    assert terminal.client.execution(ids[0])["reasonForIncompletion"] == "wrong customer"
    terminal.good("restart", ids[0])
    assert terminal.status(ids[0]) == "RUNNING"
    ledger = terminal.client.ledger(ids[0]) or []
    assert any(
        "wrong customer" in json.dumps(line) and "ada" in json.dumps(line) for line in ledger
    )


def test_one_refusal_does_not_hold_up_the_others(terminal: EngineTerminal) -> None:
    name = terminal.define("e_mixed", simple("one"))
    done = terminal.start(terminal.define("e_done", noted()))
    running = terminal.start(name)
    result = terminal.type("pause", done, "nobody", running)
    assert result.exit_code == 1, result.output
    assert terminal.status(running) == "PAUSED"
    assert f"{running}: paused." in result.stdout and f"{done}: " in result.stdout
    assert terminal.type("pause", done).exit_code == 4
    assert terminal.type("pause", "nobody", "no one").exit_code == 3
    assert [line["ok"] for line in terminal.json("resume", "nobody", running)] == [False, True]


def test_what_still_runs_is_there_and_cannot_be_retried(terminal: EngineTerminal) -> None:
    """Conductor answers with 404 here, but nothing has to be looked for."""
    terminal.define("x_runs")
    id_ = terminal.start("x_runs")
    said = terminal.bad(4, "retry", id_)
    assert "still running" in said and "reprise status" in said
    assert "search" not in said


def test_a_failed_task_is_retried_and_rerun_with_another_input(terminal: EngineTerminal) -> None:
    id_ = terminal.start(terminal.define("e_again", simple("one"), simple("two")), word="a")
    actor = ["COMPLETED", "FAILED_WITH_TERMINAL_ERROR"]
    for ref, status in zip(("one", "two"), actor, strict=True):
        terminal.client.ask("POST", "tasks", id_, ref, status, body={"by": "hand"})
    assert terminal.status(id_) == "FAILED"
    terminal.good("retry", id_)
    assert terminal.status(id_) == "RUNNING"
    terminal.good("terminate", id_)
    terminal.good("rerun", id_, "--from", "one", "--task-input", '{"extra": 1}')
    task = terminal.client.execution(id_)["tasks"][0]
    assert (task["referenceTaskName"], task["status"]) == ("one", "SCHEDULED")
    assert task["inputData"]["extra"] == 1


def test_rerunning_from_a_task_that_never_ran_names_those_that_did(
    terminal: EngineTerminal,
) -> None:
    id_ = terminal.start(terminal.define("e_from", noted("first")))
    assert "first" in terminal.bad(3, "rerun", id_, "--from", "last")
    assert "--from" in terminal.bad(2, "rerun", id_, "--task-input", "{}")


def test_a_task_ahead_is_skipped_with_an_output(terminal: EngineTerminal) -> None:
    id_ = terminal.start(terminal.define("e_skip", simple("one"), simple("two")))
    terminal.good("skip", id_, "two", "--output", '{"by": "hand"}')
    terminal.client.ask("POST", "tasks", id_, "one", "COMPLETED", body={})
    assert terminal.status(id_) == "COMPLETED"
    terminal.bad(4, "skip", id_, "two")
