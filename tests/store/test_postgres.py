"""What only a server can do: take the connection away, or give the lock to another."""

import psycopg
import pytest

from engine.model.errors import BadDatabase, InvalidInput
from engine.store.contract import Group, RowRefused, StoreFailed
from engine.store.database import open_store
from engine.store.postgres import PostgresStore, open_postgres
from engine.store.upkeep import backup
from tests.store.builders import a_run, an_execution, created, started


def cut_off(store: PostgresStore, url: str) -> None:
    """End the server's side of the write connection."""
    owner = store._writer.info.backend_pid
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", (owner,))


def test_a_second_engine_is_refused_until_the_first_has_closed(postgres_url: str) -> None:
    first = open_store(postgres_url)
    with pytest.raises(BadDatabase, match="in use by another engine"):
        open_store(postgres_url)
    first.close()
    open_store(postgres_url).close()


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(BadDatabase, match="PostgreSQL server cannot be reached"):
        open_store("postgresql://nobody@127.0.0.1:1/none")


def test_tables_of_another_program_are_refused_and_left_as_they_are(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("CREATE TABLE task (id INTEGER)")
        with pytest.raises(BadDatabase, match="holds a table 'task' that is not Reprise's"):
            open_store(postgres_url)
        tables = other.execute(
            "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
        ).fetchone()
    assert tables == (1,)


def test_a_lost_connection_fails_one_group_and_the_next_is_stored(postgres_url: str) -> None:
    store = open_postgres(postgres_url)
    cut_off(store, postgres_url)
    lost = an_execution(store)
    with pytest.raises(StoreFailed):
        store.commit(Group([created(lost, a_run(lost))]))
    assert store.load(lost.key) is None
    started(store)
    assert store.errand(lambda session: 7) == 7
    store.close()


def test_an_engine_whose_lock_went_to_another_stores_nothing_more(postgres_url: str) -> None:
    store = open_postgres(postgres_url)
    cut_off(store, postgres_url)
    other = open_store(postgres_url)
    late = an_execution(store)
    for _ in range(3):
        with pytest.raises(StoreFailed):
            store.commit(Group([created(late, a_run(late))]))
    assert other.load(late.key) is None
    started(other)
    other.close()
    store.close()


@pytest.mark.parametrize("fields", [{"poll_count": 2**63}, {"reason": "a\0b"}])
def test_a_value_that_the_server_does_not_take_is_a_refused_row(
    postgres_url: str, fields: dict[str, object]
) -> None:
    store = open_postgres(postgres_url)
    execution = an_execution(store)
    with pytest.raises(RowRefused):
        store.commit(Group([created(execution, a_run(execution, **fields))]))
    started(store)
    store.close()


def test_the_server_has_its_own_tool_for_backups(postgres_url: str, tmp_path: object) -> None:
    store = open_postgres(postgres_url)
    with pytest.raises(InvalidInput, match="pg_dump"):
        backup(store, tmp_path)  # type: ignore[arg-type]
    store.close()
