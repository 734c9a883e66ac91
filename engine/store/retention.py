"""Taking ended executions away, a few at a time: into the archive, or for good."""

from collections.abc import Callable, Sequence

from sqlalchemy import Table as SqlTable
from sqlalchemy import exists
from sqlmodel import Session, col, delete, select

from engine.model.errors import InvalidInput, NotFound
from engine.model.status import EXECUTION_LIVE
from engine.store import archive, catalogue, files, tables, words
from engine.store.tables import (
    Archive,
    ExecutionRow,
    House,
    Payload,
    PayloadUse,
    table_of,
)

_PARTS: tuple[SqlTable, ...] = tuple(
    table_of(model)
    for model in (tables.TaskRow, tables.TaskBefore, tables.TaskLogRow, tables.Ledger)
)
_LIVE = frozenset(status.value for status in EXECUTION_LIVE)

Told = Callable[[str, str], object]
"""Hears name and status of an execution that goes into the archive, before the commit."""


def _unheard(name: str, status: str) -> None:
    """Nobody counts."""


def take_away(
    session: Session,
    before: int,
    now: int,
    *,
    keep: bool,
    statuses: Sequence[str],
    limit: int = 20,
    told: Told = _unheard,
) -> int:
    """A piece of the work: executions of these statuses that ended before an instant, oldest
    first, archived (`keep`) or removed for good; how many went. 0 when there are none left."""
    asked = (
        select(ExecutionRow.key)
        .where(col(ExecutionRow.status).in_(set(statuses) - _LIVE))
        .where(ExecutionRow.created_at < before, ExecutionRow.ended_at < before)
        .order_by(col(ExecutionRow.created_at), col(ExecutionRow.key))
        .limit(limit)
    )
    keys = session.exec(asked).all()
    for key in keys:
        remove(session, key, keep=keep, now=now, told=told)
    return len(keys)


def remove(session: Session, key: int, *, keep: bool, now: int, told: Told = _unheard) -> None:
    """Take one execution out of the tables, archived (`keep`) or for good. What is archived is
    still found and counted, and keeps its idempotency key."""
    row = session.get(ExecutionRow, key)
    if row is None:
        raise NotFound(f"There is no execution number {key}.")
    if keep:
        if row.status in _LIVE:
            raise InvalidInput(f"Cannot archive workflow: {row.id} with status: {row.status}")
        archive.put(session, key, now)
        session.flush()
        words.index_now(session, [key])
        told(row.name, row.status)
    else:
        words.forget_words(session, [key])
        files.forget(session, [key])
        archive.count_down(session, row.name, row.status)
        if row.idempotency_key is not None:
            catalogue.release_key(session, row.name, row.idempotency_key, row.id)
    for part in _PARTS:
        session.execute(part.delete().where(part.c.execution == key))
    _forget_payloads(session, key)
    _never_again(session, key)
    session.delete(row)
    session.flush()


def put_away(session: Session, key: int, now: int, told: Told = _unheard) -> bool:
    """Archive an execution if it is there and has ended; whether it was."""
    row = session.get(ExecutionRow, key)
    if row is None or row.status in _LIVE:
        return False
    remove(session, key, keep=True, now=now, told=told)
    return True


def prune_archive(session: Session, before: int, limit: int = 100) -> int:
    """Drop archived executions that ended before an instant; how many went."""
    asked = select(Archive.key).where(Archive.ended_at < before).limit(limit)
    keys = session.exec(asked).all()
    if keys:
        archive.forget(session, keys)
        words.forget_words(session, keys)
    return len(keys)


def _forget_payloads(session: Session, key: int) -> None:
    """Large values go with the last execution that refers to them."""
    hashes = session.exec(select(PayloadUse.hash).where(PayloadUse.execution == key)).all()
    session.exec(delete(PayloadUse).where(col(PayloadUse.execution) == key))
    for name in hashes:
        used = exists().where(col(PayloadUse.hash) == name)
        session.exec(delete(Payload).where(col(Payload.hash) == name, ~used))


def _never_again(session: Session, key: int) -> None:
    """The number of a removed execution must not be given to a new one: task ids carry it."""
    row = session.get(House, tables.HIGHEST_REMOVED) or House(name=tables.HIGHEST_REMOVED, value=0)
    row.value = max(row.value, key)
    session.add(row)
