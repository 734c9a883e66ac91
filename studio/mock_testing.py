"""The mock tests page put together: the suite, one case over the picture, and what came of it."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from sample_workflows import catalogue
from studio import mock_suite, new_case, published
from studio.components import case_form, case_result, coded, graph_canvas, markup
from studio.components.visit import Visit, now_ms
from studio.desk.place import desk
from studio.editor.tree import JsonObject, spots, type_of
from studio.mock_suite import DRAFT, Result, Table
from studio.views import mock_cases, mock_run, theme, wording
from studio.views.mock_run import Gap, Report

_HEIGHT: Final = 430
_GAPS_SHOWN: Final = 6


def choose(visit: Visit) -> None:
    """No definition is named: those with suites first, then all others."""
    suites = {suite.definition: mock_cases.kept_cases(suite.document) for suite in desk().suites()}
    names = list(dict.fromkeys([*suites, *published.versions(visit.client)]))
    if not names:
        st.info("There is no definition to test yet. Draw one in the editor first.")
        st.page_link("../pages/editor.py", label="Open the editor")
        return
    samples = {sample.name for sample in catalogue.samples()}
    rows = []
    for name in names:
        tests = "ready cases" if name in samples else ""
        if suites.get(name):
            tests = wording.plural(len(suites[name]), "case")
        link = markup.link(markup.code(name), markup.address("tests", wf=name))
        rows.append(markup.Row((link, tests, *_last_run(visit, name))))
    columns = [markup.Column("Definition", cut=True), markup.Column("Tests")]
    columns += [markup.Column("Last run"), markup.Column("When", "right")]
    markup.show(markup.bordered(markup.table(columns, rows)))


def _last_run(visit: Visit, name: str) -> tuple[markup.Html | str, str]:
    """How the last run of a suite ended, and when that was; nothing where it was never run."""
    last = desk().recall(f"suite-run/{name}")
    if not isinstance(last, dict):
        return "", ""
    return _passed(last), wording.ago(int(last.get("at") or 0), visit.now_ms, visit.zone)


def _passed(run: Mapping[str, Any]) -> markup.Html:
    status = "COMPLETED" if run["met"] == run["cases"] else "FAILED"
    return markup.status(status, f"{run['met']} of {run['cases']}")


def show(visit: Visit, name: str, word: str | None, like: str | None) -> None:
    """The suite of one definition. `word` chooses what is played, `like` is an execution to make a
    case from."""
    words = mock_suite.playable(visit, name)
    if not words:
        st.warning(f"{theme.plain(name)} is not published, and you have no draft of it.")
        st.page_link("../pages/definitions.py", label="All definitions")
        return
    chosen = word if word in words else words[0]
    if like and st.session_state.get("made from") != like:
        st.session_state["made from"] = like
        mock_suite.add_from_execution(visit, name, like)
    _body(visit, name, words, chosen)


@st.fragment
def _body(visit: Visit, name: str, words: Sequence[str], first: str) -> None:
    held = st.session_state.get("tested")
    word = str(held) if held in words else first
    table = mock_suite.table_of(visit, name, word)
    case = mock_suite.chosen_case(table)
    if case and not mock_suite.fresh_result(table, case) and mock_suite.plays_freely(table):
        mock_suite.play_again(table, case)
    _head(table, words)
    if case is None:
        new_case.first(table, _HEIGHT)
        return
    left, right = st.columns([1.15, 4.3], gap="small")
    with right:
        _case(table, case)
    with left:
        _list(table, case)


def _head(table: Table, words: Sequence[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            title = markup.tag("h1", "Mock tests of ", markup.code(table.name))
            markup.show(
                markup.tag("div", title, markup.span(table.title, css="rp-tag"), css="rp-title"),
                markup.meta(_meta(table)),
            )
        if st.session_state.get("tested") != table.word:
            st.session_state["tested"] = table.word
        st.selectbox(
            "What is played",
            list(words),
            key="tested",
            label_visibility="collapsed",
            format_func=lambda each: "Your draft" if each == DRAFT else f"v{each}",
            width=130,
        )
        new_case.menu(table)
        if table.cases:
            suite = json.dumps({"definition": table.name, "cases": list(table.cases)}, indent=2)
            st.download_button(
                "Export", suite, file_name=f"{table.name}.tests.json", on_click="ignore",
                key="suite_export", help="All cases as one JSON file.",
            )  # fmt: skip
            st.button(
                f"Run all {len(table.cases)}",
                icon=":material/play_arrow:",
                type="primary",
                key="run_all",
                on_click=partial(mock_suite.play_all, table),
            )


def _meta(table: Table) -> list[tuple[str, object]]:
    last = desk().recall(f"suite-run/{table.name}")
    if not isinstance(last, dict):
        return [("Cases", len(table.cases)), ("Last run", "none")]
    at = wording.moment(int(last["at"]), table.visit.zone, "%H:%M:%S")
    ran = f"{at}, {wording.plural(int(last['cases']), 'case')} in {wording.took(last.get('took'))}"
    found: list[tuple[str, object]] = [("Last run", ran)]
    coverage = mock_suite.coverage_of(table)
    if coverage is not None and coverage.branches:
        found.append(("Branches", f"{coverage.branches_covered} of {coverage.branches}"))
    if coverage is not None:
        found.append(("Tasks", f"{coverage.tasks_covered} of {coverage.tasks}"))
    return found


def _list(table: Table, case: JsonObject) -> None:
    with st.container(border=True, key="cases_box"):
        st.radio(
            "Cases",
            [each["name"] for each in table.cases],
            key="case",
            format_func=partial(_case_words, table),
            captions=[_caption(table.results.get(each["name"])) for each in table.cases],
        )
    coverage = mock_suite.coverage_of(table)
    if coverage is not None and coverage.gaps:
        _never(table, case, coverage.gaps)
    _history(table)


def _case_words(table: Table, name: str) -> str:
    case = next((each for each in table.cases if each["name"] == name), None)
    result = None if case is None else mock_suite.fresh_result(table, case)
    if result is None:
        return f":gray[:material/radio_button_unchecked:] {theme.plain(name)}"
    sign = theme.words_markdown("COMPLETED" if result.met else "FAILED", "")
    return f"{sign} {theme.plain(name)}"


def _caption(result: Result | None) -> str:
    if result is None:
        return "not run yet"
    if result.report is None:
        return "not played"
    bad = [check for check in result.checks if not check.met]
    if bad:
        return coded.markdown(bad[0].text)
    return theme.plain(
        f"{theme.word(result.report.status)}, {wording.plural(sum(result.report.ran.values()), 'run')}"
    )


def _never(table: Table, case: JsonObject, gaps: Sequence[Gap]) -> None:
    with st.container(border=True, key="never_box"):
        st.markdown(f"**Never tested** :gray[:small[{len(gaps)}]]")
        for number, gap in enumerate(gaps[:_GAPS_SHOWN]):
            with st.container(
                horizontal=True, vertical_alignment="center", gap="xsmall", wrap=False
            ):
                st.markdown(coded.markdown(gap.text), width="stretch")
                st.button(
                    "Cover",
                    type="tertiary",
                    key=f"cover/{number}/{gap.ref}/{gap.case}",
                    help="Makes a case that goes there.",
                    on_click=partial(mock_suite.cover, table, case, gap),
                )
        if len(gaps) > _GAPS_SHOWN:
            st.caption(f"and {len(gaps) - _GAPS_SHOWN} more")


def _history(table: Table) -> None:
    lines = desk().recall(f"suite-history/{table.name}")
    if not isinstance(lines, list) or not lines:
        return
    rows = []
    for line in lines[:6]:
        when = wording.ago(int(line["at"]), now_ms(), table.visit.zone)
        rows.append(markup.Row((when, line.get("what") or "", _passed(line))))
    columns = [
        markup.Column("When"),
        markup.Column("What", cut=True),
        markup.Column("Passed", "right"),
    ]
    markup.show(markup.box("History", markup.table(columns, rows)))


def _case(table: Table, case: JsonObject) -> None:
    result = mock_suite.fresh_result(table, case)
    report = None if result is None else result.report
    middle, right = st.columns([1.8, 1], gap="small")
    with middle:
        chosen = _graph(table, case, report)
    with right:
        _outcome(table, case, result)
    tasks = [(spot.ref, type_of(spot.task)) for spot in spots(table.definition) if spot.ref]
    case_form.show(
        case,
        tasks,
        report,
        chosen,
        keep=partial(mock_suite.change, table, case["name"]),
        rename=partial(mock_suite.rename, table, case["name"]),
        remove=partial(mock_suite.remove, table, case["name"]),
    )


def _graph(table: Table, case: JsonObject, report: Report | None) -> str:
    """The case or the coverage of the suite over the picture; the task that is chosen in it."""
    shown = st.segmented_control(
        "Shown", ["This case", "Coverage"], key="mock_view", default="This case",
        required=True, label_visibility="collapsed",
    )  # fmt: skip
    reports = mock_suite.reports_of(table)
    drawing = mock_suite.drawing_of(table, reports)
    over = None
    if shown == "Coverage" and reports:
        over = mock_run.coverage_of(drawing, table.definition, reports).overlay
    elif shown == "This case" and report is not None:
        over = mock_run.overlay_of(drawing, report)
    event = graph_canvas.show(
        drawing,
        over,
        mode="mock",
        key=f"tests/{table.name}",
        height=_HEIGHT,
        label=f"{case['name']} over {table.name}",
    )
    node = drawing.by_id.get(event.selected or "")
    return node.ref if node is not None else ""


def _outcome(table: Table, case: JsonObject, result: Result | None) -> None:
    if result is None:
        markup.show(markup.box(case["name"], markup.empty("Not run since it was changed.")))
        st.button(
            "Run this case",
            icon=":material/play_arrow:",
            on_click=partial(mock_suite.play_again, table, case),
        )
        return
    if result.report is None:
        st.error(f"**Not played.** {coded.markdown(result.fault)}", icon=":material/warning:")
        st.button(
            "Try again", key="play_again", on_click=partial(mock_suite.play_again, table, case)
        )
        return
    case_result.show(case["name"], result.report, result.checks)
    with st.container(horizontal=True):
        if not result.met or not result.checks:
            st.button(
                "Expect what happened",
                key="accept",
                help="Takes the status, the end and the output of this run as what is expected.",
                on_click=partial(mock_suite.accept, table, case, result.report),
            )
        place = markup.address("editor", wf=table.name, task=result.report.failed_ref or None)
        markup.show(markup.button("Open in editor", place))
