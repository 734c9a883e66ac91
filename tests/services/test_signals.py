"""What blocks an execution, and being told when something moves."""

import threading
from collections.abc import Iterator

import pytest

from engine.engine import Engine
from engine.model.definitions import WorkflowDef
from engine.model.requests import StartWorkflowRequest
from engine.services.house import House, furnished
from engine.settings import Settings


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    settings = Settings(database="memory:", evaluators=1, http_worker=False)
    with Engine(settings) as engine:
        yield furnished(engine)


def wait(ref: str, **given: object) -> dict[str, object]:
    return {"name": ref, "taskReferenceName": ref, "type": "WAIT", "inputParameters": given}


def started(house: House, name: str, *tasks: dict[str, object]) -> str:
    """An execution of these tasks."""
    house.definitions.register(WorkflowDef.read({"name": name, "tasks": list(tasks)}))
    return house.executions.start(StartWorkflowRequest(name=name))


def test_an_execution_at_a_wait_without_an_end_goes_on_by_a_signal_alone(house: House) -> None:
    workflow_id = started(house, "gate", wait("one"), wait("two"))
    stand = house.signals.look(workflow_id)
    assert stand.blocked is not None and stand.blocked.run.ref == "one"
    assert stand.waits_for_nothing_but_a_signal()
    assert house.signals.signal(workflow_id, "COMPLETED", {"x": 1})
    assert house.signals.look(workflow_id).has_ended(["one"])


def test_a_wait_with_an_end_goes_on_by_itself_and_can_be_signalled(house: House) -> None:
    workflow_id = started(house, "nap", wait("nap", duration="1 hour"))
    assert not house.signals.look(workflow_id).waits_for_nothing_but_a_signal()
    assert house.signals.signal(workflow_id, "COMPLETED", {})
    assert house.signals.look(workflow_id).target.status.terminal
    assert not house.signals.signal(workflow_id, "COMPLETED", {})


def test_the_wait_inside_a_running_child_blocks_its_parent(house: House) -> None:
    started(house, "inside", wait("inner"))
    child = {
        "name": "sub",
        "taskReferenceName": "sub",
        "type": "SUB_WORKFLOW",
        "subWorkflowParam": {"name": "inside", "version": 1},
    }
    workflow_id = started(house, "outside", child)
    stand = house.signals.look(workflow_id)
    assert stand.blocked is not None and stand.blocked.run.ref == "inner"
    assert len(stand.involved) == 2 and workflow_id in stand.involved


def test_whoever_watches_an_execution_is_woken_when_it_moves(house: House) -> None:
    workflow_id = started(house, "watched", wait("one"), wait("two"))
    moved = threading.Event()
    house.signals.watch(frozenset([workflow_id]), moved.set)
    house.signals.signal(workflow_id, "COMPLETED", {})
    assert moved.wait(10)
    house.signals.unwatch(moved.set)
    moved.clear()
    house.signals.signal(workflow_id, "COMPLETED", {})
    assert house.signals.look(workflow_id).target.status.terminal and not moved.is_set()
