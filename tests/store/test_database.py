"""Opening a SQLite file: ours or not, free or not, older or newer; and looking after it."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import Connection, text

from engine.model.errors import BadDatabase, InvalidInput
from engine.model.execution import Changes
from engine.model.status import TaskStatus
from engine.store import schema
from engine.store.contract import Group, RowRefused, StoreFailed, Written
from engine.store.database import APPLICATION_ID, open_sqlite, open_store
from engine.store.sqlite import STATEMENTS, SqliteStore
from engine.store.upkeep import backup, verify
from tests.store.builders import a_line, a_run, an_execution, changed, created, started

BIG = b'{"text":"' + b"abcdefgh" * 4_000 + b'"}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reprise.db"


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(path: Path) -> None:
    path.write_text("my diary")
    with pytest.raises(BadDatabase, match="is not a SQLite database"):
        open_sqlite(path)
    assert path.read_text() == "my diary"
    assert os.listdir(path.parent) == [path.name]


def test_a_database_of_another_program_is_refused_and_left_as_it_is(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE task (id INTEGER)")
    before = path.read_bytes()
    with pytest.raises(BadDatabase, match="of another program; it was left as it is"):
        open_sqlite(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadDatabase, match=r"There is no folder .*nowhere"):
        open_sqlite(tmp_path / "nowhere" / "reprise.db")
    with pytest.raises(BadDatabase, match="is not a file"):
        open_sqlite(tmp_path)


def test_a_folder_that_cannot_be_written_to_says_what_to_do() -> None:
    with pytest.raises(BadDatabase, match=r"/proc cannot be written to: .*another folder"):
        open_sqlite(Path("/proc/reprise.db"))


@pytest.mark.parametrize("url", ["mysql://host/db", "reprise.db", "sqlite://relative.db", ""])
def test_a_url_that_is_not_understood_says_what_is(url: str) -> None:
    with pytest.raises(BadDatabase, match=f"{url!r} is not understood. Write sqlite:///"):
        open_store(url)


def test_a_second_writer_is_refused_until_the_first_has_closed(path: Path) -> None:
    first = open_sqlite(path)
    with pytest.raises(BadDatabase, match=f"in use by process {os.getpid()}"):
        open_sqlite(path)
    first.close()
    open_sqlite(path).close()


def test_what_was_stored_is_there_after_opening_again(path: Path) -> None:
    store = open_sqlite(path)
    execution = started(store, {"output": BIG})
    store.close()
    again = open_sqlite(path)
    loaded = again.load(execution.key)
    assert loaded is not None
    assert loaded.execution == execution
    assert again.next_key() == execution.key + 1
    again.close()


def test_the_chain_of_a_story_goes_on_after_opening_again(path: Path) -> None:
    store = open_sqlite(path)
    execution = an_execution(store)
    store.commit(Group([created(execution, line=a_line(1))]))
    store.close()
    again = open_sqlite(path)
    again.commit(Group([Written(execution, Changes(), ledger=a_line(2))]))
    assert verify(again) == []
    again.close()


def test_a_database_that_is_thrown_away_leaves_nothing() -> None:
    store = open_store("sqlite://")
    assert isinstance(store, SqliteStore)
    started(store)
    assert store.path.exists()
    store.close()
    assert not store.path.parent.exists()


# The schema


def add_colour(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE execution ADD COLUMN colour TEXT DEFAULT 'red'"))


def fail_halfway(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE execution ADD COLUMN shape TEXT"))
    raise ZeroDivisionError


def columns(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {row[1] for row in connection.execute("PRAGMA table_info(execution)")}


def test_an_older_database_takes_the_steps_it_lacks_once(path: Path) -> None:
    store = open_sqlite(path)
    execution = started(store)
    store.close()
    for _ in range(2):
        newer = open_sqlite(path, steps=(*schema.STEPS, add_colour))
        assert newer.load(execution.key) is not None
        newer.close()
    assert "colour" in columns(path)


def test_a_step_that_fails_leaves_the_database_as_it_was(path: Path) -> None:
    open_sqlite(path).close()
    with pytest.raises(ZeroDivisionError):
        open_sqlite(path, steps=(*schema.STEPS, add_colour, fail_halfway))
    assert not columns(path) & {"colour", "shape"}
    open_sqlite(path).close()


def test_a_newer_database_is_refused(path: Path) -> None:
    open_sqlite(path, steps=(*schema.STEPS, add_colour)).close()
    with pytest.raises(BadDatabase, match="schema version 5, written by a newer Reprise"):
        open_sqlite(path)


def test_a_file_whose_making_was_interrupted_is_completed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    store = open_sqlite(path)
    started(store)
    store.close()


# Trouble


def test_a_full_disk_fails_the_group_and_the_next_one_fits_when_there_is_room(path: Path) -> None:
    store = open_sqlite(path)
    kept = started(store)
    pages = store.errand(lambda s: s.connection().execute(text("PRAGMA page_count")).scalar_one())

    def allow(number: int) -> None:
        store.errand(
            lambda s: s.connection().execute(text(f"PRAGMA max_page_count = {number}")).scalar_one()
        )

    allow(pages)
    refused = an_execution(store, reason="x" * 100_000)
    with pytest.raises(StoreFailed, match="full"):
        store.commit(Group([created(refused, a_run(refused))]))
    assert store.load(refused.key) is None
    assert store.load(kept.key) is not None
    allow(pages + 10_000)
    store.commit(Group([created(refused, a_run(refused))]))
    assert store.load(refused.key) is not None
    assert verify(store) == []
    store.close()


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1])
def test_a_number_that_is_too_large_is_a_refused_row(path: Path, value: int) -> None:
    store = open_sqlite(path)
    execution = an_execution(store)
    with pytest.raises(RowRefused):
        store.commit(Group([created(execution, a_run(execution, poll_count=value))]))
    assert store.load(execution.key) is None
    started(store)
    store.close()


def test_others_read_while_one_writes(path: Path) -> None:
    store = open_sqlite(path)
    execution = started(store, {}, {})
    seen: list[bool] = []

    def read() -> None:
        for _ in range(200):
            loaded = store.load(execution.key, payloads=True)
            assert loaded is not None
            first, second = loaded.runs
            seen.append(first.poll_count == second.poll_count == loaded.execution.priority)

    readers = [Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(1, 200):
        runs = [a_run(execution, seq, poll_count=number) for seq in (1, 2)]
        store.commit(Group([changed(execution, *runs, priority=number)]))
    for reader in readers:
        reader.join()
    assert len(seen) == 800
    assert all(seen), "a reader saw half of a group"
    store.close()


@pytest.mark.parametrize(
    ("statement", "params", "index"),
    [
        (STATEMENTS.ready_for, ("charge", 10), "task_open"),
        (STATEMENTS.ready, (10,), "task_open"),
        (STATEMENTS.taken, ("charge",), "task_taken"),
        (STATEMENTS.due_tasks, (10, 10), "task_due"),
        (STATEMENTS.due_executions, (10, 10), "execution_due"),
        (STATEMENTS.gated, (), "execution_gated"),
        (STATEMENTS.bare_runs, (1,), "sqlite_autoindex_task_1"),
    ],
)
def test_the_engine_finds_its_work_by_an_index(
    path: Path, statement: str, params: tuple[object, ...], index: str
) -> None:
    open_sqlite(path).close()
    with closing(sqlite3.connect(path)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", params).fetchall()
    assert index in plan[0][-1]
    assert statement is STATEMENTS.ready or not any("TEMP B-TREE" in row[-1] for row in plan)


# Upkeep


def test_a_backup_is_the_database_of_one_moment(path: Path, tmp_path: Path) -> None:
    store = open_sqlite(path)
    execution = started(store, {"output": BIG})
    copy = tmp_path / "copy.db"
    backup(store, copy)
    later = started(store)
    with pytest.raises(InvalidInput, match="exists already"):
        backup(store, copy)
    restored = open_sqlite(copy)
    assert restored.payload(execution.key, 1, "output") == BIG
    assert restored.load(later.key) is None
    assert verify(restored) == []
    restored.close()
    store.close()


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        ("UPDATE ledger SET why = 'forged' WHERE line = 1", "changed at line 1"),
        ("UPDATE ledger SET body = x'7b227d' WHERE line = 2", "changed at line 2"),
        ("DELETE FROM ledger WHERE line = 1", "changed at line 2"),
        ("UPDATE counter SET n = 7", "counter of order RUNNING says 7, there are 1"),
        ("DELETE FROM payload", "large value of execution number 1 is missing"),
        ("DELETE FROM definition_snapshot", "snapshot of execution workflow-1 is missing"),
        ("DELETE FROM execution", "tasks of execution number 1, but not the execution"),
    ],
)
def test_what_does_not_agree_is_found(path: Path, damage: str, finding: str) -> None:
    store = open_sqlite(path)
    execution = an_execution(store)
    item = created(execution, a_run(execution, output=BIG), line=a_line(1))
    store.commit(Group([item, Written(execution, Changes(), ledger=a_line(2))]))
    assert verify(store) == []
    store.errand(lambda session: session.connection().exec_driver_sql(damage))
    assert any(finding in found for found in verify(store))
    store.close()


def test_a_log_that_has_grown_is_moved_into_the_file(path: Path) -> None:
    store = open_sqlite(path)
    log = path.with_name(path.name + "-wal")
    execution = started(store, {})
    for number in range(300):
        noise = os.urandom(8_000)
        run = a_run(execution, number + 2, status=TaskStatus.COMPLETED, carrier=None, output=noise)
        store.commit(Group([changed(execution, run)]))
    assert log.stat().st_size > 4 * 1024 * 1024
    store.errand(lambda session: store.tidy())
    assert log.stat().st_size == 0
    store.close()
