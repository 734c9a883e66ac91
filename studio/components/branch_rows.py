"""The cases of a switch and the branches of a fork, as rows: rename, reorder, remove, add."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from studio.editor.tree import JsonObject, Spot, refs_in, type_of

Act = Callable[[JsonObject], Any]


def show(spot: Spot, key: str, act: Act) -> None:
    """Nothing for a task that has no branches of its own to arrange."""
    word = type_of(spot.task)
    if word in ("SWITCH", "DECISION"):
        _cases(spot, f"{key}/cases", act)
    elif word == "FORK_JOIN":
        _branches(spot, f"{key}/branches", act)


def _cases(spot: Spot, key: str, act: Act) -> None:
    cases = spot.task.get("decisionCases")
    names = list(cases) if isinstance(cases, dict) else []
    st.markdown(":small[**Cases**]")
    for number, case in enumerate(names):
        with _row():
            at = f"{key}/{number}"
            if st.session_state.get(at) != case:
                st.session_state[at] = case
            st.text_input(
                f"Case {number + 1}",
                key=at,
                label_visibility="collapsed",
                on_change=partial(_renamed, at, spot.ref, case, act),
            )
            about = {"ref": spot.ref, "case": case}
            _arrows(at, number, len(names), {"op": "move_case", **about}, act)
            _remove(at, f"case {case}", {"op": "delete_case", **about}, act)
    held = refs_in(spot.task.get("defaultCase"))
    st.caption(f"Otherwise: {', '.join(held)}" if held else "Otherwise: straight on")
    st.text_input(
        "Add a case",
        key=f"{key}/@new",
        placeholder="Its value, then Enter",
        on_change=partial(_new_case, f"{key}/@new", spot.ref, act),
    )


def _renamed(at: str, ref: str | None, case: str, act: Act) -> None:
    to = str(st.session_state[at]).strip()
    if to and to != case:
        act({"op": "rename_case", "ref": ref, "case": case, "to": to})


def _new_case(at: str, ref: str | None, act: Act) -> None:
    case = str(st.session_state[at]).strip()
    st.session_state[at] = ""
    if case:
        act({"op": "add_case", "ref": ref, "case": case})


def _branches(spot: Spot, key: str, act: Act) -> None:
    held = spot.task.get("forkTasks")
    branches = held if isinstance(held, list) else []
    st.markdown(":small[**Branches**]")
    for number, tasks in enumerate(branches):
        with _row():
            names = ", ".join(refs_in(tasks)) or "empty"
            st.markdown(f"{number + 1}. `{names.replace('`', '')}`", width="stretch")
            at, about = f"{key}/{number}", {"ref": spot.ref, "branch": number}
            _arrows(at, number, len(branches), {"op": "move_branch", **about}, act)
            _remove(at, f"branch {number + 1}", {"op": "delete_branch", **about}, act)
    st.button(
        "Add a branch",
        key=f"{key}/@new",
        icon=":material/add:",
        on_click=partial(act, {"op": "add_branch", "ref": spot.ref}),
    )


def _row() -> Any:
    return st.container(horizontal=True, vertical_alignment="center", gap="xsmall")


def _arrows(at: str, number: int, count: int, op: JsonObject, act: Act) -> None:
    for name, icon, to in (
        ("up", "arrow_upward", number - 1),
        ("down", "arrow_downward", number + 1),
    ):
        st.button(
            f":material/{icon}:",
            key=f"{at}/{name}",
            type="tertiary",
            help=f"Move {name}",
            disabled=not 0 <= to < count,
            on_click=partial(act, {**op, "to": to}),
        )


def _remove(at: str, what: str, op: JsonObject, act: Act) -> None:
    st.button(
        ":material/close:",
        key=f"{at}/remove",
        type="tertiary",
        help=f"Remove {what}",
        on_click=partial(act, op),
    )
