"""A table whose rows can be ticked: rows in, ids out. Nothing else is known of what a row is."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import streamlit as st

from studio.components import markup
from studio.components.markup import Column, Row

_picker: Final = st.components.v2.component(
    "reprise_row_picker",
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
    isolate_styles=False,
)


def chosen(key: str) -> list[str]:
    """The ids that are ticked, before the table is drawn."""
    state = st.session_state.get(key)
    ids = state.get("chosen") if isinstance(state, Mapping) else None
    if not isinstance(ids, list) or _cleared(key) != st.session_state.get(f"{key}:of", 0):
        return []
    return [str(id_) for id_ in ids]


def clear(key: str) -> None:
    """Takes all ticks off; a callback of a button."""
    st.session_state[f"{key}:cleared"] = _cleared(key) + 1


def _cleared(key: str) -> int:
    count: int = st.session_state.get(f"{key}:cleared", 0)
    return count


def show(columns: Sequence[Column], rows: Sequence[Row], *, key: str) -> None:
    """Draws the table; every row needs an id."""
    data: dict[str, Any] = {
        "html": markup.bordered(markup.table(columns, rows, choosable=True)),
        "chosen": chosen(key),
        "cleared": _cleared(key),
    }
    _picker(key=key, data=data, default={"chosen": []}, on_chosen_change=_noted(key))


def _noted(key: str) -> Any:
    """Ticks made after the last clearing are the ones that count."""

    def note() -> None:
        st.session_state[f"{key}:of"] = _cleared(key)

    return note
