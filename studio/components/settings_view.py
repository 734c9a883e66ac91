"""The server, its abilities, the person and the clock: what is so, and where it is set."""

import streamlit as st

from studio.client.capabilities import ADDITIONS, CONDUCTOR
from studio.components import markup
from studio.components.visit import Visit
from studio.views import wording


def show(visit: Visit) -> None:
    left, right = st.columns(2)
    with left:
        _server(visit)
        _person(visit)
    with right:
        _abilities(visit)


def _server(visit: Visit) -> None:
    able = visit.client.capabilities()
    product = "Conductor" if able.product == CONDUCTOR else able.product.title()
    healthy = visit.client.health()
    rows = [
        ("Address", markup.code(visit.client.name)),
        ("Product", f"{product} {able.version}".strip()),
        (
            "Health",
            markup.status("COMPLETED", "Healthy")
            if healthy
            else markup.status("COMPLETED_WITH_ERRORS", "Unwell"),
        ),
    ]
    body = markup.tag("div", markup.pairs(rows), css="rp-body")
    markup.show(markup.box("Server", body))
    st.caption("Set with `reprise --server URL`, or `REPRISE_SERVER` in the environment.")
    if st.button("Ask the server again", icon=":material/refresh:", key="ask_again"):
        visit.client.forget_capabilities()
        st.rerun()


def _person(visit: Visit) -> None:
    rows = [
        ("Name", visit.person),
        ("Sign-in", "none: this studio runs on your own machine"),
        ("Time zone", wording.zone_name(visit.now_ms, visit.zone)),
        ("Theme", "dark" if visit.dark else "light"),
    ]
    body = markup.tag("div", markup.pairs(rows), css="rp-body")
    markup.show(markup.box("You", body))
    st.caption("Zone and theme are those of your browser; the name stands beside every action.")


def _abilities(visit: Visit) -> None:
    able = visit.client.capabilities()
    columns = (markup.Column("Addition", cut=True), markup.Column("Offered", align="right"))
    rows = [
        markup.Row(
            [
                words[0].upper() + words[1:],
                markup.status("COMPLETED", "Yes")
                if able.can(name)
                else markup.status("SKIPPED", "No"),
            ],
            hints={0: able.why_not(name)},
        )
        for name, words in ADDITIONS.items()
    ]
    note = "" if able.known else "The server did not say"
    markup.show(markup.box("Beyond plain Conductor", markup.table(columns, rows), note=note))
    st.caption("Without them the pages ask for whole executions and estimate recoveries.")
