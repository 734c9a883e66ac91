"""Recovering an execution: the plan in a dialog, a reason, the act, and whether it worked.

Nothing is changed by a single click. What has been accepted is watched until it is settled; only
then a word like "recovered" appears.
"""

import json
from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from studio.client.client import Client
from studio.client.errors import ServerError
from studio.components import live, markup, problem
from studio.components.visit import Visit
from studio.views import recovery, theme, wording
from studio.views.execution import ExecutionView, root_failure
from studio.views.recovery import ACTIONS, Plan

PLAN: Final = live.PLAN
WATCHED: Final = "watched"
_LISTED: Final = 6


def open_plan(execution_id: str, action: str, ref: str = "") -> None:
    """A callback of a button: the next run shows the dialog."""
    st.session_state[PLAN] = {"id": execution_id, "action": action, "ref": ref}


def _close() -> None:
    st.session_state.pop(PLAN, None)


def buttons(view: ExecutionView, primary: str, row: DeltaGenerator) -> None:
    """The actions that the state allows, in a row; the primary one stands in the failure card."""
    offered = [name for name in recovery.allowed(view.status) if name != primary]
    for name in offered:
        action = ACTIONS[name]
        row.button(
            action.word,
            icon=f":material/{action.icon}:",
            key=f"act_{name}",
            help=action.meaning,
            shortcut=shortcut(name),
            on_click=open_plan,
            args=(view.id, name),
        )


def shortcut(name: str) -> str | None:
    """The key that opens an action's plan; none while a dialog is open, or it would close that."""
    return None if live.held() else ACTIONS[name].key or None


def dialog_if_asked(visit: Visit, view: ExecutionView) -> None:
    """Shows the plan dialog when a button has asked for it; called by the page, outside fragments."""
    asked = st.session_state.get(PLAN)
    if not asked or asked.get("id") != view.id:
        return
    title = f"Recover {view.correlation or view.name}" if not view.live else view.name
    st.dialog(title, width="large", on_dismiss=_close)(_dialog)(visit, view, asked)


def _dialog(visit: Visit, view: ExecutionView, asked: dict[str, str]) -> None:
    st.markdown(
        f"{theme.words_markdown(view.status)} :gray[as read just now. Nothing has been changed yet.]"
    )
    names = list(recovery.allowed(view.status))
    if not names:
        st.info(f"Nothing can be done while the execution is {view.status}.")
        return
    action = st.segmented_control(
        "Action",
        names,
        default=asked["action"] if asked["action"] in names else names[0],
        format_func=lambda name: ACTIONS[name].word,
        required=True,
        key="plan_action",
        label_visibility="collapsed",
    )
    action = str(action or names[0])
    st.caption(f"{ACTIONS[action].word}: {ACTIONS[action].meaning}.")
    ref = _chosen_ref(view, action, asked.get("ref", ""))
    plan = _plan(visit.client, view, action, ref)
    _show_plan(plan)
    given = _details(view, plan)
    _confirm(visit, view, plan, given)


def _chosen_ref(view: ExecutionView, action: str, wanted: str) -> str:
    """The task of a rerun or a skip."""
    if action not in (recovery.RERUN, recovery.SKIP):
        return ""
    choices = (
        recovery.rerun_choices(view) if action == recovery.RERUN else recovery.skip_choices(view)
    )
    if not choices:
        return ""
    root = root_failure(view)
    start = wanted or (root.ref if root else choices[-1])
    label = "Run again from" if action == recovery.RERUN else "Task to skip"
    index = choices.index(start) if start in choices else 0
    return str(st.selectbox(label, choices, index=index, key=f"plan_ref_{action}"))


def _plan(client: Client, view: ExecutionView, action: str, ref: str) -> Plan:
    own = recovery.plan_of(view, action, ref)
    if own.blocked:
        return own
    try:
        task_id = recovery.task_id_of(view, ref) if ref else None
        preview = client.preview(view.id, action, ref=ref, task_id=task_id or "")
    except ServerError:
        return own
    return recovery.plan_of(view, action, ref, preview) if preview else own


def _show_plan(plan: Plan) -> None:
    if plan.blocked:
        st.warning(theme.plain(plan.blocked))
        return
    groups = (
        ("Runs again", plan.again, "Nothing"),
        ("Reused as they are", plan.reused, "Nothing"),
        ("Cancelled", plan.cancelled, "Nothing is running"),
        ("Cannot know", plan.unknown, "Nothing"),
    )
    parts = []
    for title, names, none in groups:
        lines = [markup.tag("li", _name(plan, title, name)) for name in names[:_LISTED]]
        if len(names) > _LISTED:
            lines.append(markup.tag("li", f"and {len(names) - _LISTED} more"))
        body = markup.tag("ul", *(lines or [markup.tag("li", none)]))
        parts.append(markup.tag("div", markup.tag("h3", title), markup.tag("b", len(names)), body))
    note = "Estimated from the outline: this server gives no preview." if plan.estimated else ""
    markup.show(
        markup.tag("div", *parts, css="rp-plan"),
        markup.tag("p", note, css="rp-small rp-dim") if note else "",
    )


def _name(plan: Plan, title: str, name: str) -> object:
    return name if title == "Cannot know" else markup.code(name)


def _details(view: ExecutionView, plan: Plan) -> dict[str, Any]:
    """What an action takes besides a reason; None in `error` when all of it can be read."""
    given: dict[str, Any] = {"error": None}
    if plan.action == recovery.RESTART:
        choice = st.radio(
            "By which definition",
            ("as it ran", "newest"),
            format_func=lambda word: (
                f"Version {view.version}, as it ran"
                if word == "as it ran"
                else "The newest version"
            ),
            horizontal=True,
            key="plan_definition",
        )
        given["latest"] = choice == "newest"
    if plan.action == recovery.TERMINATE and view.definition.get("failureWorkflow"):
        given["failure_workflow"] = st.checkbox(
            f"Start the failure workflow {view.definition['failureWorkflow']}", key="plan_failure"
        )
    if plan.action == recovery.RERUN and st.toggle(
        "Change the input of the task", key="plan_input"
    ):
        given.update(_json_field("New input of the task", "plan_task_input", "task_input"))
    if plan.action == recovery.SKIP:
        given.update(_json_field("Output that stands in for it", "plan_output", "output"))
    return given


def _json_field(label: str, key: str, name: str) -> dict[str, Any]:
    text = st.text_area(label, "{}", key=key, height=110)
    try:
        value = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        words = f"{label} is no JSON: line {error.lineno}, {error.msg}."
        st.caption(f":red[{theme.plain(words)}]")
        return {"error": words}
    if not isinstance(value, dict):
        st.caption(":red[It must be an object in braces.]")
        return {"error": f"{label} is no object."}
    return {name: value}


def _confirm(visit: Visit, view: ExecutionView, plan: Plan, given: dict[str, Any]) -> None:
    root = root_failure(view)
    why = wording.reason_line(root.reason, 80) if root and root.reason else ""
    known = why and why != wording.NO_REASON
    usual = f"{plan.action.capitalize()} after: {why}" if known else ""
    reason = st.text_input(
        "Reason, required; it is kept in the story of the execution",
        usual,
        key=f"plan_reason_{plan.action}",
        live=True,
    )
    foot = st.container(horizontal=True, vertical_alignment="center")
    foot.caption(f"`{plan.call}`")
    if foot.button("Keep as it is", key="plan_keep"):
        _close()
        st.rerun()
    ready = bool((reason or "").strip()) and not plan.blocked and not given["error"]
    if foot.button(plan.confirm, type="primary", disabled=not ready, key="plan_confirm"):
        with problem.told():
            _act(visit, view, plan, given, (reason or "").strip())
            _close()
            st.rerun()


def _act(visit: Visit, view: ExecutionView, plan: Plan, given: dict[str, Any], reason: str) -> None:
    client, actor = visit.client, visit.actor(reason)
    if plan.action == recovery.RETRY:
        client.retry(view.id, actor)
    elif plan.action == recovery.RERUN:
        client.rerun(
            view.id,
            actor,
            task_id=recovery.task_id_of(view, plan.ref),
            task_input=given.get("task_input"),
        )
    elif plan.action == recovery.RESTART:
        client.restart(view.id, actor, latest=bool(given.get("latest")))
    elif plan.action == recovery.SKIP:
        client.skip(view.id, plan.ref, actor, output=given.get("output"))
    elif plan.action == recovery.TERMINATE:
        client.terminate(view.id, actor, failure_workflow=bool(given.get("failure_workflow")))
    else:
        {recovery.PAUSE: client.pause, recovery.RESUME: client.resume}[plan.action](view.id, actor)
    st.session_state[WATCHED] = {
        "id": view.id,
        "action": plan.action,
        "at": visit.fresh().now_ms,
        "reason": reason,
    }


def outcome(view: ExecutionView, now_ms: int) -> None:
    """What became of the last action on this execution, until the person sends the line away."""
    watched = st.session_state.get(WATCHED)
    if not watched or watched["id"] != view.id:
        return
    found = recovery.outcome_of(view, watched["action"], watched["at"], now_ms)
    words = f"{theme.words_markdown(found.status, found.words)}  \n"
    words += f":gray[Reason: {theme.plain(watched['reason'])}]"
    st.container(border=True, key="outcome").markdown(words)
