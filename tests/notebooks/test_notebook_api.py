"""The notebook's own words: what a cell can ask, and what it is told when something goes wrong."""

from collections.abc import Iterator

import pytest

from engine.api.app import create_app
from engine.engine import Engine
from engine.settings import Settings
from sample_workflows.catalogue import sample
from studio.client.client import Actor, Client
from studio.client.transport import in_process
from studio.notebook_api import Studio, TimedOut
from studio.polling import Poller

HELLO = sample("hello_reprise")
INPUT = {"name": "Ada", "language": "en"}


class GivenUp(Exception):
    terminal = True


def greet(name: str, language: str) -> dict[str, str]:
    if not name:
        raise GivenUp("nobody <b>to</b> greet")
    return {"greeting": f"Hello, {name}."}


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    with Studio(person="ada") as opened:
        opened.register(HELLO.definition, HELLO.task_defs)
        opened.employ({"compose_greeting": greet})
        yield opened


def test_a_run_gives_its_output_and_each_task(studio: Studio) -> None:
    run = studio.run("hello_reprise", INPUT)
    assert run.completed and run.output == {"greeting": "Hello, Ada.", "letters": 8}
    assert run.task("count_letters")["outputData"]["result"] == 8


def test_a_task_that_has_not_run_is_told_with_those_that_have(studio: Studio) -> None:
    with pytest.raises(KeyError, match="Tasks that have: compose_greeting, count_letters"):
        studio.run("hello_reprise", INPUT).task("gone")


def test_a_failure_card_names_root_reason_and_steps_and_escapes_them(studio: Studio) -> None:
    card = studio.failure(studio.run("hello_reprise", {"name": ""}).id)
    assert card.ref == "compose_greeting" and "nobody" in card.reason
    assert card.steps[0].startswith("Retry")
    assert "<b>to</b>" not in card._repr_html_() and "&lt;b&gt;to" in card._repr_html_()


def test_a_run_that_did_not_fail_has_a_card_without_steps(studio: Studio) -> None:
    card = studio.failure(studio.run("hello_reprise", INPUT).id)
    assert card.ref == "" and card.steps == ()


def test_a_retry_carries_its_reason_and_can_be_waited_for(studio: Studio) -> None:
    failed = studio.run("hello_reprise", {"name": ""})
    studio.rerun(failed.id, "a name was missing", workflow_input=INPUT)
    assert studio.wait(failed.id).completed


def test_a_wait_that_is_too_short_says_what_can_be_done(studio: Studio) -> None:
    ask = {"name": "ask", "taskReferenceName": "ask", "type": "HUMAN"}
    studio.register({"name": "asks", "version": 1, "schemaVersion": 2, "tasks": [ask]})
    id_ = studio.start("asks")
    with pytest.raises(TimedOut, match="is RUNNING after 0 s"):
        studio.wait(id_, timeout=0)
    studio.complete(id_, "ask", {"answer": "yes"})
    assert studio.wait(id_).completed


def test_executions_are_a_table_with_times(studio: Studio) -> None:
    studio.run("hello_reprise", INPUT)
    table = studio.executions('workflowType = "hello_reprise"')
    assert set(table["name"]) == {"hello_reprise"}
    assert str(table["started"].dtype).startswith("datetime64") and "UTC" in str(
        table["started"].dtype
    )


def test_an_empty_table_has_its_columns(studio: Studio) -> None:
    assert "status" in studio.executions('workflowType = "nothing_of_this_name"').columns


def test_a_mock_may_be_the_output_alone(studio: Studio) -> None:
    run = studio.mock("hello_reprise", {"compose_greeting": {"greeting": "Hi"}}, INPUT)
    assert run.passed and run.output["letters"] == 2


def test_a_mock_run_that_differs_shows_both(studio: Studio) -> None:
    run = studio.mock(
        "hello_reprise", {"compose_greeting": {"greeting": "Hi"}}, expect={"output_has": {"letters": 3}}
    )  # fmt: skip
    assert not run.passed and "Expected 3, got 2" in run._repr_html_()


def test_a_mock_run_without_answers_says_where_it_stopped(studio: Studio) -> None:
    run = studio.mock("hello_reprise", {})
    assert run.stopped == "Stopped at compose_greeting: no mock is left for it."


def test_a_function_can_work_for_a_server_elsewhere() -> None:
    with Engine(Settings(database="memory:", evaluators=1, http_worker=False)) as elsewhere:
        client = Client(in_process(create_app(elsewhere)), name="elsewhere")
        client.save_definition(HELLO.definition, Actor("ada"))
        for task_def in HELLO.task_defs:
            client.save_task_def(task_def, Actor("ada"))
        poller = Poller(client, "compose_greeting", greet).start()
        with Studio(person="ada") as opened:
            opened.client, own = client, opened.client
            assert opened.run("hello_reprise", INPUT).output["greeting"] == "Hello, Ada."
            assert opened.run("hello_reprise", {"name": ""}).status == "FAILED"
            opened.client = own
        poller.stop()
        client.close()
