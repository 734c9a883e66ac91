"""One action over the chosen executions: their state is read again, the plan told, then done.

The selection is a list of ids; what is no longer in a state that allows the action is left out and
named. Afterwards each id has its own result.
"""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from studio.client.errors import ServerError
from studio.components import live, markup, problem, row_picker
from studio.components.visit import Visit
from studio.views import recovery, theme, wording

VERBS: Final = (
    recovery.RETRY,
    recovery.RESTART,
    recovery.PAUSE,
    recovery.RESUME,
    recovery.TERMINATE,
)
AT_MOST: Final = 500
"""How many executions are read again before an action."""
_RESULT: Final = "bulk_result"


def _open(verb: str) -> None:
    st.session_state[live.PLAN] = {"bulk": verb}


def _close() -> None:
    st.session_state.pop(live.PLAN, None)


def bar(chosen: Sequence[str], key: str) -> None:
    """The row at the foot; there only while something is chosen."""
    if not chosen:
        return
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", key="bulk_bar"):
        st.markdown(f"**{len(chosen)} selected**", width="content")
        st.button(
            "Clear", key="bulk_clear", type="tertiary", on_click=row_picker.clear, args=(key,)
        )
        st.space("stretch")
        for verb in reversed(VERBS):
            st.button(
                f"{recovery.ACTIONS[verb].word}…",
                key=f"bulk_{verb}",
                type="primary" if verb == recovery.RETRY else "secondary",
                on_click=_open,
                args=(verb,),
            )


def dialog_if_asked(visit: Visit, chosen: Sequence[str], key: str) -> None:
    asked = st.session_state.get(live.PLAN)
    if not asked or "bulk" not in asked:
        return
    verb = asked["bulk"]
    title = f"{recovery.ACTIONS[verb].word} {wording.plural(len(chosen), 'execution')}"
    st.dialog(title, width="large", on_dismiss=_close)(_dialog)(visit, verb, chosen, key)


def _dialog(visit: Visit, verb: str, chosen: Sequence[str], key: str) -> None:
    ready, left_out = _states(visit, verb, list(chosen)[:AT_MOST])
    st.markdown(":gray[The state of each was read again just now. Nothing has been changed yet.]")
    facts = [
        markup.Fact(len(ready), f"will be asked to {recovery.ACTIONS[verb].word.lower()}"),
        markup.Fact(len(left_out), "left out: their state does not allow it"),
    ]
    markup.show(markup.facts(facts))
    if left_out:
        lines = [
            markup.item(markup.status(state), markup.identifier(id_)) for id_, state in left_out[:8]
        ]
        markup.show(markup.bordered(markup.items(lines)))
    if len(chosen) > AT_MOST:
        st.caption(f"At most {AT_MOST} at once; the first {AT_MOST} are taken.")
    reason = st.text_input(
        "Reason, required; it is kept with each execution", key="bulk_reason", live=True
    )
    foot = st.container(horizontal=True, vertical_alignment="center")
    foot.caption(f"`{'PUT' if verb in ('pause', 'resume') else 'POST'} /api/workflow/bulk/{verb}`")
    if foot.button("Keep as they are", key="bulk_keep"):
        _close()
        st.rerun()
    able = bool(ready) and bool((reason or "").strip())
    words = f"{recovery.ACTIONS[verb].word} {len(ready)}"
    if foot.button(words, type="primary", disabled=not able, key="bulk_confirm"):
        with problem.told():
            done, failed = visit.client.bulk(verb, ready, visit.actor((reason or "").strip()))
            st.session_state[_RESULT] = {"verb": verb, "done": done, "failed": failed}
            row_picker.clear(key)
            _close()
            st.rerun()


def _states(visit: Visit, verb: str, ids: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Those whose present state allows the action, and the others with their state."""
    ready: list[str] = []
    left_out: list[tuple[str, str]] = []
    for id_ in ids:
        try:
            status = str(visit.client.execution(id_, tasks=False).get("status") or "")
        except ServerError as error:
            left_out.append((id_, error.message))
            continue
        if verb in recovery.allowed(status):
            ready.append(id_)
        else:
            left_out.append((id_, status))
    return ready, left_out


def result(visit: Visit) -> None:
    """What became of the last bulk action: where each execution stands now."""
    found = st.session_state.get(_RESULT)
    if not found:
        return
    word = recovery.ACTIONS[found["verb"]].word
    counts: dict[str, int] = {}
    with problem.told():
        for id_ in found["done"]:
            status = str(visit.client.execution(id_, tasks=False).get("status") or "")
            counts[status] = counts.get(status, 0) + 1
    with st.container(border=True, key="bulk_result"):
        row = st.container(horizontal=True, vertical_alignment="center")
        now = ", ".join(
            theme.words_markdown(status, f"{count} {theme.word(status).lower()}")
            for status, count in counts.items()
        )
        accepted, refused = len(found["done"]), len(found["failed"])
        row.markdown(
            f"{word} was accepted for {accepted}, refused for {refused}."
            + (f" Now: {now}" if now else "")
        )
        row.button("Done", key="bulk_done", on_click=lambda: st.session_state.pop(_RESULT, None))
        for id_, words in list(found["failed"].items())[:10]:
            st.caption(f"`{id_}` {theme.plain(str(words))}")
