"""Search: Conductor's fields on our columns, sorting, and the text index beside the tables.

The index is fed after the fact: `index_words` is an errand that takes what a commit has noted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    String,
    and_,
    case,
    column,
    delete,
    false,
    func,
    insert,
    literal,
    or_,
    select,
    table,
    text,
)
from sqlmodel import Session

from engine.model.errors import InvalidInput
from engine.store.payloads import stored_value
from engine.store.query import Both, Compare, Condition, parse
from engine.store.reading import COUNTED_TO, EXECUTION, TASK, capped
from engine.store.tables import Unindexed, table_of

_WORDS = table("words", column("rowid", Integer), column("body", String))
_PART_BYTES = 32 * 1024
"""So much of an input or output is searchable by its words."""


@dataclass(frozen=True, slots=True)
class Searchable:
    """A field of the search language: its column, and how its values are written."""

    column: ColumnElement[Any]
    kind: str = "text"
    """`text`, `number`, `time`, or `list` for a column that holds a JSON list of names."""


def _took(ended: ColumnElement[Any], begun: ColumnElement[Any]) -> ColumnElement[Any]:
    """A span in milliseconds, 0 while it is not over."""
    return case((ended > 0, ended - begun), else_=0)


_E, _T = EXECUTION.c, TASK.c
EXECUTION_FIELDS: Mapping[str, Searchable] = {
    "workflowId": Searchable(_E.id),
    "correlationId": Searchable(_E.correlation_id),
    "workflowType": Searchable(_E.name),
    "version": Searchable(_E.version, "number"),
    "status": Searchable(_E.status),
    "startTime": Searchable(_E.created_at, "time"),
    "updateTime": Searchable(_E.updated_at, "time"),
    "endTime": Searchable(_E.ended_at, "time"),
    "executionTime": Searchable(_took(_E.ended_at, _E.created_at), "number"),
    "parentWorkflowId": Searchable(_E.parent_id),
    "classifier": Searchable(literal("workflow")),
    "priority": Searchable(_E.priority, "number"),
    "reasonForIncompletion": Searchable(_E.reason),
    "event": Searchable(_E.event),
    "ownerApp": Searchable(_E.owner_app),
    "createdBy": Searchable(_E.created_by),
    "idempotencyKey": Searchable(_E.idempotency_key),
    "failedReferenceTaskNames": Searchable(_E.failed_refs, "list"),
    "failedTaskNames": Searchable(_E.failed_names, "list"),
}
TASK_FIELDS: Mapping[str, Searchable] = {
    "taskId": Searchable(_T.task_id),
    "taskType": Searchable(_T.type),
    "taskDefName": Searchable(_T.name),
    "referenceTaskName": Searchable(_T.reference),
    "workflowId": Searchable(_E.id),
    "workflowType": Searchable(_E.name),
    "correlationId": Searchable(_E.correlation_id),
    "status": Searchable(_T.status),
    "scheduledTime": Searchable(_T.scheduled_at, "time"),
    "startTime": Searchable(_T.started_at, "time"),
    "updateTime": Searchable(_T.updated_at, "time"),
    "endTime": Searchable(_T.ended_at, "time"),
    "executionTime": Searchable(_took(_T.ended_at, _T.started_at), "number"),
    "queueWaitTime": Searchable(_took(_T.started_at, _T.scheduled_at), "number"),
    "reasonForIncompletion": Searchable(_T.reason),
    "workerId": Searchable(_T.worker),
    "domain": Searchable(_T.domain),
    "workflowPriority": Searchable(_T.priority, "number"),
}

_SIGNS: Mapping[str, Callable[[Any, Any], ColumnElement[bool]]] = {
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left.is_distinct_from(right),
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
}


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for; start and size are Conductor's paging."""

    query: str = ""
    free_text: str = "*"
    sort: str = ""
    start: int = 0
    size: int = 100
    """0 counts only."""
    count_up_to: int = COUNTED_TO


@dataclass(frozen=True, slots=True)
class Found:
    """Numbers of executions, or (execution, seq) of attempts, in the order asked for."""

    total: int
    """Counted up to the limit asked for."""
    places: list[Any] = field(default_factory=list)


def executions(session: Session, wanted: Search, *, top_level: bool = False) -> Found:
    """Executions that a query finds, the newest first unless it says else."""
    asked = select(_E.key).where(*_conditions(wanted.query, EXECUTION_FIELDS))
    if top_level:
        asked = asked.where(_E.parent_id.is_(None))
    words = _words(session, wanted.free_text)
    if words is not None:
        asked = asked.where(_E.key.in_(words))
    order = _order(wanted.sort, EXECUTION_FIELDS) or [_E.created_at.desc()]
    found = _found(session, wanted, asked.order_by(*order, _E.key.desc()))
    return Found(found.total, [row[0] for row in found.places])


def tasks(session: Session, wanted: Search) -> Found:
    """Attempts that a query finds, the newest first unless it says else. Free text finds those
    of the executions that have the words."""
    asked = (
        select(_T.execution, _T.seq)
        .join(EXECUTION, _E.key == _T.execution)
        .where(*_conditions(wanted.query, TASK_FIELDS))
    )
    words = _words(session, wanted.free_text)
    if words is not None:
        asked = asked.where(_T.execution.in_(words))
    order = _order(wanted.sort, TASK_FIELDS)
    asked = asked.order_by(*order, _T.execution.desc(), _T.seq.desc())
    found = _found(session, wanted, asked)
    return Found(found.total, [(row[0], row[1]) for row in found.places])


def executions_of_tasks(session: Session, wanted: Search) -> Found:
    """The executions, each once, of the attempts that a query finds; the newest first."""
    asked = (
        select(_T.execution)
        .join(EXECUTION, _E.key == _T.execution)
        .where(*_conditions(wanted.query, TASK_FIELDS))
    )
    words = _words(session, wanted.free_text)
    if words is not None:
        asked = asked.where(_T.execution.in_(words))
    outer = select(_E.key).where(_E.key.in_(asked))
    order = _order(wanted.sort, EXECUTION_FIELDS) or [_E.created_at.desc()]
    found = _found(session, wanted, outer.order_by(*order, _E.key.desc()))
    return Found(found.total, [row[0] for row in found.places])


def _found(session: Session, wanted: Search, asked: Select[Any]) -> Found:
    total = capped(session, asked, wanted.count_up_to)
    if wanted.size == 0:
        return Found(total)
    some = asked.offset(max(wanted.start, 0))
    if wanted.size > 0:
        some = some.limit(wanted.size)
    return Found(total, list(session.execute(some)))


# Conditions


def _conditions(query: str, known: Mapping[str, Searchable]) -> list[ColumnElement[bool]]:
    tree = parse(query)
    return [] if tree is None else [_condition(tree, known)]


def _condition(tree: Condition, known: Mapping[str, Searchable]) -> ColumnElement[bool]:
    if isinstance(tree, Compare):
        return _comparison(tree, known)
    parts = [_condition(part, known) for part in tree.parts]
    return and_(*parts) if isinstance(tree, Both) else or_(*parts)


def _named(name: str, known: Mapping[str, Searchable]) -> Searchable:
    found = known.get(name)
    if found is None:
        raise InvalidInput(
            f"Unknown search field {name!r}. Known fields are {', '.join(sorted(known))}."
        )
    return found


def _comparison(asked: Compare, known: Mapping[str, Searchable]) -> ColumnElement[bool]:
    target = _named(asked.field, known)
    if asked.operator == "IN":
        return or_(false(), *(_equals(target, asked.field, value) for value in asked.values))
    if asked.operator == "NOT IN":
        return and_(*(_differs(target, asked.field, value) for value in asked.values), text("1=1"))
    value = asked.values[0]
    if asked.operator == "=":
        return _equals(target, asked.field, value)
    if asked.operator == "!=":
        return _differs(target, asked.field, value)
    return _SIGNS[asked.operator](target.column, _typed(target, asked.field, value))


def _equals(target: Searchable, name: str, value: str) -> ColumnElement[bool]:
    if target.kind == "list":
        return target.column.ilike(_pattern(f'*"{value}"*'), escape="\\")
    if target.kind == "text" and "*" in value:
        return target.column.ilike(_pattern(value), escape="\\")
    if target.kind == "text" and value == "":
        return or_(target.column.is_(None), target.column == "")
    return target.column == _typed(target, name, value)


def _differs(target: Searchable, name: str, value: str) -> ColumnElement[bool]:
    """What has no value differs from every value."""
    if target.kind == "text" and value == "":
        return and_(target.column.is_not(None), target.column != "")
    return or_(target.column.is_(None), ~_equals(target, name, value))


def _pattern(value: str) -> str:
    """A value with `*` as a pattern of SQL's LIKE."""
    plain = value.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return plain.replace("*", "%")


def _typed(target: Searchable, name: str, value: str) -> str | int:
    if target.kind in ("text", "list"):
        return value
    try:
        return int(value)
    except ValueError:
        if target.kind == "number":
            raise InvalidInput(f"The field {name} is a number; {value!r} is not.") from None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(
            f"The field {name} is a time; write {value!r} as milliseconds or as "
            "2030-12-31T23:59:59Z."
        ) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def _order(sort: str, known: Mapping[str, Searchable]) -> list[ColumnElement[Any]]:
    """`field:DESC|field:ASC`; ascending when it is not said."""
    order: list[ColumnElement[Any]] = []
    for part in filter(None, (part.strip() for part in sort.replace(",", "|").split("|"))):
        name, _, direction = part.partition(":")
        target = _named(name.strip(), known).column
        if direction.strip().upper() not in ("", "ASC", "DESC"):
            raise InvalidInput(f"Sort {part!r} must end in :ASC or :DESC.")
        order.append(target.desc() if direction.strip().upper() == "DESC" else target.asc())
    return order


# Words


def _words(session: Session, free_text: str) -> Select[Any] | None:
    """The executions in which every word begins some word; None when any will do."""
    found = ["".join(c if c.isalnum() else " " for c in word) for word in free_text.split()]
    terms = [term for word in found for term in word.split()]
    if not terms:
        return None
    if _is_sqlite(session):
        match = " AND ".join(f'"{term}"*' for term in terms)
        return select(_WORDS.c.rowid).where(text("words MATCH :match").bindparams(match=match))
    match = " & ".join(f"{term}:*" for term in terms)
    return select(_WORDS.c.rowid).where(
        text("body @@ to_tsquery('simple', :match)").bindparams(match=match)
    )


def has_unindexed(session: Session) -> bool:
    """Is there anything for `index_words` to do?"""
    asked = select(table_of(Unindexed).c.execution).limit(1)
    return session.execute(asked).first() is not None


def index_words(session: Session, limit: int = 200) -> int:
    """Take up the words of executions that were created or have ended since; how many were."""
    noted = table_of(Unindexed)
    asked = select(noted.c.execution).order_by(noted.c.execution).limit(limit)
    keys: Sequence[int] = session.execute(asked).scalars().all()
    if not keys:
        return 0
    forget_words(session, keys)
    columns = (_E.key, _E.id, _E.name, _E.status, _E.correlation_id, _E.reason, _E.failed_refs)
    asked_rows = select(*columns, _E.input, _E.output).where(_E.key.in_(keys))
    for row in session.execute(asked_rows).all():
        values = [str(value).encode() for value in row[1:-2] if value is not None]
        values += [stored_value(session, held) or b"" for held in row[-2:]]
        body = " ".join(_readable(value) for value in values)
        words = body if _is_sqlite(session) else func.to_tsvector("simple", body)
        session.execute(insert(_WORDS).values(rowid=row[0], body=words))
    session.execute(delete(noted).where(noted.c.execution.in_(keys)))
    return len(keys)


def forget_words(session: Session, keys: Sequence[int]) -> None:
    """Take executions out of the text index."""
    session.execute(delete(_WORDS).where(_WORDS.c.rowid.in_(keys)))


def _readable(value: bytes) -> str:
    """The words at the beginning of a text or document, cut the same way for every database."""
    beginning = value[:_PART_BYTES].decode(errors="ignore")
    return "".join(c if c.isalnum() else " " for c in beginning)


def _is_sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"
