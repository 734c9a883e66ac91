"""The versions of a definition: two of them in one picture, and what changed in words."""

import streamlit as st

from studio import session, versioning
from studio.components import address, frame, problem

visit = frame.page(session.enter())
name = address.text("wf", "name")
with problem.told():
    if name:
        versioning.show(visit, name, address.number("a"), address.text("b", "ver", "version"))
    else:
        frame.title("Versions")
        versioning.choose(visit)
        st.stop()
