"""Conductor's search language on our columns: its fields, the conditions of a query, the order of a
sort. The living and the archived have tables of their own with the same fields."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, case, false, literal, or_, text

from engine.model.errors import InvalidInput
from engine.model.ids import task_place
from engine.store.query import Both, Compare, Condition, parse


@dataclass(frozen=True, slots=True)
class Searchable:
    """A field of the search language: its column, and how its values are written."""

    column: ColumnElement[Any]
    kind: str = "text"
    """`text`, `number`, `time`, `list` for a column that holds a JSON list of names, or `place` for
    a task id."""


Fields = Mapping[str, Searchable]


def _took(ended: ColumnElement[Any], begun: ColumnElement[Any]) -> ColumnElement[Any]:
    """A span in milliseconds, 0 while it is not over."""
    return case((ended > 0, ended - begun), else_=0)


def fields_of_executions(table: Table) -> Fields:
    """What executions are searched by."""
    c = table.c
    return {
        "workflowId": Searchable(c.id),
        "correlationId": Searchable(c.correlation_id),
        "workflowType": Searchable(c.name),
        "version": Searchable(c.version, "number"),
        "status": Searchable(c.status),
        "startTime": Searchable(c.created_at, "time"),
        "updateTime": Searchable(c.updated_at, "time"),
        "endTime": Searchable(c.ended_at, "time"),
        "executionTime": Searchable(_took(c.ended_at, c.created_at), "number"),
        "parentWorkflowId": Searchable(c.parent_id),
        "classifier": Searchable(literal("workflow")),
        "priority": Searchable(c.priority, "number"),
        "reasonForIncompletion": Searchable(c.reason),
        "event": Searchable(c.event),
        "ownerApp": Searchable(c.owner_app),
        "createdBy": Searchable(c.created_by),
        "idempotencyKey": Searchable(c.idempotency_key),
        "failedReferenceTaskNames": Searchable(c.failed_refs, "list"),
        "failedTaskNames": Searchable(c.failed_names, "list"),
    }


def fields_of_tasks(table: Table, executions: Table) -> Fields:
    """What tasks are searched by; some of it is their execution's."""
    t, e = table.c, executions.c
    return {
        "taskId": Searchable(t.task_id, "place"),
        "taskType": Searchable(t.type),
        "taskDefName": Searchable(t.name),
        "referenceTaskName": Searchable(t.reference),
        "workflowId": Searchable(e.id),
        "workflowType": Searchable(e.name),
        "correlationId": Searchable(e.correlation_id),
        "status": Searchable(t.status),
        "scheduledTime": Searchable(t.scheduled_at, "time"),
        "startTime": Searchable(t.started_at, "time"),
        "updateTime": Searchable(t.updated_at, "time"),
        "endTime": Searchable(t.ended_at, "time"),
        "executionTime": Searchable(_took(t.ended_at, t.started_at), "number"),
        "queueWaitTime": Searchable(_took(t.started_at, t.scheduled_at), "number"),
        "reasonForIncompletion": Searchable(t.reason),
        "workerId": Searchable(t.worker),
        "domain": Searchable(t.domain),
        "workflowPriority": Searchable(t.priority, "number"),
    }


_SIGNS: Mapping[str, Callable[[Any, Any], ColumnElement[bool]]] = {
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left.is_distinct_from(right),
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
}


def conditions(query: str, known: Fields) -> list[ColumnElement[bool]]:
    """What a query asks for."""
    tree = parse(query)
    return [] if tree is None else [_condition(tree, known)]


def _condition(tree: Condition, known: Fields) -> ColumnElement[bool]:
    if isinstance(tree, Compare):
        return _comparison(tree, known)
    parts = [_condition(part, known) for part in tree.parts]
    return and_(*parts) if isinstance(tree, Both) else or_(*parts)


def _named(name: str, known: Fields) -> Searchable:
    found = known.get(name)
    if found is None:
        raise InvalidInput(
            f"Unknown search field {name!r}. Known fields are {', '.join(sorted(known))}."
        )
    return found


def _comparison(asked: Compare, known: Fields) -> ColumnElement[bool]:
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
    if target.kind == "place":
        return _at_place(target, value)
    if target.kind == "list":
        return target.column.ilike(_pattern(f'*"{value}"*'), escape="\\")
    if target.kind == "text" and "*" in value:
        return target.column.ilike(_pattern(value), escape="\\")
    if target.kind == "text" and value == "":
        return or_(target.column.is_(None), target.column == "")
    return target.column == _typed(target, name, value)


def _at_place(target: Searchable, value: str) -> ColumnElement[bool]:
    """A task id says where its task is, so that no table has to be searched for it."""
    if "*" in value:
        return target.column.ilike(_pattern(value), escape="\\")
    place = task_place(value)
    if place is None:
        return false()
    c = target.column.table.c
    at = and_(c.execution == place.execution, c.seq == place.seq)
    return and_(at, target.column == value)


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
    if target.kind in ("text", "list", "place"):
        return value
    try:
        number = int(value)
        if not -(2**63) <= number < 2**63:
            raise InvalidInput(f"The field {name} holds 64 bits; {value!r} does not fit into them.")
        return number
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


def order(sort: str, known: Fields) -> list[ColumnElement[Any]]:
    """`field:DESC|field:ASC`; ascending when it is not said."""
    found: list[ColumnElement[Any]] = []
    for part in filter(None, (part.strip() for part in sort.replace(",", "|").split("|"))):
        name, _, direction = part.partition(":")
        target = _named(name.strip(), known).column
        if direction.strip().upper() not in ("", "ASC", "DESC"):
            raise InvalidInput(f"Sort {part!r} must end in :ASC or :DESC.")
        found.append(target.desc() if direction.strip().upper() == "DESC" else target.asc())
    return found
