"""All definitions in one table: what each is, how its last runs went, and ways to begin."""

from typing import Final

import streamlit as st

from studio.client.client import Document
from studio.components import frame, markup
from studio.components.visit import Visit
from studio.views import definitions, executions, wording
from studio.views.definitions import CatalogueRow

RUNS_READ: Final = 500
"""How many of the newest runs the ticks are made of."""

_COLUMNS: Final = (
    markup.Column("Definition", cut=True),
    markup.Column("Version"),
    markup.Column("Tasks", align="right", wide=True),
    markup.Column("Last 20 runs", wide=True),
    markup.Column("Failed", align="right"),
    markup.Column("Running", align="right", wide=True),
    markup.Column("Last run", align="right", wide=True),
    markup.Column("", align="right"),
)


def show(visit: Visit) -> None:
    head = st.container(horizontal=True, vertical_alignment="center")
    found = visit.client.definitions()
    runs = visit.client.search("", size=RUNS_READ)
    rows = definitions.catalogue(found, executions.rows_of(runs.rows, visit.now_ms))
    note = f"runs among the newest {wording.number(min(runs.total, RUNS_READ))}"
    with head:
        frame.title(f"Definitions · {len(rows)}", note=note)
    if head.button("New definition", type="primary", icon=":material/add:", key="new_definition"):
        st.switch_page("../pages/editor.py")
    if not found:
        _empty()
        return
    words = st.text_input(
        "Find a definition",
        key="q",
        bind="query-params",
        placeholder="Name, task, URL or secret inside",
        icon=":material/search:",
        label_visibility="collapsed",
        width=340,
    )
    shown = definitions.matching(rows, found, words or "")
    if not shown:
        st.info(f"No definition has {words} in it.")
        return
    markup.show(markup.bordered(markup.table(_COLUMNS, [_row(visit, row) for row in shown])))


def _empty() -> None:
    st.info("No definition is registered yet. Begin with a blank one, or start with the samples.")
    st.caption("`reprise` registers the samples by itself; `--no-samples` leaves them out.")


def _row(visit: Visit, row: CatalogueRow) -> markup.Row:
    name = markup.link(
        markup.code(row.name), markup.address("definitions", wf=row.name), css="rp-link"
    )
    older = len(row.versions) - 1
    version = markup.two_lines(
        f"v{row.version}", f"{wording.plural(older, 'older', 'older')}" if older else "the only one"
    )
    failed = f"{row.failed} of {len(row.last)}" if row.failed else "0"
    return markup.Row(
        [
            markup.two_lines(name, row.description or markup.dim("no description")),
            version,
            row.tasks,
            markup.ticks(row.last) if row.last else markup.dim("not run yet"),
            markup.span(failed, css="rp-bad") if row.failed else failed,
            row.running,
            wording.ago(row.last_run_ms, visit.now_ms, visit.zone) if row.last_run_ms else "never",
            markup.button("Start", markup.address("start", wf=row.name)),
        ]
    )


def names_of(found: list[Document]) -> list[str]:
    return sorted({str(one.get("name")) for one in found if one.get("name")})
