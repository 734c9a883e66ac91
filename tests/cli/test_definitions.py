"""`reprise definitions` and `reprise task-definitions`: files in, files out, and what changed."""

import json
from pathlib import Path
from typing import Any

from tests.cli.terminal import EngineTerminal, a_definition, simple


def a_file(folder: Path, content: Any, name: str = "d.json") -> str:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def test_a_registered_file_is_listed_shown_and_startable(
    terminal: EngineTerminal, tmp_path: Path
) -> None:
    switch = {
        "name": "choose",
        "taskReferenceName": "choose",
        "type": "SWITCH",
        "evaluatorType": "value-param",
        "expression": "way",
        "inputParameters": {"way": "${workflow.input.way}"},
        "decisionCases": {"post": [simple("stamp")]},
    }
    file = a_file(tmp_path, a_definition("d_new", switch, description="By post"))
    assert terminal.good("definitions", "register", file) == "d_new v1: registered.\n"
    listed = {one["name"]: one["versions"] for one in terminal.json("definitions", "list")}
    assert [version["version"] for version in listed["d_new"]] == [1]
    shown = terminal.good("definitions", "show", "d_new")
    assert "By post" in shown and "\n    stamp  SIMPLE  stamp\n" in shown
    assert terminal.json("definitions", "show", "d_new")[0]["tasks"][0]["type"] == "SWITCH"
    assert terminal.good("start", "d_new").strip()


def test_a_version_that_exists_is_refused_unless_it_may_be_overwritten(
    terminal: EngineTerminal, tmp_path: Path
) -> None:
    terminal.define("d_twice")
    changed = a_file(tmp_path, a_definition("d_twice", simple("two")))
    said = terminal.bad(4, "definitions", "register", changed)
    assert "--overwrite" in said
    assert terminal.client.definition("d_twice")["tasks"][0]["taskReferenceName"] == "one"
    terminal.good("definitions", "register", changed, "--overwrite")
    assert terminal.client.definition("d_twice")["tasks"][0]["taskReferenceName"] == "two"


def test_overwriting_is_no_advice_for_a_definition_that_is_wrong(
    terminal: EngineTerminal, tmp_path: Path
) -> None:
    wrong = a_file(tmp_path, {**a_definition("d_wrong"), "tasks": []})
    assert "--overwrite" not in terminal.bad(4, "definitions", "register", wrong)


def test_each_problem_of_a_definition_has_a_line(terminal: EngineTerminal, tmp_path: Path) -> None:
    bare = {"name": "s", "taskReferenceName": "s", "type": "SWITCH"}
    wrong = a_file(tmp_path, a_definition("d_lines", bare, simple("a"), simple("a")))
    lines = terminal.type("definitions", "validate", wrong).stdout.splitlines()
    assert lines[0].endswith("d_lines is not valid:")
    assert len(lines) > 2 and all(line.startswith("  ") for line in lines[1:])
    assert any("decisionCases" in line for line in lines[1:])


def test_a_file_of_many_registers_what_is_sound(terminal: EngineTerminal, tmp_path: Path) -> None:
    file = a_file(tmp_path, [a_definition("d_good"), {**a_definition("d_bad"), "tasks": []}])
    result = terminal.type("definitions", "register", file, "--json")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["registered"] for line in lines] == [True, False]
    assert "tasks" in lines[1]["error"] and result.exit_code == 4


def test_validation_names_every_problem_and_stores_nothing(
    terminal: EngineTerminal, tmp_path: Path
) -> None:
    broken = a_definition("d_broken", simple("same"), simple("same"))
    good, bad = a_file(tmp_path, a_definition("d_sound")), a_file(tmp_path, broken, "b.json")
    result = terminal.type("definitions", "validate", good, bad)
    assert result.exit_code == 1
    assert "d_sound is valid." in result.stdout
    assert "d_broken is not valid:" in result.stdout and "same" in result.stdout
    assert not {"d_sound", "d_broken"} & terminal.client.versions().keys()


def test_validation_needs_no_server_when_alone(terminal: EngineTerminal, tmp_path: Path) -> None:
    asked = len(terminal.asked)
    file = a_file(tmp_path, {**a_definition("d_alone"), "tasks": []})
    terminal.bad(1, "definitions", "validate", file, "--alone")
    assert len(terminal.asked) == asked


def test_broken_json_names_file_line_and_column(terminal: EngineTerminal, tmp_path: Path) -> None:
    file = a_file(tmp_path, '{"name": "x",\n  oops}')
    said = terminal.bad(2, "definitions", "validate", file)
    assert f"{file}, line 2, column 3" in said


def test_a_file_that_holds_nothing_is_no_success(terminal: EngineTerminal, tmp_path: Path) -> None:
    said = terminal.bad(2, "definitions", "register", a_file(tmp_path, "[]"))
    assert "empty list" in said


def test_a_file_that_is_not_there_is_a_usage_error(terminal: EngineTerminal) -> None:
    assert "No such file" in terminal.bad(2, "definitions", "register", "/nowhere/x.json")


def test_an_exported_folder_can_be_registered_again(
    terminal: EngineTerminal, tmp_path: Path
) -> None:
    terminal.define("d_export:odd name")
    terminal.define("d_export:odd name", simple("two"), version=2)
    folder = tmp_path / "out"
    terminal.good("definitions", "export", str(folder))
    file = folder / "d_export_odd_name.json"
    assert json.loads(file.read_text())["version"] == 2
    terminal.good("definitions", "register", str(file), "--overwrite")
    assert "--overwrite" in terminal.bad(2, "definitions", "export", str(folder))
    terminal.good("definitions", "export", str(folder), "--all-versions")
    assert (folder / "d_export_odd_name.v1.json").exists()


def test_a_difference_is_told_in_words_and_by_code_1(
    terminal: EngineTerminal, tmp_path: Path
) -> None:
    terminal.define("d_diff", simple("one"))
    file = a_file(tmp_path, a_definition("d_diff", simple("one"), simple("two")))
    result = terminal.type("definitions", "diff", file)
    assert result.exit_code == 1 and "added" in result.stdout and "`two`" in result.stdout
    terminal.good("definitions", "register", file, "--overwrite")
    assert "no difference" in terminal.good("definitions", "diff", file)


def test_two_versions_of_a_name_are_compared(terminal: EngineTerminal) -> None:
    for version, ref in ((1, "one"), (2, "two"), (3, "two")):
        terminal.define("d_versions", simple(ref), version=version)
    terminal.good("definitions", "diff", "d_versions")
    kinds = [
        one["kind"] for one in terminal.json("definitions", "diff", "d_versions", "--version=1")
    ]
    assert sorted(kinds) == ["added", "removed"]


def test_a_name_that_nobody_knows_is_code_3(terminal: EngineTerminal) -> None:
    terminal.bad(3, "definitions", "show", "d_nobody")
    terminal.bad(3, "definitions", "diff", "d_nobody")


def test_task_definitions_are_registered_shown_and_listed(
    terminal: EngineTerminal, tmp_path: Path
) -> None:
    policy = {"name": "d_pay", "retryCount": 7, "timeoutSeconds": 0, "ownerEmail": "a@example.com"}
    terminal.good("task-definitions", "register", a_file(tmp_path, [policy]))
    assert terminal.json("task-definitions", "show", "d_pay")[0]["retryCount"] == 7
    line = next(
        line for line in terminal.good("task-definitions", "list").splitlines() if "d_pay" in line
    )
    assert line.split()[1] == "7"
    terminal.bad(3, "task-definitions", "show", "d_nobody")
