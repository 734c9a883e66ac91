"""One case of a mock test to edit: its name and input, its mocks, what is expected of it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from studio.components import mock_form
from studio.editor.tree import JsonObject
from studio.graph import marks
from studio.views.mock_cases import PLAYED_BY_ENGINE
from studio.views.mock_run import Report

Keep = Callable[[JsonObject], None]

_ENDS: Final = ("COMPLETED", "FAILED", "TIMED_OUT", "TERMINATED", "RUNNING")
_TABS: Final = ("Mocks", "Input", "Expected", "Case")


def show(
    case: JsonObject,
    tasks: Sequence[tuple[str, str]],
    report: Report | None,
    chosen: str,
    keep: Keep,
    rename: Callable[[str], None],
    remove: Callable[[], None],
) -> None:
    """`tasks` are reference names and types of the definition, `chosen` the task that is looked at."""
    at = f"case/{case['name']}"
    tabs = st.tabs(_TABS, key="case_tab", on_change="rerun")
    if tabs[0].open:
        with tabs[0]:
            _mocks(case, tasks, report, chosen, at, keep)
    if tabs[1].open:
        with tabs[1]:
            told = partial(_put, case, "input", keep)
            mock_form.json_area(
                "Input of the run", case.get("input") or {}, f"{at}/input", told, 160
            )
            told = partial(_put, case, "children", keep)
            label = "Mocks of sub-workflows, by the task that runs them"
            mock_form.json_area(label, case.get("children") or {}, f"{at}/children", told, 120)
    if tabs[2].open:
        with tabs[2]:
            _expected(case, tasks, at, keep)
    if tabs[3].open:
        with tabs[3]:
            _about(case, at, rename, remove)


def _mocks(
    case: JsonObject,
    tasks: Sequence[tuple[str, str]],
    report: Report | None,
    chosen: str,
    at: str,
    keep: Keep,
) -> None:
    mocks = case.get("mocks") or {}
    left, right = st.columns([3, 2], gap="medium")
    with left:
        mock_form.table(case, chosen)
    with right:
        usable = [ref for ref, type_ in tasks if type_ not in PLAYED_BY_ENGINE]
        waiting = list(report.waiting) if report else []
        keys = list(dict.fromkeys([*mocks, *waiting, *usable, *(ref for ref, _ in tasks)]))
        if not keys:
            st.caption("There is no task to mock.")
            return
        wanted = chosen if chosen in keys else waiting[0] if waiting else keys[0]
        if (
            st.session_state.get("mock_of") not in keys
            or st.session_state.get("mock_for") != chosen
        ):
            st.session_state["mock_of"], st.session_state["mock_for"] = wanted, chosen
        key = st.selectbox(
            "Answers of", keys, key="mock_of", accept_new_options=True,
            help="A task of a loop may have answers for one round: its name, two underscores, the round.",
        )  # fmt: skip
        mock_form.attempts(case, str(key), at, keep)


def _expected(case: JsonObject, tasks: Sequence[tuple[str, str]], at: str, keep: Keep) -> None:
    expect = case.get("expect") or {}
    with st.container(horizontal=True):
        _choice(case, expect, "status", "It ends", _ENDS, at, keep)
        refs = [ref for ref, _ in tasks]
        _choice(case, expect, "failedRef", "Ended by", refs, at, keep)
    for field, label in (
        ("output_has", "Outputs with exactly these values"),
        ("ran", "How often tasks run, by reference name"),
        ("inputs", "What tasks are given, by reference name"),
    ):
        told = partial(_expect, case, field, keep)
        mock_form.json_area(label, expect.get(field) or {}, f"{at}/{field}", told)


def _choice(
    case: JsonObject,
    expect: JsonObject,
    field: str,
    label: str,
    options: Sequence[str],
    at: str,
    keep: Keep,
) -> None:
    key, present = f"{at}/{field}", expect.get(field)
    if st.session_state.get(key) != present:
        st.session_state[key] = present
    listed = list(dict.fromkeys([*options, *([present] if present else [])]))
    st.selectbox(
        label,
        listed,
        key=key,
        index=None,
        placeholder="Anything",
        format_func=lambda raw: marks.mark_of(raw).word if field == "status" else raw,
        on_change=partial(_chosen, case, field, key, keep),
    )


def _chosen(case: JsonObject, field: str, key: str, keep: Keep) -> None:
    _expect(case, field, keep, st.session_state[key])


def _about(
    case: JsonObject, at: str, rename: Callable[[str], None], remove: Callable[[], None]
) -> None:
    if st.session_state.get(f"{at}/name") != case["name"]:
        st.session_state[f"{at}/name"] = case["name"]
    st.text_input(
        "Name", key=f"{at}/name", on_change=lambda: rename(st.session_state[f"{at}/name"])
    )
    if case.get("origin"):
        st.caption(f"Made from {case['origin']}.")
    with st.popover("Delete this case", icon=":material/delete:"):
        st.markdown(f"Delete the case **{case['name']}** for good?")
        st.button("Delete it", key=f"{at}/remove", on_click=remove)


def _put(case: JsonObject, field: str, keep: Keep, value: Any) -> None:
    keep({**case, field: value})


def _expect(case: JsonObject, field: str, keep: Keep, value: Any) -> None:
    expect = {**(case.get("expect") or {}), field: value}
    keep({**case, "expect": {k: v for k, v in expect.items() if v not in (None, {}, "")}})
