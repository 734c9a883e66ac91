"""Anything that went wrong, said plainly: what, why in the server's own words, what to do next.

The one place where an error becomes words on the screen. No page shows a traceback.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from studio.client.errors import (
    Broken,
    Busy,
    Invalid,
    Missing,
    NotAllowed,
    NotOffered,
    Refused,
    ServerError,
    TooSlow,
    Unreachable,
)
from studio.views import theme

_TITLES: tuple[tuple[type[ServerError], str], ...] = (
    (Unreachable, "No answer from the server"),
    (TooSlow, "The server took too long"),
    (NotAllowed, "Not allowed"),
    (Missing, "Not found"),
    (Refused, "Refused"),
    (Invalid, "Not accepted"),
    (Busy, "The server is busy"),
    (NotOffered, "Not offered by this server"),
    (Broken, "The server failed"),
)


@contextmanager
def told() -> Iterator[None]:
    """What is inside may fail; then its error stands there instead, and the page goes on."""
    try:
        yield
    except ServerError as error:
        show(error)


def show(error: ServerError) -> None:
    title = next((words for kind, words in _TITLES if isinstance(error, kind)), "Failed")
    lines = [f"**{title}.** {theme.plain(error.message)}"]
    lines += [
        f"- `{found.path}`: {theme.plain(found.message)}"
        + (f" Given: {theme.plain(str(found.value))}" if found.value is not None else "")
        for found in error.violations
    ]
    lines.append(f"\n{error.next_step}")
    st.error("\n".join(lines), icon=":material/disabled_by_default:")


def absent(words: str) -> None:
    """Something this server cannot do, and why; quiet, because nothing failed."""
    st.caption(words)


def nothing_named(what: str, where: str, page: str) -> None:
    """A page that needs an id in its address, and got none."""
    st.info(f"No {what} is named in the address. Choose one on {where}.")
    st.page_link(page, label=where)
