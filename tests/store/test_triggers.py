"""Event handlers, schedules, queues and the outbox."""

import pytest

from engine.model.errors import Conflict
from engine.model.execution import Changes
from engine.store import messages, triggers
from engine.store.contract import Group, Written
from engine.store.rowstore import RowStore
from engine.store.triggers import StoredSchedule
from tests.store.builders import an_execution, created


def a_handler(name: str = "ship", **fields: object) -> dict[str, object]:
    return {"name": name, "event": "conductor:paid", "active": True, "actions": [], **fields}


def a_schedule(name: str, next_run_at: int = 0, **fields: object) -> StoredSchedule:
    document = {"name": name, "startWorkflowRequest": {"name": "order"}, **fields}
    return StoredSchedule(document, next_run_at)


def test_handlers_are_found_by_their_event(database: RowStore) -> None:
    for handler in (a_handler(), a_handler("idle", active=False), a_handler("other", event="x:y")):
        database.errand(lambda session, h=handler: triggers.put_handler(session, h))
    found = database.read(lambda session: triggers.handlers(session, "conductor:paid"))
    assert [item["name"] for item in found] == ["idle", "ship"]
    active = database.read(
        lambda session: triggers.handlers(session, "conductor:paid", active_only=True)
    )
    assert active == [a_handler()]


def test_a_handler_is_not_overwritten_unless_that_is_said(database: RowStore) -> None:
    database.errand(lambda session: triggers.put_handler(session, a_handler()))
    with pytest.raises(Conflict, match="ship already exists"):
        database.errand(lambda session: triggers.put_handler(session, a_handler(), overwrite=False))
    assert database.errand(lambda session: triggers.remove_handler(session, "ship"))
    assert database.read(lambda session: triggers.handler(session, "ship")) is None


def test_schedules_come_due_in_order_unless_they_are_paused(database: RowStore) -> None:
    for schedule in (
        a_schedule("late", 20),
        a_schedule("early", 10),
        a_schedule("paused", 5, paused=True),
        a_schedule("never", 0),
        a_schedule("later", 99),
    ):
        database.errand(lambda session, s=schedule: triggers.put_schedule(session, s))
    due = database.read(lambda session: triggers.due_schedules(session, 50))
    assert [item.name for item in due] == ["early", "late"]
    assert len(database.read(lambda session: triggers.schedules(session, "order"))) == 5
    assert database.read(lambda session: triggers.schedule(session, "late")) == a_schedule(
        "late", 20
    )
    assert database.errand(lambda session: triggers.remove_schedule(session, "late"))


def test_old_firings_are_pruned_and_the_newest_kept(database: RowStore) -> None:
    for slot in range(5):
        record = {
            "executionId": f"f{slot}", "scheduleName": "nightly", "scheduledTime": slot,
            "state": "POLLED",
        }  # fmt: skip
        database.errand(lambda session, r=record: triggers.put_firing(session, r))
        record = {**record, "state": "EXECUTED", "workflowId": "w"}
        database.errand(lambda session, r=record: triggers.put_firing(session, r))
    assert database.errand(lambda session: triggers.prune_firings(session, "nightly", 2)) == 3
    kept = database.read(lambda session: triggers.firings(session, "nightly"))
    assert [(item["executionId"], item["state"]) for item in kept] == [
        ("f4", "EXECUTED"),
        ("f3", "EXECUTED"),
    ]


def test_messages_that_wait_for_an_event_queue_are_counted_by_its_name(
    database: RowStore,
) -> None:
    execution = an_execution(database)
    item = created(execution)
    for topic, body in (
        ("event", {"event": "conductor:paid"}),
        ("event", {"event": "conductor:sent"}),
        ("event", {"event": "conductor:paid"}),
        ("workflow_status", {"event": "COMPLETED"}),
    ):
        item.changes.messages.append((topic, body))
    database.commit(Group([item]))
    waiting = {"conductor:paid": 2, "conductor:sent": 1}
    assert database.read(messages.waiting_events) == waiting


def test_what_an_action_did_is_known_by_its_id(database: RowStore) -> None:
    record = {
        "id": "m1_0", "event": "conductor:paid", "name": "ship", "messageId": "m1",
        "created": 7, "status": "IN_PROGRESS",
    }  # fmt: skip

    def put(status: str) -> bool:
        return database.errand(
            lambda session: messages.put_event_execution(session, {**record, "status": status})
        )

    assert put("IN_PROGRESS")
    assert not put("COMPLETED")
    done = {**record, "status": "COMPLETED"}
    assert (
        database.read(
            lambda session: messages.event_execution(session, "m1_0", "conductor:paid", "ship")
        )
        == done
    )
    assert database.read(messages.event_executions) == [done]


def test_messages_to_the_outside_wait_in_order_until_they_are_delivered(
    database: RowStore,
) -> None:
    execution = an_execution(database, updated_at=8)
    changes = Changes(messages=[("workflow", {"n": 1}), ("task", ["x"])])
    database.commit(Group([Written(execution, changes, created=True)]))
    waiting = database.read(messages.outbox)
    assert [(item.topic, item.body, item.created_at) for item in waiting] == [
        ("workflow", {"n": 1}, 8),
        ("task", ["x"], 8),
    ]
    database.errand(lambda session: messages.delivered(session, [waiting[0].number]))
    assert [item.topic for item in database.read(messages.outbox)] == ["task"]
