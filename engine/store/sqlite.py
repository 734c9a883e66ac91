"""The Store in one SQLite file: one connection writes, the file lock keeps it the only one.

Errors are sorted here into those of a row and those of the whole store; nothing else about SQLite
is known above.
"""

import sqlite3
from pathlib import Path
from typing import Any, ClassVar, Literal

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.dialects import sqlite as dialect
from sqlalchemy.pool import QueuePool, StaticPool

from engine.store.contract import RowRefused, StoreFailed
from engine.store.rowstore import Readers, RowStore
from engine.store.statements import Statements

Synchronous = Literal["OFF", "NORMAL", "FULL"]

_CHECKPOINT_PAGES = 4000
"""Under steady load the log is moved into the file each time it has grown by so many pages."""
_CHECKPOINT_BYTES = 4 * 1024 * 1024
"""In a quiet moment a log above this size is moved and cut."""
_REFUSALS = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.ProgrammingError,
    sqlite3.InterfaceError,
    OverflowError,
    UnicodeError,
)

STATEMENTS = Statements(dialect.dialect(paramstyle="qmark"), dialect.insert)


def connect(path: Path, synchronous: Synchronous, *, reading: bool = False) -> Any:
    """A connection with the settings that fit its use."""
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    if not reading:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    connection.execute("PRAGMA cache_size = -65536" if not reading else "PRAGMA cache_size = -8192")
    connection.execute("PRAGMA mmap_size = 268435456")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA busy_timeout = 10000")
    connection.execute("PRAGMA foreign_keys = OFF")
    if reading:
        connection.execute("PRAGMA query_only = 1")
    return connection


class SqliteStore(RowStore):
    """Executions in a SQLite file whose tables are there already."""

    near: ClassVar[bool] = True
    BEGIN: ClassVar[str] = "BEGIN IMMEDIATE"
    _driver_error: ClassVar[type[Exception]] = sqlite3.Error

    def __init__(self, path: Path, synchronous: Synchronous = "FULL", readers: int = 8) -> None:
        self.path = path
        writer = connect(path, synchronous)
        super().__init__(
            writer,
            Readers(lambda: connect(path, synchronous, reading=True), readers),
            STATEMENTS,
            (_writing(writer), _reading(path, synchronous, readers)),
        )

    def explained(self, error: BaseException) -> BaseException:
        if isinstance(error, _REFUSALS):
            return RowRefused(f"SQLite refused a row: {error}")
        if isinstance(error, sqlite3.Error):
            return StoreFailed(f"SQLite could not store: {error}")
        return error

    def _roll_back(self) -> None:
        if self._writer.in_transaction:
            try:
                self._cursor.execute("ROLLBACK")
            except sqlite3.Error:
                # A full disk or a lost file may have ended the transaction already.
                return

    def tidy(self) -> None:
        """Move what the log has gathered into the file, once it is worth it; for a quiet moment."""
        log = self.path.with_name(self.path.name + "-wal")
        if log.exists() and log.stat().st_size > _CHECKPOINT_BYTES:
            with self._told():
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _writing(writer: Any) -> Engine:
    """Sessions on the write connection itself, so that there is one writer, always."""
    engine = create_engine("sqlite://", creator=lambda: writer, poolclass=StaticPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _reading(path: Path, synchronous: Synchronous, size: int) -> Engine:
    engine = create_engine(
        "sqlite://",
        creator=lambda: connect(path, synchronous, reading=True),
        poolclass=QueuePool,
        pool_size=size,
        max_overflow=0,
    )

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine
