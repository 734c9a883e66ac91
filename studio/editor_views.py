"""A draft as a list of its tasks, as a picture, as text, and beside the version it began from."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from studio.components import code_text, coded, graph_canvas, markup, publish_dialog
from studio.drafting import Room
from studio.editor.patterns import PATTERNS
from studio.editor.task_types import menu
from studio.editor.text_spans import lines_of
from studio.graph import layout, overlay
from studio.graph.picture import Layout
from studio.views import problems as problems_room
from studio.views.compare import Comparison
from studio.views.problems import Problem

HEIGHT: Final = 620
_VIEWS: Final = ("Graph", "Code", "Changes")


def _palette() -> list[graph_canvas.PaletteItem]:
    """The menu behind a plus: the types by their groups, then the patterns."""
    items: list[graph_canvas.PaletteItem] = [
        {"type": kind.type, "label": kind.label, "group": group}
        for group, kinds in menu()
        for kind in kinds
    ]
    items += [
        {"type": f"pattern:{each.name}", "label": each.label, "group": "Patterns"}
        for each in PATTERNS
    ]
    return items


_PALETTE: Final = _palette()


def outline(room: Room, drawing: Layout, found: Sequence[Problem]) -> None:
    """The tasks as a list: the canvas draws one where it is narrow."""
    _canvas(room, drawing, found, f"outline/{room.key}", f"Tasks of {room.name}")


def _canvas(room: Room, drawing: Layout, found: Sequence[Problem], key: str, label: str) -> None:
    graph_canvas.show(
        drawing,
        overlay.of_problems(drawing, problems_room.by_node(found, drawing)),
        mode="edit",
        selected=_node_id(room, drawing),
        key=key,
        height=HEIGHT,
        label=label,
        palette=_PALETTE,
    )


def views(room: Room, drawing: Layout, found: Sequence[Problem]) -> None:
    changes = room.comparison()
    chosen = st.segmented_control(
        "View",
        _VIEWS,
        format_func=partial(_view_words, changes),
        key="editor_view",
        default="Graph",
        required=True,
        label_visibility="collapsed",
    )
    if chosen == "Code":
        _code(room)
    elif chosen == "Changes":
        _changes(room, changes)
    else:
        _graph(room, drawing, found)


def _view_words(changes: Comparison | None, view: str) -> str:
    count = len(changes.changes) if changes else 0
    return f"{view} {count}" if view == "Changes" and count else view


def _graph(room: Room, drawing: Layout, found: Sequence[Problem]) -> None:
    if room.draft.pending_text is not None:
        st.caption("The text is no definition at the moment; this is the last one that was.")
    _canvas(room, drawing, found, f"graph/{room.key}", f"Graph of {room.name}")


def _code(room: Room) -> None:
    fault = room.draft.problem
    spot = room.spot(room.selected)
    code_text.show(
        room.draft.text,
        key=f"code/{room.key}",
        label=f"JSON of {room.name}",
        height=HEIGHT + 36,
        chosen=lines_of(room.draft.text, spot.path) if spot and fault is None else None,
        fault=(fault.line, fault.column or 1) if fault and fault.line else None,
    )
    if fault is not None:
        where = f"Line {fault.line}, column {fault.column}: " if fault.line else ""
        st.markdown(f":red[{coded.markdown(f'{where}{fault.message} {fault.next_step}')}]")
        st.caption(
            "Nothing is lost: the text is kept as you typed it, the graph shows the last good one."
        )


def _changes(room: Room, changes: Comparison | None) -> None:
    if changes is None or not changes.changes:
        st.info(
            "Nothing differs from the published version."
            if changes
            else "This was never published, so there is nothing to compare with."
        )
        return
    drawing = layout.place(changes.definition)
    ids = {node.ref: node.id for node in drawing.nodes if node.ref}
    marks = {ids[ref]: kind for ref, kind in changes.marks.items() if ref in ids}
    graph_canvas.show(
        drawing,
        overlay.of_changes(drawing, marks),
        mode="diff",
        key=f"changes/{room.key}",
        height=320,
        label=f"Changes of {room.name}",
    )
    markup.show(markup.bordered(publish_dialog.change_list(changes.changes)))


def _node_id(room: Room, drawing: Layout) -> str | None:
    node = next((node for node in drawing.nodes if node.ref == room.selected), None)
    return node.id if node else ""
