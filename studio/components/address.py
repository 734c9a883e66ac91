"""What the address of a page says, read leniently: what is no number is nothing."""

import streamlit as st


def text(*names: str) -> str | None:
    """The first of these parameters that says something."""
    return next((found for name in names if (found := st.query_params.get(name))), None)


def number(*names: str) -> int | None:
    found = text(*names)
    return int(found) if found is not None and found.isdecimal() and len(found) < 10 else None
