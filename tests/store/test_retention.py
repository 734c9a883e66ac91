"""Ended executions leave piece by piece, and come back from the archive whole."""

from pathlib import Path

import pytest

from engine.model.errors import InvalidInput, NotFound
from engine.model.execution import Changes
from engine.model.ids import task_id
from engine.model.status import ExecutionStatus, TaskStatus
from engine.store import archive, ledger, reading, retention
from engine.store.contract import Group, Written
from engine.store.database import open_store
from engine.store.rowstore import RowStore
from engine.store.upkeep import verify
from tests.store.builders import a_line, a_run, an_execution, created, started

BIG = b'{"text":"' + b"abcdefgh" * 4_000 + b'"}'
DONE = ExecutionStatus.COMPLETED


def take_away(store: RowStore, before: int, *, keep: bool = False, limit: int = 20) -> int:
    statuses = [status.value for status in ExecutionStatus]
    return store.errand(
        lambda session: retention.take_away(
            session, before, now=99, keep=keep, statuses=statuses, limit=limit
        )
    )


def test_ended_executions_go_oldest_first_a_few_at_a_time(database: RowStore) -> None:
    for at in (30, 10, 20, 50):
        started(database, {}, created_at=at, ended_at=at + 1, status=DONE)
    started(database, {}, created_at=5)
    assert take_away(database, before=40, limit=2) == 2
    assert [database.load(key) is None for key in (1, 2, 3, 4, 5)] == [
        False,
        True,
        True,
        False,
        False,
    ]
    assert take_away(database, before=40, limit=2) == 1
    assert take_away(database, before=40, limit=2) == 0
    assert database.read(reading.counts) == {("order", "COMPLETED"): 1, ("order", "RUNNING"): 1}
    assert verify(database) == []


def test_an_archived_execution_comes_back_as_it_was(database: RowStore) -> None:
    execution = an_execution(
        database, status=DONE, ended_at=9, line=2, failed_refs=("a",), task_to_domain={"*": "x"},
        input=BIG,
    )  # fmt: skip
    key, task = execution.key, task_id(execution.key, 1)
    run = a_run(execution, output=BIG, status=TaskStatus.COMPLETED, metadata=b'{"m":1}')
    run.node = execution.definition.tasks[0]
    was = a_run(execution, status=TaskStatus.FAILED, reason="ä")
    item = created(execution, run, line=a_line(1, body=b'{"runs":{}}'))
    item.changes.aside.append(was)
    item.changes.logs.append((task, "said"))
    database.commit(Group([item, Written(execution, Changes(), ledger=a_line(2, by="ann"))]))
    story = database.read(lambda session: ledger.story(session, key))
    assert take_away(database, before=50, keep=True) == 1
    assert database.load(key) is None

    found = database.read(lambda session: archive.get(session, execution.id))
    assert found is not None
    assert found.loaded.execution == execution
    assert (found.loaded.runs, found.before, found.lines) == ([run], [was], story)
    database.errand(lambda session: database.write_within(archive.release(session, found)))
    loaded = database.load(key, payloads=True)
    assert loaded is not None
    assert (loaded.execution, loaded.runs) == (execution, [run])
    assert database.read(lambda session: ledger.story(session, key)) == story
    assert database.read(lambda session: reading.before(session, key)) == [was]
    assert [line.line for line in database.read(lambda s: reading.task_logs(s, key, 1))] == ["said"]
    assert database.read(lambda session: archive.get(session, execution.id)) is None
    assert verify(database) == []


def test_an_execution_that_has_not_ended_is_not_archived(database: RowStore) -> None:
    execution = started(database, {})
    with pytest.raises(InvalidInput, match=f"Cannot archive workflow: {execution.id}"):
        database.errand(lambda session: retention.remove(session, execution.key, keep=True, now=0))
    assert database.load(execution.key) is not None


def test_what_is_not_there_cannot_be_removed(database: RowStore) -> None:
    with pytest.raises(NotFound, match="number 7"):
        database.errand(lambda session: retention.remove(session, 7, keep=False, now=0))


def test_an_old_archive_is_pruned(database: RowStore) -> None:
    execution = started(database, ended_at=5, status=DONE)
    take_away(database, before=50, keep=True)
    assert database.errand(lambda session: retention.prune_archive(session, before=5)) == 0
    assert database.errand(lambda session: retention.prune_archive(session, before=6)) == 1
    assert database.read(lambda session: archive.get(session, execution.id)) is None


def test_a_removed_execution_lets_go_of_its_idempotency_key(database: RowStore) -> None:
    started(database, ended_at=5, status=DONE, idempotency_key="once")
    take_away(database, before=50)
    started(database, idempotency_key="once")


def test_the_number_of_a_removed_execution_is_not_given_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'reprise.db'}"
    store = open_store(url)
    execution = started(store, ended_at=5, status=DONE)
    take_away(store, before=50)
    store.close()
    again = open_store(url)
    assert again.next_key() > execution.key
    again.close()
