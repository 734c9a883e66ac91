"""Which executions refer to which payload files, and which files nothing refers to any more.

A file goes only after the commit that takes its last reference away: functions here note what that
commit leaves unused, and the store drops it when the commit stands.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text
from sqlmodel import Session, col, delete, select

from engine.model.errors import InvalidInput
from engine.store.folder import Folder
from engine.store.tables import ArchivedExecution, ExecutionRow, FileUse, House, table_of

FOLDER = "folder"
"""Where a session finds the folder of its store."""
_LET_GO = "files let go"
"""Where a session notes files that have lost a reference."""
IDENTITY = "identity"
"""The row of `house` that tells this database from all others."""


def add_table(connection: Connection) -> None:
    """The step of the schema that brings all this along."""
    table_of(FileUse).create(connection, checkfirst=True)
    number = "abs(random())" if connection.dialect.name == "sqlite" else "(random() * 1e18)::bigint"
    connection.execute(
        text(
            f"INSERT INTO house (name, value) SELECT '{IDENTITY}', {number} "
            "WHERE true ON CONFLICT DO NOTHING"
        )
    )


def folder_of(store: Any, place: str | None, make: bool = True) -> Folder | None:
    """The folder of a database, below the one that is set up: no two databases share theirs, or one
    would sweep away what the other needs. None if none is set up and none is needed."""
    if place is not None:
        name = store.read(lambda session: session.get_one(House, IDENTITY).value)
        folder = Folder(Path(place) / f"{name:016x}", make)
        return folder if folder.place.is_dir() or store.read(are_used) else None
    if store.read(are_used):
        raise InvalidInput(
            "This database keeps large payloads as files, and payload_folder is not set: start with "
            "the folder it had (REPRISE_PAYLOAD_FOLDER)."
        )
    return None


def are_used(session: Session) -> bool:
    """Does the database need its folder?"""
    return session.exec(select(FileUse.path).limit(1)).first() is not None


def owner_of(session: Session, path: str) -> str | None:
    """The workflow name of one execution, living or archived, that refers to a file."""
    for model in (ExecutionRow, ArchivedExecution):
        asked: Any = select(model.name).join(FileUse, col(FileUse.execution) == col(model.key))
        found: str | None = session.exec(asked.where(FileUse.path == path).limit(1)).first()
        if found is not None:
            return found
    return None


def forget(session: Session, keys: Sequence[int]) -> None:
    """These executions go, and with them the files that no other refers to."""
    of_these = col(FileUse.execution).in_(keys)
    paths = session.exec(select(FileUse.path).where(of_these).distinct()).all()
    if paths:
        session.exec(delete(FileUse).where(of_these))
        _drop_later(session, paths)


def unused(session: Session, names: Sequence[str]) -> list[str]:
    """Those of some files that no execution refers to."""
    asked = select(FileUse.path).where(col(FileUse.path).in_(names)).distinct()
    used = set(session.exec(asked))
    return [name for name in names if name not in used]


def sweep(session: Session, names: Sequence[str], before_ms: int) -> int:
    """Drop files that were written before an instant and are used by nobody; how many go. An errand:
    no commit can come to refer to one between the look and the deed."""
    folder: Folder | None = session.info.get(FOLDER)
    if folder is None:
        return 0
    idle = [name for name in unused(session, names) if folder.is_older(name, before_ms)]
    _drop_later(session, idle)
    return len(idle)


def missing(session: Session, folder: Folder) -> Iterator[str]:
    """Files that are referred to and not there, a sentence each."""
    asked: Any = select(FileUse.path, FileUse.execution).order_by(col(FileUse.path))
    for path, execution in session.exec(asked):
        if not folder.holds(path):
            yield f"The payload file {path} of execution number {execution} is missing"


def left_unused(session: Session) -> list[str]:
    """The files that nothing refers to once this session is committed: what comes back from the
    archive has lost its references for a moment only."""
    names: list[str] = session.info.get(_LET_GO, [])
    return unused(session, names) if names else []


def _drop_later(session: Session, names: Sequence[str]) -> None:
    session.info.setdefault(_LET_GO, []).extend(names)
