"""One field of a form as a widget: its value shown, what is typed read, said back at once.

What cannot be read stays in the widget with a word about why, and reaches nobody. Which fields
there are, and what becomes of a value, is decided elsewhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import streamlit as st

from studio.editor import field_text
from studio.editor.field_text import EMPTY, FieldFault
from studio.editor.form_field import Field, Kind

Told = Callable[[Any], None]
"""Hears a new value, or EMPTY when the field was emptied."""

_FAULTS: Final = "field faults"
_CHOSEN: Final = {Kind.CHOICE, Kind.WORKFLOW, Kind.TASK_DEFINITION}
_UNITS: Final = {Kind.SECONDS: "seconds", Kind.MILLISECONDS: "ms"}


@dataclass(frozen=True, slots=True)
class Offer:
    """What can be chosen: known workflows, task definitions, reference names."""

    workflows: Sequence[str] = ()
    task_defs: Sequence[str] = ()
    refs: Sequence[str] = ()


def ask(field: Field, value: Any, key: str, told: Told, offer: Offer) -> None:
    """Shows a field. `told` is called in a callback, before the page runs again."""
    if field.kind is Kind.BOOL:
        _tick(field, value, key, told)
    elif field.kind in _CHOSEN:
        _choose(field, value, key, told, offer)
    elif field.kind is Kind.REFS:
        _choose_refs(field, value, key, told, offer)
    else:
        _type(field, value, key, told)


def line(label: str, value: Any, key: str, told: Told, help_: str | None = None) -> None:
    """A free value on one line, or in a block when it has parts."""
    kind = Kind.JSON if isinstance(value, dict | list) else Kind.EXPRESSION
    _type(Field((label,), label, kind, help_ or ""), value, key, told)


def _faults() -> dict[str, tuple[str, str]]:
    """Key of the widget -> what was typed, and what is wrong with it."""
    found: dict[str, tuple[str, str]] = st.session_state.setdefault(_FAULTS, {})
    return found


def _label(field: Field) -> str:
    about = [_UNITS[field.kind]] if field.kind in _UNITS else []
    about += ["required"] if field.required else []
    return f"{field.label} :gray[:small[{', '.join(about)}]]" if about else field.label


def _type(field: Field, value: Any, key: str, told: Told) -> None:
    fault = _faults().get(key)
    _set(key, fault[0] if fault else field_text.shown_in(field, value))
    heard = partial(_typed, field, key, told)
    hint = None if field.default is None else str(field.default)
    block = field_text.is_block(field.kind) or "\n" in str(st.session_state[key])
    if block:
        rows = str(st.session_state[key]).count("\n") + 1
        height = min(max(rows, 3), 16) * 20 + 24
        st.text_area(
            _label(field), key=key, on_change=heard, help=field.help or None, height=height
        )
    else:
        st.text_input(
            _label(field), key=key, on_change=heard, help=field.help or None, placeholder=hint
        )
    if fault:
        st.markdown(f":red[:small[{fault[1]}]]")


def _typed(field: Field, key: str, told: Told) -> None:
    text = str(st.session_state.get(key) or "")
    try:
        value = field_text.read_in(field, text)
    except FieldFault as fault:
        _faults()[key] = (text, str(fault))
        return
    _faults().pop(key, None)
    told(value)


def _tick(field: Field, value: Any, key: str, told: Told) -> None:
    on = bool(field.default if value is None else value)
    _set(key, on)
    st.checkbox(
        _label(field), key=key, on_change=partial(_ticked, field, key, told), help=field.help
    )


def _ticked(field: Field, key: str, told: Told) -> None:
    on = bool(st.session_state[key])
    told(EMPTY if on == bool(field.default) else on)


def _choose(field: Field, value: Any, key: str, told: Told, offer: Offer) -> None:
    known = {Kind.WORKFLOW: offer.workflows, Kind.TASK_DEFINITION: offer.task_defs}
    options = list(field.choices or known.get(field.kind, ()))
    present = field_text.shown_in(field, value) if value not in (None, "") else None
    if present is not None and present not in options:
        options.insert(0, present)
    _set(key, present)
    st.selectbox(
        _label(field),
        options,
        key=key,
        on_change=partial(_chosen, key, told),
        help=field.help,
        placeholder=str(field.default or "Choose"),
        accept_new_options=field.kind is not Kind.CHOICE,
    )


def _chosen(key: str, told: Told) -> None:
    value = st.session_state[key]
    told(EMPTY if value is None else value)


def _choose_refs(field: Field, value: Any, key: str, told: Told, offer: Offer) -> None:
    present = [str(ref) for ref in value] if isinstance(value, list) else []
    options = list(dict.fromkeys([*offer.refs, *present]))
    _set(key, present)
    heard = partial(_refs_chosen, key, told)
    st.multiselect(_label(field), options, key=key, on_change=heard, help=field.help)


def _refs_chosen(key: str, told: Told) -> None:
    told(list(st.session_state[key]))


def _set(key: str, shown: Any) -> None:
    """The widget shows what the definition says; typing is not disturbed while they agree."""
    if key not in st.session_state or st.session_state[key] != shown:
        st.session_state[key] = shown
