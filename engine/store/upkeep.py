"""Care for a database while it is in use: a consistent copy, and a check of all that must agree."""

import sqlite3
from collections import Counter as CountOf
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sqlalchemy import func, text
from sqlmodel import Session, col, select

from engine.model.errors import InvalidInput
from engine.store import files
from engine.store.contract import StoreFailed
from engine.store.folder import Folder
from engine.store.ledger import broken_chains
from engine.store.rowstore import RowStore
from engine.store.sqlite import SqliteStore, connect
from engine.store.tables import (
    Archive,
    Counter,
    DefinitionSnapshot,
    ExecutionRow,
    Payload,
    PayloadUse,
    TaskRow,
)


def backup(store: RowStore, target: Path) -> Path | None:
    """A copy of one moment, taken while the engine goes on. The target must not exist. Payload files
    are copied into a folder beside it, which is the answer: `payload_folder` for the copy."""
    if not isinstance(store, SqliteStore):
        raise InvalidInput("A PostgreSQL database is backed up with its own tool: pg_dump.")
    if target.exists():
        raise InvalidInput(f"{target} exists already. Name a file that does not.")
    if store.folder is not None and not store.folder.place.is_dir():
        raise InvalidInput(
            f"There are no payload files at {store.folder.place}: name their folder."
        )
    beside = target.with_name(f"{target.name}.payloads")
    # Before, for those that are removed meanwhile; afterwards, for those that have come meanwhile.
    _copy_files(store.folder, beside)
    with (
        closing(connect(store.path, "FULL", reading=True)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)
    _copy_files(store.folder, beside)
    return None if store.folder is None else beside


def _copy_files(folder: Folder | None, beside: Path) -> None:
    """Payload files that are not there yet; a file never changes."""
    if folder is None:
        return
    copies = Folder(beside / folder.place.name)
    for name in folder.names():
        try:
            copies.keep(name, folder.read(name))
        except StoreFailed:
            # Removed between the look and the deed: nothing refers to it any more.
            continue


def verify(store: RowStore) -> list[str]:
    """What is wrong with the database, a sentence each; nothing when all is well."""
    return store.read(lambda session: list(_findings(session, store.folder)))


def _findings(session: Session, folder: Folder | None) -> Iterator[str]:
    if session.get_bind().dialect.name == "sqlite":
        for (line,) in session.connection().execute(text("PRAGMA integrity_check")):
            if line != "ok":
                yield f"The file is damaged: {line}"
    yield from broken_chains(session)
    yield from _wrong_counters(session)
    yield from _lost(session)
    if folder is not None:
        yield from files.missing(session, folder)


def _wrong_counters(session: Session) -> Iterator[str]:
    real: CountOf[tuple[str, str]] = CountOf()
    for kept_in in (ExecutionRow, Archive):
        counted = select(kept_in.name, kept_in.status, func.count()).group_by(
            col(kept_in.name), col(kept_in.status)
        )
        real.update({(name, status): n for name, status, n in session.exec(counted)})
    kept = {(row.name, row.status): row.n for row in session.exec(select(Counter))}
    for place in sorted(real.keys() | kept.keys()):
        if real.get(place, 0) != kept.get(place, 0):
            name, status = place
            yield (
                f"The counter of {name} {status} says {kept.get(place, 0)}, "
                f"there are {real.get(place, 0)}"
            )


def _lost(session: Session) -> Iterator[str]:
    """Rows that refer to what is not there."""
    snapshots = (
        select(ExecutionRow.id)
        .outerjoin(DefinitionSnapshot, col(DefinitionSnapshot.hash) == ExecutionRow.definition_hash)
        .where(col(DefinitionSnapshot.hash).is_(None))
    )
    for workflow_id in session.exec(snapshots):
        yield f"The definition snapshot of execution {workflow_id} is missing"
    values = (
        select(PayloadUse.execution)
        .outerjoin(Payload, col(Payload.hash) == PayloadUse.hash)
        .where(col(Payload.hash).is_(None))
        .distinct()
    )
    for key in session.exec(values):
        yield f"A large value of execution number {key} is missing"
    orphans = (
        select(TaskRow.execution)
        .outerjoin(ExecutionRow, col(ExecutionRow.key) == TaskRow.execution)
        .where(col(ExecutionRow.key).is_(None))
        .distinct()
    )
    for key in session.exec(orphans):
        yield f"There are tasks of execution number {key}, but not the execution"
