"""What surrounds every page: styles, brand, the box to find things by, the state of the server."""

import base64
from datetime import datetime
from typing import Final

import streamlit as st

from studio.client.client import Client
from studio.client.errors import Missing, ServerError
from studio.components import markup
from studio.components.visit import Visit
from studio.views import theme, wording

_MARK: Final = "M11 2.5a8.5 8.5 0 1 1-8 5.6M11 7a4 4 0 1 1-3.8 2.7M3 2.8v5.4h5.4"


def around(title: str) -> None:
    """Called once, by the script: the page's title in the browser, the brand, the styles."""
    st.set_page_config(page_title=f"{title} · Reprise", layout="wide", initial_sidebar_state=208)
    shown = st.context.theme
    dark = shown is not None and shown.type == "dark"
    st.html(f"<style>{markup.styles()}{theme.DARK_CSS if dark else ''}</style>")
    scheme = "dark" if dark else "light"
    # A dialog is drawn beside the app, where Streamlit says no colour scheme.
    st.html(f"<style>:root {{ color-scheme: {scheme}; }}</style>")
    st.logo(_logo("#e6eaf0" if dark else "#18202a"), size="small", link=None)


def _logo(ink: str) -> str:
    words = (
        '<text x="28" y="17" font-family="Inter, Segoe UI, system-ui, sans-serif" '
        f'font-size="15" font-weight="600" fill="{ink}">Reprise</text>'
    )
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="24" viewBox="0 0 96 24">'
        f'<g fill="none" stroke="{ink}" stroke-width="2" stroke-linecap="round">'
        f'<path d="{_MARK}" transform="translate(1 1)"/></g>{words}</svg>'
    )
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def page(visit: Visit) -> Visit:
    """Every page begins with this: the first row, with the find box and the state of the server."""
    left, right = st.columns([1, 1], vertical_alignment="center")
    with left:
        _find(visit.client)
    with right:
        markup.show(markup.tag("div", *_state(visit), css="rp-top"))
    return visit


def _state(visit: Visit) -> list[markup.Html]:
    clock = datetime.fromtimestamp(visit.now_ms / 1_000, visit.zone)
    zone = wording.zone_name(visit.now_ms, visit.zone)
    parts = [_health(visit.client)]
    where = visit.client.name.split("://")[-1]
    parts.append(markup.span(where, css="rp-wide", title="The server that this studio asks"))
    parts.append(markup.span(f"{zone} {clock:%H:%M:%S}", css="rp-wide"))
    parts.append(markup.span(visit.person, css="rp-wide"))
    return parts


def _health(client: Client) -> markup.Html:
    try:
        healthy = client.health()
    except Missing:
        return markup.status("COMPLETED", "Server answers")
    except ServerError as error:
        return markup.span(
            markup.status("FAILED", "No answer from the server"), title=error.message
        )
    if healthy:
        return markup.status("COMPLETED", "Engine healthy")
    return markup.status("COMPLETED_WITH_ERRORS", "Engine unwell")


def _find(client: Client) -> None:
    wanted = st.text_input(
        "Find",
        placeholder="Find by id, correlation id or definition",
        icon=":material/search:",
        label_visibility="collapsed",
        key="find",
        width=340,
    )
    if not wanted or st.session_state.get("found") == wanted:
        return
    st.session_state["found"] = wanted
    try:
        page, parameters = _place(client, wanted.strip())
    except ServerError as error:
        st.toast(f"Not searched: {theme.plain(error.message)}", icon=":material/error:")
        return
    st.switch_page(page, query_params=parameters)


def _place(client: Client, text: str) -> tuple[str, dict[str, str]]:
    """Where a pasted word leads: an execution, a definition, or the search for it."""
    folder = "../pages"
    word = text.split("/")[-1].split("id=")[-1]
    try:
        client.execution(word, tasks=False)
        return f"{folder}/execution.py", {"id": word}
    except Missing:
        pass
    if client.count(f'correlationId = "{word}"'):
        return f"{folder}/executions.py", {"corr": word}
    try:
        client.definition(word)
        return f"{folder}/definitions.py", {"wf": word}
    except Missing:
        return f"{folder}/executions.py", {"q": text}


def title(words: object, *, note: object = "") -> None:
    """The title of a page, with a quiet word behind it."""
    end = markup.span(note, css="rp-dim rp-small rp-end") if note else ""
    markup.show(markup.tag("div", markup.tag("h1", words), end, css="rp-title"))
