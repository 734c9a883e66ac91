"""`reprise` itself: which server, which code, which words; and the commands that run for long."""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest

from studio import supervisor
from studio.cli.doors import flags
from studio.cli.main import COMMANDS, cli
from studio.cli.output import table
from tests.cli.terminal import EngineTerminal, Terminal
from tests.client.fake_conductor import Server


def test_every_command_has_help_and_a_sentence(terminal: EngineTerminal) -> None:
    for name in COMMANDS:
        if name != "serve":
            text = terminal.good(name, "--help")
            assert text.startswith(f"Usage: reprise {name}"), text


def test_the_exit_codes_are_told_in_the_help(terminal: EngineTerminal) -> None:
    text = terminal.good("--help")
    assert "Exit codes:" in text
    assert [line.split()[0] for line in text.splitlines()[-6:]] == list("012345")


def test_a_misspelt_command_is_a_usage_error_that_names_the_near_one(
    terminal: EngineTerminal,
) -> None:
    assert "Did you mean search" in terminal.bad(2, "serch")


def test_the_server_of_the_command_goes_before_that_of_the_environment() -> None:
    terminal = Terminal(Server().app())
    own, cluster = "http://own:1", "http://cluster:2/api"
    terminal.type("workers", "--server", "http://here:3", REPRISE_SERVER=own)
    terminal.type("--server", "http://first:4", "workers", REPRISE_SERVER=own)
    terminal.type("workers", REPRISE_SERVER=own, CONDUCTOR_SERVER_URL=cluster)
    terminal.type("workers", CONDUCTOR_SERVER_URL=cluster, REPRISE_TOKEN="secret")
    terminal.type("workers")
    assert terminal.asked == [
        ("http://here:3", None),
        ("http://first:4", None),
        (own, None),
        (cluster, "secret"),
        ("http://127.0.0.1:8080", None),
    ]


def test_a_server_that_is_not_there_is_one_line_with_the_next_step_and_code_5() -> None:
    terminal = Terminal(Server().app())
    terminal.connect = None  # type: ignore[assignment,method-assign]
    said = terminal.bad(5, "status", "x", "--server", "http://127.0.0.1:1")
    assert len(said.splitlines()) == 1
    assert said.startswith("reprise: http://127.0.0.1:1 does not answer")
    assert "reprise serve" in said


def test_a_server_that_fails_is_a_refusal_without_a_traceback() -> None:
    terminal = Terminal(Server(broken=True).app())
    assert "The database is gone." in terminal.bad(4, "workers")


def test_an_unknown_execution_is_code_3(terminal: EngineTerminal) -> None:
    assert "reprise search" in terminal.bad(3, "get-execution", "nobody")


def test_a_word_that_is_no_utf_8_is_one_line_and_not_a_traceback(terminal: EngineTerminal) -> None:
    for words in (("status", "\udcff"), ("search", "correlationId = \udcff")):
        assert "UTF-8" in terminal.bad(4, *words)


def full_and_closed(*words: str) -> Iterator[subprocess.CompletedProcess[str]]:
    """`reprise` with these words, its answer going to a full disk, and then to nowhere."""
    command = shlex.join([sys.executable, "-m", "studio.cli.main", *words])
    for place in (">/dev/full", ">&-"):
        yield subprocess.run(
            ["sh", "-c", f"{command} {place}"], capture_output=True, text=True, timeout=60
        )


@pytest.mark.parametrize("words", [("--help",), ("completion", "bash")])
def test_an_answer_that_cannot_be_written_is_one_line_and_code_1(words: tuple[str, ...]) -> None:
    full, closed = full_and_closed(*words)
    assert (full.returncode, full.stderr) == (1, "reprise: No space left on device\n")
    assert (closed.returncode, closed.stderr) == (0, "")


def test_a_table_needs_no_standard_output() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert table(("NAME",), [("one",)])


def test_options_of_the_start_do_not_go_with_a_command(terminal: EngineTerminal) -> None:
    said = terminal.bad(2, "--port", "1", "search")
    assert "--port belongs to `reprise` without a command" in said


def test_options_are_passed_on_as_they_were_typed() -> None:
    given = {"host": None, "engine_port": 0, "no_samples": True, "no_browser": False}
    assert flags({"server": "http://a", **given}) == [
        "--server", "http://a", "--engine-port", "0", "--no-samples",
    ]  # fmt: skip


def test_every_option_of_the_start_is_known_here() -> None:
    theirs = {word for action in supervisor.parser()._actions for word in action.option_strings}
    ours = {word for option in cli.params for word in option.opts}
    assert theirs - {"-h", "--help"} <= ours


def test_without_a_command_the_supervisor_gets_the_options(
    terminal: EngineTerminal,
) -> None:
    assert "give one" in terminal.bad(2, "--one-process", "--server", "http://a")


def test_serve_calls_itself_what_was_typed(terminal: EngineTerminal) -> None:
    assert terminal.good("serve", "--help").startswith("usage: reprise serve")
    assert "reprise serve: error" in terminal.bad(2, "serve", "--port", "x")


def test_serve_is_the_engine_s_own_command(terminal: EngineTerminal) -> None:
    assert "--worker-threads" in terminal.good("serve", "--help")
    assert "no-such-option" in terminal.bad(2, "serve", "--no-such-option")


@pytest.mark.parametrize(
    ("shell", "sign"), [("bash", "complete -o"), ("zsh", "#compdef reprise"), ("fish", "function")]
)
def test_a_shell_gets_its_completion(terminal: EngineTerminal, shell: str, sign: str) -> None:
    script = terminal.good("completion", shell)
    assert sign in script and "_REPRISE_COMPLETE" in script


def test_completion_answers_with_commands_and_options(terminal: EngineTerminal) -> None:
    def completed(*words: str) -> list[str]:
        asked = {"_REPRISE_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(("reprise", *words))}
        result = terminal.type(COMP_CWORD=str(len(words)), **asked)
        return [line.partition(",")[2] for line in result.stdout.splitlines()]

    assert completed("re") == ["resume", "retry", "rerun", "restart"]
    assert "--free-text" in completed("search", "--f")
    assert completed("bulk", "pa") == ["pause"]


def test_queues_and_their_workers_are_listed(terminal: EngineTerminal) -> None:
    terminal.start(terminal.define("m_queue", _of_kind("m_pack")))
    terminal.client.ask("GET", "tasks", "poll", "batch", "m_ship", query={"workerid": "host-7"})
    rows = {row["queue"]: row for row in terminal.json("workers")}
    assert rows["m_pack"]["waiting"] == 1 and rows["m_pack"]["workerId"] is None
    assert rows["m_ship"]["workerId"] == "host-7" and rows["m_ship"]["lastPollTime"] > 0
    table = terminal.good("workers")
    assert "m_pack" in table and "nobody has polled" in table and "host-7" in table


def _of_kind(name: str) -> dict[str, object]:
    return {"name": name, "taskReferenceName": "one", "type": "SIMPLE"}


def test_colour_is_for_a_terminal_whose_owner_did_not_forbid_it() -> None:
    execution = {"workflowId": "a", "workflowName": "w", "status": "FAILED", "startTime": 1}
    terminal = Terminal(Server(executions={"a": execution}).app())
    assert "\x1b[31mFAILED" in terminal.type("search", colour=True).stdout
    assert "\x1b" not in terminal.type("search").stdout
    assert "\x1b" not in terminal.type("search", colour=True, NO_COLOR="1").stdout


def test_foreign_text_cannot_steer_the_terminal() -> None:
    execution = {
        "workflowId": "a",
        "workflowName": "w",
        "status": "RUNNING",
        "startTime": 1,
        "reasonForIncompletion": "\x1b[2Jgone\nsecond line",
    }
    terminal = Terminal(Server(executions={"a": execution}).app())
    text = terminal.type("search").stdout
    assert "\x1b" not in text and "gone second line" in text
    assert json.loads(terminal.type("search", "--json").stdout)["status"] == "RUNNING"


def test_one_wide_cell_leaves_room_for_the_others_on_a_terminal() -> None:
    rows = [("q" * 500, 1, "ann", "r" * 500), ("short", 22, "bob", "")]
    for line in table(("QUEUE", "WAITING", "WORKER", "REASON"), rows, width=100):
        assert len(line) <= 100
    assert "q" * 99 in table(("QUEUE",), [("q" * 500,)], width=100)[1]
    assert "q" * 500 in table(("QUEUE", "WORKER"), [("q" * 500, "ann")])[1]
