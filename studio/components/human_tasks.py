"""Tasks that wait for a person, and answering one: see what is asked, decide, say why."""

from typing import Any, Final

import streamlit as st

from studio.client.errors import Missing
from studio.components import first_page, frame, input_form, json_view, markup, problem
from studio.components.visit import Visit
from studio.graph.outline import OPEN
from studio.views import definitions, theme, wording
from studio.views.overview import Waiting

_COLUMNS: Final = (
    markup.Column("Since"),
    markup.Column("Task"),
    markup.Column("Definition", wide=True),
    markup.Column("What is asked", cut=True, wide=True),
    markup.Column("", align="right"),
)
_ANSWERS: Final = {
    "COMPLETED": "Complete it",
    "FAILED": "Fail it",
    "FAILED_WITH_TERMINAL_ERROR": "Fail it for good",
}


def show(visit: Visit) -> None:
    waiting = first_page.people(visit.client)
    frame.title(f"Waiting for people · {len(waiting)}")
    _told()
    id_, task_id = st.query_params.get("id", ""), st.query_params.get("task", "")
    if id_ and task_id:
        _one(visit, id_, task_id)
    if not waiting:
        if not id_:
            st.info("Nobody is waited for.")
        return
    rows = [_row(visit, one, on=one.task_id == task_id) for one in waiting]
    markup.show(markup.bordered(markup.table(_COLUMNS, rows)))


def _told() -> None:
    """What became of the last answer."""
    words = st.session_state.pop("answered", "")
    if words:
        st.success(words, icon=":material/check_circle:")


def _row(visit: Visit, one: Waiting, on: bool) -> markup.Row:
    address = markup.address("human", id=one.execution_id, task=one.task_id)
    return markup.Row(
        [
            markup.status("SCHEDULED", wording.ago(one.since_ms, visit.now_ms, visit.zone)),
            markup.code(one.ref),
            markup.link(
                markup.code(one.definition), markup.address("execution", id=one.execution_id)
            ),
            one.about,
            markup.button("Decide", address),
        ],
        on=on,
        hints={0: wording.absolute(one.since_ms, visit.zone)},
    )


def _one(visit: Visit, execution_id: str, task: str) -> None:
    """The task that the address names, by its id or its reference name."""
    found, definition = _task(visit, execution_id, task)
    ref = str(found.get("referenceTaskName") or task)
    status = str(found.get("status") or "")
    with st.container(border=True, key="task_panel"):
        markup.show(
            markup.tag(
                "div",
                markup.tag("h2", markup.code(ref)),
                markup.status(status),
                markup.link("Open the execution", markup.address("execution", id=execution_id)),
                css="rp-title",
            )
        )
        if status not in OPEN:
            st.caption(f"This task has been answered already: it is {theme.word(status).lower()}.")
            json_view.show(found.get("outputData"), name=f"{ref}-output", key="human_output")
            return
        left, right = st.columns(2)
        with left:
            markup.show(markup.tag("h3", "What is asked"))
            json_view.show(
                found.get("inputData"), name=f"{ref}-input", key="human_input", empty="No input."
            )
        with right:
            _answer(visit, execution_id, ref, found, definition)


def _task(visit: Visit, execution_id: str, task: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The task, and the definition it stands in."""
    whole = visit.client.execution(execution_id)
    for found in reversed(whole.get("tasks") or []):
        if task in (found.get("taskId"), found.get("referenceTaskName")):
            return dict(found), dict(whole.get("workflowDefinition") or {})
    raise Missing(f"Execution {execution_id} has no task {task}.")


def _answer(
    visit: Visit,
    execution_id: str,
    ref: str,
    task: dict[str, Any],
    definition: dict[str, Any],
) -> None:
    """The form: the fields that later tasks read, and why."""
    status = st.segmented_control(
        "Answer",
        list(_ANSWERS),
        default="COMPLETED",
        format_func=lambda word: _ANSWERS[word],
        required=True,
        key="human_status",
    )
    status = str(status or "COMPLETED")
    output = task.get("outputData")
    start = output if isinstance(output, dict) else {}
    asked = task.get("inputData")
    names = definitions.outputs_read(definition, ref)
    schema = definitions.answer_schema(names, asked if isinstance(asked, dict) else {})
    value, wrong = input_form.show(key=f"human:{ref}", schema=schema, names=(), start=start)
    input_form.tell(wrong)
    why = st.text_input("Reason, required", key="human_reason", live=True)
    st.caption(f"`POST /api/tasks/{execution_id}/{ref}/{status}`")
    ready = bool((why or "").strip()) and not wrong
    if st.button(_ANSWERS[status], type="primary", disabled=not ready, key="human_confirm"):
        with problem.told():
            actor = visit.actor((why or "").strip())
            visit.client.report(execution_id, ref, status, value, actor)
            after, _ = _task(visit, execution_id, ref)
            word = theme.word(str(after.get("status") or "")).lower()
            st.session_state["answered"] = f"{ref} is {word}."
            st.query_params.clear()
            st.rerun()
