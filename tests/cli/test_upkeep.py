"""`reprise backup` and `reprise verify`: beside an engine that goes on."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.model.definitions import WorkflowDef
from engine.model.requests import StartWorkflowRequest
from engine.settings import Settings
from tests.cli.terminal import Terminal, a_definition


def a_prompt() -> Terminal:
    """Nobody is asked: these commands work on the file."""
    return Terminal(None)


def test_a_copy_is_taken_and_checked_while_the_engine_goes_on(tmp_path: Path) -> None:
    file, copy = tmp_path / "reprise.db", tmp_path / "copy.db"
    at = ("--database", f"sqlite:///{file}")
    with Engine(Settings(database=at[1], evaluators=1)) as engine:
        engine.definitions.register(WorkflowDef.read(a_definition("u_copy")))
        engine.executions.start(StartWorkflowRequest(name="u_copy"), "ada")
        assert str(copy) in a_prompt().good("backup", str(copy), *at)
        assert a_prompt().good("verify", *at) == "All is well.\n"
        id_ = engine.executions.start(StartWorkflowRequest(name="u_copy"), "ada")
        assert engine.executions.get(id_)["status"] == "RUNNING"
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT count(*) FROM execution").fetchone() == (1,)
    assert a_prompt().good("verify", "--database", f"sqlite:///{copy}") == "All is well.\n"


def test_what_does_not_agree_is_named_with_code_1(tmp_path: Path) -> None:
    file = tmp_path / "reprise.db"
    with Engine(Settings(database=f"sqlite:///{file}", evaluators=1)) as engine:
        engine.definitions.register(WorkflowDef.read(a_definition("u_wrong")))
        engine.executions.start(StartWorkflowRequest(name="u_wrong"), "ada")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE counter SET n = n + 4")
    result = a_prompt().type("verify", "--database", f"sqlite:///{file}")
    assert result.exit_code == 1
    assert "The counter of u_wrong RUNNING says 5, there are 1" in result.stdout


def test_a_backup_never_writes_over_a_file(tmp_path: Path) -> None:
    file = tmp_path / "reprise.db"
    Engine(Settings(database=f"sqlite:///{file}", evaluators=1)).stop()
    said = a_prompt().bad(4, "backup", str(file), "--database", f"sqlite:///{file}")
    assert "exists already" in said


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    file = tmp_path / "none.db"
    said = a_prompt().bad(4, "verify", "--database", f"sqlite:///{file}")
    assert "There is no database" in said and not file.exists()


@pytest.mark.parametrize("command", [("verify",), ("backup", "copy.db")])
def test_a_server_cannot_be_named_where_a_database_is_read(command: tuple[str, ...]) -> None:
    at = ("--server", "http://127.0.0.1:8080")
    for words in ((*at, *command), (*command, *at)):
        said = a_prompt().bad(2, *words)
        assert "reads a database, not a server" in said and "--database" in said


def test_a_backup_says_as_json_what_was_written(tmp_path: Path) -> None:
    file, copy = tmp_path / "reprise.db", tmp_path / "copy.db"
    Engine(Settings(database=f"sqlite:///{file}", evaluators=1)).stop()
    [found] = a_prompt().json("backup", str(copy), "--database", f"sqlite:///{file}")
    assert found == {"file": str(copy), "bytes": copy.stat().st_size}


def test_a_check_says_which_database_it_reads_and_no_password(tmp_path: Path) -> None:
    file = tmp_path / "reprise.db"
    Engine(Settings(database=f"sqlite:///{file}", evaluators=1)).stop()
    assert str(file) in a_prompt().type("verify", "--database", f"sqlite:///{file}").stderr
    nowhere = "postgresql://ann:hush@127.0.0.1:1/none"
    assert "hush" not in a_prompt().bad(4, "verify", "--database", nowhere)


def test_a_copy_has_its_payload_files_beside_it(tmp_path: Path) -> None:
    file, copy, folder = tmp_path / "reprise.db", tmp_path / "copy.db", tmp_path / "payloads"
    at = ("--database", f"sqlite:///{file}")
    large = {"text": "x" * 20_000}
    how = {"evaluators": 1, "workflow_payload_threshold": 1000}
    with Engine(Settings(database=at[1], payload_folder=str(folder), **how)) as engine:
        engine.definitions.register(WorkflowDef.read(a_definition("u_files")))
        id_ = engine.executions.start(StartWorkflowRequest(name="u_files", input=large), "ada")
        said = a_prompt().bad(4, "backup", str(copy), *at)
        assert "REPRISE_PAYLOAD_FOLDER" in said and not copy.exists()
        said = a_prompt().good("backup", str(copy), *at, "--payloads", str(folder))
        assert f"{copy}.payloads" in said
    beside = ("--payloads", f"{copy}.payloads")
    there = ("--database", f"sqlite:///{copy}")
    assert a_prompt().good("verify", *there, *beside) == "All is well.\n"
    again = Settings(database=there[1], payload_folder=beside[1], **how)
    with Engine(again) as engine:
        key = engine.store.key_of(id_)
        assert key is not None
        assert engine.store.payload(key, 0, "input") == b'{"text":"' + b"x" * 20_000 + b'"}'
    for path in Path(beside[1]).rglob("content_*"):
        path.unlink()
    result = a_prompt().type("verify", *there, *beside)
    assert result.exit_code == 1
    assert "is missing" in result.stdout
