"""Search: executions and tasks that a query and some words find, sorted and in pages, whether they
are among the living or in the archive. The two have tables of their own; pages run over both."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, select, union_all
from sqlalchemy.sql import operators
from sqlmodel import Session

from engine.store import search_fields
from engine.store.reading import ARCHIVED, ARCHIVED_TASK, COUNTED_TO, EXECUTION, TASK, capped
from engine.store.search_fields import Fields, conditions
from engine.store.words import with_words


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


@dataclass(frozen=True, slots=True)
class _Shelf:
    """Where executions and their tasks are, and what they are searched by there."""

    executions: Table
    tasks: Table
    by_execution: Fields
    by_task: Fields


def _shelf(executions: Table, tasks: Table) -> _Shelf:
    return _Shelf(
        executions,
        tasks,
        search_fields.fields_of_executions(executions),
        search_fields.fields_of_tasks(tasks, executions),
    )


_SHELVES = (_shelf(EXECUTION, TASK), _shelf(ARCHIVED, ARCHIVED_TASK))

_Order = Sequence[ColumnElement[Any]]


@dataclass(frozen=True, slots=True)
class _Part:
    """What a search asks of one shelf."""

    asked: Select[Any]
    place: tuple[ColumnElement[Any], ...]
    """The columns that say where something is; they come last in the order, descending."""
    order: _Order


def executions(session: Session, wanted: Search, *, top_level: bool = False) -> Found:
    """Executions that a query finds, the newest first unless it says else."""
    words = with_words(session, wanted.free_text)

    def part(shelf: _Shelf) -> _Part:
        c = shelf.executions.c
        asked = select(c.key).where(*conditions(wanted.query, shelf.by_execution))
        if top_level:
            asked = asked.where(c.parent_id.is_(None))
        if words is not None:
            asked = asked.where(c.key.in_(words))
        return _Part(asked, (c.key,), _order_of_executions(wanted, shelf))

    found = _found(session, wanted, [part(shelf) for shelf in _SHELVES])
    return Found(found.total, [row[0] for row in found.places])


def tasks(session: Session, wanted: Search) -> Found:
    """Attempts that a query finds, the newest first unless it says else. Free text finds those
    of the executions that have the words."""
    words = with_words(session, wanted.free_text)

    def part(shelf: _Shelf) -> _Part:
        c = shelf.tasks.c
        order = search_fields.order(wanted.sort, shelf.by_task)
        asked = _of_tasks(wanted, shelf, (c.execution, c.seq), words)
        return _Part(asked, (c.execution, c.seq), order)

    found = _found(session, wanted, [part(shelf) for shelf in _SHELVES])
    return Found(found.total, [(row[0], row[1]) for row in found.places])


def executions_of_tasks(session: Session, wanted: Search) -> Found:
    """The executions, each once, of the attempts that a query finds; the newest first."""
    words = with_words(session, wanted.free_text)

    def part(shelf: _Shelf) -> _Part:
        c = shelf.executions.c
        inner = _of_tasks(wanted, shelf, (shelf.tasks.c.execution,), words)
        asked = select(c.key).where(c.key.in_(inner))
        return _Part(asked, (c.key,), _order_of_executions(wanted, shelf))

    found = _found(session, wanted, [part(shelf) for shelf in _SHELVES])
    return Found(found.total, [row[0] for row in found.places])


def _of_tasks(
    wanted: Search, shelf: _Shelf, columns: _Order, words: Select[Any] | None
) -> Select[Any]:
    """Columns of the attempts that a query finds on a shelf."""
    owner = shelf.executions.c.key == shelf.tasks.c.execution
    asked = (
        select(*columns)
        .join(shelf.executions, owner)
        .where(*conditions(wanted.query, shelf.by_task))
    )
    return asked if words is None else asked.where(shelf.tasks.c.execution.in_(words))


def _order_of_executions(wanted: Search, shelf: _Shelf) -> _Order:
    asked = search_fields.order(wanted.sort, shelf.by_execution)
    return asked or [shelf.executions.c.created_at.desc()]


def _found(session: Session, wanted: Search, parts: Sequence[_Part]) -> Found:
    """A page over the shelves on which there is anything at all."""
    total = 0
    holding = []
    for part in parts:
        count = capped(session, part.asked, max(1, wanted.count_up_to - total))
        total += count
        if count:
            holding.append(part)
    total = min(total, wanted.count_up_to)
    if wanted.size == 0 or not holding:
        return Found(total)
    some = _ordered(holding).offset(max(wanted.start, 0))
    if wanted.size > 0:
        some = some.limit(wanted.size)
    return Found(total, list(session.execute(some)))


def _ordered(parts: Sequence[_Part]) -> Any:
    """What some shelves hold, in order. Of two shelves each is read in its own order, by its own
    index, and the database merges them: neither is read further than the page needs."""
    if len(parts) == 1:
        (part,) = parts
        return part.asked.order_by(*part.order, *(column.desc() for column in part.place))
    both = union_all(
        *(
            part.asked.add_columns(
                *(term.element.label(f"by_{n}") for n, term in enumerate(part.order))
            )
            for part in parts
        )
    )
    first = parts[0]
    terms = [
        _same_way(term, both.selected_columns[f"by_{n}"]) for n, term in enumerate(first.order)
    ]
    places = [both.selected_columns[column.name].desc() for column in first.place]
    return both.order_by(*terms, *places)


def _same_way(term: Any, column: ColumnElement[Any]) -> ColumnElement[Any]:
    """A column of both shelves, up or down as a term of one of them is."""
    return column.desc() if term.modifier is operators.desc_op else column.asc()
