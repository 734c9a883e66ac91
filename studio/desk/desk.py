"""What people keep: drafts, suites of mock tests, and small things such as notes and searches.

One file of its own, apart from the engine's, so that it serves a Conductor cluster as well. Rows
never leave this room, and no definition is understood here: documents are JSON, in and out.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.orm import registry
from sqlmodel import Field, Session, SQLModel, select

# Written into the header of the file: this is a desk, and of this shape.
_APPLICATION_ID = 0x4445534B
_SHAPE = 1


class DeskError(Exception):
    """The desk's file cannot be used. The message says what to do."""

    code = "desk"


class NotADesk(DeskError):
    """The file belongs to somebody else; it was not touched."""

    code = "not_a_desk"


class DeskLocked(DeskError):
    """Another process holds the file; nothing was written."""

    code = "desk_locked"


class DraftConflict(DeskError):
    """The draft was saved from elsewhere in the meantime; nothing was written."""

    code = "draft_conflict"


class DeskRow(SQLModel, registry=registry()):
    """The desk's own registry: its tables never meet the engine's in one process."""


class DraftRow(DeskRow, table=True):
    __tablename__ = "draft"

    owner: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    base_version: int | None = None
    document: str
    saves: int
    updated_at: int = Field(index=True)


class SuiteRow(DeskRow, table=True):
    __tablename__ = "suite"

    definition: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    document: str
    updated_at: int


class KeptRow(DeskRow, table=True):
    __tablename__ = "kept"

    key: str = Field(primary_key=True)
    value: str
    updated_at: int


@dataclass(frozen=True, slots=True)
class SavedDraft:
    """`saves` counts how often it was saved: say it again when saving, and nobody is overwritten."""

    name: str
    owner: str
    base_version: int | None
    document: Any
    saves: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class SavedSuite:
    definition: str
    name: str
    document: Any
    updated_at: int


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Desk:
    """Safe to be used from several threads: each call has a connection and a transaction."""

    def __init__(
        self, path: Path | str, *, clock: Callable[[], int] = _now_ms, patience_seconds: float = 5.0
    ) -> None:
        self.path = Path(path)
        self._clock = clock
        self._engine = _opened(self.path, patience_seconds)

    def close(self) -> None:
        self._engine.dispose()

    def save_draft(
        self,
        name: str,
        document: Any,
        *,
        base_version: int | None = None,
        owner: str = "",
        after: int | None = None,
    ) -> SavedDraft:
        """Keep a draft. With `after`, the saves you know of (0 for none), a save by somebody else in
        between is a conflict; without it the last one wins."""
        text = _text(document)
        with self._session() as session:
            row = session.get(DraftRow, (owner, name))
            saves = row.saves if row else 0
            if after is not None and after != saves:
                raise DraftConflict(
                    f"The draft of `{name}` was changed elsewhere: it has been saved {saves} times, "
                    f"you know of {after}. Load it and compare before you save."
                )
            row = row or DraftRow(owner=owner, name=name, document="", saves=0, updated_at=0)
            row.base_version, row.document = base_version, text
            row.saves, row.updated_at = saves + 1, self._clock()
            session.add(row)
            session.flush()
            return _draft(row)

    def load_draft(self, name: str, *, owner: str = "") -> SavedDraft | None:
        with self._session() as session:
            row = session.get(DraftRow, (owner, name))
            return _draft(row) if row else None

    def list_drafts(self, *, owner: str = "") -> list[SavedDraft]:
        """The newest first."""
        with self._session() as session:
            rows = session.exec(select(DraftRow).where(DraftRow.owner == owner)).all()
            drafts = [_draft(row) for row in rows]
        return sorted(drafts, key=lambda draft: (-draft.updated_at, draft.name))

    def delete_draft(self, name: str, *, owner: str = "") -> bool:
        """Whether there was one."""
        return self._delete(DraftRow, (owner, name))

    def save_suite(self, definition: str, name: str, document: Any) -> SavedSuite:
        """Keep a suite of mock tests; one of that name is replaced."""
        row = SuiteRow(
            definition=definition, name=name, document=_text(document), updated_at=self._clock()
        )
        with self._session() as session:
            return _suite(session.merge(row))

    def suites(self, definition: str | None = None) -> list[SavedSuite]:
        """The suites of a definition, or all of them, by name."""
        wanted = select(SuiteRow)
        if definition is not None:
            wanted = wanted.where(SuiteRow.definition == definition)
        with self._session() as session:
            found = [_suite(row) for row in session.exec(wanted).all()]
        return sorted(found, key=lambda suite: (suite.definition, suite.name))

    def remember(self, key: str, value: Any) -> None:
        """Keep any JSON under a key, such as "note/execution/9b1f" or "search/late orders"."""
        row = KeptRow(key=key, value=_text(value), updated_at=self._clock())
        with self._session() as session:
            session.merge(row)

    def recall(self, key: str, default: Any = None) -> Any:
        with self._session() as session:
            row = session.get(KeptRow, key)
            return json.loads(row.value) if row else default

    def forget(self, key: str) -> bool:
        """Whether there was something."""
        return self._delete(KeptRow, key)

    def remember_recent(self, key: str, item: Any, *, most: int = 20) -> list[Any]:
        """Put an item at the front of a list of recent ones; the same item moves, never doubles."""
        with self._session() as session:
            row = session.get(KeptRow, key)
            held = json.loads(row.value) if row else []
            earlier = held if isinstance(held, list) else []
            recent = [item, *(other for other in earlier if other != item)][:most]
            session.merge(KeptRow(key=key, value=_text(recent), updated_at=self._clock()))
            return recent

    def _delete(self, row_type: type[DeskRow], key: Any) -> bool:
        with self._session() as session:
            row = session.get(row_type, key)
            if row is not None:
                session.delete(row)
            return row is not None

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with _explained(self.path), Session(self._engine) as session, session.begin():
            yield session


def _opened(path: Path, patience_seconds: float) -> Engine:
    if not path.parent.is_dir():
        raise DeskError(
            f"The folder {path.parent} does not exist. Create it, or choose another file."
        )
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": patience_seconds})

    @event.listens_for(engine, "connect")
    def _plain(connection: Any, _record: Any) -> None:
        # The driver's own transactions begin too late: a read before a write must hold the lock.
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def _immediate(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    try:
        with _explained(path), engine.begin() as connection:
            _recognise(connection, path)
            DeskRow.metadata.create_all(connection)
            connection.exec_driver_sql(f"PRAGMA application_id = {_APPLICATION_ID}")
            connection.exec_driver_sql(f"PRAGMA user_version = {_SHAPE}")
    except DeskError:
        engine.dispose()
        raise
    return engine


def _recognise(connection: Connection, path: Path) -> None:
    """A new file is ours to fill; any other has to say that it is a desk of a shape we know."""
    mark, shape, tables = (
        connection.exec_driver_sql(question).scalar_one()
        for question in (
            "PRAGMA application_id",
            "PRAGMA user_version",
            "SELECT count(*) FROM sqlite_master",
        )
    )
    if mark != _APPLICATION_ID and (tables or mark or shape):
        raise NotADesk(
            f"{path} is a database, but not a desk of the studio; it was left alone. "
            "Choose another file."
        )
    if shape > _SHAPE:
        raise NotADesk(
            f"{path} was written by a newer version of the studio (shape {shape}, known {_SHAPE}). "
            "Use that version, or choose another file."
        )


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        said = str(error.orig)
        if "locked" in said or "busy" in said:
            raise DeskLocked(
                f"{path} is locked by another process. Close it, or try again in a moment."
            ) from error
        raise DeskError(
            f"{path} cannot be used: {said}. Check the folder, the rights and the disk."
        ) from error
    except DatabaseError as error:
        raise NotADesk(
            f"{path} is not a database, or it is damaged ({error.orig}). Choose another file."
        ) from error


def _text(document: Any) -> str:
    """Plain ASCII, so that half characters survive; what JSON cannot say is refused at the door."""
    try:
        return json.dumps(document, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DeskError(f"Only JSON can be kept on the desk: {error}.") from error


def _draft(row: DraftRow) -> SavedDraft:
    return SavedDraft(
        row.name, row.owner, row.base_version, json.loads(row.document), row.saves, row.updated_at
    )


def _suite(row: SuiteRow) -> SavedSuite:
    return SavedSuite(row.definition, row.name, json.loads(row.document), row.updated_at)
