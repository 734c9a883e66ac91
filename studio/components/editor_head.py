"""The first rows of the editor: what is being edited, what can be done with it, and what the last
step left to say. Every button says its wish to the page; nothing is done here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from studio.components import coded, markup

Wish = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Head:
    """What the head says. `undo` and `redo` are the words of the step, None when there is none."""

    name: str
    state: str
    saved: str
    meta: Sequence[tuple[str, object]]
    undo: str | None
    redo: str | None
    publish: str


@dataclass(frozen=True, slots=True)
class Wishes:
    undo: Wish
    redo: Wish


def show(head: Head, wishes: Wishes, more: Callable[[], None]) -> str:
    """Draws the head; the word of the button that was pressed: test, start, publish, or nothing.
    `more` fills the menu of rarer things."""
    pressed = ""
    with st.container(horizontal=True, vertical_alignment="center", key="editor_head"):
        with st.container(width="stretch"):
            markup.show(
                markup.tag(
                    "div",
                    markup.tag("h1", markup.code(head.name)),
                    markup.span(head.state, css="rp-tag"),
                    markup.span(head.saved, css="rp-dim rp-small"),
                    css="rp-title",
                ),
                markup.meta(head.meta),
            )
        _step(":material/undo:", "Undo", head.undo, "editor_undo", wishes.undo)
        _step(":material/redo:", "Redo", head.redo, "editor_redo", wishes.redo)
        menu = st.popover(
            ":material/more_horiz:",
            help="Import, export, start anew",
            key="editor_more",
            on_change="rerun",
        )
        if menu.open:  # the files to export are made for those who look at them
            with menu:
                more()
        if st.button("Mock tests", icon=":material/science:", key="editor_test"):
            pressed = "test"
        if st.button("Start", icon=":material/play_arrow:", key="editor_start"):
            pressed = "start"
        if st.button(head.publish, type="primary", key="editor_publish"):
            pressed = "publish"
    return pressed


def _step(icon: str, word: str, what: str | None, key: str, wish: Wish) -> None:
    words = f"{word}: {what}" if what else f"Nothing to {word.lower()}"
    st.button(icon, key=key, help=words, disabled=what is None, on_click=wish)


def exports(name: str, files: Mapping[str, tuple[str, str]]) -> None:
    """A button for each file: label -> (text, ending)."""
    for label, (text, ending) in files.items():
        st.download_button(
            label,
            text,
            file_name=f"{name}.{ending}",
            key=f"export/{ending}",
            on_click="ignore",
            width="stretch",
        )


def said(notes: list[str], refusals: list[str]) -> None:
    """What the last steps left to say: refused ones stay until the next step, notes pass by."""
    for refusal in refusals:
        st.warning(coded.markdown(refusal), icon=":material/warning:")
    for note in notes:
        st.toast(coded.markdown(note))
    notes.clear()
    refusals.clear()


def conflict(trouble: str, theirs: Wish, mine: Wish) -> None:
    """The draft was saved from another window: nothing is lost before somebody chooses."""
    st.error(coded.markdown(trouble), icon=":material/warning:")
    with st.container(horizontal=True):
        st.button("Load the other one", key="draft_theirs", on_click=theirs)
        st.button("Keep this one", key="draft_mine", on_click=mine)


def trouble(words: str) -> None:
    st.error(coded.markdown(words))
