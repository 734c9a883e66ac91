"""Where a definition begins: go on with a draft, open one, or start from nothing, a pattern or a file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from studio.components import coded, markup
from studio.editor import json_text
from studio.editor.patterns import PATTERNS
from studio.editor.tree import JsonObject

Begin = Callable[[JsonObject], None]


@dataclass(frozen=True, slots=True)
class Line:
    """A definition or a draft to open."""

    name: str
    about: str
    end: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    name: str
    title: str
    teaches: str
    definition: JsonObject


def show(
    drafts: Sequence[Line],
    published: Sequence[Line],
    samples: Sequence[Sample],
    blank: Callable[[str], JsonObject],
    begin: Begin,
) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _new(blank, begin)
        _patterns(blank, begin)
        _samples(samples, begin)
    with right:
        _lines("Your drafts", drafts, "Nothing is begun. Whatever you change is kept here.")
        _lines("Published", published, "Nothing is published yet.")


def _new(blank: Callable[[str], JsonObject], begin: Begin) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width="stretch"):
            st.text_input("Name of the new definition", key="new_name", placeholder="refund_order")
        st.button(
            "Start blank",
            icon=":material/add:",
            type="primary",
            key="new_blank",
            on_click=lambda: begin(blank(_name())),
        )
        with st.popover("Import", icon=":material/upload:"):
            imported(partial(_then_open, begin))


def _then_open(begin: Begin, definition: JsonObject) -> None:
    begin(definition)
    st.rerun()


def _name() -> str:
    return str(st.session_state.get("new_name") or "").strip() or "new_workflow"


def _patterns(blank: Callable[[str], JsonObject], begin: Begin) -> None:
    st.markdown("**Start from a pattern**")
    columns = st.columns(3, gap="small")
    for number, pattern in enumerate(PATTERNS):
        with columns[number % 3], st.container(border=True, height=128):
            st.button(
                pattern.label,
                icon=f":material/{pattern.icon}:",
                key=f"pattern/{pattern.name}",
                width="stretch",
                on_click=partial(_from_pattern, number, blank, begin),
            )
            st.caption(pattern.help)


def _from_pattern(number: int, blank: Callable[[str], JsonObject], begin: Begin) -> None:
    pattern = PATTERNS[number]
    named = str(st.session_state.get("new_name") or "").strip()
    place: JsonObject = {"list": ["tasks"], "index": 0}
    tasks = pattern.operation(place)["tasks"]
    begin({**blank(named or pattern.name), "tasks": tasks, "description": pattern.help})


def _samples(samples: Sequence[Sample], begin: Begin) -> None:
    if not samples:
        return
    with st.expander("Start from a sample", icon=":material/school:"):
        for sample in samples:
            with st.container(horizontal=True, vertical_alignment="center"):
                with st.container(width="stretch"):
                    markup.show(markup.two_lines(sample.title, sample.teaches))
                st.button(
                    "Use", key=f"sample/{sample.name}", on_click=partial(begin, sample.definition)
                )


def imported(begin: Begin) -> None:
    """A file or pasted text; what is wrong with it is said with line and column."""
    file = st.file_uploader("A JSON file", type="json", key="import_file")
    pasted = st.text_area("or its text", key="import_text", height=140)
    if not st.button("Import as a draft", key="import_go"):
        return
    raw = file.getvalue().decode("utf-8", "replace") if file is not None else pasted
    definition, fault = json_text.read(raw)
    if definition is not None:
        begin(definition)
    elif fault is not None:
        where = f"Line {fault.line}, column {fault.column}: " if fault.line else ""
        st.error(coded.markdown(f"{where}{fault.message} {fault.next_step}"))


def _lines(title: str, lines: Sequence[Line], empty: str) -> None:
    rows = [
        markup.item(
            "", markup.link(markup.code(line.name), line.address), line.about, markup.dim(line.end)
        )
        for line in lines
    ]
    body = markup.items(rows) if rows else markup.empty(empty)
    markup.show(markup.box(title, body, end=len(lines) or ""))
