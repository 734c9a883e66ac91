"""What a definition looks like once everything has its place: nodes, lines, and the whole of them.

Every line knows the place at which a task put on it would enter the definition. Where anything is
drawn is worked out in layout.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypedDict

from studio.graph.blocks import Path, Problem, Step

START: Final = "@start"
END: Final = "@end"

Point = tuple[int, int]


class Place(TypedDict):
    """Where a task enters a definition: the steps to a list of tasks, and the index in it."""

    list: list[Step]
    index: int


@dataclass(frozen=True, slots=True)
class Node:
    """One thing drawn. `kind`: start, end, task, switch, fork, join, loop, fan, fold, merge.

    `path` leads to the task in the definition; what the drawing adds has none. `parent` is the
    container (switch, fork, loop) in which the task lies.
    """

    id: str
    kind: str
    type: str
    ref: str
    x: int
    y: int
    w: int
    h: int
    name: str = ""
    path: Path = ()
    parent: str = ""
    detail: str = ""
    label_at: Point = (0, 0)
    label_left: bool = False
    label_room: int = 0
    join_on: tuple[str, ...] = ()
    children: tuple[str, ...] = ()

    @property
    def axis(self) -> int:
        return self.x + self.w // 2

    @property
    def title(self) -> str:
        """What a person calls it; a draft may lack the reference name."""
        return self.ref or self.name or "unnamed"


@dataclass(frozen=True, slots=True)
class Edge:
    """One line from node to node. `points` is the whole right-angled way; nobody routes later."""

    id: str
    source: str
    target: str
    points: tuple[Point, ...]
    place: Place | None = None
    plus_at: Point | None = None
    case: str = ""
    label_at: Point = (0, 0)
    label_room: int = 0
    back: bool = False
    inner: bool = False
    arrow: bool = True


class OutlineRow(NamedTuple):
    """One line of the picture as a list. A task has an `id`, a branch has none.

    `place` is where a task put after this line would enter the definition.
    """

    id: str
    text: str
    depth: int
    place: Place


@dataclass(frozen=True, eq=False)
class Layout:
    """A whole picture. Nodes and edges are in the order in which tasks can run."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    width: int
    height: int
    problems: Mapping[str, tuple[Problem, ...]]
    outline: tuple[OutlineRow, ...]
    editing: bool = False
    by_id: Mapping[str, Node] = field(default_factory=dict)


def resolve(definition: object, where: Place) -> list[object] | None:
    """The list of tasks that a place names; None when the definition has no such list yet."""
    found: object = definition
    for step in where["list"]:
        if isinstance(found, Mapping):
            found = found.get(step)
        elif isinstance(found, list) and isinstance(step, int) and 0 <= step < len(found):
            found = found[step]
        else:
            return None
    return found if isinstance(found, list) else None
