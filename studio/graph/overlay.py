"""What is laid over a layout, one state a node and one a line: the coverage of tests, a difference,
what checks say; how an execution stands is worked out in `progress.py`. No drawing, no Streamlit."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from studio.graph import marks
from studio.graph.blocks import Problem
from studio.graph.picture import Layout, Node


@dataclass(frozen=True, slots=True)
class NodeState:
    """How one node stands. `status` is raw and empty when the task has not run.

    `note` is the second line, `badge` the words under the shape, `squares` one status an
    iteration of a loop or a child of a folded fork, `away` why it has not run.
    """

    status: str = ""
    away: str = ""
    note: str = ""
    badge: str = ""
    reason: str = ""
    tries: int = 0
    iteration: int = 0
    squares: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    arrived: tuple[int, int] | None = None
    seq: int | None = None
    task_id: str = ""
    change: str = ""


@dataclass(frozen=True, slots=True)
class Overlay:
    """State of every node (by id) and every line (by id).

    Lines: taken, pending, not (taken), tested, untested, added, removed. `counts` are nodes by
    status, `unplaced` the reference names that ran but are not in the picture, `case_notes` words
    behind the case of a line.
    """

    kind: str
    nodes: Mapping[str, NodeState]
    edges: Mapping[str, str]
    counts: Mapping[str, int] = field(default_factory=dict)
    unplaced: tuple[str, ...] = ()
    problems: Mapping[str, Sequence[Problem]] = field(default_factory=dict)
    case_notes: Mapping[str, str] = field(default_factory=dict)


def of_coverage(
    layout: Layout, cases_of_node: Mapping[str, int], cases_of_edge: Mapping[str, int]
) -> Overlay:
    """How many test cases went through each node and line, by id; the rest was never tested."""
    nodes: dict[str, NodeState] = {}
    for node in layout.nodes:
        count = cases_of_node.get(node.id, 0)
        if count:
            words = "1 case" if count == 1 else f"{count} cases"
            nodes[node.id] = NodeState(status="COMPLETED", note=_plain_note(node), badge=words)
        elif node.path:
            note = note_of(node, "0 cases")
            nodes[node.id] = NodeState(away="never tested", note=note)
    counted = {edge.id: cases_of_edge.get(edge.id, 0) for edge in layout.edges}
    edges = {id_: "tested" if count else "untested" for id_, count in counted.items()}
    notes = {edge.id: f"× {counted[edge.id]}" for edge in layout.edges if edge.case}
    return Overlay("coverage", nodes, edges, dict(Counter(edges.values())), case_notes=notes)


def of_changes(layout: Layout, changes: Mapping[str, str]) -> Overlay:
    """What a version did to each task (by id): added, changed, removed; for one merged picture."""
    nodes = {
        node.id: NodeState(note=_plain_note(node), change=changes.get(node.id, ""))
        for node in layout.nodes
    }
    edges: dict[str, str] = {}
    for edge in layout.edges:
        both = {changes.get(edge.source), changes.get(edge.target)}
        edges[edge.id] = "removed" if "removed" in both else "added" if "added" in both else "taken"
    return Overlay("changes", nodes, edges, dict(Counter(changes.values())))


def of_problems(layout: Layout, found: Mapping[str, Sequence[Problem]]) -> Overlay:
    """A draft with what its checks say, by node id; the layout's own problems come along."""
    problems: dict[str, list[Problem]] = {id_: list(own) for id_, own in layout.problems.items()}
    for id_, others in found.items():
        known = problems.setdefault(id_, [])
        known += [problem for problem in others if problem not in known]
    return Overlay("draft", {}, {}, problems=problems)


def note_of(node: Node, about: str) -> str:
    """The second line of a node; what the drawing alone added has none, bars have one word."""
    word = marks.type_mark(node.type).word
    if node.kind in ("merge", "start", "end"):
        return ""
    return word.lower() if node.kind in ("fork", "join") else f"{word} · {about}"


def _plain_note(node: Node) -> str:
    return note_of(node, "").removesuffix(" · ")
