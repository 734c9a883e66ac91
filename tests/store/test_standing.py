"""Counts of what stands: exact, and along indexes of what is open."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from engine.model.status import ExecutionStatus, TaskStatus
from engine.store import schema, standing
from engine.store.database import open_sqlite
from engine.store.rowstore import RowStore
from engine.store.tables import Outbox
from tests.store.builders import a_definition, started
from tests.store.plans import plans

CHARGE = ("charge", None)


def waits(type_: str, **fields: Any) -> dict[str, Any]:
    return {"type": type_, "carrier": None, "status": TaskStatus.IN_PROGRESS, **fields}


def waiting(database: RowStore, limit: int = 100) -> dict[tuple[str, str], int]:
    return database.read(lambda session: standing.waiting(session, limit))


def test_each_running_execution_waits_for_one_kind_of_thing(database: RowStore) -> None:
    started(database, waits("HUMAN"), waits("WAIT", due_at=9))
    started(database, waits("WAIT", due_at=9), waits("WAIT"))
    started(database, waits("WAIT"))
    started(database, waits("PULL_WORKFLOW_MESSAGES"), definition=a_definition("mail"))
    assert waiting(database) == {
        ("order", "approval"): 1,
        ("order", "timer"): 1,
        ("order", "event"): 1,
        ("mail", "event"): 1,
    }


def test_who_has_other_work_is_paused_or_is_through_with_it_does_not_wait(
    database: RowStore,
) -> None:
    started(database, waits("HUMAN"), {})
    started(database, waits("HUMAN"), {"status": TaskStatus.IN_PROGRESS})
    started(database, waits("HUMAN"), status=ExecutionStatus.PAUSED)
    started(database, waits("HUMAN", status=TaskStatus.COMPLETED))
    started(database, waits("JOIN"))
    assert waiting(database) == {}


def test_no_more_is_looked_at_than_a_limit_says(database: RowStore) -> None:
    for _ in range(4):
        started(database, waits("HUMAN"))
        started(database, stuck="an event raised")
    assert waiting(database, limit=3) == {("order", "approval"): 3}
    assert database.read(lambda session: standing.stuck(session, 3)) == {"order": 3}


def test_who_is_not_let_in_yet_is_counted(database: RowStore) -> None:
    started(database, rate_limit_key="k", rate_limited=True)
    started(database, rate_limit_key="k")
    assert database.read(standing.held_back) == {"order": 1}


def test_what_is_stuck_is_counted_until_it_ends(database: RowStore) -> None:
    started(database, stuck="an event raised")
    started(database, stuck="an event raised", status=ExecutionStatus.TERMINATED)
    started(database)
    assert database.read(standing.stuck) == {"order": 1}


def test_executions_that_nobody_comes_for_are_counted_once(database: RowStore) -> None:
    old = {"queued_at": 10}
    started(database, old, old)
    started(database, {"queued_at": 99}, {"queued_at": 10, "due_at": 99})
    started(database, {**old, "domain": "eu"})
    started(database, {**old, "status": TaskStatus.IN_PROGRESS})
    started(database, old, status=ExecutionStatus.PAUSED)
    found = database.read(
        lambda session: standing.unattended(session, [CHARGE, ("none", None)], 50)
    )
    assert found == {"order": 1}


def test_the_head_of_a_queue_is_what_is_handed_out_next(database: RowStore) -> None:
    started(database, {"queued_at": 5, "due_at": 60}, {"queued_at": 7})
    started(database, {"queued_at": 9, "priority": 3}, definition=a_definition("urgent"))
    queues = [CHARGE, ("none", None)]
    [head] = database.read(lambda session: standing.heads(session, queues, 50))
    assert head == standing.Head("urgent", "charge", 9)


def test_messages_that_wait_are_counted_by_topic(database: RowStore) -> None:
    def fill(session: Any) -> None:
        for topic in ("event", "event", "task_status"):
            session.add(Outbox(execution=1, topic=topic, created_at=1, body=b"{}"))

    database.errand(fill)
    assert database.read(standing.undelivered) == {"event": 2, "task_status": 1}


@pytest.mark.parametrize(
    ("index", "count"),
    [
        ("task_waits", standing.waiting),
        ("execution_gated", standing.held_back),
        ("execution_stuck", standing.stuck),
        ("task_open", lambda session: standing.unattended(session, [CHARGE], 5)),
        ("task_open", lambda session: standing.heads(session, [CHARGE], 5)),
    ],
)
def test_every_count_goes_along_an_index_of_what_is_open(
    tmp_path: Path, index: str, count: Any
) -> None:
    path = tmp_path / "reprise.db"
    open_sqlite(path).close()
    steps = plans(path, lambda store: store.read(count))
    assert any(f"INDEX {index}" in step for step in steps), steps
    assert not any("execution_by_status" in step for step in steps), steps
    tables = ("SCAN task", "SCAN execution")
    assert not any(step.startswith(tables) and "INDEX" not in step for step in steps), steps


def test_a_database_of_before_is_given_the_indexes(tmp_path: Path) -> None:
    path = tmp_path / "reprise.db"
    old = open_sqlite(path, steps=schema.STEPS[:3])
    old.errand(lambda s: s.execute(text("DROP INDEX task_waits")))
    old.errand(lambda s: s.execute(text("DROP INDEX execution_stuck")))
    old.close()
    store = open_sqlite(path)
    known = "SELECT name FROM sqlite_master WHERE type = 'index'"
    names = set(store.read(lambda session: session.execute(text(known)).scalars().all()))
    store.close()
    assert {"task_waits", "execution_stuck"} <= names
