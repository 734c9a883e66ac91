"""Refreshing while something runs, and only then; a person who acts is never interrupted."""

from collections.abc import Callable
from typing import Final

import streamlit as st

PLAN: Final = "plan"
"""The state in which an open dialog is kept."""
FAST: Final = 1.0
"""Seconds between two looks at an execution that runs."""
SLOW: Final = 5.0
"""Seconds between two looks at a list."""


def part(draw: Callable[[], None], *, every: float | None) -> None:
    """Draws a part of the page by itself, again after so many seconds; None draws it once."""
    st.fragment(draw, run_every=every)()


def held() -> bool:
    """Whether a dialog is open: then nothing on the page moves."""
    return bool(st.session_state.get(PLAN))
