"""What the page of an execution says that has not ended: what it waits for, and that it is stuck."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from engine.api.app import create_app
from engine.engine import Engine
from engine.settings import Settings
from studio import session
from studio.client.client import Actor, Client
from studio.client.transport import in_process
from tests.client.conductor_data import a_waiting_incident
from tests.client.fake_conductor import Server
from tests.pages.studio import asking, no_page_failed, opened, words

ME = Actor("Mara", "")


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An engine whose tasks nobody carries out, asked by the studio."""
    with Engine(Settings(database="memory:", evaluators=1, http_worker=False)) as found:
        client = client_of(found)
        session.use(lambda: client)
        yield found
        client.close()


def client_of(engine: Engine) -> Client:
    return Client(in_process(create_app(engine)), name="engine")


def a_start(engine: Engine, name: str, *tasks: dict[str, Any]) -> str:
    client = client_of(engine)
    client.save_definition({"name": name, "version": 1, "tasks": list(tasks)}, ME)
    return client.start({"name": name}, ME)


def a_task(ref: str, type_: str = "SIMPLE", **more: Any) -> dict[str, Any]:
    return {"name": ref, "taskReferenceName": ref, "type": type_, **more}


def said_of(id_: str) -> str:
    app = opened("execution", {"id": id_})
    no_page_failed(app)
    return words(app)


def test_a_running_execution_says_what_it_waits_for_and_what_to_do(engine: Engine) -> None:
    id_ = a_start(engine, "parcel", a_task("ship"))
    said = said_of(id_)
    assert said.count("Waits for") == 1
    assert "for a worker that polls ship" in said
    assert "See that a worker polls ship." in said
    assert f'href="execution?id={id_}&amp;task=ship"' in said


def test_a_paused_execution_says_that_somebody_must_resume_it(engine: Engine) -> None:
    id_ = a_start(engine, "parcel", a_task("ship"))
    client_of(engine).pause(id_, ME)
    said = said_of(id_)
    assert "It is paused until somebody resumes it" in said and "Resume it." in said


def test_the_sub_workflow_that_is_waited_for_is_one_click_away(engine: Engine) -> None:
    a_start(engine, "kid", a_task("ship"))
    id_ = a_start(
        engine,
        "parcel",
        a_task("below", "SUB_WORKFLOW", subWorkflowParam={"name": "kid", "version": 1}),
    )
    child = client_of(engine).execution(id_)["tasks"][0]["subWorkflowId"]
    assert said_of(id_).count(f'href="execution?id={child}"') == 2


def test_a_stuck_execution_says_what_could_not_be_taken_and_what_to_do(engine: Engine) -> None:
    id_ = a_start(engine, "parcel", a_task("ship"))
    mark = text("UPDATE execution SET stuck = 'Due could not be taken: <b>' WHERE id = :id")
    engine.port.errand(lambda session: session.execute(mark, {"id": id_}))
    said = said_of(id_)
    assert "It is stuck" in said and "Due could not be taken: &lt;b&gt;" in said
    assert "What to do" in said and said.count("report both") == 1
    assert said.count("Waits for") == 1


def test_an_execution_that_has_ended_waits_for_nothing(engine: Engine) -> None:
    id_ = a_start(engine, "parcel", a_task("ship"))
    client_of(engine).report(id_, "ship", "COMPLETED", {}, ME)
    said = said_of(id_)
    assert "Waits for" not in said and "It is stuck" not in said


def test_a_conductor_without_a_diagnosis_shows_the_open_tasks() -> None:
    server = Server().add(a_waiting_incident("wait-1"))
    asking(server.app())
    said = said_of("wait-1")
    assert said.count("Waits for") == 1
    assert "<span>since " in said and "has waited" not in said
