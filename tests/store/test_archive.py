"""Archived executions are found, listed and counted like the living, without opening a document."""

import zlib
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlmodel import select

from engine.model.errors import NotFound
from engine.model.ids import task_id
from engine.model.record import decode, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.store import archive, reading, retention, search, words
from engine.store.database import open_sqlite, open_store
from engine.store.kin import archived_kin
from engine.store.rowstore import RowStore
from engine.store.search import Found, Search
from engine.store.tables import Archive
from engine.store.upkeep import verify
from tests.store.builders import a_definition, started
from tests.store.plans import plans

NOON = 1_893_499_200_000
"""2030-01-01T12:00:00Z"""
BIG = b'{"text":"' + b"abcdefgh" * 4_000 + b'"}'
DONE, FAILED = ExecutionStatus.COMPLETED, ExecutionStatus.FAILED


def put_away(store: RowStore, *keys: int) -> None:
    for key in keys:
        assert store.errand(lambda session, key=key: retention.put_away(session, key, NOON))


@pytest.fixture
def mixed(database: RowStore) -> RowStore:
    """Executions 1 to 6 of alternating age: 1, 2 and 4 are archived."""
    started(
        database, {"status": TaskStatus.FAILED, "carrier": None, "worker": "w1", "reason": "no"},
        status=FAILED, created_at=NOON + 1, ended_at=NOON + 501, reason="card declined",
        correlation_id="c", failed_refs=("charge", "ship_1"), priority=7, input=b'{"who":"ann"}',
    )  # fmt: skip
    started(database, {"carrier": None, "status": TaskStatus.COMPLETED}, status=DONE,
            created_at=NOON + 2, ended_at=NOON + 3, output=BIG, parent_id="workflow-1",
            correlation_id="c")  # fmt: skip
    started(database, {"worker": "w1"}, created_at=NOON + 3, correlation_id="c")
    refund = a_definition("refund", 2)
    started(database, {"carrier": None, "status": TaskStatus.COMPLETED}, status=DONE,
            definition=refund, created_at=NOON + 4, ended_at=NOON + 9)  # fmt: skip
    started(database, {}, definition=refund, created_at=NOON + 5)
    started(database, status=FAILED, created_at=NOON + 6, ended_at=NOON + 7)
    database.errand(words.index_words)
    put_away(database, 1, 2, 4)
    return database


def find(store: RowStore, query: str = "", **fields: Any) -> Found:
    return store.read(lambda session: search.executions(session, Search(query, **fields)))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [6, 5, 4, 3, 2, 1]),
        ("status = FAILED", [6, 1]),
        ("status IN (COMPLETED)", [4, 2]),
        ("workflowType = refund", [5, 4]),
        ("workflowType = 're*' AND version > 1", [5, 4]),
        ("correlationId = c", [3, 2, 1]),
        ("workflowId = workflow-2", [2]),
        ("parentWorkflowId = workflow-1", [2]),
        ("reasonForIncompletion = *declined", [1]),
        ("failedReferenceTaskNames = charge", [1]),
        ("priority = 7 OR executionTime = 5", [4, 1]),
        (f"startTime > {NOON + 1} AND endTime < {NOON + 9}", [6, 5, 3, 2]),
        ("startTime < '2030-01-01T12:00:00.003Z'", [2, 1]),
    ],
)
def test_a_query_finds_the_archived_like_the_living(
    mixed: RowStore, query: str, expected: list[int]
) -> None:
    assert find(mixed, query) == Found(len(expected), expected)


def test_pages_run_over_the_living_and_the_archived_in_one_order(mixed: RowStore) -> None:
    pages = [find(mixed, start=start, size=2) for start in (0, 2, 4, 6)]
    assert [page.places for page in pages] == [[6, 5], [4, 3], [2, 1], []]
    assert {page.total for page in pages} == {6}
    by_name = "workflowType:DESC|startTime:ASC"
    assert find(mixed, sort=by_name).places == [4, 5, 1, 2, 3, 6]
    assert find(mixed, sort="executionTime:DESC", size=2).places == [1, 4]
    assert find(mixed, sort="startTime:ASC", start=1, size=3).places == [2, 3, 4]


def test_the_total_stops_at_its_limit_and_the_page_does_not(mixed: RowStore) -> None:
    assert find(mixed, count_up_to=3) == Found(3, [6, 5, 4, 3, 2, 1])
    assert find(mixed, count_up_to=4).total == 4
    assert find(mixed, size=0) == Found(6, [])


def test_words_find_the_archived_too(mixed: RowStore) -> None:
    assert find(mixed, free_text="declined").places == [1]
    assert find(mixed, free_text="ann charge").places == [1]
    assert find(mixed, "status = COMPLETED", free_text="refund").places == [4]


def test_what_is_archived_before_its_words_were_taken_up_is_found_all_the_same(
    database: RowStore,
) -> None:
    execution = started(database, status=DONE, ended_at=5, input=b'{"customer":"albatross"}')
    put_away(database, execution.key)
    assert find(database, free_text="albatross").places == [execution.key]
    assert not database.read(words.has_unindexed)


def test_words_in_quotes_follow_each_other(database: RowStore) -> None:
    started(database, input=b'{"note":"the late parcel"}')
    started(database, input=b'{"note":"a parcel, too late"}')
    database.errand(words.index_words)
    assert find(database, free_text='"late parcel"').places == [1]
    assert find(database, free_text="late parcel").total == 2
    assert find(database, free_text='"late parcel" too').places == []
    assert find(database, free_text='"" "late"').total == 2
    assert find(database, free_text='"late').total == 2


def test_tasks_of_the_archived_are_found_and_so_are_their_executions(mixed: RowStore) -> None:
    def tasks(query: str, **more: Any) -> Found:
        return mixed.read(lambda session: search.tasks(session, Search(query, **more)))

    def owners(query: str) -> Found:
        asked = Search(query)
        return mixed.read(lambda session: search.executions_of_tasks(session, asked))

    assert tasks("workerId = w1") == Found(2, [(3, 1), (1, 1)])
    assert tasks("status = FAILED") == Found(1, [(1, 1)])
    assert tasks("", start=1, size=2) == Found(5, [(4, 1), (3, 1)])
    assert tasks("workflowType = refund", sort="scheduledTime").places == [(5, 1), (4, 1)]
    assert tasks("", free_text="declined").places == [(1, 1)]
    assert owners("workerId = w1 OR workflowType = refund") == Found(4, [5, 4, 3, 1])
    first = mixed.read(lambda s: archive.attempts(s, [(1, 1), (3, 1), (1, 9)]))
    assert [(run.worker, run.reason) for run in first] == [("w1", "no"), ("w1", None)]
    assert tasks(f"taskId = {first[0].task_id}").places == [(1, 1)]
    assert tasks(f"taskId != {first[0].task_id}").total == 4


def test_a_list_shows_an_archived_execution_with_its_payloads(mixed: RowStore) -> None:
    first, second = mixed.read(lambda s: reading.listed(s, [2, 1], payloads=True))
    assert (first.id, first.output, first.parent_id) == ("workflow-2", BIG, "workflow-1")
    assert (second.failed_refs, second.input) == (("charge", "ship_1"), b'{"who":"ann"}')
    (bare,) = mixed.read(lambda s: reading.listed(s, [1]))
    assert (bare.status, bare.input) == ("FAILED", None)


def test_ids_by_correlation_and_parent_are_those_of_the_archived_too(mixed: RowStore) -> None:
    read = mixed.read
    every = ["workflow-1", "workflow-2", "workflow-3"]
    assert read(lambda s: reading.correlated(s, "c", ended=True)) == every
    assert read(lambda s: reading.correlated(s, "c", "refund", ended=True)) == []
    assert read(lambda s: reading.correlated(s, "c")) == ["workflow-3"]
    assert read(lambda s: reading.children(s, "workflow-1")) == ["workflow-2"]


def test_the_archived_are_counted_until_they_are_removed_for_good(mixed: RowStore) -> None:
    everything = {
        ("order", "COMPLETED"): 1,
        ("order", "FAILED"): 2,
        ("order", "RUNNING"): 1,
        ("refund", "COMPLETED"): 1,
        ("refund", "RUNNING"): 1,
    }
    assert mixed.read(reading.counts) == everything
    assert verify(mixed) == []
    assert mixed.errand(lambda session: retention.prune_archive(session, NOON + 400)) == 2
    assert mixed.read(reading.counts) == {
        ("order", "FAILED"): 2,
        ("order", "RUNNING"): 1,
        ("refund", "RUNNING"): 1,
    }
    assert find(mixed).places == [6, 5, 3, 1]
    assert find(mixed, free_text="refund").places == [5]
    assert verify(mixed) == []


def test_an_archived_execution_keeps_its_idempotency_key_until_it_is_gone(
    database: RowStore,
) -> None:
    execution = started(database, status=DONE, ended_at=5, idempotency_key="once")
    put_away(database, execution.key)
    assert database.started_with("order", "once") == execution.id
    found = database.read(lambda session: archive.get(session, execution.key))
    assert found is not None
    database.errand(lambda session: database.write_within(archive.release(session, found)))
    assert database.started_with("order", "once") == execution.id
    put_away(database, execution.key)
    database.errand(lambda session: retention.prune_archive(session, before=6))
    assert database.started_with("order", "once") is None


def test_a_key_that_another_was_started_with_meanwhile_stays_with_that_one(
    database: RowStore,
) -> None:
    execution = started(database, status=DONE, ended_at=5, idempotency_key="once")
    put_away(database, execution.key)
    database.free_key("order", "once", execution.id)
    other = started(database, idempotency_key="once")
    found = database.read(lambda session: archive.get(session, execution.key))
    assert found is not None
    database.errand(lambda session: database.write_within(archive.release(session, found)))
    loaded = database.load(execution.key)
    assert loaded is not None and loaded.execution.idempotency_key is None
    assert database.started_with("order", "once") == other.id


def test_only_what_has_ended_is_put_away_and_only_once(database: RowStore) -> None:
    running = started(database)
    ended = started(database, status=DONE, ended_at=5)

    def put(key: int) -> bool:
        return database.errand(lambda session: retention.put_away(session, key, NOON))

    assert [put(running.key), put(ended.key), put(ended.key), put(99)] == [
        False,
        True,
        False,
        False,
    ]
    with pytest.raises(NotFound):
        database.errand(lambda s: retention.remove(s, ended.key, keep=True, now=NOON))


def test_the_archived_kin_of_an_execution_are_its_elders_and_its_descendants(
    database: RowStore,
) -> None:
    parents = [None, "workflow-1", "workflow-2", "workflow-2", None]
    for parent in parents:
        started(database, status=DONE, ended_at=5, parent_id=parent)
    assert database.read(lambda s: archived_kin(s, "workflow-2")) == []
    put_away(database, 1, 3, 4, 5)
    assert database.read(lambda s: archived_kin(s, "workflow-2")) == [1, 3, 4]
    assert database.read(lambda s: archived_kin(s, "workflow-3")) == [1, 3]
    assert database.read(lambda s: archived_kin(s, "unknown")) == []


# An archive of the first version knew no entries.


def without_entries(store: RowStore) -> None:
    """The database as the first version of the schema left it: documents held everything."""

    def work(session: Any) -> None:
        for row in session.exec(select(Archive)).all():
            found = archive.get(session, row.key)
            document = decode(zlib.decompress(row.body))
            document["execution"]["input"] = found.loaded.execution.input.decode()
            row.body = zlib.compress(encode(document))
            session.add(row)
        session.flush()
        for statement in (
            "DROP TABLE archived_execution",
            "DROP TABLE archived_task",
            "DELETE FROM words",
            "UPDATE counter SET n = 0 WHERE status = 'COMPLETED'",
            "UPDATE house SET value = 1 WHERE name = 'schema'",
        ):
            session.connection().execute(text(statement))

    store.errand(work)


def test_an_archive_of_the_first_version_is_searchable_after_a_while(url: str) -> None:
    store = open_store(url)
    execution = started(
        store, {"worker": "w7"}, status=DONE, ended_at=5, input=b'{"bird":"albatross"}'
    )
    put_away(store, execution.key)
    without_entries(store)
    store.close()
    again = open_store(url)
    assert verify(again) == []
    while again.errand(lambda session: words.index_words(session, 1)):
        continue
    assert find(again, free_text="albatross") == Found(1, [1])
    tasks = again.read(lambda s: search.tasks(s, Search("workerId = w7")))
    assert tasks == Found(1, [(1, 1)])
    again.close()


# How it is found


@pytest.fixture
def shelves(tmp_path: Path) -> Path:
    """A database with something on both sides."""
    path = tmp_path / "reprise.db"
    store = open_sqlite(path)
    for _ in range(2):
        started(store, {"carrier": None, "status": TaskStatus.FAILED}, status=FAILED, ended_at=5,
                correlation_id="c", input=b'{"w":"word"}')  # fmt: skip
    store.errand(words.index_words)
    put_away(store, 1)
    store.close()
    return path


@pytest.mark.parametrize(
    ("query", "free_text", "index"),
    [
        ("", "*", "archived_execution_new"),
        ("status = FAILED", "*", "archived_execution_by_status"),
        ("workflowType = order", "*", "archived_execution_by_name"),
        ("workflowType = order AND status = FAILED", "*", "archived_execution_by_name"),
        ("correlationId = c", "*", "archived_execution_correlated"),
        ("workflowId = workflow-1", "*", "sqlite_autoindex_archived_execution"),
        ("", "word", "archived_execution USING INTEGER PRIMARY KEY"),
        ("status = FAILED AND endTime > 1", "*", "archived_execution_"),
    ],
)
def test_archived_executions_are_found_by_an_index(
    shelves: Path, query: str, free_text: str, index: str
) -> None:
    wanted = Search(query, free_text)

    def ask(store: RowStore) -> None:
        found = store.read(lambda session: search.executions(session, wanted))
        assert sorted(found.places) == ([1] if "workflowId" in query else [1, 2])

    steps = plans(shelves, ask)
    touched = [step for step in steps if "archived_execution" in step]
    assert any(index in step for step in touched), steps
    bare = [step for step in touched if "SCAN" in step and "USING" not in step]
    assert bare == []
    assert not any("MATERIALIZE" in step for step in steps), steps


def test_a_page_over_both_is_merged_and_not_sorted(shelves: Path) -> None:
    steps = plans(shelves, lambda store: store.read(lambda s: search.executions(s, Search())))
    assert any("MERGE (UNION ALL)" in step for step in steps)
    assert not any(step == "USE TEMP B-TREE FOR ORDER BY" for step in steps), steps


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "sqlite_autoindex_archived_task"),
        ("taskType = SIMPLE", "archived_task_by_type"),
        ("taskDefName = charge", "archived_task_by_name"),
        ("status = FAILED", "archived_task_by_status"),
        (f"taskId = {task_id(1, 1)}", "sqlite_autoindex_archived_task"),
        ("workflowId = workflow-1", "sqlite_autoindex_archived_task"),
    ],
)
def test_archived_tasks_are_found_by_an_index(shelves: Path, query: str, index: str) -> None:
    wanted = Search(query)
    steps = plans(shelves, lambda store: store.read(lambda s: search.tasks(s, wanted)))
    touched = [step for step in steps if "archived_task" in step]
    assert any(index in step for step in touched), steps
    assert not any("SCAN" in step and "USING" not in step for step in touched), steps
