"""The Streamlit script: the frame around every page, and which page it is."""

import sys
from pathlib import Path

import streamlit as st

# `streamlit run` puts the folder of this script on the path, not the folder that holds the packages.
ROOT = str(Path(__file__).resolve().parents[1])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from studio import navigation  # noqa: E402
from studio.components import frame  # noqa: E402

page = st.navigation(navigation.by_section(), expanded=True)
frame.around(page.title)
page.run()
