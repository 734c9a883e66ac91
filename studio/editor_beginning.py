"""The editor without a definition: drafts to go on with, what is published, and where to start."""

from functools import partial

import streamlit as st

from sample_workflows import catalogue
from studio import drafting, published
from studio.components import begin_page, markup, problem
from studio.components.visit import Visit
from studio.editor.draft import Draft
from studio.editor.tree import JsonObject
from studio.views import wording


def show(visit: Visit) -> None:
    """Nothing is named yet: what to go on with, or where to start."""
    drafts = [
        begin_page.Line(
            saved.name,
            f"from v{saved.base_version}" if saved.base_version else "never published",
            wording.ago(saved.updated_at, visit.now_ms, visit.zone),
            markup.address("editor", wf=saved.name),
        )
        for saved in drafting.drafts(visit.person)
    ]
    lines = []
    with problem.told():
        lines = [
            begin_page.Line(
                name,
                wording.plural(len(found), "version"),
                f"v{found[-1].number}" if found else "",
                markup.address("editor", wf=name),
            )
            for name, found in published.versions(visit.client).items()
        ]
    samples = [
        begin_page.Sample(each.name, each.title, each.teaches, each.definition)
        for each in catalogue.samples()
    ]
    begin_page.show(drafts, lines, samples, _blank, partial(_begin, visit))


def _blank(name: str) -> JsonObject:
    return Draft.blank(name).definition


def _begin(visit: Visit, definition: JsonObject) -> None:
    """Opens the draft in the address; a callback may not leave the page, the next run may."""
    room = drafting.begin(visit, definition)
    st.query_params.from_dict({"wf": room.key})
