"""A payload of any size: masked, bounded, and always to be had whole as a file."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from studio.components import markup
from studio.views import wording

INLINE_BYTES: Final = 256 * 1024
"""What is shown on the page at most; the rest is a download."""

_MASKED: Final = ("password", "secret", "token", "authorization", "apikey", "api_key", "credential")
_MASK: Final = "••••"
_SMALL: Final = 12


def text_of(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def masked(value: Any) -> Any:
    """The value with what is named like a secret covered."""
    if isinstance(value, Mapping):
        return {
            key: _MASK
            if _is_secret(str(key)) and inner not in (None, "", {}, [])
            else masked(inner)
            for key, inner in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [masked(inner) for inner in value]
    return value


def _is_secret(key: str) -> bool:
    word = key.lower().replace("-", "_")
    return any(word == name or word.endswith("_" + name) for name in _MASKED) or (
        word.replace("_", "") in {name.replace("_", "") for name in _MASKED}
    )


def show(value: Any, *, name: str, key: str, empty: str = "Empty.") -> None:
    """`name` is that of the file; `key` tells apart several on one page."""
    if value in (None, {}, [], ""):
        markup.show(markup.span(empty, css="rp-dim rp-small"))
        return
    covered = masked(value)
    text = text_of(covered)
    size = len(text.encode())
    if size > INLINE_BYTES:
        head = text[:4_000]
        markup.show(markup.tag("pre", head, "\n…", css="rp-pre"))
        words = f"The first 4,000 signs of {wording.size(size)}."
        row = st.container(horizontal=True, vertical_alignment="center")
        row.caption(words)
        row.download_button("Download all", text, f"{name}.json", "application/json", key=key)
        return
    markup.show(_short(covered) if _is_short(covered) else markup.tag("pre", text, css="rp-pre"))


def _is_short(value: Any) -> bool:
    """A flat object of few keys reads best as names and values."""
    return (
        isinstance(value, Mapping)
        and len(value) <= _SMALL
        and all(not isinstance(inner, Mapping | list) or not inner for inner in value.values())
    )


def _short(value: Mapping[str, Any]) -> markup.Html:
    width = min(max((len(str(key)) for key in value), default=0), 24) + 2
    lines = [
        markup.joined(
            markup.span(str(key).ljust(width), css="rp-k"),
            inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False, default=str),
        )
        for key, inner in value.items()
    ]
    return markup.tag("pre", markup.Html("\n".join(lines)), css="rp-pre")
