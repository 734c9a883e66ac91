"""What a search of schedules and of their firings may say: conditions, a word, an order and a page.
It goes over documents that are at hand; searches of executions are the store's."""

import re
from collections.abc import Callable

from engine.model.errors import InvalidInput
from engine.model.record import Json

Document = dict[str, Json]
Condition = Callable[[Document], bool]

_COMPARISON = re.compile(r"(\w+)\s*(=|<|>|IN)\s*(.+)", re.IGNORECASE | re.DOTALL)


def conditions(query: str) -> list[Condition]:
    """What a record of a firing must meet: clauses joined by AND, such as
    `scheduleName IN (a,b) AND state IN (FAILED) AND scheduledTime>0`."""
    return [_condition(text) for text in re.split(r"\s+AND\s+", query or "") if text.strip()]


def _condition(text: str) -> Condition:
    """One clause of a query; a text that is none is the name of a schedule."""
    found = _COMPARISON.fullmatch(text.strip())
    if found is None:
        return lambda record: bool(record["scheduleName"] == text.strip())
    field, operator, value = found[1], found[2].upper(), found[3].strip()
    if operator in "<>":
        limit = _instant(field, value)
        if operator == "<":
            return lambda record: int(record.get(field) or 0) < limit
        return lambda record: int(record.get(field) or 0) > limit
    values = {item.strip().strip("'\"") for item in value.strip("()").split(",")}
    return lambda record: str(record.get(field)) in values


def _instant(field: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise InvalidInput(
            f"{field} is compared with {value!r}: give epoch milliseconds."
        ) from None


def mentions(document: Document, free_text: str) -> bool:
    """Is a text anywhere in a document? Nothing and `*` are in each."""
    return free_text in ("", "*") or free_text.lower() in str(document).lower()


def page(found: list[Document], start: int, size: int, sort: str | None) -> Document:
    """Some of what was found, and how many there are. `sort`: fields with a direction, such as
    `name:DESC,createTime`."""
    for part in reversed([part for part in (sort or "").split(",") if part.strip()]):
        field, _, direction = part.strip().partition(":")
        found = sorted(
            found,
            key=lambda document: _sortable(document.get(field)),
            reverse=direction.upper() == "DESC",
        )
    return {"totalHits": len(found), "results": found[start : start + size]}


def _sortable(value: Json) -> tuple[int, float, str]:
    if isinstance(value, int | float):
        return 1, value, ""
    return (0, 0, "") if value is None else (2, 0, str(value))
