"""A status as a badge, as words, and the legend of several. Never colour alone."""

from collections.abc import Iterable, Mapping

import streamlit as st

from studio.graph import marks
from studio.views import theme

_ORDER = tuple(marks.STATUSES)


def badge(status: str, text: str | None = None) -> None:
    """The status of the page's subject, beside its title."""
    st.markdown(theme.badge_markdown(status, text), width="content")


def words(status: str, text: str | None = None) -> None:
    """A status in running text or a list."""
    st.markdown(theme.words_markdown(status, text), width="content")


def counts(by_status: Mapping[str, int]) -> None:
    """How many stand how, in a row; statuses that do not occur are left out."""
    found = [status for status in _in_order(by_status) if by_status[status]]
    parts = [
        theme.words_markdown(status, f"{by_status[status]:,} {theme.word(status).lower()}")
        for status in found
    ]
    st.markdown("\u2003".join(parts) if parts else "None")


def _in_order(statuses: Iterable[str]) -> list[str]:
    """Known statuses in the order of a run's life, unknown ones behind them."""
    known = {status: number for number, status in enumerate(_ORDER)}
    return sorted(statuses, key=lambda status: (known.get(status, len(known)), status))
