"""What the page of a failed execution says of why it failed, and where it began."""

from collections.abc import Iterator
from typing import Any

import pytest

from engine.api.app import create_app
from engine.engine import Engine
from engine.settings import Settings
from studio import session
from studio.client.client import Actor, Client
from studio.client.transport import in_process
from tests.pages.studio import no_page_failed, opened, words

ME = Actor("Mara", "")


class Counting(Client):
    """A client that remembers of which executions a diagnosis was asked for."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(in_process(create_app(engine)), name="engine")
        self.diagnosed: list[str] = []

    def diagnosis(self, id_: str) -> dict[str, Any] | None:
        self.diagnosed.append(id_)
        return super().diagnosis(id_)


@pytest.fixture
def client() -> Iterator[Counting]:
    """An engine whose tasks nobody carries out, asked by the studio."""
    with Engine(Settings(database="memory:", evaluators=1, http_worker=False)) as engine:
        found = Counting(engine)
        session.use(lambda: found)
        yield found
        found.close()


def a_task(ref: str, type_: str = "SIMPLE", **more: Any) -> dict[str, Any]:
    return {"name": ref, "taskReferenceName": ref, "type": type_, **more}


def a_start(client: Client, name: str, *tasks: dict[str, Any]) -> str:
    client.save_definition({"name": name, "version": 1, "tasks": list(tasks)}, ME)
    return client.start({"name": name}, ME)


def failed(client: Client, id_: str, ref: str, reason: str | None = None) -> None:
    client.ask(
        "POST",
        "tasks",
        body={
            "workflowInstanceId": id_,
            "taskId": client.execution(id_)["tasks"][0]["taskId"],
            "status": "FAILED_WITH_TERMINAL_ERROR",
            **({"reasonForIncompletion": reason} if reason else {}),
        },
    )


def said_of(id_: str, **more: str) -> str:
    app = opened("execution", {"id": id_, **more})
    no_page_failed(app)
    return words(app)


@pytest.mark.parametrize("tab", ["Diagram", "Tasks", "Story"])
def test_a_failure_without_a_reason_says_that_none_was_given(client: Counting, tab: str) -> None:
    id_ = a_start(client, "parcel", a_task("ship"))
    failed(client, id_, "ship")
    assert "'null'" in client.execution(id_)["reasonForIncompletion"]
    said = said_of(id_, tab=tab)
    assert "No reason was given." in said and "null" not in said
