"""How far an execution has come, laid over a layout.

Its outline becomes one state a node and one a line. Unknown statuses stay as they are; what is in the
outline but not in the picture is named, never dropped. No drawing, no Streamlit.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from studio.graph import marks
from studio.graph.outline import DONE, OutlineEntry, age, number, took_ms
from studio.graph.overlay import NodeState, Overlay, note_of
from studio.graph.picture import END, START, Edge, Layout, Node

NOT_REACHED: Final = "not reached"
NOT_TAKEN: Final = "not taken"
# Which status speaks for a group: the first of these that occurs in it.
_LOUDEST: Final = (
    "FAILED_WITH_TERMINAL_ERROR",
    "FAILED",
    "TIMED_OUT",
    "CANCELED",
    "IN_PROGRESS",
    "SCHEDULED",
    "COMPLETED_WITH_ERRORS",
    "COMPLETED",
    "SKIPPED",
)


def of_execution(
    layout: Layout, outline: Iterable[OutlineEntry], *, now_ms: int | None = None
) -> Overlay:
    """The overlay of an execution. `now_ms` gives running tasks their time so far."""
    runs = _Runs(layout, outline)
    states: dict[str, NodeState] = {}
    for node in layout.nodes:
        entries = runs.of(node)
        if entries:
            states[node.id] = _state(node, entries, now_ms)
    for node in layout.nodes:
        if node.kind in ("loop", "fan", "fold"):
            states[node.id] = _grouped(node, states.get(node.id), runs)
    return _Walk(layout, runs, states).overlay()


class _Runs:
    """The outline by node."""

    def __init__(self, layout: Layout, outline: Iterable[OutlineEntry]) -> None:
        self._by_ref: dict[str, list[OutlineEntry]] = {}
        self.children: dict[str, list[OutlineEntry]] = {}
        for entry in outline:
            self._by_ref.setdefault(str(entry.get("ref") or ""), []).append(entry)
            if entry.get("forkRef"):
                self.children.setdefault(str(entry["forkRef"]), []).append(entry)
        for entries in self._by_ref.values():
            entries.sort(key=age)
        self._layout = layout
        self._inside = _descendants(layout)

    def of(self, node: Node) -> list[OutlineEntry]:
        return self._by_ref.get(node.ref, []) if node.ref and node.kind != "fan" else []

    def inside(self, node: Node) -> list[OutlineEntry]:
        """The runs of everything in a container, the newest attempt of each iteration only."""
        if node.kind == "fan":
            found = self.children.get(node.ref, [])
        else:
            refs = [self._layout.by_id[id_].ref for id_ in self._inside.get(node.id, ())]
            found = [entry for ref in refs for entry in self._by_ref.get(ref, [])]
        newest = {(entry.get("ref"), number(entry.get("iteration"))): entry for entry in found}
        return list(newest.values())

    def unplaced(self) -> tuple[str, ...]:
        drawn = {node.ref for node in self._layout.nodes}
        for node in self._layout.nodes:
            drawn.update(node.children)
        folded = {entry.get("ref") for entries in self.children.values() for entry in entries}
        return tuple(ref for ref in self._by_ref if ref not in drawn and ref not in folded)


def _descendants(layout: Layout) -> dict[str, list[str]]:
    inside: dict[str, list[str]] = {}
    for node in layout.nodes:
        above = node.parent
        while above:
            inside.setdefault(above, []).append(node.id)
            parent = layout.by_id.get(above)
            above = parent.parent if parent else ""
    return inside


def _state(node: Node, entries: list[OutlineEntry], now_ms: int | None) -> NodeState:
    last = entries[-1]
    status, iteration = str(last.get("status") or ""), number(last.get("iteration"))
    same = [entry for entry in entries if number(entry.get("iteration")) == iteration]
    tries = max(len(same), number(last.get("retryCount")) + 1)
    took = took_ms(last, now_ms)
    about = _about(status, iteration, took, looped=iteration > 0)
    if node.kind == "switch" and last.get("case") is not None:
        about = str(last["case"])
    return NodeState(
        status=status,
        note=note_of(node, about),
        badge=f"{tries} tries" if tries > 1 else "",
        reason=str(last.get("reason") or ""),
        tries=tries,
        iteration=iteration,
        seq=number(last.get("seq")) if last.get("seq") is not None else None,
        task_id=str(last.get("taskId") or ""),
    )


def _about(status: str, iteration: int, took: int | None, *, looped: bool) -> str:
    if looped:
        return f"iteration {iteration}"
    if took is None:
        return marks.mark_of(status).word.lower() if status in marks.STATUSES else status
    return marks.duration_words(took)


def loudest(statuses: Iterable[str]) -> str:
    """The status that speaks for a group; an unknown one only when there is no other."""
    found = set(statuses)
    return next((status for status in _LOUDEST if status in found), min(found, default=""))


def _grouped(node: Node, own: NodeState | None, runs: _Runs) -> NodeState:
    """A container's state: its own run, and what its tasks say."""
    entries = runs.inside(node)
    statuses = [str(entry.get("status") or "") for entry in entries]
    state = own or NodeState(status=loudest(statuses))
    if node.kind == "fan":
        order = {status: rank for rank, status in enumerate(_LOUDEST)}
        squares = tuple(sorted(statuses, key=lambda status: order.get(status, 4)))
        counts = dict(Counter(squares))
        return replace(state, squares=squares, counts=counts, note=f"{len(squares)} children")
    if node.kind == "fold":
        note = f"{marks.type_mark(node.type).word} · {node.detail}"
        return replace(state, counts=dict(Counter(statuses)), note=note)
    rounds: dict[int, list[str]] = {}
    for entry in entries:
        rounds.setdefault(number(entry.get("iteration")), []).append(str(entry.get("status") or ""))
    squares = tuple(loudest(rounds[number_]) for number_ in sorted(rounds))
    count = len(squares)
    words = "1 iteration" if count == 1 else f"{count} iterations"
    note = f"Loop · {words}" if count else state.note
    return replace(state, squares=squares, note=note, iteration=max(rounds, default=0))


class _Walk:
    """Follows the lines from the start and says which were taken."""

    def __init__(self, layout: Layout, runs: _Runs, states: dict[str, NodeState]) -> None:
        self._layout = layout
        self._runs = runs
        self._states = states
        self._edges: dict[str, str] = {}
        self._passed: set[str] = set()
        self._into: dict[str, list[Edge]] = {}
        self._inside = _descendants(layout)
        self._fans = {node.id for node in layout.nodes if node.kind == "fan"}
        self._out_of: dict[str, list[Edge]] = {}
        for edge in layout.edges:
            self._into.setdefault(edge.target, []).append(edge)
            self._out_of.setdefault(edge.source, []).append(edge)

    def overlay(self) -> Overlay:
        self._reach_containers()
        if self._states:
            self._passed.add(START)
        switches = {
            node.id: self._taken_cases(node) for node in self._layout.nodes if node.kind == "switch"
        }
        for edge in self._layout.edges:
            self._edges[edge.id] = self._line(edge, switches)
        self._settle()
        nodes, edges, counts = self._states, self._edges, self._counts()
        return Overlay("execution", nodes, edges, counts, self._runs.unplaced())

    def _counts(self) -> dict[str, int]:
        """Tasks by status, with "" for those that have not run; a loop is told by its tasks."""
        counts: Counter[str] = Counter()
        for node in self._layout.nodes:
            state = self._states.get(node.id, NodeState())
            if node.kind == "fan" and node.children and node.children[0] not in self._layout.by_id:
                counts.update(state.counts)
            elif node.kind in ("task", "switch", "fork", "join", "fold"):
                counts[state.status] += 1
        return dict(counts)

    def _reach_containers(self) -> None:
        """A container that left no run of its own has been entered when anything inside has run."""
        for node in reversed(self._layout.nodes):
            state = self._states.get(node.id)
            if state is not None and state.status:
                if state.status in DONE:
                    self._passed.add(node.id)
                continue
            inner = [self._states.get(id_) for id_ in self._inside.get(node.id, ())]
            statuses = [inside.status for inside in inner if inside and inside.status]
            if node.kind in ("switch", "fork") and statuses:
                note = note_of(node, "entered")
                self._states[node.id] = NodeState(status="COMPLETED", note=note)
                self._passed.add(node.id)

    def _taken_cases(self, switch: Node) -> set[str] | None:
        """The lines out of a switch that were taken; None when that cannot be known."""
        if switch.id not in self._passed:
            return None
        lines = self._out_of.get(switch.id, [])
        ran = {edge.id for edge in lines if self._ran(edge.target)}
        if ran:
            return ran
        entries = self._runs.of(switch)
        case = entries[-1].get("case") if entries else None
        if case is not None:
            named = {edge.id for edge in lines if edge.case == case}
            return named or {edge.id for edge in lines[-1:]}
        empty = [edge for edge in lines if self._layout.by_id[edge.target].kind == "merge"]
        return {empty[0].id} if len(empty) == 1 else None

    def _ran(self, id_: str) -> bool:
        state = self._states.get(id_)
        return state is not None and bool(state.status)

    def _line(self, edge: Edge, switches: Mapping[str, set[str] | None]) -> str:
        target = self._layout.by_id[edge.target]
        passes = edge.inner or edge.source in self._passed
        if edge.source in switches and passes:
            chosen = switches[edge.source]
            if chosen is None:
                return "pending"
            taken = edge.id in chosen
            if taken and target.kind == "merge":
                self._passed.add(target.id)
            return "taken" if taken else "not"
        if edge.back:
            loop = self._layout.by_id[target.parent] if target.parent else target
            state = self._states.get(loop.id)
            return "taken" if state and len(state.squares) > 1 else "pending"
        if target.kind in ("merge", "end"):
            if passes:
                self._passed.add(target.id)
            return "taken" if passes else "pending"
        if target.kind == "join":
            return "taken" if passes else "pending"
        # A permissive task fails and the next one runs all the same.
        left = passes or self._ran(edge.source)
        return "taken" if left and self._ran(edge.target) else "pending"

    def _settle(self) -> None:
        """Names what has not run, and why; counts who has arrived at the joins."""
        done = {self._layout.by_id[id_].ref for id_ in self._passed}
        for node in self._layout.nodes:
            state = self._states.get(node.id)
            if node.kind == "join":
                self._states[node.id] = self._arrivals(node, state, done)
            elif state is None or not state.status:
                away = NOT_TAKEN if self._not_taken(node) else NOT_REACHED
                old = state or NodeState()
                self._states[node.id] = replace(old, away=away, note=note_of(node, away))
        for edge in self._layout.edges:
            source = self._states.get(edge.source)
            if source is not None and source.away == NOT_TAKEN:
                self._edges[edge.id] = "not"
        if END in self._passed:
            self._states[END] = NodeState(status="COMPLETED")
        if START in self._passed:
            self._states[START] = NodeState(status="COMPLETED")

    def _not_taken(self, node: Node) -> bool:
        if node.kind == "merge":
            return False
        lines = self._into.get(node.id, [])
        forward = [edge for edge in lines if not edge.back]
        if not forward:
            parent = self._states.get(node.parent)
            return parent is not None and parent.away == NOT_TAKEN
        sources = (self._states.get(edge.source) for edge in forward)
        return all(
            self._edges[edge.id] == "not" or (state is not None and state.away == NOT_TAKEN)
            for edge, state in zip(forward, sources, strict=True)
        )

    def _arrivals(self, node: Node, state: NodeState | None, done: set[str]) -> NodeState:
        lines = [edge for edge in self._into.get(node.id, []) if not edge.back]
        fan = next(
            (self._states.get(edge.source) for edge in lines if edge.source in self._fans), None
        )
        if fan is not None:
            done_children = sum(fan.counts.get(status, 0) for status in DONE)
            arrived = (done_children, len(fan.squares))
        elif node.join_on:
            waits_for = set(node.join_on)
            done = {
                n.ref for n in self._layout.nodes if n.ref in waits_for and n.id in self._passed
            }
            arrived = (len(done), len(waits_for))
        else:
            arrived = (sum(self._edges[edge.id] == "taken" for edge in lines), len(lines))
        settled = state or NodeState(away=NOT_TAKEN if self._not_taken(node) else NOT_REACHED)
        word = marks.type_mark(node.type).word.lower()
        complete = settled.status in DONE
        shown = arrived[1] > 1 and arrived[0] and not complete
        note = f"{word}, {arrived[0]} of {arrived[1]} arrived" if shown else word
        return replace(settled, note=note, arrived=arrived)
