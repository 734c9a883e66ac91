"""Which archived executions belong to one: what acting on it may reach. Cold, by session."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import literal, select, union_all
from sqlmodel import Session

from engine.store.reading import ARCHIVED, EXECUTION

_AT_ONCE = 500


def archived_kin(session: Session, workflow_id: str) -> list[int]:
    """Numbers of the archived ones among an execution, its ancestors, and all that was started
    below it; the eldest first."""
    if session.execute(select(ARCHIVED.c.key).limit(1)).first() is None:
        return []
    found: set[int] = set()
    for column, following in (("id", "parent_id"), ("parent_id", "id")):
        wanted = [workflow_id]
        while wanted:
            rows = _rows(session, column, wanted)
            found.update(row.key for row in rows if row.archived)
            wanted = [value for row in rows if (value := getattr(row, following))]
    return sorted(found)


def _rows(session: Session, column: str, values: Sequence[str]) -> list[Any]:
    """The executions whose column has one of some values, and whether they are archived."""
    found: list[Any] = []
    for start in range(0, len(values), _AT_ONCE):
        some = values[start : start + _AT_ONCE]
        parts = (
            select(
                table.c.key, table.c.id, table.c.parent_id, literal(archived).label("archived")
            ).where(table.c[column].in_(some))
            for table, archived in ((EXECUTION, False), (ARCHIVED, True))
        )
        found += session.execute(union_all(*parts)).all()
    return found
