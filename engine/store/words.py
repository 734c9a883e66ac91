"""The text index beside the tables: which executions have which words.

It is fed after the fact: `index_words` is an errand that takes what a commit has noted.
"""

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Integer,
    Select,
    String,
    bindparam,
    column,
    delete,
    func,
    insert,
    select,
    table,
    text,
)
from sqlmodel import Session

from engine.store import archive
from engine.store.contract import StoreFailed
from engine.store.files import FOLDER
from engine.store.folder import read_from
from engine.store.reading import Listed, listed
from engine.store.tables import Unindexed, table_of

_WORDS = table("words", column("rowid", Integer), column("body", String))
_NOTED = table_of(Unindexed)
_PART_BYTES = 32 * 1024
"""So much of an input or output is searchable by its words."""
_BETWEEN = re.compile(r"[\W_]")
_TERM = re.compile(r'"([^"]*)"|([^"\s]+)')


def with_words(session: Session, free_text: str) -> Select[Any] | None:
    """The executions that have all that is asked for: each word begins some word of theirs, and
    words in double quotes follow each other as they are. None when any will do."""
    terms = list(_terms(free_text))
    if not terms:
        return None
    if _is_sqlite(session):
        match = " AND ".join(f'"{" ".join(words)}"{"" if whole else "*"}' for words, whole in terms)
        return select(_WORDS.c.rowid).where(text("words MATCH :match").bindparams(match=match))
    match = " & ".join(
        f"({' <-> '.join(words)})" if whole else f"{words[0]}:*" for words, whole in terms
    )
    return select(_WORDS.c.rowid).where(
        text("body @@ to_tsquery('simple', :match)").bindparams(match=match)
    )


def _terms(free_text: str) -> list[tuple[list[str], bool]]:
    """Words, each with whether it is to be there as it is: a phrase of several is one term."""
    found: list[tuple[list[str], bool]] = []
    for phrase, word in _TERM.findall(free_text):
        if phrase:
            words = _readable(phrase).split()
            found += [(words, True)] if words else []
        else:
            found += [([part], False) for part in _readable(word).split()]
    return found


def has_unindexed(session: Session) -> bool:
    """Is there anything for `index_words` to do?"""
    return session.execute(select(_NOTED.c.execution).limit(1)).first() is not None


def index_words(session: Session, limit: int = 200) -> int:
    """Take up the words of executions that were created or have ended since; how many were."""
    asked = select(_NOTED.c.execution).order_by(_NOTED.c.execution).limit(limit)
    keys: Sequence[int] = session.execute(asked).scalars().all()
    index_now(session, keys)
    return len(keys)


def index_now(session: Session, keys: Sequence[int]) -> None:
    """Take up the words of these executions if they are noted, living or archived."""
    noted = set(
        session.execute(select(_NOTED.c.execution).where(_NOTED.c.execution.in_(keys))).scalars()
    )
    if not noted:
        return
    _take_out(session, list(noted))
    rows = listed(session, list(noted), payloads=True)
    strangers = noted - {row.key for row in rows}
    if strangers:
        archive.enter(session, list(strangers))
        rows += listed(session, list(strangers), payloads=True)
    if rows:
        body: Any = bindparam("words")
        words = body if _is_sqlite(session) else func.to_tsvector("simple", body)
        taken_up = insert(_WORDS).values(rowid=bindparam("key"), body=words)
        session.execute(taken_up, [{"key": row.key, "words": _body(session, row)} for row in rows])
    session.execute(delete(_NOTED).where(_NOTED.c.execution.in_(noted)))


def forget_words(session: Session, keys: Sequence[int]) -> None:
    """Take executions out of the text index for good."""
    _take_out(session, keys)
    session.execute(delete(_NOTED).where(_NOTED.c.execution.in_(keys)))


def _take_out(session: Session, keys: Sequence[int]) -> None:
    session.execute(delete(_WORDS).where(_WORDS.c.rowid.in_(keys)))


def _body(session: Session, row: Listed) -> str:
    """What an execution is found by: its own fields, its input and its output."""
    fields = (row.id, row.name, row.status, row.correlation_id, row.reason, *row.failed_refs)
    texts = [_readable(value) for value in fields if value is not None]
    sides = ((row.input, row.input_path), (row.output, row.output_path))
    texts += [_readable(_beginning(session, value, path)) for value, path in sides]
    return " ".join(texts)


def _beginning(session: Session, value: bytes | None, path: str | None) -> str:
    """A document's beginning, cut the same way for every database. A file that has gone has none."""
    if value is None and path is not None:
        try:
            value = read_from(session.info.get(FOLDER), path, _PART_BYTES)
        except StoreFailed:
            value = None
    return (value or b"")[:_PART_BYTES].decode(errors="ignore")


def _readable(value: str) -> str:
    """The words of a text or document."""
    return _BETWEEN.sub(" ", value[:_PART_BYTES])


def _is_sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"
