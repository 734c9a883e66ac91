"""The pages over our own engine in this process, with the samples and their workers."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine.api.app import create_app
from engine.engine import Engine
from engine.settings import Settings
from sample_workflows.catalogue import sample
from sample_workflows.workers import WORKERS
from studio import samples, session
from studio.client.client import Actor, Client
from studio.client.transport import in_process
from tests.pages.studio import no_page_failed, opened, words

ME = Actor("Mara", "")
PATIENCE_SECONDS = 20.0


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    engine = Engine(Settings(database="memory:", evaluators=1))
    engine.employ(WORKERS)
    with engine:
        found = Client(in_process(create_app(engine)), name="engine")
        assert samples.register(found, ME) == []
        yield found
        found.close()


@pytest.fixture(autouse=True)
def _asked(client: Client) -> None:
    session.use(lambda: client)


def until(holds: Callable[[], bool]) -> None:
    """Looks again and again; a signal would need a listener inside the engine."""
    pause = threading.Event()
    for _ in range(int(PATIENCE_SECONDS / 0.05)):
        if holds():
            return
        pause.wait(0.05)
    raise AssertionError("it did not come to that in time")


def a_run(client: Client, name: str, play: Any, status: str) -> str:
    id_ = client.start({"name": name, "input": play.input}, ME)
    until(lambda: client.execution(id_, tasks=False)["status"] == status)
    return id_


def test_the_samples_are_in_the_catalogue_and_registered_only_once(client: Client) -> None:
    assert samples.register(client, ME) == []
    said = words(opened("definitions"))
    for name in ("hello_reprise", "order_saga", "support_agent"):
        assert name in said


def test_a_failed_order_is_explained_and_its_plan_comes_from_the_engine(client: Client) -> None:
    id_ = a_run(client, "order_saga", sample("order_saga").failing, "FAILED")
    app = opened("execution", {"id": id_})
    no_page_failed(app)
    said = words(app)
    assert "book_shipping" in said and "No carrier delivers to AQ" in said
    app.button(key="failure_action").click().run()
    no_page_failed(app)
    said = words(app)
    assert "Estimated" not in said
    assert "Reused as they are" in said


def test_a_retry_is_written_into_the_story_with_person_and_reason(client: Client) -> None:
    id_ = a_run(client, "order_saga", sample("order_saga").failing, "FAILED")
    app = opened("execution", {"id": id_})
    app.button(key="failure_action").click().run()
    app.text_input(key="plan_reason_retry").set_value("a carrier was found").run()
    app.button(key="plan_confirm").click().run()
    no_page_failed(app)
    lines = client.ledger(id_) or []
    retried = next(line for line in lines if line["cause"] == "Retry")
    assert retried["why"] == "a carrier was found"
    said = words(opened("execution", {"id": id_, "tab": "Story"}))
    assert "Retried" in said and "a carrier was found" in said


def test_a_rerun_with_mended_input_recovers_and_says_so(client: Client) -> None:
    failing = sample("order_saga").failing
    id_ = a_run(client, "order_saga", failing, "FAILED")
    app = opened("execution", {"id": id_})
    app.button(key="act_rerun").click().run()
    app.toggle(key="plan_input").set_value(True).run()
    mended = '{"orderId": "A-1042", "address": {"city": "Leipzig", "country": "DE"}}'
    app.text_area(key="plan_task_input").set_value(mended).run()
    app.button(key="plan_confirm").click().run()
    no_page_failed(app)
    until(lambda: client.execution(id_, tasks=False)["status"] in ("COMPLETED", "FAILED"))
    assert client.execution(id_, tasks=False)["status"] == "COMPLETED"
    assert "Recovered and verified" in words(app.run())


def test_a_person_is_asked_and_answers(client: Client) -> None:
    id_ = client.start(
        {"name": "purchase_approval", "input": sample("purchase_approval").happy.input}, ME
    )

    def asked() -> list[dict[str, Any]]:
        tasks = client.execution(id_)["tasks"]
        return [task for task in tasks if task["taskType"] == "HUMAN"]

    until(lambda: bool(asked()))
    task = asked()[0]
    app = opened("human", {"id": id_, "task": task["taskId"]})
    no_page_failed(app)
    app.text_input(key="human_reason").set_value("within the budget").run()
    app.button(key="human_confirm").click().run()
    no_page_failed(app)
    until(lambda: client.execution(id_)["tasks"][task["seq"] - 1]["status"] == "COMPLETED")


def test_the_form_of_a_start_runs_a_sample(client: Client) -> None:
    app = opened("start", {"wf": "hello_reprise"})
    no_page_failed(app)
    before = client.count("workflowType = hello_reprise")
    app.button(key="start_confirm").click().run()
    no_page_failed(app)
    assert client.count("workflowType = hello_reprise") == before + 1


@pytest.mark.parametrize("page", ["", "executions", "definitions", "queues", "human", "settings"])
def test_a_page_over_the_engine_shows_its_data(page: str) -> None:
    app = opened(page)
    no_page_failed(app)
    assert not app.error
    assert len(words(app)) > 200
