"""A layout -> Graphviz text, for export and documents. Never runs the `dot` program.

Statuses appear as a letter and a word beside the colour, so that a black and white print tells
them apart. Positions are left to Graphviz.
"""

from typing import Final

import graphviz

from studio.graph import marks
from studio.graph.overlay import NodeState, Overlay
from studio.graph.picture import Layout, Node

_SHAPES: Final = {"switch": "diamond", "start": "circle", "end": "doublecircle", "fan": "folder"}
_STYLES: Final = {"not": "dashed", "pending": "dotted", "untested": "dashed", "removed": "dashed"}


def source(layout: Layout, overlay: Overlay | None = None, *, name: str = "workflow") -> str:
    """The picture in the DOT language, statuses included when an overlay is given."""
    graph = graphviz.Digraph(graphviz.escape(name))
    graph.attr(rankdir="TB", fontname="Helvetica")
    graph.attr("node", shape="box", style="rounded", fontname="Helvetica", fontsize="11")
    graph.attr("edge", fontname="Helvetica", fontsize="10", color="#5f6672")
    # Own names: a reference name may hold what DOT takes for a port.
    names = {node.id: f"n{number}" for number, node in enumerate(layout.nodes)}
    _fill(graph, layout, overlay, names, "")
    drawn = {node.id: node for node in layout.nodes if node.kind != "merge"}
    for edge in layout.edges:
        if edge.source not in drawn:
            continue
        target = _beyond_merges(layout, edge.target)
        if target is None or (edge.source == target and not edge.back):
            continue
        kind = overlay.edges.get(edge.id, "taken") if overlay else "taken"
        extra = {"style": _STYLES.get(kind, "solid")}
        if edge.case:
            extra["label"] = graphviz.escape(edge.case)
        if edge.back:
            extra["constraint"] = "false"
        graph.edge(names[edge.source], names[target], **extra)
    return str(graph.source)


def _fill(
    graph: graphviz.Digraph,
    layout: Layout,
    overlay: Overlay | None,
    names: dict[str, str],
    parent: str,
) -> None:
    """Draws what lies in one loop, or outside of all loops; an inner loop is a cluster."""
    for node in layout.nodes:
        if node.kind == "merge" or _loop_of(layout, node) != parent:
            continue
        state = overlay.nodes.get(node.id, NodeState()) if overlay else NodeState()
        graph.node(names[node.id], **_looks(node, state))
        if node.kind == "loop":
            with graph.subgraph(name=f"cluster_{names[node.id]}") as cluster:
                cluster.attr(label=graphviz.escape(f"{node.title} {node.detail}".strip()))
                _fill(cluster, layout, overlay, names, node.id)


def _loop_of(layout: Layout, node: Node) -> str:
    """The nearest loop around a node."""
    above = layout.by_id.get(node.parent)
    while above is not None and above.kind != "loop":
        above = layout.by_id.get(above.parent)
    return above.id if above is not None else ""


def _beyond_merges(layout: Layout, id_: str) -> str | None:
    """The task a line comes to; merges exist only in the drawing."""
    onward = {edge.source: edge.target for edge in layout.edges} if "@merge" in id_ else {}
    seen: set[str] = set()
    while layout.by_id[id_].kind == "merge":
        if id_ in seen or id_ not in onward:
            return None
        seen.add(id_)
        id_ = onward[id_]
    return id_


def _looks(node: Node, state: NodeState) -> dict[str, str]:
    if node.kind in ("start", "end"):
        return {"label": "", "shape": _SHAPES[node.kind], "width": "0.2", "style": "filled"}
    words = [node.title, marks.type_mark(node.type).word]
    looks = {"shape": _SHAPES.get(node.kind, "box")}
    if node.kind == "fan":
        words = [node.detail]
    if state.status:
        mark = marks.mark_of(state.status)
        words.append(f"[{mark.letter}] {mark.word}")
        looks["color"] = mark.light
        if mark.bad:
            looks["penwidth"] = "2"
    elif state.away:
        words.append(state.away)
        looks["style"] = "rounded,dashed"
    if state.badge:
        words.append(state.badge)
    if node.type == "SUB_WORKFLOW":
        looks["peripheries"] = "2"
    return {"label": "\\n".join(graphviz.escape(word) for word in words), **looks}
