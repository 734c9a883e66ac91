"""Definitions, tags, idempotency keys and workers: kept, changed, found again."""

import pytest

from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.errors import Conflict
from engine.store import catalogue, reading
from engine.store.rowstore import RowStore
from tests.store.builders import a_definition, started


def test_a_definition_comes_back_with_the_fields_we_do_not_know(database: RowStore) -> None:
    sent = WorkflowDef.read({"name": "order", "version": 3, "tasks": [], "novelty": {"a": None}})
    database.errand(lambda session: catalogue.put_workflow(session, sent, now=50))
    kept = database.read(lambda session: catalogue.workflow(session, "order", 3))
    assert kept == sent.but(create_time=50)
    assert kept is not None
    assert kept.json_value()["novelty"] == {"a": None}


def test_without_a_version_the_highest_is_meant(database: RowStore) -> None:
    for version in (2, 10, 9):
        sent = a_definition(version=version)
        database.errand(lambda session, sent=sent: catalogue.put_workflow(session, sent, 1))
    found = database.read(lambda session: catalogue.workflow(session, "order"))
    assert found is not None
    assert found.version == 10
    assert database.read(catalogue.workflow_names) == {"order": [2, 9, 10]}
    assert [item.version for item in database.read(catalogue.latest_workflows)] == [10]
    assert [item.version for item in database.read(catalogue.workflows)] == [2, 9, 10]


def test_a_definition_keeps_the_moment_of_its_first_registration(database: RowStore) -> None:
    for now in (50, 60):
        database.errand(
            lambda session, now=now: catalogue.put_workflow(session, a_definition(), now)
        )
    kept = database.read(lambda session: catalogue.workflow(session, "order"))
    assert kept is not None
    assert (kept.create_time, kept.update_time) == (50, 60)


def test_a_definition_is_not_overwritten_unless_that_is_said(database: RowStore) -> None:
    database.errand(lambda session: catalogue.put_workflow(session, a_definition(), 1))
    with pytest.raises(Conflict, match=r"order\.1 already exists"):
        database.errand(
            lambda session: catalogue.put_workflow(session, a_definition(), 2, overwrite=False)
        )
    kept = database.read(lambda session: catalogue.workflow(session, "order"))
    assert kept is not None
    assert kept.update_time == 0


def test_a_removed_definition_is_gone_while_executions_go_on(database: RowStore) -> None:
    execution = started(database)
    database.errand(lambda session: catalogue.put_workflow(session, a_definition(), 1))
    assert database.errand(lambda session: catalogue.remove_workflow(session, "order", 1))
    assert not database.errand(lambda session: catalogue.remove_workflow(session, "order", 1))
    assert database.read(lambda session: catalogue.workflow(session, "order")) is None
    assert database.load(execution.key) is not None


def test_task_definitions_are_kept_by_name(database: RowStore) -> None:
    sent = TaskDef.read({"name": "charge", "retryCount": 7, "novelty": 1})
    database.errand(lambda session: catalogue.put_tasks(session, [sent], 5))
    assert database.read(lambda session: catalogue.task(session, "charge")) == sent.but(
        create_time=5
    )
    assert [item.name for item in database.read(catalogue.tasks)] == ["charge"]
    assert database.errand(lambda session: catalogue.remove_task(session, "charge"))
    assert database.read(lambda session: catalogue.task(session, "charge")) is None


def test_every_change_of_the_catalogue_moves_its_number(database: RowStore) -> None:
    numbers = [database.read(catalogue.change_number)]
    for work in (
        lambda session: catalogue.put_workflow(session, a_definition(), 1),
        lambda session: catalogue.put_task(session, TaskDef(name="charge"), 1),
        lambda session: catalogue.put_tags(session, "workflow", "order", {"team": "pay"}),
        lambda session: catalogue.remove_task(session, "charge"),
    ):
        database.errand(work)
        numbers.append(database.read(catalogue.change_number))
    assert numbers == sorted(set(numbers))


def test_an_errand_that_fails_changes_nothing(database: RowStore) -> None:
    def work(session: object) -> None:
        catalogue.put_workflow(session, a_definition(), 1)  # type: ignore[arg-type]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        database.errand(work)
    assert database.read(catalogue.workflow_names) == {}
    started(database)


def test_tags_replace_those_that_were_there(database: RowStore) -> None:
    for tags in ({"team": "pay", "tier": "1"}, {"team": "ship"}):
        database.errand(
            lambda session, tags=tags: catalogue.put_tags(session, "workflow", "order", tags)
        )
    assert database.read(lambda session: catalogue.tags(session, "workflow", "order")) == {
        "team": "ship"
    }


def test_an_idempotency_key_can_be_handed_on_by_its_holder_only(database: RowStore) -> None:
    first = started(database, idempotency_key="once")

    def holder() -> str | None:
        return database.read(lambda session: catalogue.started_with(session, "order", "once"))

    def release(workflow_id: str) -> bool:
        return database.errand(
            lambda session: catalogue.release_key(session, "order", "once", workflow_id)
        )

    assert holder() == first.id
    assert not release("another")
    assert release(first.id)
    second = started(database, idempotency_key="once")
    assert holder() == second.id


def test_the_last_time_a_worker_asked_is_kept(database: RowStore) -> None:
    seen = [("charge", None, "w1", 10), ("charge", "eu", "w1", 30), ("charge", None, "w1", 5)]
    database.errand(lambda session: catalogue.note_workers(session, seen))
    expected = [reading.Seen("charge", "eu", "w1", 30), reading.Seen("charge", None, "w1", 10)]
    assert database.read(lambda session: reading.workers(session, "charge")) == expected
    database.errand(lambda session: catalogue.forget_workers(session, before=20))
    assert database.read(reading.workers) == expected[:1]
