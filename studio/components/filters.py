"""The filters of the executions page, bound to its address: a link shows a colleague the same list."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from studio.views import executions, theme, wording
from studio.views.executions import Filters

_ANY: Final = "Any"


def asked() -> Filters:
    """What the address says."""
    names = st.query_params.keys()
    return executions.filters_of({name: st.query_params.get_all(name) for name in names})


def bar(names: Sequence[str], counts: Mapping[str, int]) -> Filters:
    """The row of filters; what the person changes goes into the address.

    `names` are the definitions, `counts` how many executions there are in each status.
    """
    now = asked()
    _seed(now)
    chosen = replace(_with_status(_with_fields(now, names), counts), page=1)
    if chosen == replace(now, page=1):
        chosen = now
    _write(chosen)
    return chosen


def _with_fields(now: Filters, names: Sequence[str]) -> Filters:
    with st.container(border=True, key="filter_box"):
        words, definition, since, correlation, sort = st.columns([2.2, 1.4, 1, 1.2, 1.1])
        q = words.text_input(
            "Words or query",
            key="f_q",
            placeholder="gateway, or failedTask = poll",
            help="Free words look into ids, reasons, inputs and outputs. A comparison is a query "
            "in Conductor's words: status = FAILED AND startTime > 1700000000000",
        )
        wf = definition.selectbox("Definition", [_ANY, *_with(names, now.wf)], key="f_wf")
        from_ = since.selectbox(
            "Started",
            list(executions.RANGES),
            key="f_from",
            format_func=lambda word: executions.RANGES[word][0],
        )
        corr = correlation.text_input("Correlation id", key="f_corr")
        order = sort.selectbox(
            "Order",
            list(executions.SORTS),
            key="f_sort",
            format_func=lambda word: executions.SORTS[word],
        )
    return replace(
        now,
        q=(q or "").strip(),
        wf="" if wf == _ANY else str(wf or ""),
        corr=(corr or "").strip(),
        since=str(from_ or ""),
        sort=str(order or now.sort),
    )


def _with_status(now: Filters, counts: Mapping[str, int]) -> Filters:
    chosen = st.segmented_control(
        "Status",
        executions.STATUSES,
        selection_mode="multi",
        key="f_status",
        format_func=lambda word: theme.words_markdown(
            word, f"{wording.number(counts.get(word, 0))} {theme.word(word).lower()}"
        ),
        label_visibility="collapsed",
    )
    return replace(
        now, status=tuple(word for word in executions.STATUSES if word in (chosen or ()))
    )


def turn_to(filters: Filters, page: int) -> None:
    _write(replace(filters, page=page))


def _with(names: Sequence[str], wanted: str) -> list[str]:
    return list(names) if not wanted or wanted in names else [wanted, *names]


def _seed(now: Filters) -> None:
    """Sets the widgets when the address was changed by a link."""
    if st.session_state.get("filters_shown") == now.parameters():
        return
    st.session_state["f_q"] = now.q
    st.session_state["f_wf"] = now.wf or _ANY
    st.session_state["f_from"] = now.since
    st.session_state["f_corr"] = now.corr
    st.session_state["f_sort"] = now.sort
    st.session_state["f_status"] = list(now.status)
    st.session_state["filters_shown"] = now.parameters()


def _write(filters: Filters) -> None:
    wanted = filters.parameters()
    if asked().parameters() != wanted:
        st.query_params.from_dict({key: value for key, value in wanted.items()})
    st.session_state["filters_shown"] = asked().parameters()
