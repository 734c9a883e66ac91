"""Opening a database: is it ours, is it free, is its schema up to date; then the Store on it.

A file or server that is not ours is refused and left untouched.
"""

import fcntl
import importlib
import os
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from sqlalchemy import create_engine, event
from sqlalchemy.pool import NullPool

from engine.model.errors import BadDatabase
from engine.store import schema
from engine.store.rowstore import RowStore
from engine.store.sqlite import SqliteStore, Synchronous, connect

APPLICATION_ID = 0x52707273
"""Marks a SQLite file as ours; it stands at a fixed place in the file's first page."""
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_ID_AT = slice(68, 72)


def open_store(url: str, synchronous: Synchronous = "FULL") -> RowStore:
    """The Store behind a URL: `sqlite:///file`, `sqlite://` for one that is thrown away, or
    `postgresql://user@host/database`."""
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite" and rest in ("", "/:memory:"):
        return _open_temporary()
    if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
        return open_sqlite(Path(rest[1:]), synchronous)
    if scheme in ("postgresql", "postgres"):
        return _open_postgres(url)
    raise BadDatabase(
        f"The database URL {url!r} is not understood. Write sqlite:///path/to/file.db, "
        "sqlite:// for a database that is thrown away, or postgresql://user@host/database."
    )


def open_beside(url: str) -> RowStore:
    """The Store of a database that must be there, to read and copy it: an engine may have the file
    in use, so its lock is not asked for, and nothing is upgraded. PostgreSQL gives its readers no
    door of their own; there the engine has to be stopped."""
    scheme, _, rest = url.partition(":///")
    if scheme != "sqlite" or not rest:
        return open_store(url)
    path = Path(rest).absolute()
    if not path.exists() or _examined(path):
        raise BadDatabase(f"There is no database at {path}. Give the path of one that exists.")
    store = SqliteStore(path)
    try:
        found = store.read(lambda session: schema.version_of(session.connection()))
        if found != len(schema.STEPS):
            raise BadDatabase(
                f"{path} has schema version {found}, this Reprise knows version "
                f"{len(schema.STEPS)}. Start its engine once with this program, or use the other."
            )
    except BaseException:
        store.close()
        raise
    return store


def _open_postgres(url: str) -> RowStore:
    """PostgreSQL's driver is an extra, and not loaded where it is not asked for."""
    try:
        room: Any = importlib.import_module("engine.store.postgres")
    except ImportError as error:
        raise BadDatabase(
            f"PostgreSQL needs its driver ({error}). Install it: pip install 'psycopg[binary]'"
        ) from error
    store: RowStore = room.open_postgres(url)
    return store


def _open_temporary() -> SqliteStore:
    folder = tempfile.TemporaryDirectory(prefix="reprise-")
    store = open_sqlite(Path(folder.name) / "reprise.db", "OFF")
    store.on_close.append(folder.cleanup)
    return store


def open_sqlite(
    path: Path, synchronous: Synchronous = "FULL", steps: Sequence[schema.Step] = schema.STEPS
) -> SqliteStore:
    """The Store in a file; the file is made when it is not there."""
    path = path.absolute()
    if not path.parent.is_dir():
        raise BadDatabase(f"There is no folder {path.parent} for the database {path.name}.")
    fresh = _examined(path)
    lock = _locked(path)
    try:
        if fresh:
            _marked(path)
        _upgraded(path, steps)
        store = SqliteStore(path, synchronous)
    except sqlite3.Error as error:
        lock.close()
        raise BadDatabase(f"{path} cannot be opened: {error}.") from error
    except BaseException:
        lock.close()
        raise
    store.on_close.append(lock.close)
    return store


def _examined(path: Path) -> bool:
    """Is the file still to be made? Only its first bytes are read, so a stranger's stays as it is."""
    if not path.exists() or path.stat().st_size == 0:
        return True
    if not path.is_file():
        raise BadDatabase(f"{path} is not a file. Give the path of a file.")
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if not header.startswith(_MAGIC):
        raise BadDatabase(
            f"{path} is not a SQLite database. Give the path of a Reprise database, or of a file "
            "that does not exist yet."
        )
    if int.from_bytes(header[_ID_AT], "big") != APPLICATION_ID:
        raise BadDatabase(
            f"{path} is a SQLite database of another program; it was left as it is. Give the path "
            "of a Reprise database, or of a file that does not exist yet."
        )
    return False


def _locked(path: Path) -> IO[str]:
    """The lock that makes this process the file's one writer; it goes with the process."""
    place = path.with_name(path.name + ".lock")
    try:
        lock = place.open("a+")
    except OSError as error:
        raise BadDatabase(
            f"{path.parent} cannot be written to: {error.strerror}. Give this account the right to, "
            "or name a database in another folder."
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.seek(0)
        owner = lock.read().strip() or "unknown"
        lock.close()
        raise BadDatabase(
            f"{path} is in use by process {owner}. Stop that engine first, or give this one a "
            "database of its own."
        ) from error
    lock.seek(0)
    lock.truncate()
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def _marked(path: Path) -> None:
    """The mark is written before the write-ahead log is: from then on the first page itself tells
    whose file it is, wherever a crash may fall."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _is_current(path: Path, steps: Sequence[schema.Step]) -> bool:
    """The usual case, told without the tools that an upgrade needs: an engine starts at once."""
    with closing(connect(path, "FULL")) as connection:
        try:
            row = connection.execute("SELECT value FROM house WHERE name = 'schema'").fetchone()
        except sqlite3.OperationalError:
            return False
    return row is not None and row[0] == len(steps)


def _upgraded(path: Path, steps: Sequence[schema.Step]) -> None:
    if _is_current(path, steps):
        return
    engine = create_engine("sqlite://", creator=lambda: connect(path, "FULL"), poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    with engine.begin() as connection:
        schema.upgrade(connection, str(path), steps)
