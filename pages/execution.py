"""One execution: what it is, why it failed, its picture, each task, its story, and how to recover it."""

import streamlit as st

from studio import session
from studio.components import (
    execution_tabs,
    failure_card,
    frame,
    problem,
    recovery_bar,
    waiting,
)
from studio.views import execution

visit = frame.page(session.enter())
id_ = st.query_params.get("id", "")
if not id_:
    problem.nothing_named("execution", "Executions", "../pages/executions.py")
    st.stop()

with problem.told():
    view = execution.view_of(visit.client.execution(id_, tasks=False), visit.client.outline(id_))
    execution_tabs.head(visit, view)
    waiting.stuck_card(visit, view)
    failure_card.show(visit, view)
    recovery_bar.outcome(view, visit.now_ms)
    execution_tabs.body(visit, view)
    recovery_bar.dialog_if_asked(visit, view)
