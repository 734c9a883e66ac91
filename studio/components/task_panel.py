"""One task of an execution: iterations, attempts, input, output, log, and what can be done to it."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from studio.client.errors import Missing
from studio.components import json_view, markup, problem, recovery_bar
from studio.components.visit import Visit
from studio.graph.outline import OPEN, number, took_ms
from studio.views import recovery, theme, wording
from studio.views.execution import Entry, ExecutionView, attempts_of, iterations_of, task_of

_TABS = ("Input", "Output", "Log", "Summary", "JSON")


def show(visit: Visit, view: ExecutionView, ref: str) -> None:
    """The panel of a reference name, also when the task has not run."""
    task = task_of(view.definition, ref) or {}
    with st.container(border=True, key="task_panel"):
        iterations = iterations_of(view.outline, ref)
        if not iterations:
            _head(ref, str(task.get("type") or ""), "")
            if not task:
                st.caption("This execution has no such task. Choose one in the picture.")
                return
            st.caption("This task has not run.")
            _as_written(task)
            if "skip" in recovery.allowed(view.status):
                st.button(
                    "Skip this task",
                    key="task_skip",
                    on_click=recovery_bar.open_plan,
                    args=(view.id, recovery.SKIP, ref),
                )
            return
        newest = attempts_of(view.outline, ref, max(iterations))[-1]
        _head(ref, str(task.get("type") or newest.get("type") or ""), str(newest["status"]))
        iteration = _iteration(iterations, ref)
        attempt = _attempt(visit, attempts_of(view.outline, ref, iteration), ref, iteration)
        _payloads(visit, view, attempt, task)
        _actions(view, attempt)


def _head(ref: str, type_: str, status: str) -> None:
    markup.show(
        markup.tag(
            "div",
            markup.tag("h2", markup.code(ref)),
            markup.dim(theme.type_word(type_)) if type_ else "",
            markup.span(markup.status(status), css="rp-end") if status else "",
            css="rp-title",
        )
    )


def _iteration(iterations: Mapping[int, str], ref: str) -> int:
    newest = max(iterations)
    if len(iterations) < 2:
        return newest
    chosen = st.selectbox(
        f"Iteration, {len(iterations)} in all",
        sorted(iterations, reverse=True),
        format_func=lambda count: f"{count} · {theme.word(iterations[count])}",
        key=f"iter_{ref}",
    )
    return int(chosen) if chosen is not None else newest


def _attempt(visit: Visit, attempts: list[Entry], ref: str, iteration: int) -> Entry:
    """The attempt that is looked at, and the table of all."""
    if len(attempts) == 1:
        chosen = 0
    else:
        picked = st.segmented_control(
            "Try",
            range(len(attempts)),
            default=len(attempts) - 1,
            format_func=lambda index: f"Try {index + 1}",
            required=True,
            key=f"try_{ref}_{iteration}",
            label_visibility="collapsed",
        )
        chosen = int(picked) if picked is not None else len(attempts) - 1
    rows = [
        markup.Row(_try_cells(visit, entry, index), on=index == chosen and len(attempts) > 1)
        for index, entry in enumerate(attempts)
    ]
    columns = (
        markup.Column("Try"),
        markup.Column("Began"),
        markup.Column("Took", align="right"),
        markup.Column("Reason", cut=True),
    )
    markup.show(markup.table(columns, rows))
    reason = str(attempts[chosen].get("reason") or "")
    if reason:
        st.caption(theme.plain(reason))
    return attempts[chosen]


def _try_cells(visit: Visit, entry: Entry, index: int) -> list[object]:
    began = number(entry.get("startTime")) or number(entry.get("scheduledTime"))
    reason = wording.reason_line(str(entry.get("reason") or ""), 80)
    return [
        markup.status(entry["status"], f"Try {index + 1}"),
        wording.moment(began, visit.zone, "%H:%M:%S"),
        wording.took(took_ms(entry, visit.now_ms)),
        reason or markup.dim(theme.word(entry["status"])),
    ]


def _payloads(
    visit: Visit, view: ExecutionView, attempt: Entry, written: Mapping[str, Any]
) -> None:
    tabs = st.tabs(_TABS, key="task_tab", on_change="rerun")
    opened = next((index for index, tab in enumerate(tabs) if tab.open), 0)
    task_id = str(attempt.get("taskId") or "")
    with tabs[opened], problem.told():
        if opened == 2:
            _log(visit, task_id)
            return
        seq = attempt.get("seq")
        task = visit.client.task(view.id, seq if isinstance(seq, int) else None, task_id)
        if opened == 0:
            _as_written(written)
            markup.show(markup.tag("h3", "As resolved"))
            json_view.show(task.get("inputData"), name=f"{task_id}-input", key="task_input")
        elif opened == 1:
            json_view.show(task.get("outputData"), name=f"{task_id}-output", key="task_output")
        elif opened == 3:
            _summary(visit, attempt, task)
        else:
            json_view.show(task, name=task_id, key="task_json")


def _as_written(task: Mapping[str, Any]) -> None:
    parameters = task.get("inputParameters")
    if parameters:
        markup.show(markup.tag("h3", "As written"))
        json_view.show(parameters, name="written", key="task_written")


def _log(visit: Visit, task_id: str) -> None:
    try:
        lines = visit.client.logs(task_id)
    except Missing:
        lines = []
    if not lines:
        markup.show(markup.span("No log lines.", css="rp-dim rp-small"))
        return
    shown = lines[-200:]
    text = "\n".join(
        f"{wording.moment(wording.millis(line.get('createdTime')), visit.zone, '%H:%M:%S')}  "
        f"{line.get('log') or ''}"
        for line in shown
    )
    if len(lines) > len(shown):
        st.caption(f"The last {len(shown)} of {wording.number(len(lines))} lines.")
    markup.show(markup.tag("pre", text, css="rp-pre"))


def _summary(visit: Visit, attempt: Entry, task: Mapping[str, Any]) -> None:
    zone, now = visit.zone, visit.now_ms
    times = [
        (words, wording.absolute(number(attempt.get(key)), zone) or markup.dim("none"))
        for words, key in (
            ("Scheduled", "scheduledTime"),
            ("Started", "startTime"),
            ("Ended", "endTime"),
        )
    ]
    worker = attempt.get("workerId") or task.get("workerId")
    child = attempt.get("subWorkflowId") or task.get("subWorkflowId")
    child_words = markup.dim("none")
    if child:
        child_words = markup.identifier(str(child), markup.address("execution", id=child))
    found = [
        ("Status", markup.status(attempt["status"])),
        ("Task", markup.code(attempt.get("name") or "")),
        *times,
        ("Took", wording.took(took_ms(attempt, now))),
        ("Worker", markup.code(worker) if worker else markup.dim("none")),
        ("Polled", wording.plural(number(task.get("pollCount")), "time")),
        ("Task id", markup.code(attempt.get("taskId") or "")),
        ("Child execution", child_words),
    ]
    markup.show(markup.pairs(found))


def _actions(view: ExecutionView, attempt: Entry) -> None:
    row = st.container(horizontal=True, gap="small")
    ref = attempt["ref"]
    if recovery.RERUN in recovery.allowed(view.status):
        row.button(
            "Rerun from here",
            icon=":material/undo:",
            key="task_rerun",
            on_click=recovery_bar.open_plan,
            args=(view.id, recovery.RERUN, ref),
        )
    child = attempt.get("subWorkflowId")
    if child:
        markup_link = markup.button("Open the child", markup.address("execution", id=child))
        with row:
            markup.show(markup_link)
    if attempt["status"] in OPEN and attempt.get("type") in ("HUMAN", "WAIT"):
        address = markup.address("human", id=view.id, task=attempt.get("reference") or ref)
        with row:
            markup.show(markup.button("Answer it", address))
