"""Event handlers: a message is handled once, by every active handler, action by action."""

import json
from concurrent.futures import Future
from typing import Any

import orjson
import pytest

from engine.core.inbox import Asked
from engine.core.turn import Core
from engine.expressions.scripts import ScriptAnswer
from engine.instruments.metrics import Metrics
from engine.model.errors import Conflict, InvalidInput, NotFound, NotTaken
from engine.model.facts import Limits
from engine.model.requests import StartWorkflowRequest
from engine.rules.handlers import expanded
from engine.services.port import DirectPort
from engine.services.triggers import Triggers
from engine.store.contract import Store
from tests.services.engine_room import EngineRoom

NOW = 1_700_000_000_000


@pytest.fixture
def room(store: Store) -> EngineRoom:
    return EngineRoom(store, NOW)


class BusyPort(DirectPort):
    """Takes nothing for the first few times."""

    def __init__(self, core: Core, refusals: int) -> None:
        super().__init__(core)
        self.refusals = refusals

    def send(self, asked: Asked) -> "Future[Any]":
        if self.refusals:
            self.refusals -= 1
            raise NotTaken()
        return super().send(asked)


def a_handler(*actions: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "name": "h",
        "event": "kafka:orders",
        "active": True,
        "actions": list(actions),
        **fields,
    }


def an_action(kind: str, **part: Any) -> dict[str, Any]:
    return {"action": kind, kind: part}


def started(room: EngineRoom, name: str = "ship") -> list[dict[str, Any]]:
    """The executions that handlers have started, by what they recorded."""
    ids = {
        record["output"]["workflowId"]
        for record in room.triggers.executions()
        if record["status"] == "COMPLETED" and record.get("action") == "start_workflow"
    }
    found = [plain(room.executions.get(workflow_id)) for workflow_id in ids]
    return [execution for execution in found if execution["workflowName"] == name]


def plain(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value))


def statuses(room: EngineRoom) -> list[str]:
    records = sorted(room.triggers.executions(), key=lambda record: (record["name"], record["id"]))
    return [f"{record['name']} {record['id']} {record['status']}" for record in records]


def a_running(room: EngineRoom, *tasks: dict[str, Any]) -> str:
    room.register("running", *tasks)
    return room.executions.start(StartWorkflowRequest(name="running", input={}))


def test_a_message_starts_a_workflow_with_what_it_says(room: EngineRoom):
    room.register("ship")
    action = an_action(
        "start_workflow",
        name="ship",
        correlationId="${order.id}",
        input={"sku": "${order.items[0].sku}", "text": "order ${order.id}", "n": 1},
    )
    room.triggers.add(a_handler(action))
    room.triggers.deliver("kafka:orders", {"order": {"id": "o7", "items": [{"sku": "x"}]}}, "m1")
    (execution,) = started(room)
    assert execution["event"] == "kafka:orders"
    assert execution["correlationId"] == "o7"
    assert execution["input"] == {
        "sku": "x",
        "text": "order o7",
        "n": 1,
        "conductor.event.messageId": "m1",
        "conductor.event.name": "kafka:orders",
    }


def test_a_message_that_comes_again_is_not_handled_again(room: EngineRoom):
    room.register("ship")
    room.triggers.add(a_handler(an_action("start_workflow", name="ship")))
    assert room.triggers.deliver("kafka:orders", {}, "m1") == 1
    assert room.triggers.deliver("kafka:orders", {}, "m1") == 0
    assert room.triggers.deliver("kafka:orders", {}, "m2") == 1
    assert len(started(room)) == 2


def test_an_action_that_died_before_it_was_recorded_meets_what_it_has_started(room: EngineRoom):
    room.register("ship")
    room.triggers.add(a_handler(an_action("start_workflow", name="ship")))
    room.triggers.deliver("kafka:orders", {}, "m1")
    (record,) = room.triggers.executions()
    room.shelf.put_event_execution({**record, "status": "IN_PROGRESS"})
    room.triggers.deliver("kafka:orders", {}, "m1")
    (again,) = room.triggers.executions()
    assert again["output"]["workflowId"] == record["output"]["workflowId"]
    assert again["status"] == "COMPLETED"


def test_workflows_that_start_each_other_by_their_messages_come_to_an_end_that_says_so(
    store: Store,
):
    room = EngineRoom(store, NOW, limits=Limits(descendants=3))
    room.register("ship")
    room.triggers.add(a_handler(an_action("start_workflow", name="ship")))
    sender = room.executions.start(StartWorkflowRequest(name="ship", input={}))
    for number in range(5):
        room.triggers.deliver("kafka:orders", {"workflowInstanceId": sender}, f"m{number}")
        sender = next(iter(item["workflowId"] for item in started(room)), sender)
    assert [word.split()[-1] for word in statuses(room)] == ["COMPLETED"] * 3 + ["FAILED"] * 2
    refused = next(item for item in room.triggers.executions() if item["status"] == "FAILED")
    assert "3 executions within a day" in refused["output"]["error"]


def test_a_failing_action_stops_neither_the_next_one_nor_other_handlers(room: EngineRoom):
    room.register("ship")
    ship, nope = (an_action("start_workflow", name=name) for name in ("ship", "nope"))
    room.triggers.add(a_handler(nope, ship))
    room.triggers.add(a_handler(ship, name="z"))
    room.triggers.deliver("kafka:orders", {}, "m1")
    assert statuses(room) == ["h m1_0 FAILED", "h m1_1 COMPLETED", "z m1_0 COMPLETED"]
    failed = next(record for record in room.triggers.executions() if record["status"] == "FAILED")
    assert "nope" in failed["output"]["error"]


def test_an_action_the_engine_was_too_busy_for_is_done_when_the_message_comes_again(
    room: EngineRoom,
):
    room.register("ship")
    room.triggers.add(a_handler(an_action("start_workflow", name="ship"), name="a"))
    room.triggers.add(a_handler(an_action("start_workflow", name="ship"), name="b"))
    busy = Triggers(BusyPort(room.core, 3), room.shelf, room.executions, room.tasks, room.evaluate)
    metrics = Metrics()
    room.core.telemetry.listen(metrics.hear)
    with pytest.raises(NotTaken):
        busy.deliver("kafka:orders", {}, "m1")
    assert statuses(room) == ["a m1_0 IN_PROGRESS", "b m1_0 COMPLETED"]
    assert busy.deliver("kafka:orders", {}, "m1") == 1
    of_queue = '{queueType="kafka",queueName="orders"}'
    for what, number in (("processed", 2), ("error", 1), ("handled", 1)):
        assert f"event_queue_messages_{what}_total{of_queue} {number}" in metrics.render()
    assert statuses(room) == ["a m1_0 COMPLETED", "b m1_0 COMPLETED"]


def test_an_action_is_tried_again_at_once_before_the_message_is_given_back(room: EngineRoom):
    room.register("ship")
    room.triggers.add(a_handler(an_action("start_workflow", name="ship")))
    busy = Triggers(BusyPort(room.core, 2), room.shelf, room.executions, room.tasks, room.evaluate)
    assert busy.deliver("kafka:orders", {}, "m1") == 1


@pytest.mark.parametrize(
    ("fields", "answer", "acts"),
    [
        ({}, None, True),
        ({"condition": ""}, None, True),
        ({"condition": "  "}, None, False),
        ({"condition": "$.n > 1"}, ScriptAnswer(value=True), True),
        ({"condition": "$.n > 1"}, ScriptAnswer(value=False), False),
        ({"condition": "$.n"}, ScriptAnswer(value=2), True),
        ({"condition": "$.n"}, ScriptAnswer(value=0), False),
        ({"condition": "$.n"}, ScriptAnswer(value="yes"), False),
        ({"condition": "$.n.m"}, ScriptAnswer(error="TypeError"), False),
        ({"condition": "urgent", "evaluatorType": "value-param"}, None, True),
        ({"condition": "n", "evaluatorType": "perl"}, None, False),
    ],
)
def test_a_handler_acts_where_its_condition_is_true_or_a_number_above_zero(
    room: EngineRoom, fields: dict[str, Any], answer: ScriptAnswer | None, acts: bool
):
    room.register("ship")
    if answer is not None:
        room.answers[fields["condition"]] = answer
    room.triggers.add(a_handler(an_action("start_workflow", name="ship"), **fields))
    room.triggers.deliver("kafka:orders", {"n": 2, "urgent": True}, "m1")
    assert statuses(room) == [f"h m1_0 {'COMPLETED' if acts else 'SKIPPED'}"]
    asked = [] if answer is None else [{"n": 2, "urgent": True}]
    assert [job.inputs for job in room.asked] == asked


def test_handlers_that_are_off_or_of_another_event_are_not_asked(room: EngineRoom):
    action = an_action("start_workflow", name="ship")
    room.triggers.add(a_handler(action, active=False))
    room.triggers.add(a_handler(action, name="other", event="kafka:returns"))
    assert room.triggers.deliver("kafka:orders", {}, "m1") == 0
    assert room.triggers.executions() == []


def test_a_text_that_is_json_is_opened_where_the_action_asks_for_it(room: EngineRoom):
    room.register("ship")
    action = an_action("start_workflow", name="ship", input={"id": "${order.id}"})
    room.triggers.add(a_handler({**action, "expandInlineJSON": True}))
    room.triggers.add(a_handler(action, name="plain"))
    room.triggers.deliver("kafka:orders", {"order": json.dumps({"id": "o7"})}, "m1")
    assert sorted(str(execution["input"]["id"]) for execution in started(room)) == ["None", "o7"]


def test_expansion_leaves_texts_inside_lists_and_texts_that_are_no_json():
    assert expanded(
        {"a": '{"b": "[1]"}', "c": ['{"d": 1}', {"e": "[2]"}], "f": "{no", "g": "5"}
    ) == {
        "a": {"b": "[1]"},
        "c": ['{"d": 1}', {"e": [2]}],
        "f": "{no",
        "g": "5",
    }


def test_a_payload_may_be_text_that_holds_json(room: EngineRoom):
    room.register("ship")
    room.triggers.add(a_handler(an_action("start_workflow", name="ship", input={"id": "${id}"})))
    room.triggers.deliver("kafka:orders", b'{"id": 5}', "m1")
    room.triggers.deliver("kafka:orders", "not json", "m2")
    assert {execution["input"]["id"] for execution in started(room)} == {5, None}


def test_task_domains_come_from_the_action_or_else_from_the_message(room: EngineRoom):
    room.register("ship")
    own = an_action("start_workflow", name="ship", taskToDomain={"work": "mine"})
    room.triggers.add(a_handler(own))
    room.triggers.add(a_handler(an_action("start_workflow", name="ship"), name="z"))
    room.triggers.deliver("kafka:orders", {"taskToDomain": {"work": "theirs"}}, "m1")
    domains = sorted(execution["taskToDomain"]["work"] for execution in started(room))
    assert domains == ["mine", "theirs"]


WAIT = {"name": "wait", "taskReferenceName": "wait", "type": "WAIT"}


def test_a_message_completes_a_task_by_its_reference_name(room: EngineRoom):
    workflow_id = a_running(room, WAIT)
    part = {"workflowId": "${wf}", "taskRefName": "wait", "output": {"answer": "${a}"}}
    room.triggers.add(a_handler(an_action("complete_task", **part)))
    room.triggers.deliver("kafka:orders", {"wf": workflow_id, "a": 42}, "m1")
    task = plain(room.task(workflow_id, "wait"))
    assert task["status"] == "COMPLETED"
    assert task["outputData"] == {
        "answer": 42,
        "workflowId": workflow_id,
        "taskRefName": "wait",
        "conductor.event.messageId": "m1",
        "conductor.event.name": "kafka:orders",
    }


def test_inside_a_loop_the_plain_name_means_the_newest_round(room: EngineRoom):
    loop = {
        "name": "loop",
        "taskReferenceName": "loop",
        "type": "DO_WHILE",
        "items": [1, 2],
        "loopOver": [WAIT],
    }
    workflow_id = a_running(room, loop)
    part = {"workflowId": workflow_id, "taskRefName": "wait"}
    room.triggers.add(a_handler(an_action("complete_task", **part)))
    room.triggers.deliver("kafka:orders", {}, "m1")
    assert room.task(workflow_id, "wait__1")["status"] == "COMPLETED"
    room.triggers.deliver("kafka:orders", {}, "m2")
    assert room.task(workflow_id, "wait__2")["status"] == "COMPLETED"


def test_a_message_fails_a_task_by_its_id(room: EngineRoom):
    workflow_id = a_running(room, WAIT)
    task_id = room.task(workflow_id, "wait")["taskId"]
    part = {"taskId": "${id}", "reasonForIncompletion": "no: ${why}"}
    room.triggers.add(a_handler(an_action("fail_task", **part)))
    room.triggers.deliver("kafka:orders", {"id": task_id, "why": "late"}, "m1")
    assert room.task(workflow_id, "wait")["reasonForIncompletion"] == "no: late"
    assert room.executions.get(workflow_id)["status"] == "FAILED"


def test_a_message_ends_a_workflow(room: EngineRoom):
    workflow_id = a_running(room, WAIT)
    part = {"workflowId": "${wf}", "terminationReason": "recalled"}
    room.triggers.add(a_handler(an_action("terminate_workflow", **part)))
    room.triggers.deliver("kafka:orders", {"wf": workflow_id}, "m1")
    shown = room.executions.get(workflow_id)
    assert (shown["status"], shown["reasonForIncompletion"]) == ("TERMINATED", "recalled")


def test_a_message_sets_and_appends_variables(room: EngineRoom):
    workflow_id = a_running(room, WAIT)
    part = {"workflowId": workflow_id, "variables": {"seen": ["${n}"]}, "appendArray": True}
    room.triggers.add(a_handler(an_action("update_workflow_variables", **part)))
    room.triggers.deliver("kafka:orders", {"n": 1}, "m1")
    room.triggers.deliver("kafka:orders", {"n": 2}, "m2")
    assert plain(room.executions.get(workflow_id))["variables"] == {"seen": [1, 2]}


@pytest.mark.parametrize(
    "action",
    [
        an_action("complete_task", workflowId="nobody", taskRefName="wait"),
        an_action("complete_task"),
        an_action("fail_task", taskId="nobody"),
        an_action("terminate_workflow"),
        an_action("terminate_workflow", workflowId="nobody"),
        an_action("update_workflow_variables", workflowId="nobody", variables={}),
        an_action("start_workflow"),
        an_action("start_workflow", name="ship", input={"x": "${" * 20 + "a" + "}" * 20}),
    ],
    ids=lambda action: action["action"],
)
def test_an_action_that_cannot_be_done_is_recorded_with_its_reason(
    room: EngineRoom, action: dict[str, Any]
):
    room.register("ship")
    room.triggers.add(a_handler(action))
    room.triggers.deliver("kafka:orders", {}, "m1")
    (record,) = room.triggers.executions()
    assert record["status"] == "FAILED"
    assert record["output"]["error"]


# The catalogue


def test_a_handler_reads_back_as_it_was_written(room: EngineRoom):
    given = a_handler(
        {**an_action("start_workflow", name="ship"), "expandInlineJSON": True}, condition="$.x"
    )
    room.triggers.add(given)
    (found,) = room.triggers.handlers()
    assert found["actions"][0]["expandInlineJSON"] is True
    assert found["actions"][0]["start_workflow"]["name"] == "ship"
    assert (found["event"], found["active"], found["condition"]) == ("kafka:orders", True, "$.x")


def test_handlers_are_found_by_event_and_by_being_active(room: EngineRoom):
    action = an_action("start_workflow", name="ship")
    room.triggers.add(a_handler(action))
    room.triggers.add(a_handler(action, name="off", active=False))
    room.triggers.add(a_handler(action, name="other", event="kafka:returns"))
    orders = room.triggers.handlers("kafka:orders")
    assert [handler["name"] for handler in orders] == ["h", "off"]
    active = room.triggers.handlers("kafka:orders", active_only=True)
    assert [handler["name"] for handler in active] == ["h"]
    assert room.triggers.handlers("kafka:nothing") == []


def test_a_name_is_taken_once_and_only_what_is_there_can_be_changed(room: EngineRoom):
    given = a_handler(an_action("start_workflow", name="ship"))
    room.triggers.add(given)
    with pytest.raises(Conflict, match="EventHandler with name h already exists!"):
        room.triggers.add(given)
    room.triggers.update({**given, "active": False})
    assert room.triggers.handlers(active_only=True) == []
    room.triggers.remove("h")
    for change in (lambda: room.triggers.update(given), lambda: room.triggers.remove("h")):
        with pytest.raises(NotFound, match="EventHandler with name h not found!"):
            change()


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        ({"name": ""}, "addEventHandler.arg0.name", "Missing event handler name"),
        ({"event": None}, "addEventHandler.arg0.event", "Missing event location"),
        (
            {"actions": []},
            "addEventHandler.arg0.actions",
            "No actions specified. Please specify at-least one action",
        ),
        ({"actions": [{}]}, "addEventHandler.arg0.actions[0].action", "action is missing"),
        (
            {"actions": [{"action": "fail_task"}]},
            "addEventHandler.arg0.actions[0].fail_task",
            "fail_task is missing",
        ),
        ({"actions": [{"action": "dance"}]}, "actions[0].action", "start_workflow"),
    ],
)
def test_an_unsound_handler_is_refused(
    room: EngineRoom, change: dict[str, Any], path: str, message: str
):
    given = a_handler(an_action("start_workflow", name="ship"))
    with pytest.raises(InvalidInput) as refused:
        room.triggers.add({**given, **change})
    (violation,) = refused.value.violations
    assert violation.path == path
    assert message in violation.message
