"""`reprise bulk`: a preview, a question, a result for each."""

import json

from tests.cli.terminal import EngineTerminal, Terminal, noted
from tests.client.conductor_data import a_failed_order
from tests.client.fake_conductor import Server


def test_nothing_is_touched_before_a_person_agrees(terminal: EngineTerminal) -> None:
    id_ = terminal.start(terminal.define("b_ask"))
    words = ("bulk", "terminate", "--query", "workflowType = b_ask")
    said = terminal.bad(4, *words, answer="n\n")
    assert "1 execution of 1 found" in said and id_ in said and "Nothing was changed." in said
    assert "--yes" in terminal.bad(2, *words, answer="")
    assert terminal.status(id_) == "RUNNING"
    assert terminal.good(*words, "--reason", "cleared", answer="y\n") == f"{id_}: done.\n"
    assert terminal.client.execution(id_)["reasonForIncompletion"] == "cleared"


def test_a_dry_run_shows_what_would_be_touched(terminal: EngineTerminal) -> None:
    id_ = terminal.start(terminal.define("b_dry"))
    words = ("bulk", "pause", "--query", "workflowType = b_dry", "--dry-run")
    assert "b_dry" in terminal.good(*words)
    assert [row["workflowId"] for row in terminal.json(*words)] == [id_]
    assert terminal.status(id_) == "RUNNING"


def test_each_has_a_result_and_one_refusal_is_code_1(terminal: EngineTerminal) -> None:
    running = terminal.start(terminal.define("b_mixed", version=1))
    done = terminal.start(terminal.define("b_mixed", noted(), version=2))
    words = ("bulk", "pause", "--query", "workflowType = b_mixed", "--yes", "--json")
    result = terminal.type(*words)
    lines = {one["workflowId"]: one for one in map(json.loads, result.stdout.splitlines())}
    assert lines[running]["ok"] and not lines[done]["ok"] and lines[done]["error"]
    assert result.exit_code == 1 and "1 of 2 refused to pause." in result.stderr


def test_no_more_than_asked_for_are_touched_the_oldest_first(terminal: EngineTerminal) -> None:
    name = terminal.define("b_most")
    ids = [terminal.start(name) for _ in range(3)]
    query = f"workflowType = {name}"
    terminal.good("bulk", "pause", "--query", query, "--most", "1", "--yes")
    states = [terminal.status(id_) for id_ in ids]
    assert sorted(states) == ["PAUSED", "RUNNING", "RUNNING"]


def test_nothing_found_asks_nothing(terminal: EngineTerminal) -> None:
    terminal.good("bulk", "retry", "--query", "workflowType = b_none")


def test_latest_belongs_to_restart(terminal: EngineTerminal) -> None:
    terminal.bad(2, "bulk", "pause", "--query", "x = 1", "--latest")


def test_more_than_a_thousand_go_to_a_conductor_in_portions() -> None:
    server = Server().add(*(a_failed_order(f"order-{number:04}") for number in range(1_050)))
    terminal = Terminal(server.app())
    out = terminal.good("bulk", "retry", "--query", "status = FAILED", "--yes")
    assert len(out.splitlines()) == 1_050
    portions = [len(body) for verb, _, _, body in server.calls if verb == "retry"]
    assert sum(portions) == 1_050 and max(portions) <= 1_000
