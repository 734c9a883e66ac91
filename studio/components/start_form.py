"""Starting an execution: the input as a form or JSON, the usual options, and what is missing."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from studio.client.client import Document
from studio.client.errors import Missing, ServerError
from studio.components import (
    coded,
    definition_catalogue,
    frame,
    input_form,
    json_view,
    markup,
    problem,
)
from studio.components.visit import Visit
from studio.views import definitions, executions, overview, wording

InputsFor = Callable[[Document], Mapping[str, Document]]
"""What a definition may be tried with: words -> input."""


def show(visit: Visit, inputs_for: InputsFor) -> None:
    every = visit.client.definitions()
    names = definition_catalogue.names_of(every)
    frame.title("Start a run")
    if not names:
        st.info("There is no definition to start yet.")
        st.page_link("../pages/definitions.py", label="Definitions")
        return
    left, right = st.columns([1.6, 1])
    with left:
        definition = _choice(every, names)
        start, label = _beginning(visit, definition, inputs_for(definition))
        key = f"start:{definition['name']}:{definition.get('version')}:{label}"
        value, wrong = input_form.show(
            key=key,
            schema=definitions.schema_of(definition),
            names=definitions.input_names(definition),
            start=start,
        )
        input_form.tell(wrong)
        options = _options(key)
    with right:
        blocking = _needs(visit, definition, names)
        request = _request(definition, value, options)
        _confirm(visit, request, bool(wrong), blocking)


def _choice(every: list[Document], names: list[str]) -> Document:
    wanted, version = st.query_params.get("wf", ""), st.query_params.get("ver", "")
    name_side, version_side = st.columns([2, 1])
    if wanted and wanted not in names:
        st.warning(coded.markdown(f"There is no definition {wanted}. Choose another one."))
    index = names.index(wanted) if wanted in names else 0
    name = str(
        name_side.selectbox(
            "Definition", names, index=index, key="start_name", on_change=_remember_choice
        )
    )
    mine = [one for one in every if one.get("name") == name]
    numbers = sorted((int(one.get("version") or 1) for one in mine), reverse=True)
    at = numbers.index(int(version)) if version.isdigit() and int(version) in numbers else 0
    number = version_side.selectbox(
        "Version",
        numbers,
        index=at,
        format_func=lambda one: f"v{one}, newest" if one == numbers[0] else f"v{one}",
        key=f"start_version_{name}",
    )
    return next(one for one in mine if int(one.get("version") or 1) == number)


def _remember_choice() -> None:
    """A definition that was chosen by hand stands in the address; what belonged to another goes."""
    st.query_params.from_dict({"wf": str(st.session_state["start_name"])})


def _beginning(
    visit: Visit, definition: Document, offered: Mapping[str, Document]
) -> tuple[dict[str, Any], str]:
    """What the fields begin with: the template, an input on offer, or that of an earlier run."""
    template = definition.get("inputTemplate")
    start = dict(template) if isinstance(template, Mapping) else {}
    like = st.query_params.get("like", "")
    found = visit.client.search(
        f"workflowType = {executions.written(str(definition['name']))}", size=8
    )
    rows = executions.rows_of(found.rows, visit.now_ms)
    earlier_ones = [*([like] if like else []), *(row.id for row in rows)]
    choices = ["", *dict.fromkeys([*offered, *earlier_ones])]
    if len(choices) == 1:
        return start, ""
    about = {row.id: row for row in rows}

    def words(id_: str) -> str:
        if not id_:
            return "The definition's own template"
        if id_ in offered:
            return id_
        row = about.get(id_)
        if row is None:
            return id_
        when = wording.ago(row.started_ms, visit.now_ms, visit.zone)
        return f"{row.correlation or id_[:12]}, {row.status.lower()}, {when}"

    index = choices.index(like) if like else 0
    chosen = st.selectbox(
        "Begin with the input of", choices, index=index, format_func=words, key="start_like"
    )
    if not chosen:
        return start, ""
    if chosen in offered:
        return dict(offered[chosen]), str(chosen)
    try:
        earlier = visit.client.execution(str(chosen), tasks=False).get("input")
    except Missing:
        st.caption(":red[That execution is no longer there.]")
        return start, ""
    return (dict(earlier) if isinstance(earlier, Mapping) else start), str(chosen)


def _options(key: str) -> dict[str, Any]:
    first, second, third = st.columns(3)
    return {
        "correlationId": first.text_input("Correlation id", key=f"{key}:corr") or None,
        "priority": int(
            second.number_input("Priority, 0 to 99", 0, 99, 0, key=f"{key}:priority") or 0
        ),
        "idempotencyKey": third.text_input(
            "Idempotency key",
            key=f"{key}:idempotency",
            help="A second start with the same key is refused instead of running twice.",
        )
        or None,
    }


def _needs(visit: Visit, definition: Document, names: list[str]) -> bool:
    """Shows what is missing; whether it stops the start."""
    try:
        polls = visit.client.polls()
        task_defs = [str(one.get("name")) for one in visit.client.task_defs()]
    except ServerError as error:
        problem.show(error)
        return False
    rows = overview.queue_rows({}, polls, visit.now_ms)
    polled = [row.name for row in rows if row.workers]
    needs = definitions.lacking(definition, task_defs, polled, names)
    if not needs:
        line = markup.item(markup.status("COMPLETED", "Ready"), "Nothing is missing")
        markup.show(markup.box("Before it starts", markup.items([line])))
        return False
    lines = [
        markup.item(
            markup.status("FAILED", "Missing")
            if need.blocking
            else markup.status("COMPLETED_WITH_ERRORS", "Look"),
            need.words,
        )
        for need in needs[:8]
    ]
    note = f"{len(needs)} to look at"
    markup.show(markup.box("Before it starts", markup.items(lines), note=note))
    return any(need.blocking for need in needs)


def _request(
    definition: Document, value: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    request = {
        "name": definition["name"],
        "version": int(definition.get("version") or 1),
        "input": value,
        **{key: found for key, found in options.items() if found},
    }
    if options.get("idempotencyKey"):
        request["idempotencyStrategy"] = "FAIL"
    return request


def _confirm(visit: Visit, request: dict[str, Any], wrong: bool, blocking: bool) -> None:
    with st.expander("The request"):
        json_view.show(request, name="start", key="start_request")
        st.caption("`POST /api/workflow`")
    words = f"Start {request['name']} v{request['version']}"
    if st.button(
        words,
        type="primary",
        icon=":material/play_arrow:",
        disabled=wrong or blocking,
        key="start_confirm",
    ):
        with problem.told():
            id_ = visit.client.start(request, visit.actor())
            st.switch_page("../pages/execution.py", query_params={"id": id_})
