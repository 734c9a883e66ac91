"""The editor put together: one draft seen as a picture, as a form and as text, and kept at each step.

Asks the server and the desk, hands values to the components, carries their wishes to the draft.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from sample_workflows import catalogue
from studio import drafting, published
from studio.client.errors import ServerError
from studio.components import (
    begin_page,
    code_text,
    coded,
    editor_head,
    graph_canvas,
    markup,
    node_form,
    problem,
    publish_dialog,
)
from studio.components.field_widgets import Offer
from studio.components.node_form import Context
from studio.components.visit import Visit, now_ms
from studio.desk.place import desk
from studio.drafting import Room
from studio.editor.draft import Draft
from studio.editor.patterns import PATTERNS
from studio.editor.task_types import menu
from studio.editor.text_spans import lines_of, path_at_line
from studio.editor.tree import JsonObject, Spot, spots, task_at
from studio.graph import dot, layout, overlay, svg
from studio.graph.layout import Layout
from studio.views import problems as problems_room
from studio.views import readable, wording
from studio.views.compare import Comparison, compare
from studio.views.problems import Problem

_VIEWS: Final = ("Graph", "Code", "Changes")
_HEIGHT: Final = 620
_OUTLINE_AT_MOST: Final = 400


def _palette() -> list[graph_canvas.PaletteItem]:
    """The menu behind a plus: the types by their groups, then the patterns."""
    items: list[graph_canvas.PaletteItem] = [
        {"type": kind.type, "label": kind.label, "group": group}
        for group, kinds in menu()
        for kind in kinds
    ]
    items += [
        {"type": f"pattern:{each.name}", "label": each.label, "group": "Patterns"}
        for each in PATTERNS
    ]
    return items


_PALETTE: Final = _palette()


def begin(visit: Visit) -> None:
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
        on_click=partial(_open_again, visit, room.key, version),
    )


def _open_again(visit: Visit, name: str, version: int | None) -> None:
    drafting.again(visit, name, version)


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
            _outline(room, drawing, found)
    else:
        # The picture's own table and search find more than a list of this length could.
        picture, form = st.columns([5.05, 2.3], gap="small")
    with picture, st.container(key="editor_picture"):
        _picture(room, drawing, found)
    with form, st.container(key="editor_form", border=True, height=_HEIGHT + 82):
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
    spot = _spot(room, ref)
    params = spot.task.get("subWorkflowParam") if spot else None
    child = params.get("name") if isinstance(params, dict) else None
    if isinstance(child, str) and child and "$" not in child:
        st.query_params.from_dict({"wf": child})
        st.rerun()


def _problems(visit: Visit, room: Room, drawing: Layout) -> Sequence[Problem]:
    """What the checks say of this revision; a click that changes nothing asks no check."""
    at = (room.draft.revision, room.draft.pending_text)
    if room.checked_at != at:
        try:
            known = published.task_defs(visit.client)
        except ServerError:
            known = []
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
        publish=f"Publish v{_next(visit, room)}…",
    )
    wishes = editor_head.Wishes(undo=room.undo, redo=room.redo)
    return editor_head.show(head, wishes, partial(_more, visit, room))


def _next(visit: Visit, room: Room) -> int:
    try:
        known = published.versions_of(visit.client, room.name)
    except ServerError:
        return (room.draft.base_version or 0) + 1
    return max((each.number for each in known), default=0) + 1


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
        _published(room)
    editor_head.said(room.notes, room.refusals)


def _published(room: Room) -> None:
    """What is next, in the same tab."""
    version = room.draft.base_version
    links = [
        markup.button("Start it", markup.address("start", wf=room.name, ver=version)),
        markup.button("See its versions", markup.address("versions", wf=room.name)),
        markup.button("Test it on mocks", markup.address("tests", wf=room.key)),
    ]
    said = markup.status("COMPLETED", f"v{version} is published.")
    line = markup.tag("div", said, *links, css="rp-title rp-body")
    markup.show(markup.tag("section", line, css="rp-box rp-panel"))


def _outline(room: Room, drawing: Layout, found: Sequence[Problem]) -> None:
    """The tasks as a list: the canvas draws one where it is narrow."""
    marks = overlay.of_problems(drawing, problems_room.by_node(found, drawing))
    graph_canvas.show(
        drawing,
        marks,
        mode="edit",
        selected=_node_id(room, drawing),
        key=f"outline/{room.key}",
        height=_HEIGHT,
        label=f"Tasks of {room.name}",
        palette=_PALETTE,
    )


def _picture(room: Room, drawing: Layout, found: Sequence[Problem]) -> None:
    changes = _compared(room)
    chosen = st.segmented_control(
        "View",
        _VIEWS,
        format_func=partial(_view_words, changes),
        key="editor_view",
        default="Graph",
        required=True,
        label_visibility="collapsed",
    )
    if chosen == "Code":
        _code(room)
    elif chosen == "Changes":
        _changes(room, changes)
    else:
        _graph(room, drawing, found)


def _compared(room: Room) -> Comparison | None:
    """The draft against the version it began from; worked out once a revision."""
    if room.draft.base is None:
        return None
    if room.compared is None or room.compared_at != room.draft.revision:
        room.compared = compare(room.draft.base, room.draft.definition)
        room.compared_at = room.draft.revision
    return room.compared


def _view_words(changes: Comparison | None, view: str) -> str:
    count = len(changes.changes) if changes else 0
    return f"{view} {count}" if view == "Changes" and count else view


def _graph(room: Room, drawing: Layout, found: Sequence[Problem]) -> None:
    if room.draft.pending_text is not None:
        st.caption("The text is no definition at the moment; this is the last one that was.")
    graph_canvas.show(
        drawing,
        overlay.of_problems(drawing, problems_room.by_node(found, drawing)),
        mode="edit",
        selected=_node_id(room, drawing),
        key=f"graph/{room.key}",
        height=_HEIGHT,
        label=f"Graph of {room.name}",
        palette=_PALETTE,
    )


def _code(room: Room) -> None:
    fault = room.draft.problem
    spot = _spot(room, room.selected)
    code_text.show(
        room.draft.text,
        key=f"code/{room.key}",
        label=f"JSON of {room.name}",
        height=_HEIGHT + 36,
        chosen=lines_of(room.draft.text, spot.path) if spot and fault is None else None,
        fault=(fault.line, fault.column or 1) if fault and fault.line else None,
    )
    if fault is not None:
        where = f"Line {fault.line}, column {fault.column}: " if fault.line else ""
        st.markdown(f":red[{coded.markdown(f'{where}{fault.message} {fault.next_step}')}]")
        st.caption(
            "Nothing is lost: the text is kept as you typed it, the graph shows the last good one."
        )


def _changes(room: Room, changes: Comparison | None) -> None:
    if changes is None or not changes.changes:
        st.info(
            "Nothing differs from the published version."
            if changes
            else "This was never published, so there is nothing to compare with."
        )
        return
    drawing = layout.place(changes.definition)
    ids = {node.ref: node.id for node in drawing.nodes if node.ref}
    marks = {ids[ref]: kind for ref, kind in changes.marks.items() if ref in ids}
    graph_canvas.show(
        drawing,
        overlay.of_changes(drawing, marks),
        mode="diff",
        key=f"changes/{room.key}",
        height=320,
        label=f"Changes of {room.name}",
    )
    markup.show(markup.bordered(publish_dialog.change_list(changes.changes)))


def _form(visit: Visit, room: Room, drawing: Layout, found: Sequence[Problem]) -> None:
    spot = _spot(room, room.selected)
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
    try:
        known = published.task_defs(visit.client)
    except ServerError:
        known = []
    run = published.last_run(visit.client, room.name) or {}
    outputs = {t.get("referenceTaskName"): t.get("outputData") for t in run.get("tasks") or ()}
    return readable.values_for(
        room.draft.definition,
        spot.ref,
        drawing,
        task_defs=known,
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


def _spot(room: Room, ref: str | None) -> Spot | None:
    if ref is None:
        return None
    return next((spot for spot in spots(room.draft.definition) if spot.ref == ref), None)


def _node_id(room: Room, drawing: Layout) -> str | None:
    node = next((node for node in drawing.nodes if node.ref == room.selected), None)
    return node.id if node else ""


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
        _ask_to_publish(visit, room, found)


def _ask_to_publish(visit: Visit, room: Room, found: Sequence[Problem]) -> None:
    with problem.told():
        known = [each.number for each in published.versions_of(visit.client, room.name)]
        newest = published.definition(visit.client, room.name) if known else None
        plan = publish_dialog.Plan(
            name=room.name,
            base=room.draft.base_version,
            versions=known,
            comparison=compare(newest, room.draft.definition) if newest else None,
            problems=found,
        )
        publish_dialog.ask(plan, partial(_publish, visit, room), room.stop_publishing)


def _publish(visit: Visit, room: Room, version: int, note: str) -> None:
    """Registers the draft; it stays open, as a draft of what is now published."""
    numbered = published.publish(visit.client, room.draft.definition, version, visit.actor(note))
    if room.draft.definition.get("version") != version:
        room.act({"op": "set_workflow", "set": [{"path": ["version"], "value": version}]})
    room.draft.mark_published(version)
    room.compared = None
    room.published = True
    room.keep()
    about: dict[str, Any] = {"note": note, "person": visit.person, "at": now_ms()}
    desk().remember(f"version/{numbered['name']}/{version}", about)
