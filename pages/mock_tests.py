"""Play a definition on mocks: cases, what each one did, and what none has gone through."""

import streamlit as st

from studio import mock_suite, mock_testing, session
from studio.components import address, frame, problem

visit = frame.page(session.enter())
name = address.text("wf", "name")
with problem.told():
    if name:
        word = mock_suite.DRAFT if address.text("draft") else address.text("ver", "version")
        mock_testing.show(visit, name, word, address.text("like"))
    else:
        frame.title("Mock tests")
        mock_testing.choose(visit)
        st.stop()
