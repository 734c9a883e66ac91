"""A page with one canvas and nothing else, for test_graph_canvas."""

import streamlit as st

from studio.components import graph_canvas
from studio.graph import layout

drawing = layout.place(
    {"tasks": [{"taskReferenceName": "<b>only</b>", "type": "HTTP"}]}, editing=True
)
taken = graph_canvas.take("graph")
shown = graph_canvas.show(drawing, mode="edit", key="graph", selected="@start")
st.text(f"selected {taken.selected} {shown.selected}")
st.text(f"taken {[op['op'] for op in taken.ops]} shown {len(shown.ops)}")
