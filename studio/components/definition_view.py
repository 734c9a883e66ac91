"""One definition: its picture, what it asks for, its versions, its last runs, its text."""

from typing import Any, Final

import streamlit as st

from studio.client.client import Document
from studio.client.errors import Missing
from studio.components import graph_canvas, json_view, markup, problem
from studio.components.execution_tabs import canvas_height
from studio.components.visit import Visit
from studio.graph import dot, layout
from studio.views import definitions, executions, theme, wording
from studio.views.execution import task_of

_TABS: Final = ("Diagram", "Runs", "Versions", "JSON")
_RUNS: Final = 20


def show(visit: Visit, name: str, version: str) -> None:
    every = [one for one in visit.client.definitions() if one.get("name") == name]
    if not every:
        raise Missing(f"There is no definition {name}.")
    numbers = sorted((int(one.get("version") or 1) for one in every), reverse=True)
    wanted = int(version) if version.isdigit() and int(version) in numbers else numbers[0]
    if version and str(wanted) != version:
        st.warning(f"There is no version {theme.plain(version)}; this is version {wanted}.")
    definition = next(one for one in every if int(one.get("version") or 1) == wanted)
    _head(visit, definition, wanted, numbers)
    tabs = st.tabs(_TABS, key="tab", on_change="rerun", bind="query-params")
    opened = next((index for index, tab in enumerate(tabs) if tab.open), 0)
    with tabs[opened], problem.told():
        if opened == 0:
            _diagram(visit, definition)
        elif opened == 1:
            _runs(visit, name)
        elif opened == 2:
            _versions(visit, every, wanted)
        else:
            _text(visit, definition)


def _head(visit: Visit, definition: Document, version: int, numbers: list[int]) -> None:
    name = str(definition["name"])
    left, right = st.columns([1.5, 1])
    tag = f"v{version}" if version == numbers[0] else f"v{version}, newest is v{numbers[0]}"
    title = markup.tag("h1", markup.code(name))
    about: list[tuple[str, object]] = [
        ("Tasks", sum(1 for _ in definitions.all_tasks(definition))),
        ("Owner", definition.get("ownerEmail") or "none"),
        ("Failure workflow", definition.get("failureWorkflow") or "none"),
        ("Timeout", _timeout(definition)),
    ]
    with left:
        description = str(definition.get("description") or "")
        markup.show(
            markup.tag("div", title, markup.span(tag, css="rp-tag"), css="rp-title"),
            markup.tag("p", description, css="rp-mid") if description else "",
            markup.meta(about),
        )
    row = right.container(horizontal=True, horizontal_alignment="right")
    if row.button("Edit", icon=":material/edit:", key="edit"):
        st.switch_page("../pages/editor.py", query_params={"wf": name})
    if row.button("Test", icon=":material/science:", key="test"):
        st.switch_page("../pages/mock_tests.py", query_params={"wf": name})
    if row.button("Start a run", type="primary", icon=":material/play_arrow:", key="start"):
        parameters = {"wf": name, "ver": str(version)}
        st.switch_page("../pages/start.py", query_params=parameters)


def _timeout(definition: Document) -> str:
    seconds = int(definition.get("timeoutSeconds") or 0)
    if not seconds:
        return "none"
    policy = str(definition.get("timeoutPolicy") or "ALERT_ONLY")
    return f"{wording.took(seconds * 1_000)}, {policy}"


def _diagram(visit: Visit, definition: Document) -> None:
    drawn = layout.place(definition)
    left, right = st.columns([1.65, 1])
    with left:
        event = graph_canvas.show(
            drawn,
            key=f"definition:{definition['name']}:{definition.get('version')}",
            height=canvas_height(drawn),
            label=f"Graph of {definition['name']}",
        )
    with right:
        node = drawn.by_id.get(event.selected) if event.selected else None
        task = task_of(definition, node.ref) if node is not None and node.ref else None
        if task:
            _task(task)
        else:
            _contract(definition)


def _task(task: dict[str, Any]) -> None:
    with st.container(border=True, key="task_panel"):
        kind = markup.dim(theme.type_word(str(task.get("type") or "SIMPLE")))
        name = markup.tag("h2", markup.code(task["taskReferenceName"]))
        markup.show(markup.tag("div", name, kind, css="rp-title"))
        json_view.show(task.get("inputParameters"), name="input", key="d_in", empty="No input.")
        with st.expander("All of it"):
            json_view.show(task, name="task", key="d_task")


def _contract(definition: Document) -> None:
    names = definitions.input_names(definition)
    asks = markup.items([markup.item("", markup.code(name)) for name in names])
    outputs = definition.get("outputParameters") or {}
    with st.container(border=True, key="task_panel"):
        markup.show(markup.tag("h2", "Input"), asks if names else markup.empty("None declared."))
        markup.show(markup.tag("h2", "Output"))
        json_view.show(outputs, name="output", key="d_out", empty="The last task's output.")


def _runs(visit: Visit, name: str) -> None:
    found = visit.client.search(f"workflowType = {executions.written(name)}", size=_RUNS)
    rows = executions.rows_of(found.rows, visit.now_ms)
    if not rows:
        st.info(f"{name} has not run yet.")
        return
    columns = (
        markup.Column("Status"),
        markup.Column("Id"),
        markup.Column("Version"),
        markup.Column("Correlation", wide=True),
        markup.Column("Reason", cut=True, wide=True),
        markup.Column("Started", align="right"),
        markup.Column("Ran", align="right"),
    )
    body = [
        markup.Row(
            [
                markup.status(row.status),
                markup.identifier(row.id, markup.address("execution", id=row.id)),
                f"v{row.version}",
                row.correlation,
                row.reason,
                wording.ago(row.started_ms, visit.now_ms, visit.zone),
                wording.took(row.ran_ms),
            ]
        )
        for row in rows
    ]
    end = markup.link(f"All {found.total}", markup.address("executions", wf=name), css="")
    markup.show(markup.box("Last runs", markup.table(columns, body), end=end))


def _versions(visit: Visit, every: list[Document], shown: int) -> None:
    columns = (
        markup.Column("Version"),
        markup.Column("Description", cut=True),
        markup.Column("Tasks", align="right"),
        markup.Column("Published", align="right"),
        markup.Column("By", wide=True),
    )
    rows = []
    for one in sorted(every, key=lambda found: int(found.get("version") or 1), reverse=True):
        number = int(one.get("version") or 1)
        at = int(one.get("updateTime") or one.get("createTime") or 0)
        place = markup.address("definitions", wf=one["name"], ver=number)
        rows.append(
            markup.Row(
                [
                    markup.link(f"v{number}", place),
                    one.get("description") or "",
                    sum(1 for _ in definitions.all_tasks(one)),
                    wording.ago(at, visit.now_ms, visit.zone),
                    one.get("updatedBy") or one.get("createdBy") or "",
                ],
                on=number == shown,
            )
        )
    markup.show(markup.bordered(markup.table(columns, rows)))
    if len(every) > 1 and st.button("Compare versions", icon=":material/difference:"):
        st.switch_page("../pages/versions.py", query_params={"wf": str(every[0]["name"])})


def _text(visit: Visit, definition: Document) -> None:
    name, version = str(definition["name"]), int(definition.get("version") or 1)
    text = json_view.text_of(definition)
    row = st.container(horizontal=True)
    row.download_button("Download JSON", text, f"{name}.v{version}.json", "application/json")
    drawn = layout.place(definition)
    row.download_button("Download DOT", dot.source(drawn), f"{name}.v{version}.dot", "text/plain")
    st.code(text, language="json", height=520)
    st.caption(f"`GET /api/metadata/workflow/{name}?version={version}`")
