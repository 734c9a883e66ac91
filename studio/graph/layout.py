"""A definition -> where everything is drawn, worked out from its nesting alone.

Pure and deterministic: the same definition gives the same picture. No statuses (overlay.py), no
drawing (svg.py, the canvas), no expressions.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from studio.graph.blocks import (
    BAR,
    DIAMOND,
    FAN_COLUMNS,
    FAN_GAP,
    FOLD_ABOVE,
    FRAME_PAD,
    HALF,
    HEADER,
    MERGE_TAIL,
    NODE_HEIGHT,
    NODE_WIDTH,
    Block,
    Branch,
    Child,
    Path,
    Reader,
    fan_size,
)
from studio.graph.picture import END, START, Edge, Layout, Node, OutlineRow, Place, Point

_TERM: Final = 12
_MARGIN: Final = 16
_PLUS_ABOVE: Final = 16


@dataclass(frozen=True, slots=True)
class _End:
    """A line that has left its node and looks for the next one."""

    source: str
    points: tuple[Point, ...]
    place: Place | None
    case: str = ""
    label_at: Point = (0, 0)
    label_room: int = 0
    plus_at: Point | None = None


def place(
    definition: object,
    *,
    forked: Mapping[str, Sequence[Child]] | None = None,
    folded: Collection[str] = (),
    editing: bool = False,
) -> Layout:
    """Lays a definition out; a broken draft is drawn as far as it can be read.

    `forked` names the children that dynamic forks have made, `folded` the containers that are
    drawn as one node, `editing` leaves room for a plus on every edge.
    """
    reader = Reader(forked or {}, folded, editing)
    reader.claim(START)
    reader.claim(END)
    top = reader.read(definition)
    placer = _Placer(reader, editing)
    return placer.draw(top)


def _at(path: Path, index: int) -> Place:
    return {"list": list(path), "index": index}


def _behind(block: Block) -> Place:
    """The place right behind a task, in the task's own list."""
    index = block.path[-1]
    return _at(block.path[:-1], index + 1 if isinstance(index, int) else 0)


class _Placer:
    def __init__(self, reader: Reader, editing: bool) -> None:
        self._reader = reader
        self._space = reader.spacing
        self._editing = editing
        self._nodes: list[Node] = []
        self._edges: list[Edge] = []
        self._outline: list[OutlineRow] = []
        self._edge_ids: set[str] = set()

    def draw(self, top: Branch) -> Layout:
        axis, row = max(top.left, HALF) + _MARGIN, self._space.row
        self._term("start", START, axis, 0)
        start = _End(START, ((axis, _TERM),), _at(top.path, 0))
        first = _TERM + row
        ends = self._branch(top, axis, first, [start], "")
        bottom = first + top.height + row if top.blocks else first
        for end in ends:
            self._connect(end, END, axis, bottom)
        self._term("end", END, axis, bottom)
        problems = {id_: tuple(found) for id_, found in self._reader.problems.items()}
        return Layout(
            nodes=tuple(self._nodes),
            edges=tuple(self._edges),
            width=axis + max(top.right, HALF) + _MARGIN,
            height=bottom + _TERM,
            problems=problems,
            outline=tuple(self._outline),
            editing=self._editing,
            by_id={node.id: node for node in self._nodes},
        )

    def _term(self, kind: str, id_: str, axis: int, y: int) -> None:
        half = _TERM // 2
        self._nodes.append(Node(id_, kind, "", "", axis - half, y, _TERM, _TERM))

    def _branch(
        self, branch: Branch, axis: int, y: int, ends: list[_End], parent: str
    ) -> list[_End]:
        """Places a list of tasks from the top down; gives what leaves its last task."""
        for block in branch.blocks:
            ends = self._block(block, axis, y, ends, parent)
            y += block.height + self._space.row
            behind = _behind(block.join or block)
            ends = [replace(end, place=behind) for end in ends]
        return ends

    def _block(self, block: Block, axis: int, y: int, ends: list[_End], parent: str) -> list[_End]:
        self._row(block)
        drawer = {
            "switch": self._switch,
            "fork": self._fork,
            "loop": self._loop,
            "join": self._join,
        }.get(block.kind, self._task)
        return drawer(block, axis, y, ends, parent)

    def _row(self, block: Block) -> None:
        text = block.ref or block.name or "unnamed"
        # Nothing may come between a fork and its join.
        behind = _behind(block.join or block)
        self._outline.append(OutlineRow(block.id, text, block.depth, behind))

    def _branch_row(self, block: Block, branch: Branch, text: str) -> None:
        self._outline.append(OutlineRow("", text, block.depth + 1, _at(branch.path, 0)))

    def _task(self, block: Block, axis: int, y: int, ends: list[_End], parent: str) -> list[_End]:
        for end in ends:
            self._connect(end, block.id, axis, y)
        tasks = "1 task" if block.inside == 1 else f"{block.inside} tasks"
        detail = tasks if block.kind == "fold" else ""
        self._add(block, (axis - HALF, y, NODE_WIDTH, NODE_HEIGHT), parent, detail=detail)
        if block.ends_here:
            return []
        return [_End(block.id, ((axis, y + NODE_HEIGHT),), None)]

    def _add(
        self,
        block: Block,
        box: tuple[int, int, int, int],
        parent: str,
        *,
        detail: str = "",
        label_at: Point = (0, 0),
        label_left: bool = False,
        label_room: int = 0,
    ) -> None:
        join_on = block.task.get("joinOn")
        self._nodes.append(
            Node(
                *(block.id, block.kind, block.type, block.ref, *box),
                name=block.name,
                path=block.path,
                parent=parent,
                detail=detail,
                label_at=label_at,
                label_left=label_left,
                label_room=label_room,
                join_on=tuple(map(str, join_on)) if isinstance(join_on, list) else (),
                children=tuple(child.ref for child in block.children),
            )
        )

    def _connect(self, end: _End, target: str, x: int, y: int, **marks_: bool) -> None:
        """Ends a line at a node, straight down."""
        last_x, last_y = end.points[-1]
        points = end.points
        if last_x != x:
            points = (*points, (last_x, y - 10), (x, y - 10))
        plus_at = end.plus_at or (x, max(y - _PLUS_ABOVE, last_y + 1))
        self._edge(end, target, (*points, (x, y)), plus_at, **marks_)

    def _edge(
        self,
        end: _End,
        target: str,
        points: tuple[Point, ...],
        plus_at: Point,
        *,
        back: bool = False,
        inner: bool = False,
        arrow: bool = True,
    ) -> None:
        id_ = f"{end.source}>{target}" + (f":{end.case}" if end.case else "")
        while id_ in self._edge_ids:
            id_ += "'"
        self._edge_ids.add(id_)
        self._edges.append(
            Edge(
                *(id_, end.source, target, points, end.place),
                plus_at=plus_at if end.place is not None else None,
                case=end.case,
                label_at=end.label_at,
                label_room=end.label_room,
                back=back,
                inner=inner,
                arrow=arrow,
            )
        )

    def _switch(self, block: Block, axis: int, y: int, ends: list[_End], parent: str) -> list[_End]:
        half = DIAMOND // 2
        for end in ends:
            self._connect(end, block.id, axis, y)
        to_left = any(branch.axis < 0 for branch in block.branches)
        label_at = (axis + half + 4, y + 1) if to_left else (axis - half - 8, y + half + 4)
        box = (axis - half, y, DIAMOND, DIAMOND)
        self._add(block, box, parent, label_at=label_at, label_left=not to_left, label_room=176)
        top = y + DIAMOND + block.drop
        loose: list[_End] = []
        for branch in block.branches:
            text = branch.label if branch.blocks else f"{branch.label}: goes on"
            self._branch_row(block, branch, text)
            opening = self._case(block, branch, axis, y)
            left = self._branch(branch, axis + branch.axis, top, [opening], block.id)
            loose += left
        return self._merge(block, axis, top + block.region, loose, parent)

    def _case(self, block: Block, branch: Branch, axis: int, y: int) -> _End:
        """The line of one case: out of the diamond's side, or straight down from its foot."""
        half, x = DIAMOND // 2, axis + branch.axis
        where = _at(branch.path, 0)
        if branch.axis == 0:
            foot = y + DIAMOND
            plus = None if branch.blocks else (x, foot + 36)
            points: tuple[Point, ...] = ((x, foot),)
            return _End(block.id, points, where, branch.label, (x, foot + 15), 160, plus)
        side = axis + (half if branch.axis > 0 else -half)
        inwards = -1 if branch.axis > 0 else 1
        middle = y + half
        label_at = (x + inwards * branch.label_room // 2, middle)
        plus = None if branch.blocks else (x, middle + 22)
        points = ((side, middle), (x, middle))
        room = branch.label_room - 14
        return _End(block.id, points, where, branch.label, label_at, room, plus)

    def _merge(
        self, block: Block, axis: int, bottom: int, loose: list[_End], parent: str
    ) -> list[_End]:
        """Leads the open lines of all branches together again."""
        if not loose:
            return []
        id_ = self._reader.claim(f"{block.id}@merge")
        run = bottom + self._space.run
        end_y = run + MERGE_TAIL
        for end in loose:
            x, y = end.points[-1]
            points = end.points if x == axis else (*end.points, (x, run), (axis, run))
            plus_at = end.plus_at or (x, y + 9)
            self._edge(end, id_, (*points, (axis, end_y)), plus_at, arrow=False)
        self._nodes.append(Node(id_, "merge", "", "", axis, end_y, 0, 0, parent=parent))
        return [_End(id_, ((axis, end_y),), None)]

    def _fork(self, block: Block, axis: int, y: int, ends: list[_End], parent: str) -> list[_End]:
        for end in ends:
            self._connect(end, block.id, axis, y, arrow=False)
        left, width = axis - block.left, block.left + block.right
        bar = (left, y, width, BAR)
        label = {"label_at": (left, y - 6), "label_room": block.left - 12}
        self._add(block, bar, parent, **label)  # type: ignore[arg-type]
        top = y + BAR + self._space.row
        loose: list[_End] = []
        for number, branch in enumerate(block.branches):
            self._branch_row(block, branch, f"branch {number + 1}")
            x = axis + branch.axis
            plus = None if branch.blocks else (x, y + BAR + 9)
            opening = _End(block.id, ((x, y + BAR),), _at(branch.path, 0), plus_at=plus)
            loose += self._branch(branch, x, top, [opening], block.id)
        if block.type == "FORK_JOIN_DYNAMIC":
            loose.append(self._fan(block, axis, top, y + BAR))
        elif not block.branches:
            loose.append(_End(block.id, ((axis, y + BAR),), None))
        if block.join is None:
            return self._merge(block, axis, top + block.region, loose, parent)
        self._row(block.join)
        foot = top + block.region + self._space.row
        return self._bar(block.join, (left, foot, width, BAR), axis, loose, parent)

    def _bar(
        self,
        join: Block,
        box: tuple[int, int, int, int],
        axis: int,
        ends: Iterable[_End],
        parent: str,
    ) -> list[_End]:
        """The bar of a JOIN: every line comes straight down on to it."""
        y, first = box[1], None
        for end in ends:
            x, last_y = end.points[-1]
            first = x if first is None else first
            self._edge(
                end, join.id, (*end.points, (x, y)), end.plus_at or (x, last_y + 9), arrow=False
            )
        label_x = box[0] if first is None else first + 12
        room = box[0] + box[2] - label_x
        self._add(join, box, parent, label_at=(label_x, y - 6), label_room=room)
        return [_End(join.id, ((axis, y + BAR),), None)]

    def _join(self, block: Block, axis: int, y: int, ends: list[_End], parent: str) -> list[_End]:
        return self._bar(block, (axis - HALF, y, NODE_WIDTH, BAR), axis, ends, parent)

    def _fan(self, block: Block, axis: int, y: int, from_y: int) -> _End:
        """The children of a dynamic fork: a frame with nodes, or with squares when there are many."""
        count = len(block.children)
        width, height = fan_size(count)
        id_ = self._reader.claim(f"{block.id}@children")
        left = axis - width // 2
        children = tuple(child.ref for child in block.children)
        detail = f"{count} children" if count else "decided while running"
        self._connect(_End(block.id, ((axis, from_y),), None), id_, axis, y)
        self._nodes.append(
            Node(
                *(id_, "fan", block.type, block.ref, left, y, width, height),
                parent=block.id,
                detail=detail,
                children=children,
            )
        )
        if count <= FOLD_ABOVE:
            self._fan_nodes(block, id_, left + FRAME_PAD, y + HEADER)
        return _End(id_, ((axis, y + height),), None)

    def _fan_nodes(self, block: Block, fan: str, left: int, top: int) -> None:
        for number, child in enumerate(block.children):
            row, column = divmod(number, FAN_COLUMNS)
            x, y = left + column * (NODE_WIDTH + FAN_GAP), top + row * (NODE_HEIGHT + FAN_GAP)
            id_ = self._reader.claim(child.ref)
            self._outline.append(OutlineRow(id_, child.ref, block.depth + 1, _at(block.path, 0)))
            box = (x, y, NODE_WIDTH, NODE_HEIGHT)
            node = Node(id_, "task", child.type, child.ref, *box, name=child.name, parent=fan)
            self._nodes.append(node)

    def _loop(self, block: Block, axis: int, y: int, ends: list[_End], parent: str) -> list[_End]:
        for end in ends:
            self._connect(end, block.id, axis, y)
        left, width = axis - block.left, block.left + block.right
        box = (left, y, width, block.height)
        condition = block.task.get("loopCondition")
        detail = f"while {condition}" if isinstance(condition, str) and condition else ""
        self._add(block, box, parent, detail=detail)
        body, inside = block.branches[0], y + HEADER
        entry = _End(block.id, ((axis, inside),), _at(body.path, 0))
        bottom = (axis, y + block.height)
        if not body.blocks:
            self._branch_row(block, body, "empty loop")
            self._edge(entry, block.id, (*entry.points, bottom), (axis, inside + 15), inner=True)
            return [_End(block.id, (bottom,), None)]
        before = len(self._edges)
        loose = self._branch(body, axis, inside + self._space.loop_in, [entry], block.id)
        self._edges[before] = replace(self._edges[before], inner=True)
        for end in loose:
            self._way_back(block, end, axis, inside, left + width - 7)
        return [_End(block.id, (bottom,), None)]

    def _way_back(self, block: Block, end: _End, axis: int, inside: int, rail: int) -> None:
        body = block.branches[0]
        first_y, run = inside + self._space.loop_in, inside + 6
        head: tuple[Point, ...] = ((rail, run), (axis, run), (axis, first_y))
        x, y = end.points[-1]
        if self._reader.leaves_at_side(body):
            middle = y - NODE_HEIGHT // 2
            points: tuple[Point, ...] = ((x + HALF, middle), (rail, middle), *head)
        else:
            down = y + self._space.loop_out - 2
            points = (*end.points, (x, down), (rail, down), *head)
        self._edge(end, body.blocks[0].id, points, (x, y + 9), back=True)
