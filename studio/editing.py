"""The editor put together: one draft seen as a picture, as a form and as text, and kept at each step.

Asks the server and the desk, hands values to the components, carries their wishes to the draft.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from studio import drafting, editor_views, published, publishing
from studio.client.errors import ServerError
from studio.components import (
    begin_page,
    code_text,
    coded,
    editor_head,
    graph_canvas,
    markup,
    node_form,
)
from studio.components.field_widgets import Offer
from studio.components.node_form import Context
from studio.components.visit import Visit
from studio.desk.place import desk
from studio.drafting import Room
from studio.editor.text_spans import path_at_line
from studio.editor.tree import JsonObject, Spot, spots, task_at
from studio.graph import dot, layout, svg
from studio.graph.picture import Layout
from studio.views import problems as problems_room
from studio.views import readable, wording
from studio.views.problems import Problem

_OUTLINE_AT_MOST: Final = 400


def show(visit: Visit, name: str, version: int | None, task: str | None) -> None:
    """The editor of one definition."""
    room = drafting.room(visit, name, version)
    if task and st.session_state.get("asked task") != (name, task):
        st.session_state["asked task"] = (name, task)
        room.selected = task
    if version is not None and room.draft.base_version != version:
        _other_version(visit, room, version)
    _body(visit, name, version)


def _other_version(visit: Visit, room: Room, version: int) -> None:
    """The address asks for a version, and a draft from another one lies here."""
    st.info(
        f"This is your draft, begun from v{room.draft.base_version or 0}. The address asks for v{version}."
    )
    st.button(
        f"Give the draft up and open v{version}",
        on_click=partial(drafting.again, visit, room.key, version),
    )


@st.fragment
def _body(visit: Visit, name: str, version: int | None) -> None:
    room = drafting.room(visit, name, version)
    opened = _listen(room)
    if opened:
        _look_into(room, opened)
    drawing = room.drawing()
    room.shows(drawing)
    found = _problems(visit, room, drawing)
    pressed = _head(visit, room, drawing, found)
    notices = st.container(key="editor_notices")
    if len(drawing.nodes) <= _OUTLINE_AT_MOST:
        outline, picture, form = st.columns([1.35, 3.7, 2.3], gap="small")
        with outline, st.container(key="editor_outline"):
            editor_views.outline(room, drawing, found)
    else:
        # The picture's own table and search find more than a list of this length could.
        picture, form = st.columns([5.05, 2.3], gap="small")
    with picture, st.container(key="editor_picture"):
        editor_views.views(room, drawing, found)
    with form, st.container(key="editor_form", border=True, height=editor_views.HEIGHT + 82):
        _form(visit, room, drawing, found)
    _strip(room, found)
    with notices:
        _notices(visit, room)
    _follow(room)
    _leave(visit, room, pressed, found)


def _listen(room: Room) -> str | None:
    """What the pictures and the text report, before anything is drawn."""
    before = room.drawing()
    opened = None
    for key in (f"outline/{room.key}", f"graph/{room.key}"):
        opened = room.take(key, graph_canvas.take(key), before) or opened
    typed = code_text.typed(f"code/{room.key}")
    if typed is not None:
        room.edit_text(typed)
    line = code_text.line(f"code/{room.key}")
    path = path_at_line(room.draft.text, line) if line else None
    if path is not None and room.draft.pending_text is None:
        room.selected = task_at(room.draft.definition, path).ref
    return opened


def _look_into(room: Room, ref: str) -> None:
    """A sub-workflow was opened: its definition comes into the editor."""
    spot = room.spot(ref)
    params = spot.task.get("subWorkflowParam") if spot else None
    child = params.get("name") if isinstance(params, dict) else None
    if isinstance(child, str) and child and "$" not in child:
        st.query_params.from_dict({"wf": child})
        st.rerun()


def _problems(visit: Visit, room: Room, drawing: Layout) -> Sequence[Problem]:
    """What the checks say of this revision; a click that changes nothing asks no check."""
    at = (room.draft.revision, room.draft.pending_text)
    if room.checked_at != at:
        known = published.task_defs_if_any(visit.client)
        found = problems_room.problems_of(room.draft.definition, drawing, room.draft.problem, known)
        room.checked, room.checked_at = found, at
    return room.checked


def _head(visit: Visit, room: Room, drawing: Layout, found: Sequence[Problem]) -> str:
    draft = room.draft
    tasks = sum(1 for node in drawing.nodes if node.path)
    meta: list[tuple[str, object]] = [("Owner", draft.definition.get("ownerEmail") or "none")]
    meta += [("Tasks", wording.number(tasks)), ("Tests", _tests(room))]
    state = f"Draft from v{draft.base_version}" if draft.base_version else "Never published"
    if draft.base_version and not draft.is_dirty:
        state = f"v{draft.base_version}"
    saved = "nothing changed yet"
    if room.saves and (draft.revision or draft.is_dirty):
        at = wording.moment(room.saved_at, visit.zone, "%H:%M:%S")
        saved = f"saved {at}, revision {draft.revision}"
    head = editor_head.Head(
        name=room.name,
        state=state,
        saved=saved,
        meta=meta,
        undo=draft.undo_label if draft.pending_text is None else "Edit as text",
        redo=draft.redo_label,
        publish=f"Publish v{publishing.next_version(visit, room)}…",
    )
    wishes = editor_head.Wishes(undo=room.undo, redo=room.redo)
    return editor_head.show(head, wishes, partial(_more, visit, room))


def _tests(room: Room) -> str:
    """How the last run of the suite ended, as the desk remembers it."""
    last = desk().recall(f"suite-run/{room.key}")
    if not isinstance(last, dict):
        return "none yet"
    return f"{last.get('met')} of {last.get('cases')} pass"


def _more(visit: Visit, room: Room) -> None:
    drawing = layout.place(room.draft.definition)
    editor_head.exports(
        room.name,
        {
            "Export as JSON": (room.draft.text, "json"),
            "Export as SVG": (svg.render(drawing, title=room.name), "svg"),
            "Export as DOT": (dot.source(drawing, name=room.name), "dot"),
        },
    )
    with st.expander("Replace by an import"):
        begin_page.imported(partial(_replace, room))
    st.page_link("../pages/editor.py", label="New definition", icon=":material/add:")
    if room.saves:
        st.button(
            "Discard this draft",
            icon=":material/delete:",
            key="draft_discard",
            width="stretch",
            on_click=partial(drafting.discard, visit, room.key),
        )


def _replace(room: Room, definition: JsonObject) -> None:
    op = {"op": "set_definition", "definition": definition, "label": "Import a definition"}
    if room.act(op):
        st.rerun(scope="fragment")


def _notices(visit: Visit, room: Room) -> None:
    if room.conflict:
        editor_head.conflict(
            room.trouble,
            partial(drafting.reload, visit, room.key),
            partial(room.keep, over=True),
        )
    elif room.trouble:
        editor_head.trouble(room.trouble)
    if room.published:
        publishing.show_next_steps(room)
    editor_head.said(room.notes, room.refusals)


def _form(visit: Visit, room: Room, drawing: Layout, found: Sequence[Problem]) -> None:
    spot = room.spot(room.selected)
    about = problems_room.about(found, spot.ref or "" if spot else "")
    context = Context(_offer(visit, room), _values(visit, room, drawing, spot), about)
    if spot is None:
        node_form.for_workflow(room.draft.definition, context, room.act)
    else:
        node_form.for_task(spot, context, room.act)


def _offer(visit: Visit, room: Room) -> Offer:
    """What can be chosen; an editor without a server still edits."""
    refs = [spot.ref for spot in spots(room.draft.definition) if spot.ref]
    try:
        names = [str(known.get("name")) for known in published.task_defs(visit.client)]
        return Offer(list(published.versions(visit.client)), names, refs)
    except ServerError:
        return Offer(refs=refs)


def _values(
    visit: Visit, room: Room, drawing: Layout, spot: Spot | None
) -> Sequence[readable.Value]:
    """Only while the tab that shows them is open: the samples cost a request."""
    if spot is None or spot.ref is None or st.session_state.get("task_tab") != "Input":
        return ()
    run = published.last_run(visit.client, room.name) or {}
    outputs = {t.get("referenceTaskName"): t.get("outputData") for t in run.get("tasks") or ()}
    return readable.values_for(
        room.draft.definition,
        spot.ref,
        drawing,
        task_defs=published.task_defs_if_any(visit.client),
        outputs=outputs,
        inputs=run.get("input"),
    )


def _strip(room: Room, found: Sequence[Problem]) -> None:
    """The problems in one line, with a way to each."""
    with st.container(horizontal=True, vertical_alignment="center", key="editor_problems"):
        if not found:
            markup.show(markup.status("COMPLETED", "No problem found"))
            return
        parts = _counts(found)
        at = _problem_at(room, found)
        with st.container(width="stretch"):
            markup.show(
                markup.tag("div", *parts, markup.span(coded.html(found[at].text)), css="rp-title")
            )
        st.button("Next problem", key="next_problem", on_click=partial(_next_problem, room, found))


def _counts(found: Sequence[Problem]) -> list[markup.Html]:
    errors, warnings = (problems_room.count(found, "error"), problems_room.count(found, "warning"))
    hints = len(found) - errors - warnings
    parts = [markup.status("FAILED", wording.plural(errors, "error"))] if errors else []
    if warnings:
        parts.append(markup.status("COMPLETED_WITH_ERRORS", wording.plural(warnings, "warning")))
    if hints:
        parts.append(markup.dim(wording.plural(hints, "hint")))
    return parts


def _problem_at(room: Room, found: Sequence[Problem]) -> int:
    return min(room.problem, len(found) - 1)


def _next_problem(room: Room, found: Sequence[Problem]) -> None:
    here = [n for n, each in enumerate(found) if each.ref == (room.selected or "")]
    start = room.problem if room.problem in here else -1
    room.problem = (start + 1) % len(found)
    room.selected = found[room.problem].ref or None


def _follow(room: Room) -> None:
    """The address says what is looked at, so that a link shows the same to a colleague."""
    wanted = {"wf": room.key, **({"task": room.selected} if room.selected else {})}
    if dict(st.query_params) != wanted:
        st.query_params.from_dict(wanted)
        st.session_state["asked task"] = (room.key, room.selected)


def _leave(visit: Visit, room: Room, pressed: str, found: Sequence[Problem]) -> None:
    if pressed == "test":
        st.switch_page("../pages/mock_tests.py", query_params={"wf": room.key, "draft": "1"})
    elif pressed == "start":
        st.switch_page("../pages/start.py", query_params={"wf": room.name})
    elif pressed == "publish":
        room.publishing = True
        published.forget()
    if room.publishing:
        publishing.ask(visit, room, found)
