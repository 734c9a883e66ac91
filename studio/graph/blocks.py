"""Reads a definition, however broken, into a tree of blocks and measures it.

A block is one task with the lists inside it; each knows how far it reaches to the left and to the
right of its axis and how high it is. Nothing here raises over bad data: what cannot be read is
kept as a block with a problem. No positions (layout.py) and no statuses (overlay.py).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from studio.graph import marks

Step = str | int
Path = tuple[Step, ...]

NODE_WIDTH: Final = 200
NODE_HEIGHT: Final = 38
HALF: Final = NODE_WIDTH // 2
COLUMN_GAP: Final = 40
DIAMOND: Final = 24
BAR: Final = 4
HEADER: Final = 26
FRAME_PAD: Final = 14
RAIL_PAD: Final = 18
MERGE_TAIL: Final = 6
# A dynamic fork shows its children as nodes up to this number, as small squares beyond it.
FOLD_ABOVE: Final = 30
FAN_COLUMNS: Final = 4
FAN_GAP: Final = 12
SQUARES_A_ROW: Final = 24
SQUARE_ROWS: Final = 10
# Deeper nesting than this is drawn folded: nobody can read it, and recursion has its limits.
DEEPEST: Final = 40
_LABEL_CHARACTERS: Final = 16


class Spacing(NamedTuple):
    """Free pixels between things; editing needs room for the plus buttons."""

    row: int
    straight: int
    side: int
    run: int
    loop_in: int
    loop_out: int


VIEWING: Final = Spacing(row=18, straight=36, side=22, run=10, loop_in=20, loop_out=12)
EDITING: Final = Spacing(row=24, straight=50, side=28, run=20, loop_in=30, loop_out=22)


class Problem(NamedTuple):
    """What is wrong with a task, in words. `level` is error or warning."""

    level: str
    text: str


class Child(NamedTuple):
    """A task that a dynamic fork made while running."""

    ref: str
    type: str
    name: str


@dataclass(slots=True)
class Branch:
    """One list of tasks inside a block, or the top list."""

    label: str
    path: Path
    blocks: "list[Block]"
    left: int = 0
    right: int = 0
    height: int = 0
    axis: int = 0
    label_room: int = 0


@dataclass(slots=True)
class Block:
    """One task with everything inside it."""

    kind: str
    id: str
    ref: str
    type: str
    name: str
    path: Path
    depth: int
    task: Mapping[str, Any]
    left: int = HALF
    right: int = HALF
    height: int = NODE_HEIGHT
    branches: list[Branch] = field(default_factory=list)
    join: "Block | None" = None
    children: tuple[Child, ...] = ()
    inside: int = 0
    drop: int = 0
    region: int = 0

    @property
    def ends_here(self) -> bool:
        """Whether nothing can follow: a TERMINATE, or branches that all end in one."""
        if self.kind == "switch":
            return all(branch.blocks and branch.blocks[-1].ends_here for branch in self.branches)
        return self.type == "TERMINATE" and self.kind == "task"


class Reader:
    """Turns the JSON of a definition into measured blocks; collects the problems on its way."""

    def __init__(
        self, forked: Mapping[str, Sequence[Child]], folded: Collection[str], editing: bool
    ) -> None:
        self.problems: dict[str, list[Problem]] = {}
        self.spacing = EDITING if editing else VIEWING
        self._editing = editing
        self._forked = forked
        self._folded = frozenset(folded)
        self._ids: set[str] = set()

    def claim(self, wanted: str) -> str:
        """An id that nothing else in the drawing has."""
        id_ = wanted
        while id_ in self._ids:
            id_ += "'"
        self._ids.add(id_)
        return id_

    def read(self, definition: object) -> Branch:
        tasks: object = None
        if isinstance(definition, Mapping):
            tasks = definition.get("tasks")
        else:
            self._mark("@start", "error", "The definition is no JSON object.")
        return self._list(tasks, ("tasks",), 0, "@start")

    def _mark(self, id_: str, level: str, text: str) -> None:
        self.problems.setdefault(id_, []).append(Problem(level, text))

    def _list(self, tasks: object, path: Path, depth: int, owner: str, label: str = "") -> Branch:
        branch = Branch(label, path, [])
        if tasks is not None and not isinstance(tasks, list):
            self._mark(owner, "error", f"`{path[-1]}` is no list of tasks.")
        items: list[object] = tasks if isinstance(tasks, list) else []
        index = 0
        while index < len(items):
            block = self._block(items[index], (*path, index), depth)
            index += 1
            if block.kind == "fork" and index < len(items) and _type(items[index]) == "JOIN":
                block.join = self._block(items[index], (*path, index), depth)
                index += 1
            self._measure(block)
            branch.blocks.append(block)
        self._measure_list(branch)
        return branch

    def _measure_list(self, branch: Branch) -> None:
        if branch.blocks:
            gaps = self.spacing.row * (len(branch.blocks) - 1)
            branch.height = sum(block.height for block in branch.blocks) + gaps
            branch.left = max(block.left for block in branch.blocks)
            branch.right = max(block.right for block in branch.blocks)
        else:
            half = max(28, _label_width(branch.label) // 2 + 8)
            branch.left = branch.right = half

    def _block(self, raw: object, path: Path, depth: int) -> Block:
        task: Mapping[str, Any] = raw if isinstance(raw, Mapping) else {}
        ref, type_ = _text(task.get("taskReferenceName")), _type(task)
        id_ = self.claim(ref or "@" + "/".join(map(str, path)))
        block = Block("task", id_, ref, type_, _text(task.get("name")), path, depth, task=task)
        self._check(block, raw)
        reader = _CONTAINERS.get(type_)
        if type_ in ("JOIN", "EXCLUSIVE_JOIN"):
            block.kind, block.height = "join", BAR
            self._check_join(block)
        elif reader is None:
            return block
        elif id_ in self._folded or depth >= DEEPEST:
            block.kind, block.inside = "fold", _count(task)
            if id_ not in self._folded:
                text = f"Nested deeper than {DEEPEST} levels, drawn folded."
                self._mark(id_, "warning", text)
        else:
            reader(self, block)
        return block

    def _check(self, block: Block, raw: object) -> None:
        if not isinstance(raw, Mapping):
            self._mark(block.id, "error", f"A task is a JSON object, not {type(raw).__name__}.")
            return
        if not block.ref:
            self._mark(block.id, "error", "`taskReferenceName` is missing.")
        elif block.id != block.ref:
            self._mark(block.id, "error", f"`{block.ref}` is used by another task already.")
        if block.type not in marks.TYPES:
            text = f"`{block.type}` is no built-in task type: a worker has to poll for it."
            self._mark(block.id, "warning", text)

    def _check_join(self, block: Block) -> None:
        if not isinstance(block.task.get("joinOn", []), list):
            self._mark(block.id, "error", "`joinOn` is no list of reference names.")

    def read_switch(self, block: Block) -> None:
        block.kind = "switch"
        cases = block.task.get("decisionCases")
        if not isinstance(cases, Mapping):
            self._mark(block.id, "error", "`decisionCases` is missing.")
            cases = {}
        elif not cases:
            self._mark(block.id, "error", "The switch has no case.")
        for case, tasks in cases.items():
            path = (*block.path, "decisionCases", str(case))
            label = str(case) or "“”"
            branch = self._list(tasks, path, block.depth + 1, block.id, label)
            block.branches.append(branch)
        path = (*block.path, "defaultCase")
        rest = block.task.get("defaultCase")
        block.branches.append(self._list(rest, path, block.depth + 1, block.id, "default"))

    def read_fork(self, block: Block) -> None:
        block.kind = "fork"
        lists = block.task.get("forkTasks")
        if not isinstance(lists, list) or not lists:
            self._mark(block.id, "error", "The fork has no branch.")
            lists = []
        for number, tasks in enumerate(lists):
            path = (*block.path, "forkTasks", number)
            branch = self._list(tasks, path, block.depth + 1, block.id)
            if not branch.blocks:
                self._mark(block.id, "error", f"Branch {number + 1} of the fork is empty.")
            block.branches.append(branch)

    def read_dynamic_fork(self, block: Block) -> None:
        block.kind = "fork"
        block.children = tuple(self._forked.get(block.ref, ()))

    def read_loop(self, block: Block) -> None:
        block.kind = "loop"
        path = (*block.path, "loopOver")
        body = self._list(block.task.get("loopOver"), path, block.depth + 1, block.id)
        if not body.blocks:
            self._mark(block.id, "error", "The loop has no task.")
        block.branches.append(body)

    def _measure(self, block: Block) -> None:
        if block.kind == "switch":
            self._measure_switch(block)
        elif block.kind == "fork":
            self._measure_fork(block)
        elif block.kind == "loop":
            self._measure_loop(block)

    def _measure_switch(self, block: Block) -> None:
        anchor = _anchor(block.branches, straight_empty=True)
        _spread(block, anchor)
        label = round(len(marks.shortened(block.ref, 24)) * 7.3) + 24
        if any(branch.axis < 0 for branch in block.branches):
            block.right = max(block.right, label)
        else:
            block.left = max(block.left, label)
        straight = any(branch.axis == 0 for branch in block.branches)
        block.drop = self.spacing.straight if straight else self.spacing.side
        block.region = max(branch.height for branch in block.branches)
        tail = 0 if block.ends_here else self.spacing.run + MERGE_TAIL
        block.height = DIAMOND + block.drop + block.region + tail

    def _measure_fork(self, block: Block) -> None:
        if block.join is None:
            self._mark(block.id, "error", "No JOIN follows the fork.")
        if block.branches:
            _spread(block, _anchor(block.branches, straight_empty=False))
            block.region = max(branch.height for branch in block.branches)
        elif block.type == "FORK_JOIN_DYNAMIC":
            width, block.region = fan_size(len(block.children))
            block.left = block.right = width // 2
        block.left, block.right = max(block.left, HALF), max(block.right, HALF)
        closing = self.spacing.row + BAR
        if block.join is None:
            closing = self.spacing.run + MERGE_TAIL
        block.height = BAR + self.spacing.row + block.region + closing

    def _measure_loop(self, block: Block) -> None:
        body = block.branches[0]
        block.left = max(body.left, HALF) + FRAME_PAD
        block.right = max(body.right, HALF) + RAIL_PAD
        block.height = HEADER + self.spacing.loop_in + body.height + self.way_back_room(body)

    def way_back_room(self, body: Branch) -> int:
        """Pixels under the body of a loop: the way back may leave at the side of a plain node."""
        return self.spacing.loop_out if self.leaves_at_side(body) else self.spacing.loop_out + 10

    def leaves_at_side(self, body: Branch) -> bool:
        return not self._editing and bool(body.blocks) and body.blocks[-1].kind in ("task", "fold")


_CONTAINERS: Final = {
    "SWITCH": Reader.read_switch,
    "DECISION": Reader.read_switch,
    "FORK_JOIN": Reader.read_fork,
    "FORK_JOIN_DYNAMIC": Reader.read_dynamic_fork,
    "DO_WHILE": Reader.read_loop,
}


def fan_size(count: int) -> tuple[int, int]:
    """Width and height of the place where the children of a dynamic fork are shown."""
    if count == 0:
        return NODE_WIDTH, NODE_HEIGHT
    if count <= FOLD_ABOVE:
        columns = min(count, FAN_COLUMNS)
        rows = -(-count // FAN_COLUMNS)
        width = columns * (NODE_WIDTH + FAN_GAP) - FAN_GAP + 2 * FRAME_PAD
        return width, HEADER + rows * (NODE_HEIGHT + FAN_GAP) + 2
    rows = min(-(-count // SQUARES_A_ROW), SQUARE_ROWS)
    return SQUARES_A_ROW * 13 + 2 * FRAME_PAD, HEADER + 22 + rows * 13 + 8


def _anchor(branches: list[Branch], *, straight_empty: bool) -> int:
    """Which branch lies straight under its opening; -1: the gap between the middle two."""
    count = len(branches)
    filled = sum(bool(branch.blocks) for branch in branches)
    if straight_empty and filled == 1:
        if not branches[0].blocks:
            return 0
        if not branches[-1].blocks and count == 2:
            return 1
    return count // 2 if count % 2 else -1


def _spread(block: Block, anchor: int) -> None:
    """Puts the branches side by side, in the order of the definition."""
    axes = [0]
    for before, branch in zip(block.branches, block.branches[1:], strict=False):
        axes.append(axes[-1] + before.right + COLUMN_GAP + branch.left)
    middle = len(axes) // 2
    origin = axes[anchor] if anchor >= 0 else (axes[middle - 1] + axes[middle]) // 2
    for branch, axis in zip(block.branches, axes, strict=True):
        branch.axis = axis - origin
        inner = [other - origin for other in axes if _between(other - origin, branch.axis)]
        from_opening = abs(branch.axis) - DIAMOND // 2
        branch.label_room = min((abs(branch.axis - x) for x in inner), default=from_opening)
    first, last = block.branches[0], block.branches[-1]
    block.left = max(first.left - first.axis, DIAMOND // 2)
    block.right = max(last.right + last.axis, DIAMOND // 2)


def _between(axis: int, outer: int) -> bool:
    """Whether one axis lies between the opening and another axis on the same side."""
    return axis != outer and (0 < axis < outer or outer < axis < 0)


def _label_width(label: str) -> int:
    return round(min(len(label), _LABEL_CHARACTERS) * 6.1) + 10 if label else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _type(task: object) -> str:
    if not isinstance(task, Mapping):
        return ""
    return _text(task.get("type")) or "SIMPLE"


def _count(task: object) -> int:
    """How many tasks lie inside a task, without recursion: nesting may be deeper than the stack."""
    waiting: list[object] = [task]
    found = -1
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, Mapping):
            found += 1
            cases = item.get("decisionCases")
            waiting.extend(cases.values() if isinstance(cases, Mapping) else ())
            waiting.extend(item.get(key) for key in ("defaultCase", "forkTasks", "loopOver"))
    return found
