"""How a case comes into a suite of mock tests: ready-made with a sample, from the definition, from an
execution, or as a copy."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from studio import mock_suite, published
from studio.components import graph_canvas
from studio.editor.tree import copied
from studio.graph import layout
from studio.mock_suite import Table
from studio.views import mock_cases, wording


def menu(table: Table) -> None:
    """The ways to one more case."""
    ways: dict[str, Any] = {
        f"Ready: {case['name']}": case for case in mock_suite.ready_cases(table)
    }
    ways |= {"From the definition": "skeleton", "From the last run": "run"}
    if table.cases:
        ways["Copy of this case"] = "copy"
    st.menu_button(
        "New case",
        list(ways),
        icon=":material/add:",
        key="new_case",
        on_click=partial(_make, table, ways),
    )


def _make(table: Table, ways: Mapping[str, Any]) -> None:
    way = ways.get(str(st.session_state.get("new_case")))
    if isinstance(way, dict):
        mock_suite.add(table, way)
    elif way == "skeleton":
        mock_suite.add(table, mock_suite.skeleton(table))
    elif way == "run":
        run = published.last_run(table.visit.client, table.name)
        if run is None:
            st.toast("There is no execution of this definition yet. Start one first.")
        else:
            mock_suite.add(table, mock_cases.of_execution(run, "As in the last run"))
    elif way == "copy":
        case = next(each for each in table.cases if each["name"] == st.session_state["case"])
        mock_suite.add(table, {**copied(case), "origin": ""})


def first(table: Table, height: int) -> None:
    """No case yet: why one would want some, and the shortest ways to the first."""
    ready = mock_suite.ready_cases(table)
    st.markdown(
        "A case plays the definition with made-up answers instead of workers and calls, so a change "
        "can be tried in milliseconds and nothing outside is touched."
    )
    with st.container(horizontal=True):
        if ready:
            st.button(
                f"Take the {wording.plural(len(ready), 'ready case')} of this sample",
                type="primary",
                key="take_ready",
                on_click=partial(mock_suite.add_all, table, ready),
            )
        st.button(
            "Make one from the definition",
            type="secondary" if ready else "primary",
            key="take_skeleton",
            on_click=lambda: mock_suite.add(table, mock_suite.skeleton(table)),
        )
    graph_canvas.show(
        layout.place(table.definition),
        key=f"tests/{table.name}/empty",
        height=height,
        label=f"Graph of {table.name}",
    )
