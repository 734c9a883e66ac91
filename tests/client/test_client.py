"""The questions of the client, put to a plain Conductor server and to our own engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.api.app import create_app
from engine.engine import Engine
from engine.settings import Settings
from studio.client import capabilities, errors
from studio.client.client import Actor, Client
from studio.client.transport import in_process
from tests.client.conductor_data import ORDER, a_failed_order
from tests.client.fake_conductor import Server

ME = Actor("Mara Ü", "because")


def a_conductor() -> tuple[Server, Client]:
    server = Server().add(a_failed_order())
    return server, Client(in_process(server.app()))


@pytest.fixture
def own() -> Iterator[Client]:
    with Engine(Settings(database="memory:", evaluators=1)) as engine:
        client = Client(in_process(create_app(engine)))
        yield client
        client.close()


def a_definition(name: str = "two_steps") -> dict[str, object]:
    tasks = [
        {"name": ref, "taskReferenceName": ref, "type": "SIMPLE", "inputParameters": {}}
        for ref in ("first", "second")
    ]
    return {"name": name, "version": 1, "tasks": tasks, "schemaVersion": 2}


def test_a_404_on_our_additions_means_conductor() -> None:
    _, client = a_conductor()
    able = client.capabilities()
    assert able.product == capabilities.CONDUCTOR
    assert able.version == "3.32.1"
    assert not able.can("outline")
    assert able.why_not("outline") == (
        "A Conductor server does not offer a light outline of an execution."
    )


def test_where_there_is_no_outline_the_whole_execution_is_given() -> None:
    _, client = a_conductor()
    assert client.outline(ORDER)["tasks"][0]["referenceTaskName"] == "reserve_stock"


def test_what_conductor_lacks_is_none() -> None:
    _, client = a_conductor()
    assert client.ledger(ORDER) is None
    assert client.preview(ORDER, "retry") is None
    assert client.overview() is None


def test_the_reason_and_the_person_travel_with_an_action() -> None:
    server, client = a_conductor()
    client.retry(ORDER, ME)
    verb, id_, about, _ = server.calls[0]
    assert (verb, id_, about["reason"]) == ("retry", ORDER, "because")


def test_a_name_may_hold_any_sign() -> None:
    server, client = a_conductor()
    server.definitions.append(a_definition("a:b ü?"))
    assert client.definition("a:b ü?")["name"] == "a:b ü?"


def test_logs_that_are_not_there_are_none() -> None:
    _, client = a_conductor()
    assert client.logs("nobody") == []


def test_a_bulk_action_tells_each_id() -> None:
    _, client = a_conductor()
    done, failed = client.bulk("retry", [ORDER, "gone"], ME)
    assert done == [ORDER]
    assert failed == {"gone": "No such workflow"}


def test_a_missing_execution_is_missing() -> None:
    _, client = a_conductor()
    with pytest.raises(errors.Missing, match="No such workflow"):
        client.execution("gone")


def test_our_engine_says_what_it_can(own: Client) -> None:
    able = own.capabilities()
    assert able.product == capabilities.REPRISE
    assert all(able.can(addition) for addition in capabilities.ADDITIONS)


def test_an_execution_of_our_engine_is_told_as_outline_task_and_story(own: Client) -> None:
    own.save_definition(a_definition(), ME)
    id_ = own.start({"name": "two_steps", "input": {"a": 1}, "correlationId": "c-1"}, ME)
    outline = own.outline(id_)
    assert outline["status"] == "RUNNING"
    first = outline["tasks"][0]
    assert (first["ref"], first["status"]) == ("first", "SCHEDULED")
    assert own.task(id_, first["seq"], first["taskId"])["referenceTaskName"] == "first"
    lines = own.ledger(id_)
    assert lines is not None
    assert (lines[0]["cause"], lines[0]["by"]) == ("Start", "Mara Ü")
    assert own.search("correlationId = c-1").total == 1


def test_a_terminated_run_is_previewed_and_retried(own: Client) -> None:
    own.save_definition(a_definition(), ME)
    id_ = own.start({"name": "two_steps"}, ME)
    own.terminate(id_, Actor("Mara", "wrong order"))
    execution = own.execution(id_, tasks=False)
    assert (execution["status"], execution["reasonForIncompletion"]) == (
        "TERMINATED",
        "wrong order",
    )
    preview = own.preview(id_, "retry")
    assert preview is not None
    assert preview["runsAgain"] == ["first"]
    own.retry(id_, ME)
    assert own.execution(id_, tasks=False)["status"] == "RUNNING"


def test_definitions_and_task_definitions_are_kept(own: Client) -> None:
    own.save_task_def({"name": "first", "retryCount": 1, "responseTimeoutSeconds": 5}, ME)
    own.save_definition(a_definition(), ME)
    assert [one["name"] for one in own.task_defs()] == ["first"]
    assert '"two_steps"' in str(own.definition_text("two_steps"))
    own.delete_definition("two_steps", 1, ME)
    with pytest.raises(errors.Missing):
        own.definition("two_steps")


def test_queues_and_waiting_tasks_are_counted(own: Client) -> None:
    own.save_definition(a_definition(), ME)
    own.start({"name": "two_steps"}, ME)
    assert own.queues()["first"] == 1
    assert isinstance(own.polls(), list)


def test_a_pause_holds_and_a_resume_lets_go(own: Client) -> None:
    own.save_definition(a_definition(), ME)
    id_ = own.start({"name": "two_steps"}, ME)
    own.pause(id_, ME)
    assert own.execution(id_, tasks=False)["status"] == "PAUSED"
    own.resume(id_, ME)
    assert own.execution(id_, tasks=False)["status"] == "RUNNING"
    with pytest.raises(errors.Refused):
        own.resume(id_, ME)


def test_a_whole_number_of_any_length_is_sent_and_read_as_it_is(own: Client) -> None:
    own.save_definition(a_definition("long"), ME)
    given = {"big": 10**23 + 1, "small": -(10**30)}
    assert own.execution(own.start({"name": "long", "input": given}, ME))["input"] == given


def test_what_no_request_can_hold_is_refused_before_it_is_sent(own: Client) -> None:
    for name in ("\udcff", ""):
        with pytest.raises(errors.Invalid):
            own.execution(name)
    with pytest.raises(errors.Invalid):
        own.ask("GET", "workflow", "search", query={"query": "\udcff"})
    with pytest.raises(errors.Invalid):
        own.start({"name": "\udcff"}, ME)


def test_a_name_of_dots_alone_is_a_name_and_no_way_to_elsewhere(own: Client) -> None:
    for name in (".", ".."):
        with pytest.raises(errors.Missing, match=f"found by id: {name}$"):
            own.execution(name)


def test_what_an_engine_of_ours_keeps_as_a_file_is_fetched(tmp_path: Path) -> None:
    settings = Settings(
        database="memory:",
        evaluators=1,
        payload_folder=str(tmp_path),
        task_payload_threshold=100,
        workflow_payload_threshold=100,
    )
    large = {"text": "x" * 200}
    definition = {
        **a_definition("large"),
        "tasks": [{"name": "n", "taskReferenceName": "n", "type": "NOOP",
                   "inputParameters": {"text": "${workflow.input.text}"}}],
        "outputParameters": {"text": "${workflow.input.text}"},
    }  # fmt: skip
    with Engine(settings) as engine:
        client = Client(in_process(create_app(engine)))
        client.save_definition(definition, ME)
        id_ = client.start({"name": "large", "input": large}, ME)
        found = client.execution(id_)
        assert found["externalInputPayloadStoragePath"]
        assert (found["input"], found["output"]) == (large, large)
        task = found["tasks"][0]
        assert task["inputData"] == {}
        assert client.task(id_, task["seq"], task["taskId"])["inputData"] == large
        client.close()
