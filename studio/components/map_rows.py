"""A map as rows, one key a row, with a way to add and to remove. Values are free: text as it is,
numbers, lists and maps as JSON.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from studio.components import field_widgets
from studio.editor.field_text import EMPTY

Put = Callable[[str, Any], None]
"""Hears a key and its new value, or EMPTY when the key was removed."""


def show(
    held: Mapping[str, Any] | None, key: str, put: Put, *, noun: str = "value", hints: Any = None
) -> None:
    """`noun` is what one entry is called; `hints` are words under a key, such as a sample."""
    for name, value in (held or {}).items():
        with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
            with st.container(width="stretch"):
                told = partial(_changed, put, name)
                field_widgets.line(str(name), value, f"{key}/{name}", told)
            st.button(
                ":material/close:",
                key=f"{key}/{name}/remove",
                type="tertiary",
                help=f"Remove {name}",
                on_click=partial(put, name, EMPTY),
            )
        if hints and (words := hints.get(name)):
            st.caption(words)
    st.text_input(
        f"Add {_article(noun)} {noun}",
        key=f"{key}/@new",
        placeholder="Its name, then Enter",
        on_change=partial(_added, key, put, held or {}),
    )


def _changed(put: Put, name: str, value: Any) -> None:
    """An emptied line is an empty text; a key goes away by its button only."""
    put(name, "" if value is EMPTY else value)


def _added(key: str, put: Put, held: Mapping[str, Any]) -> None:
    name = str(st.session_state[f"{key}/@new"]).strip()
    st.session_state[f"{key}/@new"] = ""
    if name and name not in held:
        put(name, "")


def _article(noun: str) -> str:
    return "an" if noun[:1] in "aeiou" else "a"
