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
from tests.client.conductor_data import an_attempt, an_execution
from tests.client.fake_conductor import Server
from tests.pages.studio import asking, no_page_failed, opened, words

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
            "taskId": task_id_of(client, id_, ref),
            "status": "FAILED_WITH_TERMINAL_ERROR",
            **({"reasonForIncompletion": reason} if reason else {}),
        },
    )


def task_id_of(client: Client, id_: str, ref: str) -> str:
    tasks = client.execution(id_)["tasks"]
    return next(str(task["taskId"]) for task in tasks if task["taskDefName"] == ref)


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
    assert "No reason was given." in said and "reason: 'null" not in said


def a_failed_family(client: Client, *deep: dict[str, Any], reason: str | None) -> tuple[str, str]:
    """An execution that failed for a task of its grandchild; the ids of both."""
    for name, tasks in (("kid", deep), ("middle", (below("inner", "kid"),))):
        client.save_definition({"name": name, "version": 1, "tasks": list(tasks)}, ME)
    top = a_start(client, "top", below("outer", "middle"))
    kid = child_of(client, child_of(client, top))
    failed(client, kid, "pay", reason)
    return top, kid


def below(ref: str, name: str) -> dict[str, Any]:
    return a_task(ref, "SUB_WORKFLOW", subWorkflowParam={"name": name, "version": 1})


def child_of(client: Client, id_: str) -> str:
    return str(client.execution(id_)["tasks"][0]["subWorkflowId"])


def test_a_failure_of_a_grandchild_names_the_task_where_it_began_with_a_link(
    client: Counting,
) -> None:
    top, kid = a_failed_family(client, a_task("pay"), reason="no <route>")
    said = said_of(top)
    link = f'href="execution?id={kid}&amp;task=pay" target="_self"><code>pay</code></a>'
    assert f"{link} of <code>kid</code>" in said
    assert "Root failure in <code>outer</code>" in said and "It failed inside the child" in said
    assert said.count('<p class="rp-why">no &lt;route&gt;</p>') == 1
    assert client.diagnosed == [top]


def test_a_beginning_without_a_reason_is_said_to_have_none(client: Counting) -> None:
    top, _ = a_failed_family(client, a_task("pay"), reason=None)
    said = said_of(top)
    assert "It began in" in said
    assert said.count("No reason was given.") == 1 and "reason: 'null" not in said


def test_a_beginning_in_a_loop_leads_to_the_task_of_the_picture(client: Counting) -> None:
    loop = a_task("again", "DO_WHILE", loopCondition="true", loopOver=[a_task("pay")])
    top, kid = a_failed_family(client, loop, reason="no route")
    said = said_of(top)
    assert f'href="execution?id={kid}&amp;task=pay"' in said and ", iteration 1" in said


def test_what_failed_by_itself_is_not_asked_about(client: Counting) -> None:
    id_ = a_start(client, "parcel", a_task("ship"))
    failed(client, id_, "ship", "no van")
    assert "It began in" not in said_of(id_)
    assert client.diagnosed == []


def test_a_conductor_without_a_diagnosis_names_the_child_as_before() -> None:
    definition = {"name": "top", "version": 1, "tasks": [below("outer", "middle")]}
    broken = an_attempt(
        "outer",
        "FAILED",
        type="SUB_WORKFLOW",
        subWorkflowId="kid-1",
        reasonForIncompletion="Sub workflow middle.1/kid-1 failure reason: no route",
    )
    asking(Server().add(an_execution("top-1", definition, "FAILED", tasks=[broken])).app())
    said = said_of("top-1")
    assert '<p class="rp-why">no route</p>' in said
    assert "It failed inside the child" in said and "It began in" not in said


def test_a_sub_workflow_that_its_terminate_ended_began_there(client: Counting) -> None:
    given = {"terminationStatus": "FAILED", "terminationReason": "stock is empty"}
    stop = a_task("stop", "TERMINATE", inputParameters=given)
    client.save_definition({"name": "kid", "version": 1, "tasks": [stop]}, ME)
    top = a_start(client, "top", below("outer", "kid"))
    said = said_of(top)
    assert f'href="execution?id={child_of(client, top)}&amp;task=stop"' in said
    assert '<p class="rp-why">stock is empty</p>' in said


def test_a_sub_workflow_that_failed_for_none_of_its_tasks_is_where_it_began(
    client: Counting,
) -> None:
    schema = {"name": "paid", "version": 1, "type": "JSON", "data": {"required": ["receipt"]}}
    kid = {"name": "kid", "version": 1, "tasks": [a_task("pay", "NOOP")]}
    client.save_definition({**kid, "outputSchema": schema, "enforceSchema": True}, ME)
    top = a_start(client, "top", below("outer", "kid"))
    said = said_of(top)
    link = f'href="execution?id={child_of(client, top)}" target="_self"><code>kid</code></a></p>'
    assert link in said and "It began in <a" in said
    assert "does not fit the outputSchema of kid" in said
