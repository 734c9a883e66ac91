"""The task definitions as a table, and one of them as a form with what its numbers come to."""

from typing import Any, Final

import streamlit as st

from studio.client.client import Document
from studio.components import frame, input_form, markup, problem
from studio.components.visit import Visit
from studio.views import definitions, task_defs, theme, wording

_COLUMNS: Final = (
    markup.Column("Task"),
    markup.Column("What happens on a failure", cut=True, wide=True),
    markup.Column("Tries", align="right"),
    markup.Column("Timeout", align="right"),
    markup.Column("Used by", align="right"),
    markup.Column("", align="right"),
)
_NUMBERS: Final = (
    ("retryCount", "Tries after the first"),
    ("retryDelaySeconds", "Wait before the next try, s"),
    ("maxRetryDelaySeconds", "Longest wait, s (0: none)"),
    ("backoffScaleFactor", "Scale of the waits"),
    ("timeoutSeconds", "One try may take, s (0: no end)"),
    ("responseTimeoutSeconds", "Silence allowed, s"),
    ("pollTimeoutSeconds", "Wait for a worker, s (0: no end)"),
    ("concurrentExecLimit", "At the same time (0: any)"),
    ("rateLimitPerFrequency", "Per window (0: any)"),
    ("rateLimitFrequencyInSeconds", "Window, s"),
)


def show(visit: Visit) -> None:
    known = {str(one.get("name")): one for one in visit.client.task_defs()}
    flows = _flows(visit)
    name = st.query_params.get("name", "")
    head = st.container(horizontal=True, vertical_alignment="center")
    with head:
        frame.title(f"Task definitions · {len(known)}")
    if head.button("New task definition", icon=":material/add:", key="new_task_def"):
        st.query_params["name"] = "+"
        st.rerun()
    saved = st.session_state.pop("task_def_saved", "")
    if saved:
        st.success(saved, icon=":material/check_circle:")
    if name:
        _form(visit, name, known.get(name), task_defs.users_of(name, flows))
    _missing(known, flows)
    if not known:
        st.info("No task definition yet; tasks without one run with the defaults.")
        return
    rows = [_row(one, task_defs.users_of(key, flows), key == name) for key, one in known.items()]
    markup.show(markup.bordered(markup.table(_COLUMNS, rows)))


def _flows(visit: Visit) -> list[tuple[str, list[str]]]:
    """Each definition with the names of its worker tasks."""
    return [
        (
            str(flow.get("name")),
            [
                str(task.get("name"))
                for task in definitions.all_tasks(flow)
                if str(task.get("type") or "SIMPLE") == "SIMPLE"
            ],
        )
        for flow in visit.client.definitions()
    ]


def _missing(known: dict[str, Document], flows: list[tuple[str, list[str]]]) -> None:
    used = {task for _, tasks in flows for task in tasks}
    absent = sorted(used - set(known))
    if absent:
        shown = ", ".join(f"`{name}`" for name in absent[:6])
        more = f" and {len(absent) - 6} more" if len(absent) > 6 else ""
        st.caption(f"Used in definitions, without a task definition: {shown}{more}.")


def _row(one: Document, users: list[str], on: bool) -> markup.Row:
    name = str(one.get("name"))
    seconds = int(one.get("timeoutSeconds") or 0)
    return markup.Row(
        [
            markup.code(name),
            task_defs.in_words(one)[0],
            int(one.get("retryCount") or 0) + 1,
            wording.took(seconds * 1_000) if seconds else markup.dim("none"),
            len(users),
            markup.button("Edit", markup.address("task_defs", name=name)),
        ],
        on=on,
        hints={4: ", ".join(users)},
    )


def _form(visit: Visit, name: str, known: Document | None, users: list[str]) -> None:
    new = known is None
    before: Document = {**task_defs.DEFAULTS, **(known or {})}
    with st.container(border=True, key="task_panel"):
        title = "New task definition" if new else markup.code(name)
        markup.show(markup.tag("div", markup.tag("h2", title), css="rp-title"))
        left, right = st.columns([1.6, 1])
        with left:
            after = _fields(name, before, new)
        with right:
            words = [markup.tag("li", line) for line in task_defs.in_words(after)]
            markup.show(markup.box("What this comes to", markup.tag("ul", *words, css="rp-list")))
            if users:
                st.caption(f"Used by {', '.join(users)}.")
        _save(visit, before if known else {}, after, new)


def _fields(name: str, before: Document, new: bool) -> dict[str, Any]:
    key = f"task_def:{name}"
    after = dict(before)
    first, second = st.columns(2)
    if new:
        suggested = "" if name == "+" else name
        after["name"] = first.text_input("Name", suggested, key=f"{key}:name").strip()
    after["description"] = (second if new else first).text_input(
        "Description", str(before.get("description") or ""), key=f"{key}:about"
    )
    logic = before.get("retryLogic")
    policy = before.get("timeoutPolicy")
    after["retryLogic"] = first.selectbox(
        "Waits between tries",
        task_defs.LOGICS,
        index=task_defs.LOGICS.index(logic) if logic in task_defs.LOGICS else 0,
        key=f"{key}:logic",
    )
    after["timeoutPolicy"] = second.selectbox(
        "When one try takes too long",
        task_defs.POLICIES,
        index=task_defs.POLICIES.index(policy) if policy in task_defs.POLICIES else 0,
        key=f"{key}:policy",
    )
    for number, (field, label) in enumerate(_NUMBERS):
        side = first if number % 2 == 0 else second
        start = int(before.get(field) or 0)
        after[field] = int(side.number_input(label, 0, value=start, key=f"{key}:{field}") or 0)
    return after


def _save(visit: Visit, before: Document, after: dict[str, Any], new: bool) -> None:
    changed = task_defs.differences(before, after)
    if not new and not changed:
        st.caption("Nothing is changed.")
    elif not new:
        words = [
            f"`{key}` {theme.plain(str(old))} → {theme.plain(str(now))}"
            for key, old, now in changed
        ]
        st.markdown("Would change: " + ", ".join(words))
    wrong = [] if after.get("name") else ["The name is empty."]
    input_form.tell(wrong)
    why = st.text_input("Reason, required", key="task_def_reason", live=True)
    row = st.container(horizontal=True)
    ready = bool((why or "").strip()) and not wrong and bool(new or changed)
    if row.button(
        f"Save {after.get('name') or 'it'}", type="primary", disabled=not ready, key="task_def_save"
    ):
        with problem.told():
            visit.client.save_task_def(after, visit.actor((why or "").strip()))
            st.session_state["task_def_saved"] = f"{after['name']} is saved."
            st.query_params.clear()
            st.rerun()
    if row.button("Keep as it is", key="task_def_keep"):
        st.query_params.clear()
        st.rerun()
