"""`reprise test`: suites from the desk, from files and from samples, judged."""

import json
from pathlib import Path
from xml.etree import ElementTree

from studio.desk.desk import Desk
from studio.views import mock_cases
from tests.cli.terminal import EngineTerminal, Json, a_definition, simple

SAMPLES = Path(__file__).parents[2] / "sample_workflows"


def a_case(name: str, said: str = "yes", **expect: Json) -> Json:
    mocks = {"one": [mock_cases.mock("COMPLETED", {"said": said})]}
    return mock_cases.case_of(name, mocks=mocks, expect={"status": "COMPLETED", **expect})


def answering(name: str) -> Json:
    return a_definition(name, simple("one"), outputParameters={"said": "${one.output.said}"})


def a_suite(folder: Path, definition: Json, *cases: Json) -> str:
    path = folder / "suite.json"
    path.write_text(json.dumps({"definition": definition, "cases": cases}))
    return str(path)


def test_a_case_that_is_met_passes(terminal: EngineTerminal, tmp_path: Path) -> None:
    file = a_suite(tmp_path, answering("t_good"), a_case("says yes", output_has={"said": "yes"}))
    result = terminal.type("test", file)
    assert (result.exit_code, result.stdout) == (0, "ok    suite: says yes\n")
    assert "1 case passed." in result.stderr
    assert "t_good" not in terminal.client.versions()


def test_a_case_that_is_not_met_says_what_came_instead(
    terminal: EngineTerminal, tmp_path: Path
) -> None:
    cases = a_case("says yes"), a_case("says no", output_has={"said": "no"})
    file = a_suite(tmp_path, answering("t_bad"), *cases)
    report = tmp_path / "junit.xml"
    result = terminal.type("test", file, "--junit", str(report))
    assert result.exit_code == 1
    assert "FAIL  suite: says no" in result.stdout
    assert 'expected "no", got "yes"' in result.stdout
    assert "1 of 2 cases failed." in result.stderr
    suite = ElementTree.parse(report).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [len(case) for case in suite] == [0, 1]


def test_suites_of_the_desk_are_played_on_the_registered_definition(
    terminal: EngineTerminal, tmp_path: Path
) -> None:
    terminal.define("t_desk", simple("one"), outputParameters={"said": "${one.output.said}"})
    file = tmp_path / "desk.db"
    desk = Desk(file)
    desk.save_suite("t_desk", "basics", {"cases": [a_case("says yes")]})
    desk.save_suite("t_other", "gone", {"cases": [a_case("no definition")]})
    desk.close()
    at = ("--desk", str(file))
    assert [one["passed"] for one in terminal.json("test", "basics", *at)] == [True]
    assert "t_desk/basics" in terminal.good("test", "t_desk", *at)
    assert len(terminal.good("test", "--list", *at).splitlines()) == 3
    assert terminal.type("test", *at).exit_code == 1
    assert "--list" in terminal.bad(2, "test", "unknown", *at)


def test_a_file_may_stand_in_for_the_registered_definition(
    terminal: EngineTerminal, tmp_path: Path
) -> None:
    terminal.define("t_stand", simple("one"), outputParameters={"said": "never"})
    file = a_suite(tmp_path, "t_stand", a_case("says yes", output_has={"said": "yes"}))
    better = tmp_path / "better.json"
    better.write_text(json.dumps(answering("t_stand")))
    assert terminal.type("test", file).exit_code == 1
    terminal.good("test", file, "--definition", str(better))


def test_a_sample_is_played_without_any_server(terminal: EngineTerminal) -> None:
    asked = len(terminal.asked)
    out = terminal.good("test", str(SAMPLES / "account_opening"), "--alone")
    assert len(out.splitlines()) == 2
    assert len(terminal.asked) == asked


def test_a_case_that_the_server_refuses_is_a_failed_case(
    terminal: EngineTerminal, tmp_path: Path
) -> None:
    broken = {**answering("t_refused"), "tasks": []}
    result = terminal.type("test", a_suite(tmp_path, broken, a_case("any")))
    assert result.exit_code == 1 and "FAIL  suite: any" in result.stdout


def test_a_file_that_is_no_suite_is_a_usage_error(terminal: EngineTerminal, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text("{}")
    assert "no suite" in terminal.bad(2, "test", str(file))
