"""What one revision changed, small enough to be kept for ever and good in both directions.

A difference is a list of splices: in the list or map at a path, so many items from a position on
were these and are now those. The items of a map are [key, value] pairs, so their order is kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from studio.editor.tree import JsonObject, Path, copied, same


@dataclass(frozen=True, slots=True)
class Splice:
    path: Path
    start: int
    removed: list[Any]
    added: list[Any]

    def inverse(self) -> "Splice":
        return Splice(self.path, self.start, self.added, self.removed)

    def to_json(self) -> list[Any]:
        return [list(self.path), self.start, self.removed, self.added]

    @classmethod
    def from_json(cls, raw: list[Any]) -> "Splice":
        path, start, removed, added = raw
        return cls(tuple(path), start, removed, added)


Difference = tuple[Splice, ...]


def difference(before: JsonObject, after: JsonObject) -> Difference:
    """The splices that lead from one definition to the other."""
    return tuple(_compare((), before, after))


def inverse(difference_: Difference) -> Difference:
    return tuple(splice.inverse() for splice in reversed(difference_))


def applied(definition: JsonObject, difference_: Difference) -> JsonObject:
    """The definition after the splices; the one given stays as it is."""
    changed: JsonObject = copied(definition)
    for splice in difference_:
        container: Any = changed
        for step in splice.path:
            container = container[step]
        end = splice.start + len(splice.removed)
        if isinstance(container, list):
            container[splice.start : end] = copied(splice.added)
        else:
            items = [[key, value] for key, value in container.items()]
            items[splice.start : end] = copied(splice.added)
            container.clear()
            container.update(items)
    return changed


def _compare(path: Path, before: Any, after: Any) -> Iterator[Splice]:
    """Values first, while the old positions hold, then the one splice that moves them."""
    if isinstance(before, dict):
        old, new = list(before), list(after)
        start, tail = _shared(old, new)
        for key in [*old[:start], *old[len(old) - tail :]]:
            yield from _value(path, key, old.index(key), before[key], after[key])
        removed = [[key, copied(before[key])] for key in old[start : len(old) - tail]]
        added = [[key, copied(after[key])] for key in new[start : len(new) - tail]]
        if removed or added:
            yield Splice(path, start, removed, added)
        return
    start, tail = _shared(before, after)
    old, new = before[start : len(before) - tail], after[start : len(after) - tail]
    if len(old) == len(new):
        for offset, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _value(path, start + offset, start + offset, one, other)
    else:
        yield Splice(path, start, copied(old), copied(new))


def _value(path: Path, step: str | int, position: int, old: Any, new: Any) -> Iterator[Splice]:
    if same(old, new):
        return
    if type(old) is type(new) and isinstance(old, dict | list):
        yield from _compare((*path, step), old, new)
    elif isinstance(step, str):
        yield Splice(path, position, [[step, copied(old)]], [[step, copied(new)]])
    else:
        yield Splice(path, position, [copied(old)], [copied(new)])


def _shared(old: list[Any], new: list[Any]) -> tuple[int, int]:
    """How many items are the same at the front, and how many of the rest at the back."""
    most = min(len(old), len(new))
    start = 0
    while start < most and same(old[start], new[start]):
        start += 1
    tail = 0
    while tail < most - start and same(old[-1 - tail], new[-1 - tail]):
        tail += 1
    return start, tail
