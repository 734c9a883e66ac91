"""Large values: kept once, compressed, and gone with their last user."""

from typing import Any

import pytest
from sqlmodel import func, select

from engine.store import retention
from engine.store.contract import Group
from engine.store.payloads import INLINE_BYTES
from engine.store.rowstore import RowStore
from engine.store.tables import Payload
from tests.store.builders import a_run, changed, started

BIG = b'{"text":"' + b"abcdefgh" * 4_000 + b'"}'


def stored(store: RowStore) -> int:
    def count(session: Any) -> int:
        return int(session.exec(select(func.count()).select_from(Payload)).one())

    return store.read(count)


def test_an_input_that_repeats_an_output_is_kept_once(database: RowStore) -> None:
    first = started(database, {"output": BIG}, {"input": bytes(BIG)})
    second = started(database, {"input": BIG}, input=BIG)
    assert stored(database) == 1
    assert database.payload(first.key, 2, "input") == BIG
    assert database.payload(second.key, 0, "input") == BIG


def test_a_large_value_is_compressed(database: RowStore) -> None:
    started(database, {"output": BIG})
    row = database.read(lambda session: session.exec(select(Payload)).one())
    assert row.size == len(BIG)
    assert len(row.body) < len(BIG) / 10


@pytest.mark.parametrize("size", [0, 1, INLINE_BYTES, INLINE_BYTES + 1, 16 * 1024 + 1])
def test_a_value_of_any_size_comes_back_as_it_was(database: RowStore, size: int) -> None:
    execution = started(database, {"output": b"7" * size})
    assert database.payload(execution.key, 1, "output") == b"7" * size


def test_a_value_that_looks_like_a_reference_is_none(database: RowStore) -> None:
    execution = started(database, {"output": b"\0" + b"1" * 16})
    assert database.payload(execution.key, 1, "output") == b"\0" + b"1" * 16


def test_a_large_value_goes_with_the_last_execution_that_uses_it(database: RowStore) -> None:
    first, second = started(database, {"output": BIG}), started(database, {"input": BIG})

    def remove(key: int) -> None:
        database.errand(lambda session: retention.remove(session, key, keep=False, now=0))

    remove(first.key)
    assert database.payload(second.key, 1, "input") == BIG
    remove(second.key)
    assert stored(database) == 0


def test_a_value_that_was_removed_is_written_again_when_it_comes_back(
    database: RowStore,
) -> None:
    gone = started(database, {"output": BIG})
    database.errand(lambda session: retention.remove(session, gone.key, keep=False, now=0))
    execution = started(database, {"output": BIG})
    assert database.payload(execution.key, 1, "output") == BIG


def test_a_definition_that_was_stored_lately_is_not_missed_by_a_later_group(
    database: RowStore,
) -> None:
    execution = started(database, {"output": BIG})
    run = a_run(execution, 2, input=BIG)
    database.commit(Group([changed(execution, run)]))
    assert database.payload(execution.key, 2, "input") == BIG
