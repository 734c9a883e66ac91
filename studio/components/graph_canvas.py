"""The picture of a workflow as a widget: a layout and an overlay in, a selection and edits out.

The browser draws what is in view and reports intents; edits wait in an outbox, carry a sequence
number and are handed out here exactly once. No layout, no statuses, no editing rules.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal, NotRequired, TypedDict, cast
from weakref import WeakKeyDictionary

import streamlit as st

from studio.graph import marks
from studio.graph.blocks import Step
from studio.graph.overlay import NodeState, Overlay, of_problems
from studio.graph.picture import Edge, Layout, Node, Place

Mode = Literal["view", "edit", "mock", "diff"]


class Op(TypedDict):
    """One intent of a person. `cid` and `seq` name it for ever, `rev` is the drawing it was made on.

    insert: `type`, `place`. move: `id`, `ref`, `path`, `place`. delete, open: `id`, `ref`, `path`.
    undo, redo: nothing more. `path` leads to the task in the definition, like a place's `list`.
    """

    cid: str
    seq: int
    rev: str
    op: Literal["insert", "move", "delete", "open", "undo", "redo"]
    type: NotRequired[str]
    id: NotRequired[str]
    ref: NotRequired[str]
    path: NotRequired[list[Step]]
    place: NotRequired[Place]


@dataclass(frozen=True, slots=True)
class CanvasEvent:
    """What the person has chosen (a node id) and asked for since the last run of the script.

    `picks` counts the choices: a higher one is a new choice, even of the same node.
    """

    selected: str | None
    ops: tuple[Op, ...]
    picks: int = 0


class PaletteItem(TypedDict):
    """A line of the menu behind a plus."""

    type: str
    label: str
    group: str


def _items(group: str, types: Sequence[str]) -> list[PaletteItem]:
    return [{"type": t, "label": marks.type_mark(t).word, "group": group} for t in types]


PALETTE: Final[list[PaletteItem]] = [
    *_items("Tasks", ("SIMPLE", "HTTP", "SUB_WORKFLOW", "HUMAN", "WAIT", "EVENT")),
    *_items("Flow", ("SWITCH", "FORK_JOIN", "FORK_JOIN_DYNAMIC", "DO_WHILE", "TERMINATE")),
    *_items("Data", ("INLINE", "JSON_JQ_TRANSFORM", "SET_VARIABLE")),
    *_items(
        "More", ("DYNAMIC", "START_WORKFLOW", "JOIN", "EXCLUSIVE_JOIN", "KAFKA_PUBLISH", "NOOP")
    ),
]

_HERE: Final = Path(__file__).parent
# Streamlit takes one inline module, which cannot import; the parts are read in this order.
_MODULES: Final = ("graph_shapes.js", "graph_picture.js", "graph_canvas.js")
_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "insert": ("type", "place"),
    "move": ("id", "path", "place"),
    "delete": ("id", "path"),
    "open": ("id",),
    "undo": (),
    "redo": (),
}
_drawings: WeakKeyDictionary[Layout, tuple[str, str]] = WeakKeyDictionary()


def _module() -> str:
    """The browser's module, with the marks put before it: one table for Python and the browser."""
    unknown = asdict(marks.mark_of(""))
    table = {
        "statuses": {status: asdict(mark) for status, mark in marks.STATUSES.items()},
        "unknown": unknown,
        "shapes": marks.SHAPES,
        "types": {t: {"word": mark.word, "path": mark.path} for t, mark in marks.TYPES.items()},
        "changes": {
            change: {"tone": tone, "shape": shape, "word": word}
            for change, (tone, shape, word) in marks.CHANGES.items()
        },
    }
    parts = [(_HERE / name).read_text("utf-8") for name in _MODULES]
    return "\n".join([f"const MARKS = {json.dumps(table)};", *parts])


def _styles() -> str:
    parts = []
    for theme, selector in (("light", ".canvas"), ("dark", ".canvas[data-theme=dark]")):
        tokens = {**marks.INK[theme], **marks.tones(theme == "dark")}
        lines = "".join(f" --{name}: {value};" for name, value in tokens.items())
        parts.append(f"{selector} {{{lines} color-scheme: {theme}; }}\n")
    return "".join(parts) + (_HERE / "graph_canvas.css").read_text("utf-8")


_canvas = st.components.v2.component("reprise_graph_canvas", js=_module(), css=_styles())


def take(key: str) -> CanvasEvent:
    """What the canvas `key` reports, before it is drawn again: apply it, then lay out and `show`.

    Every op is handed out once in a session, even if the browser repeats it.
    """
    reported = st.session_state.get(key)
    state: Mapping[str, Any] = reported if isinstance(reported, Mapping) else {}
    acks = _acks(key)
    fresh: list[Op] = []
    outbox = state.get("outbox")
    for raw in outbox if isinstance(outbox, list) else ():
        op = _read_op(raw)
        if op is not None and op["seq"] > acks.get(op["cid"], 0):
            acks[op["cid"]] = op["seq"]
            fresh.append(op)
    id_, picks = _picked(state)
    return CanvasEvent(id_, tuple(fresh), picks)


def show(
    layout: Layout,
    overlay: Overlay | None = None,
    *,
    mode: Mode = "view",
    selected: str | None = None,
    key: str,
    height: int = 560,
    label: str = "Workflow graph",
    palette: Sequence[PaletteItem] = PALETTE,
    fit: int = 0,
) -> CanvasEvent:
    """Draws the canvas and gives what it reports; see `take` for pages that edit.

    A new `selected` sets the selection; the same one again, or None, leaves it to the person. A higher `fit` asks for the whole
    picture. Unless an overlay is given, the layout's own problems are marked.

    What may or may not be there (a message, say) belongs below the canvas or into a container
    made before it: an element that appears above it in the same container makes Streamlit mount
    the canvas anew. View, selection and unsent edits survive that, a half-open menu does not.
    """
    if mode == "edit" and not layout.editing:
        raise ValueError("mode edit needs room for the plus buttons: place(..., editing=True).")
    event = take(key)
    graph, rev = _drawing(layout)
    reported = st.session_state.get(key)
    _, picks = _picked(reported if isinstance(reported, Mapping) else {})
    _canvas(
        key=key,
        data={
            "view": key,
            "rev": rev,
            "graph": graph,
            "state": _state_text(overlay or of_problems(layout, {})),
            "mode": mode,
            "selected": selected,
            "seen": picks,
            "ack": dict(_acks(key)),
            "palette": list(palette) if mode == "edit" else [],
            "height": height,
            "label": label,
            "fit": fit,
        },
        default={"selected": None, "outbox": []},
        on_selected_change=_nothing,
        on_outbox_change=_nothing,
    )
    return CanvasEvent(event.selected or selected, event.ops, event.picks)


def revision_of(layout: Layout) -> str:
    """The `rev` that ops aimed at this picture carry."""
    return _drawing(layout)[1]


def _nothing() -> None:
    """Streamlit keeps a default only for values with a callback; `take` reads them instead."""


def _acks(key: str) -> dict[str, int]:
    acks: dict[str, int] = st.session_state.setdefault(f"{key}:acks", {})
    return acks


def _picked(state: Mapping[str, Any]) -> tuple[str | None, int]:
    """The node chosen in the browser, and how many choices it has made."""
    picked = state.get("selected")
    if not isinstance(picked, Mapping):
        return None, 0
    id_, count = picked.get("id"), picked.get("n")
    return id_ if isinstance(id_, str) else None, count if isinstance(count, int) else 0


def _read_op(raw: object) -> Op | None:
    """An op as the browser sent it; None for anything that is no op."""
    if not isinstance(raw, Mapping) or raw.get("op") not in _NEEDS:
        return None
    if not isinstance(raw.get("cid"), str) or not isinstance(raw.get("seq"), int):
        return None
    if any(name not in raw for name in _NEEDS[str(raw["op"])]):
        return None
    if "place" in raw and not _is_place(raw["place"]):
        return None
    if "path" in raw and not _is_path(raw["path"]):
        return None
    return cast(Op, {**raw, "rev": str(raw.get("rev", ""))})


def _is_place(value: object) -> bool:
    if not isinstance(value, Mapping) or not _is_path(value.get("list")):
        return False
    return isinstance(value.get("index"), int) and value["index"] >= 0


def _is_path(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(step, str | int) for step in value)


def _drawing(layout: Layout) -> tuple[str, str]:
    """The drawing as text and its short hash; made once a layout."""
    known = _drawings.get(layout)
    if known is None:
        text = _dumps(
            {
                "w": layout.width,
                "h": layout.height,
                "nodes": [_node(node) for node in layout.nodes],
                "edges": [_edge(edge, layout.editing) for edge in layout.edges],
                "outline": [row if layout.editing else row[:3] for row in layout.outline],
            }
        )
        known = text, blake2b(text.encode(), digest_size=8).hexdigest()
        _drawings[layout] = known
    return known


def _node(node: Node) -> dict[str, object]:
    fields: dict[str, object] = {
        "id": node.id,
        "kind": node.kind,
        "type": node.type,
        "ref": node.ref,
        "name": node.name,
        "x": node.x,
        "y": node.y,
        "w": node.w,
        "h": node.h,
        "path": node.path,
        "parent": node.parent,
        "detail": node.detail,
        "label": node.label_at,
        "leftwards": node.label_left,
        "room": node.label_room,
        "children": node.children[:1],
    }
    if node.kind not in ("switch", "fork", "join"):
        fields["label"] = None
    return _filled(fields)


def _edge(edge: Edge, editing: bool) -> dict[str, object]:
    """Places travel only while they are of use: they are a third of the text."""
    fields: dict[str, object] = {
        "id": edge.id,
        "from": edge.source,
        "to": edge.target,
        "points": edge.points,
        "place": edge.place if editing else None,
        "plus": edge.plus_at if editing else None,
        "case": edge.case,
        "label": edge.label_at if edge.case else None,
        "room": edge.label_room,
        "back": edge.back,
        "inner": edge.inner,
        "arrow": edge.arrow,
    }
    return _filled(fields)


def _state_text(overlay: Overlay) -> str:
    return _dumps(
        {
            "kind": overlay.kind,
            "nodes": {id_: _node_state(state) for id_, state in overlay.nodes.items()},
            "edges": overlay.edges,
            "counts": overlay.counts,
            "unplaced": overlay.unplaced,
            "problems": overlay.problems,
            "notes": overlay.case_notes,
        }
    )


def _node_state(state: NodeState) -> dict[str, object]:
    """Only what is drawn, and of that only what is there: most nodes have little to say."""
    fields: dict[str, object] = {
        "status": state.status,
        "away": state.away,
        "note": state.note or None,
        "badge": state.badge,
        "reason": marks.cut(state.reason, 200),
        "squares": state.squares,
        "counts": state.counts,
        "change": state.change,
    }
    return _filled(fields)


def _filled(fields: Mapping[str, object]) -> dict[str, object]:
    """Without what is empty; the browser's defaults say the same."""
    return {name: value for name, value in fields.items() if value}


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)
