"""A page with one canvas, run by test_graph_canvas: `?case=` says what it shows."""

import copy
import json
import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from studio.components import graph_canvas
from studio.graph import layout, outline, overlay, progress
from studio.graph.picture import resolve
from tests.studio.graph.samples import CASES, order_run

case = st.query_params.get("case", "edit")
modes = {"edit": "edit", "broken": "edit", "changes": "diff", "coverage": "mock"}
mode = modes.get(case, "view")
state = st.session_state
state.setdefault("definition", copy.deepcopy(CASES[case]))
state.setdefault("ticks", 0)
state.setdefault("said", [])

st.set_page_config(layout="wide")


def carry_out(op: graph_canvas.Op) -> None:
    state.said.append(f"{op['op']} {op['seq']}")
    if op["op"] == "insert":
        tasks = resolve(state.definition, op["place"])
        assert tasks is not None
        ref = f"new_{len(state.said)}"
        tasks.insert(op["place"]["index"], {"taskReferenceName": ref, "type": op["type"]})
    elif op["op"] == "delete":
        *steps, index = op["path"]
        tasks = resolve(state.definition, {"list": steps, "index": 0})
        assert tasks is not None
        del tasks[int(index)]


@st.fragment
def body() -> None:
    event = graph_canvas.take("canvas")
    for op in event.ops:
        carry_out(op)
    if st.button("Tick"):
        state.ticks += 1
    if st.button("Mount anew"):
        state.mounts = state.get("mounts", 0) + 1
    wish = {"run": "score_risk" if state.ticks < 2 else "track"}.get(case)
    notices = st.container()
    picture: overlay.Overlay | None = None
    runs = order_run(state.ticks) if case == "run" else CASES.get(f"{case}_run", [])
    forked = outline.forked_children(runs)
    drawing = layout.place(state.definition, editing=mode == "edit", forked=forked)
    if runs:
        picture = progress.of_execution(drawing, runs)
    if case == "changes":
        changes = {"charge_card": "changed", "notify_customer": "removed", "close_order": "added"}
        picture = overlay.of_changes(drawing, changes)
    if case == "coverage":
        cases = {edge.id: 5 for edge in drawing.edges if "manual" not in edge.id}
        ran = {node.id: 5 for node in drawing.nodes if node.ref != "manual_review"}
        picture = overlay.of_coverage(drawing, ran, cases)
    if state.ticks:
        notices.info("A line above the picture")
    with st.container(key=f"canvas_box_{state.get('mounts', 0)}"):
        graph_canvas.show(drawing, picture, mode=mode, key="canvas", height=620, selected=wish)
    st.text(f"selected: {event.selected}")
    st.text(f"said: {', '.join(state.said)}")
    st.text(f"ticks: {state.ticks}")
    if case == "edit":
        st.code(json.dumps(state.definition["tasks"][0]["taskReferenceName"]))


body()
