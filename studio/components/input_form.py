"""A form for an object: one field a property of a schema, or a field a name, or plain JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from studio.components import json_view
from studio.views import theme

_MISSING: Final = object()


def show(
    *,
    key: str,
    schema: Mapping[str, Any] | None,
    names: Sequence[str],
    start: Mapping[str, Any],
) -> tuple[dict[str, Any], list[str]]:
    """The object as the person has made it, and what is wrong with it.

    `start` is what the fields begin with; change `key` to begin anew.
    """
    fields = _fields(schema, names, start)
    if not fields:
        return _json(key, start)
    mode = st.segmented_control(
        "Input as",
        ("Form", "JSON"),
        default="Form",
        required=True,
        key=f"{key}:mode",
        label_visibility="collapsed",
    )
    if mode == "JSON":
        return _json(key, start)
    value: dict[str, Any] = dict(start)
    wrong: list[str] = []
    required = set(schema.get("required") or ()) if schema else set()
    for name, about in fields.items():
        found = _field(f"{key}:{name}", name, about, start.get(name, about.get("default")), wrong)
        if found is _MISSING:
            value.pop(name, None)
            if name in required:
                wrong.append(f"{name} is required.")
        else:
            value[name] = found
    return value, wrong


def _fields(
    schema: Mapping[str, Any] | None, names: Sequence[str], start: Mapping[str, Any]
) -> dict[str, Mapping[str, Any]]:
    properties = schema.get("properties") if schema else None
    if isinstance(properties, Mapping):
        return {
            str(name): about for name, about in properties.items() if isinstance(about, Mapping)
        }
    kinds = {bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
    return {
        name: {"type": kinds.get(type(start.get(name)), "string")}
        for name in dict.fromkeys([*names, *start])
    }


def _field(key: str, name: str, about: Mapping[str, Any], start: Any, wrong: list[str]) -> Any:
    """One field; _MISSING when it is left empty."""
    help_ = str(about.get("description") or "") or None
    kind = about.get("type")
    choices = about.get("enum")
    if isinstance(choices, list) and choices:
        index = choices.index(start) if start in choices else None
        chosen = st.selectbox(name, choices, index=index, help=help_, key=key)
        return _MISSING if chosen is None else chosen
    if kind == "boolean":
        return st.checkbox(name, bool(start), help=help_, key=key)
    if kind in ("object", "array"):
        text = "" if start is None else json_view.text_of(start)
        return _parsed(name, st.text_area(name, text, help=help_, key=key, height=96), wrong)
    shown = "" if start is None else str(start)
    text = st.text_input(name, shown, help=help_, key=key) or ""
    if kind in ("integer", "number") and text:
        try:
            return int(text) if kind == "integer" else float(text)
        except ValueError:
            wrong.append(f"{name} is {text}: a number is needed.")
            return _MISSING
    return text if text or start == "" else _MISSING


def _parsed(name: str, text: str | None, wrong: list[str]) -> Any:
    if not (text or "").strip():
        return _MISSING
    try:
        return json.loads(text or "")
    except json.JSONDecodeError as error:
        wrong.append(f"{name} is no JSON: line {error.lineno}, {error.msg}.")
        return _MISSING


def _json(key: str, start: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    text = st.text_area("Input", json_view.text_of(dict(start)), key=f"{key}:json", height=260)
    wrong: list[str] = []
    value = _parsed("The input", text, wrong)
    if value is _MISSING:
        return {}, wrong
    if not isinstance(value, dict):
        return {}, ["The input must be an object in braces."]
    return value, wrong


def tell(wrong: Sequence[str]) -> None:
    for words in wrong:
        st.caption(f":red[{theme.plain(words)}]")
