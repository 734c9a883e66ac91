"""A text with line numbers to type in: hears what was typed, marks what is chosen and what is wrong.

What it holds is no business of this room; neither is when a text counts as good.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import streamlit as st

_HERE: Final = Path(__file__)
_view = st.components.v2.component(
    "reprise_code_text",
    js=_HERE.with_suffix(".js").read_text("utf-8"),
    css=_HERE.with_suffix(".css").read_text("utf-8"),
)


def typed(key: str) -> str | None:
    """The text, if somebody has typed since it was last asked. Ask before drawing."""
    said = _said(key, "typed")
    count, text = said.get("n"), said.get("text")
    if not isinstance(count, int) or not isinstance(text, str) or count <= _heard(key):
        return None
    st.session_state[f"{key}:heard"] = count
    return text


def line(key: str) -> int | None:
    """The line the caret was put on, if it was moved since this was last asked."""
    said = _said(key, "line")
    count, at = said.get("n"), said.get("line")
    if not isinstance(count, int) or count == st.session_state.get(f"{key}:moves"):
        return None
    st.session_state[f"{key}:moves"] = count
    return at if isinstance(at, int) else None


def show(
    text: str,
    *,
    key: str,
    label: str,
    height: int,
    chosen: tuple[int, int] | None = None,
    fault: tuple[int, int] | None = None,
    readonly: bool = False,
) -> None:
    """Lines count from 1: `chosen` is the first and last line of what is selected, `fault` the line
    and column of a mistake."""
    _view(
        key=key,
        data={
            "text": text,
            "heard": _heard(key),
            "label": label,
            "height": height,
            "chosen": list(chosen) if chosen else None,
            "fault": list(fault) if fault else None,
            "readonly": readonly,
        },
        default={"typed": None, "line": None},
        on_typed_change=_nothing,
        on_line_change=_nothing,
    )


def _nothing() -> None:
    """Streamlit keeps a default only for values with a callback."""


def _heard(key: str) -> int:
    heard = st.session_state.get(f"{key}:heard")
    return heard if isinstance(heard, int) else 0


def _said(key: str, what: str) -> Mapping[str, Any]:
    state = st.session_state.get(key)
    said = state.get(what) if isinstance(state, Mapping) else None
    return said if isinstance(said, Mapping) else {}
