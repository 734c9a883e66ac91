"""Questions about the shape of a definition: what runs before, what after, and on which ways.

Built on the lines of a layout, so that an answer and the picture can never disagree. Ids are those
of the layout; synthetic nodes (start, end, merges) never appear in an answer.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Final

import networkx as nx

from studio.graph.picture import END, START, Layout, Node

_DONE: Final = "\0done"


class Flow:
    """The control flow of one layout. A loop counts as entered at its id and left behind its body."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._loops = {node.id for node in layout.nodes if node.kind == "loop"}
        self._forward = nx.DiGraph()
        self._forward.add_nodes_from(node.id for node in layout.nodes)
        for edge in layout.edges:
            source, target = edge.source, edge.target
            if edge.back:
                target = layout.by_id[edge.target].parent + _DONE
            elif source in self._loops and not edge.inner:
                source += _DONE
            elif source == target:
                target += _DONE
            self._forward.add_edge(source, target)
        for node in layout.nodes:
            if node.kind == "fan":
                for child in layout.nodes:
                    if child.parent == node.id:
                        self._forward.add_edge(node.parent, child.id)
                        self._forward.add_edge(child.id, node.id)
        self._certain: dict[str, frozenset[str]] = {}

    def paths(self, limit: int = 100) -> list[tuple[str, ...]]:
        """Ways from the start to the end, each loop body once; at most `limit` of them.

        Branches of a fork run together: each gives a way of its own.
        """
        found = nx.all_simple_paths(self._forward, START, END)
        return [tuple(self._tasks(way)) for way in islice(found, limit)]

    def after(self, id_: str) -> tuple[str, ...]:
        """Tasks that can run once this one has run, the loop around it included."""
        whole = self._forward.copy()
        whole.add_edges_from((loop + _DONE, loop) for loop in self._loops if loop + _DONE in whole)
        if id_ not in whole:
            return ()
        reached = nx.descendants(whole, id_)
        return tuple(other for other in self._tasks(self._ids()) if other in reached)

    def dominators(self, id_: str) -> tuple[str, ...]:
        """Tasks that have run whenever this one starts, in the order of the picture.

        A JOIN is sure of every task that it waits for; elsewhere only what all ways share is sure.
        """
        if not self._certain:
            self._work_out()
        sure = self._certain.get(id_, frozenset()) - {id_}
        return tuple(other for other in self._tasks(self._ids()) if other in sure)

    def _work_out(self) -> None:
        by_ref = {node.ref: node.id for node in self._layout.nodes if node.ref}
        for id_ in nx.topological_sort(self._forward):
            before = [self._certain[other] for other in self._forward.predecessors(id_)]
            node = self._layout.by_id.get(id_)
            sure = frozenset.intersection(*before) if before else frozenset()
            if node is not None and node.kind == "fan":
                sure = frozenset().union(*before)
            if node is not None and node.type == "JOIN" and node.kind == "join":
                sure |= self._joined(node, by_ref)
            self._certain[id_] = sure | {id_}

    def _joined(self, join: Node, by_ref: dict[str, str]) -> frozenset[str]:
        """What the awaited tasks are sure of; an awaited task that comes later tells nothing."""
        awaited = [by_ref[ref] for ref in join.join_on if ref in by_ref]
        awaited += [id_ + _DONE for id_ in awaited if id_ in self._loops]
        return frozenset().union(*(self._certain.get(id_, frozenset()) for id_ in awaited))

    def _ids(self) -> Iterable[str]:
        return (node.id for node in self._layout.nodes)

    def _tasks(self, ids: Iterable[str]) -> Iterable[str]:
        """Only what stands in the definition, or was forked from it while running."""
        for id_ in ids:
            node = self._layout.by_id.get(id_)
            if node is not None and node.kind not in ("start", "end", "merge", "fan"):
                yield id_
