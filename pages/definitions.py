"""The catalogue of definitions, and one of them: picture, versions, last runs, text, start."""

import streamlit as st

from studio import session
from studio.components import definition_catalogue, definition_view, frame, problem

visit = frame.page(session.enter())
with problem.told():
    name = st.query_params.get("wf", "")
    if name:
        definition_view.show(visit, name, st.query_params.get("ver", ""))
    else:
        definition_catalogue.show(visit)
