"""Every kind of store, for the one suite that holds them to the contract."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from engine.store.contract import Store
from engine.store.database import open_store
from engine.store.memory import MemoryStore
from engine.store.rowstore import RowStore
from tests.store.servers import postgres

_schemas = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgres() as url:
        yield url


@pytest.fixture
def postgres_url(server: str) -> str:
    """A schema of its own for each test."""
    name = f"test_{next(_schemas)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}?options=-csearch_path%3D{name}"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a database, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'reprise.db'}"
    place: str = request.getfixturevalue("postgres_url")
    return place


@pytest.fixture
def database(url: str) -> Iterator[RowStore]:
    """A store on rows, of each kind."""
    store = open_store(url)
    yield store
    store.close()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store of each kind there is."""
    opened: dict[str, Callable[[], Store]] = {
        "memory": MemoryStore,
        "sqlite": lambda: open_store(f"sqlite:///{tmp_path / 'reprise.db'}"),
        "postgres": lambda: open_store(request.getfixturevalue("postgres_url")),
    }
    made = opened[request.param]()
    yield made
    made.close()
