"""Publishing a draft: what it changes, what its checks say, the new version's number and why.

A published version is never changed: a number that is taken is refused here and, should somebody
be quicker, by the server. What publishing does is told from outside.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from studio.client.errors import Refused, ServerError
from studio.components import coded, markup, problem
from studio.views import problems as problems_room
from studio.views.compare import Change, Comparison
from studio.views.problems import Problem

Publish = Callable[[int, str], None]
"""Registers the draft as that version, with that note. Raises ServerError."""

_SHAPES = {"added": "square_plus", "changed": "square_equals", "removed": "square_minus"}
_TONES = {"added": "completed", "changed": "errors", "removed": "failed"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be published. `comparison` is with the newest published version, None when there is
    none; `base` is the version the draft began from."""

    name: str
    base: int | None
    versions: Sequence[int]
    comparison: Comparison | None
    problems: Sequence[Problem]

    @property
    def newest(self) -> int | None:
        return max(self.versions, default=None)

    @property
    def next(self) -> int:
        return (self.newest or 0) + 1


def ask(plan: Plan, publish: Publish, left: Callable[[], None]) -> None:
    """The dialog, drawn at every run until it is `left`: published, or closed by the person."""
    st.dialog("Publish", width="large", on_dismiss=left)(_body)(plan, publish, left)


def _body(plan: Plan, publish: Publish, left: Callable[[], None]) -> None:
    errors = problems_room.count(plan.problems, "error")
    warnings = problems_room.count(plan.problems, "warning")
    _what(plan)
    if errors:
        _problems(plan, "error")
        st.error(
            f"{_counted(errors, 'error')} to mend before this can be published.",
            icon=":material/disabled_by_default:",
        )
        return
    number = st.number_input("Version", min_value=1, value=plan.next, step=1, key="publish_version")
    note = st.text_area(
        "What changed and why :gray[:small[required]]", key="publish_note", height=84
    )
    seen = True
    if warnings:
        _problems(plan, "warning")
        seen = st.checkbox(f"I have seen {_counted(warnings, 'warning')}", key="publish_seen")
    if _overtaken(plan):
        seen = (
            st.checkbox(f"This may replace what v{plan.newest} changed", key="publish_over")
            and seen
        )
    version = int(number)
    if st.button(f"Publish v{version}", type="primary", key="publish_confirm"):
        missing = _missing(plan, version, note, seen)
        if missing:
            st.warning(missing)
            return
        _carry_out(version, note.strip(), publish, left)


def _carry_out(version: int, note: str, publish: Publish, left: Callable[[], None]) -> None:
    try:
        publish(version, note)
    except Refused as error:
        st.error(
            f"v{version} was published by somebody else a moment ago, so nothing was written. "
            "Close this, look at what it changed under Versions, and publish again."
        )
        st.caption(coded.markdown(error.message))
    except ServerError as error:
        problem.show(error)
    else:
        left()
        st.rerun()


def _missing(plan: Plan, version: int, note: str, seen: bool) -> str:
    if version in plan.versions:
        return f"v{version} is published already, and a published version is never changed. Take v{plan.next}."
    if not note.strip():
        return "Say what changed and why: whoever is on call will read it."
    return "" if seen else "Tick what you have seen first."


def _what(plan: Plan) -> None:
    if plan.comparison is None:
        st.markdown(f"`{plan.name}` was never published. This will be its first version.")
        return
    if _overtaken(plan):
        st.warning(
            f"Your draft began from v{plan.base}, and v{plan.newest} has been published since. "
            "Below is what your draft changes against the newest one, so what it takes back is listed too.",
            icon=":material/warning:",
        )
    changes = plan.comparison.changes
    if not changes:
        st.info(f"There is no difference to v{plan.newest}.")
        return
    note = f"against v{plan.newest}"
    markup.show(markup.box("Changes in words", change_list(changes), note=note, end=len(changes)))


def change_list(changes: Sequence[Change]) -> markup.Html:
    """The differences as a list, each with its square."""
    return markup.tag(
        "div", markup.items(change_line(change) for change in changes), css="rp-scroll rp-short"
    )


def change_line(change: Change) -> markup.Html:
    square = markup.span(
        "", css=f"rp-st rp-c-{_TONES[change.kind]} rp-m-{_SHAPES[change.kind]}", title=change.kind
    )
    words = markup.tag(
        "div",
        markup.tag("b", coded.html(change.about)),
        markup.span(coded.html(change.detail)),
        css="rp-grow rp-two",
    )
    return markup.tag("li", square, words)


def _problems(plan: Plan, level: str) -> None:
    rows = [
        markup.tag(
            "li",
            markup.status("FAILED" if level == "error" else "COMPLETED_WITH_ERRORS", ""),
            markup.tag("div", coded.html(found.text), css="rp-grow"),
        )
        for found in plan.problems
        if found.level == level
    ]
    markup.show(markup.bordered(markup.items(rows)))


def _overtaken(plan: Plan) -> bool:
    return plan.newest is not None and plan.base != plan.newest


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
