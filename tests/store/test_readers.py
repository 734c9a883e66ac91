"""Connections for reading: shared by threads, and let go of when the store closes."""

from concurrent.futures import ThreadPoolExecutor
from sqlite3 import Connection, ProgrammingError, connect
from threading import Event

import pytest

from engine.store.contract import StoreFailed
from engine.store.rowstore import Readers


def in_memory() -> Connection:
    return connect(":memory:", check_same_thread=False)


def test_all_who_wait_for_a_connection_are_told_when_the_store_closes() -> None:
    readers = Readers(in_memory, 1)
    asks = Event()

    def read() -> None:
        asks.set()
        with readers.one():
            return

    with ThreadPoolExecutor(3) as pool:
        with readers.one() as held:
            waiting = [pool.submit(read) for _ in range(3)]
            asks.wait(10)
            readers.close()
            refused = [one.exception(timeout=10) for one in waiting]
        with pytest.raises(ProgrammingError, match="closed"):
            held.execute("SELECT 1")
    assert [type(error) for error in refused] == [StoreFailed] * 3
    assert "the engine stops" in str(refused[0])


def test_a_closed_store_reads_no_more() -> None:
    readers = Readers(in_memory, 2)
    readers.close()
    for _ in range(3):
        with pytest.raises(StoreFailed, match="closed"), readers.one():
            pass
