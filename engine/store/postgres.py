"""The Store in a PostgreSQL schema: an advisory lock makes this engine its one writer.

The lock lives with the write connection. When that is lost, so is the lock: the next group first
asks for both again and stores nothing unless it gets them.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, ClassVar

import psycopg
from psycopg import errors
from psycopg.types.numeric import Int8BinaryDumper
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.dialects.postgresql import psycopg as dialect
from sqlalchemy.pool import NullPool, QueuePool, StaticPool

from engine.model.errors import BadDatabase
from engine.store import schema
from engine.store.arrays import for_many
from engine.store.contract import RowRefused, StoreFailed
from engine.store.rows import Params
from engine.store.rowstore import Readers, RowStore
from engine.store.statements import Statements

_LOCK = 0x52707273
_SCHEMA_LOCK = f"{_LOCK}, current_schema()::regnamespace::oid::int"
_OWNER = (
    "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = %s "
    "AND objid = current_schema()::regnamespace::oid AND granted"
)
_REFUSALS = (
    psycopg.IntegrityError,
    psycopg.DataError,
    psycopg.ProgrammingError,
    psycopg.NotSupportedError,
    OverflowError,
    UnicodeError,
)

_MAKE_DIALECT: Any = dialect.dialect
_DIALECT: Any = _MAKE_DIALECT(paramstyle="format")
STATEMENTS = Statements(_DIALECT, insert)


def open_postgres(url: str, readers: int = 8) -> "PostgresStore":
    """The Store in the first schema of the search path; its tables are made when not there."""
    try:
        writer = _owning(url)
    except psycopg.Error as error:
        raise BadDatabase(f"The PostgreSQL server cannot be reached: {error}") from error
    try:
        engine = _engine(lambda: psycopg.connect(url), NullPool)
        with engine.begin() as connection:
            schema.upgrade(connection, _place(writer))
        return PostgresStore(url, writer, readers)
    except BaseException:
        writer.close()
        raise


def _owning(url: str) -> Any:
    """The write connection, with the lock."""
    writer = _connect(url)
    if writer.execute("SELECT current_schema()").fetchone()[0] is None:
        writer.close()
        raise BadDatabase("The search path of the database URL names no schema that exists.")
    if writer.execute(f"SELECT pg_try_advisory_lock({_SCHEMA_LOCK})").fetchone()[0]:
        return writer
    owner = writer.execute(_OWNER, (_LOCK,)).fetchone()
    place = _place(writer)
    writer.close()
    raise BadDatabase(
        f"{place} is in use by another engine (server process {owner and owner[0]}). "
        "Stop that engine first, or give this one a database of its own."
    )


def _connect(url: str) -> Any:
    connection = psycopg.connect(url, autocommit=True, prepare_threshold=1)
    # Without it the type of a number follows its size, and each mixture is a statement of its own.
    connection.adapters.register_dumper(int, Int8BinaryDumper)
    return connection


def _place(connection: Any) -> str:
    where = connection.execute("SELECT current_database(), current_schema()").fetchone()
    return f"Schema {where[1]} of PostgreSQL database {where[0]}"


class PostgresStore(RowStore):
    """Executions in PostgreSQL tables that are there already."""

    BEGIN_READING: ClassVar[str] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    _driver_error: ClassVar[type[Exception]] = psycopg.Error

    def __init__(self, url: str, writer: Any, readers: int) -> None:
        self._url = url
        reading = _engine(lambda: psycopg.connect(url), QueuePool, pool_size=readers)
        super().__init__(
            writer,
            Readers(lambda: _connect(url), readers),
            STATEMENTS,
            (_writing(writer), reading),
        )

    def _many(self, sql: str, rows: Iterable[Params]) -> None:
        rows = list(rows)
        together = _together(sql) if len(rows) > 1 else None
        if together is None:
            super()._many(sql, rows)
        else:
            self._cursor.execute(together, [list(column) for column in zip(*rows, strict=True)])

    def explained(self, error: BaseException) -> BaseException:
        if isinstance(error, errors.InFailedSqlTransaction | errors.UndefinedTable):
            return StoreFailed(f"PostgreSQL could not store: {error}")
        if isinstance(error, _REFUSALS):
            return RowRefused(f"PostgreSQL refused a row: {error}")
        if isinstance(error, psycopg.Error):
            return StoreFailed(f"PostgreSQL could not store: {error}")
        return error

    def _prepare(self) -> None:
        if not self._writer.closed:
            return
        try:
            writer = _owning(self._url)
        except (psycopg.Error, BadDatabase) as error:
            raise StoreFailed(f"The connection to PostgreSQL is lost: {error}") from error
        self._writing.dispose()
        self._writer, self._cursor, self._writing = writer, writer.cursor(), _writing(writer)

    def _roll_back(self) -> None:
        try:
            self._writer.rollback()
        except psycopg.Error:
            # Lost: the server rolls back by itself, the next group asks for a new connection.
            self._writer.close()


@cache
def _together(sql: str) -> str | None:
    """The form of a statement that takes many rows as arrays."""
    columns = STATEMENTS.parameters.get(sql)
    return None if columns is None else for_many(sql, columns, _DIALECT)


def _engine(creator: Any, pool: Any, **options: Any) -> Engine:
    return create_engine(
        "postgresql+psycopg://",
        creator=creator,
        poolclass=pool,
        use_native_hstore=False,
        **options,
    )


def _writing(writer: Any) -> Engine:
    """Sessions on the write connection itself, which the driver leaves to begin by hand."""
    engine = _engine(lambda: writer, StaticPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine
