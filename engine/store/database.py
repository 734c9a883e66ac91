"""Opening a database: is it ours, is it free, is its schema ours; then the Store on it.

A file or server that is not ours is refused and left untouched.
"""

from pathlib import Path

from sqlalchemy import create_engine

from engine.store.sqlite import SqliteStore, Synchronous
from engine.store.tables import Table


def open_sqlite(path: Path, synchronous: Synchronous = "FULL") -> SqliteStore:
    """The Store in a file, made when it is not there."""
    engine = create_engine(f"sqlite:///{path}")
    Table.metadata.create_all(engine)
    engine.dispose()
    return SqliteStore(path, synchronous)
