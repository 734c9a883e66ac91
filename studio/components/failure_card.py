"""Why an execution failed: the root, what to look at, and the safest next step, joined in one card."""

import streamlit as st

from studio.components import markup, recovery_bar
from studio.components.visit import Visit
from studio.views import recovery, wording
from studio.views.beginning import Beginning, beginning_of
from studio.views.execution import ExecutionView, RootFailure, root_failure


def show(visit: Visit, view: ExecutionView) -> str:
    """Draws the card of an execution that ended badly; the action on its button, or nothing."""
    if not view.failed:
        return ""
    root = root_failure(view)
    plan = recovery.plan_of(view, recovery.RETRY)
    action = recovery.RESTART if plan.blocked else recovery.RETRY
    if plan.blocked:
        plan = recovery.plan_of(view, action)
    with st.container(border=True, key="failure_card"):
        left, middle, right = st.columns([1.7, 1.2, 1.1])
        with left:
            markup.show(*_root(visit, view, root))
        with middle:
            markup.show(markup.tag("h3", "Where to look"), *_evidence(visit, view, root))
        with right:
            markup.show(markup.tag("h3", "Safe next action"), markup.tag("p", _effect(plan)))
            at = f" from {root.ref}" if root and action == recovery.RETRY else ""
            st.button(
                recovery.ACTIONS[action].word + at,
                type="primary",
                icon=f":material/{recovery.ACTIONS[action].icon}:",
                key="failure_action",
                shortcut=recovery_bar.shortcut(action),
                on_click=recovery_bar.open_plan,
                args=(view.id, action),
            )
    return action


def _root(visit: Visit, view: ExecutionView, root: RootFailure | None) -> list[markup.Html]:
    if root is None:
        words = "No task failed" if view.status == "TERMINATED" else "No failed task is known"
        return [markup.tag("h3", words), markup.tag("p", _why(view.reason), css="rp-why")]
    where = [f", iteration {root.iteration}"] if root.iteration else []
    where += [f", {wording.plural(root.tries, 'try', 'tries')}"]
    head = markup.tag("h3", "Root failure in ", markup.code(root.ref), *where)
    parts = [head, markup.tag("p", _why(root.reason), css="rp-why")]
    # Only what failed below is worth asking for: what failed here stands here.
    told = visit.client.diagnosis(view.id) if root.child_id else None
    began = beginning_of(told, view.id)
    if began is not None:
        parts += _beginning(began, shown=_why(root.reason))
    about = [f"{wording.moment(root.at_ms, visit.zone, '%H:%M:%S')}"]
    if root.consequences:
        shown = ", ".join(root.consequences[:3])
        more = len(root.consequences) - 3
        about.append(f"Consequence: {shown}" + (f" and {more} more." if more > 0 else "."))
    parts.append(markup.tag("p", " · ".join(about), css="rp-mid"))
    return parts


def _beginning(began: Beginning, shown: str) -> list[markup.Html]:
    """The task below at which it began, and its reason unless that is `shown` already."""
    place = markup.address("execution", id=began.execution_id, task=began.ref)
    workflow = markup.code(began.workflow or began.execution_id)
    if began.ref:
        parts = ["It began in ", markup.link(markup.code(began.ref), place), " of ", workflow]
    else:
        parts = ["It began in ", markup.link(workflow, place)]
    parts += [f", iteration {began.iteration}"] if began.iteration else []
    parts += [f", {began.tries} tries"] if began.tries > 1 else []
    lines = [markup.tag("p", *parts)]
    if _why(began.reason) != shown:
        lines.append(markup.tag("p", _why(began.reason), css="rp-mid"))
    return lines


def _why(reason: str) -> str:
    line = wording.reason_line(reason)
    return "No reason was given." if line in ("", wording.NO_REASON) else line


def _evidence(visit: Visit, view: ExecutionView, root: RootFailure | None) -> list[markup.Html]:
    lines: list[markup.Html] = []
    if root is not None:
        worker = markup.code(root.worker) if root.worker else markup.dim("none")
        lines.append(markup.tag("p", "Task ", markup.code(root.name), ", worker ", worker))
        if root.child_id:
            child = markup.identifier(root.child_id, markup.address("execution", id=root.child_id))
            lines.append(markup.tag("p", "It failed inside the child ", child))
        alike = markup.address("executions", wf=view.name, status=["FAILED", "TIMED_OUT"])
        lines.append(markup.tag("p", markup.link(f"Other failures of {view.name}", alike)))
    failure = (
        view.output.get("conductor.failure_workflow") if isinstance(view.output, dict) else None
    )
    if failure:
        place = markup.identifier(str(failure), markup.address("execution", id=failure))
        lines.append(markup.tag("p", "Failure workflow ", place))
    return lines or [markup.tag("p", "Nothing else is known.", css="rp-mid")]


def _effect(plan: recovery.Plan) -> str:
    again, reused = len(plan.again), len(plan.reused)
    words = f"{wording.plural(again, 'task')} run{'s' if again == 1 else ''} again"
    return f"{words}, {wording.plural(reused, 'task')} reused."
