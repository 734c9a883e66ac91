"""Draw, change, check and publish a definition: one draft as a picture, a form and a text."""

import streamlit as st

from studio import editing, editor_beginning, session
from studio.components import address, frame, problem

visit = frame.page(session.enter())
name = address.text("wf", "name")
if not name:
    frame.title("Editor")
    editor_beginning.show(visit)
    st.stop()

with problem.told():
    editing.show(visit, name, address.number("ver", "version"), address.text("task"))
