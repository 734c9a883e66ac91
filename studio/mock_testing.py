"""The mock tests page put together: a suite of cases on the desk, played by the server, judged here."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any, Final

import streamlit as st

from sample_workflows import catalogue
from studio import drafting, published
from studio.client import capabilities
from studio.client.errors import ServerError
from studio.components import case_form, case_result, coded, graph_canvas, markup
from studio.components.visit import Visit, now_ms
from studio.desk.place import desk
from studio.editor.tree import JsonObject, copied, spots, type_of
from studio.graph import layout
from studio.views import mock_cases, mock_run, steering, theme, wording
from studio.views.mock_run import Check, Coverage, Gap, Report

SUITE: Final = "mock tests"
DRAFT: Final = "draft"
_HEIGHT: Final = 430
_GAPS_SHOWN: Final = 6
_HISTORY: Final = 12


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a case. `mark` says which case and definition were played."""

    mark: str
    report: Report | None
    checks: tuple[Check, ...]
    fault: str = ""

    @property
    def met(self) -> bool:
        return self.report is not None and all(check.met for check in self.checks)


@dataclass(frozen=True, slots=True)
class Table:
    """What lies on the table: the definition that is tested, and its suite."""

    visit: Visit
    name: str
    word: str
    definition: JsonObject
    cases: tuple[JsonObject, ...]

    @property
    def title(self) -> str:
        version = self.definition.get("version")
        return "draft" if self.word == DRAFT else f"v{version}"


def choose(visit: Visit) -> None:
    """No definition is named: those with suites first, then all others."""
    suites = {suite.definition: mock_cases.kept_cases(suite.document) for suite in desk().suites()}
    names = list(dict.fromkeys([*suites, *published.versions(visit.client)]))
    ready = {sample.name for sample in catalogue.samples()}
    rows = []
    for name in names:
        last = desk().recall(f"suite-run/{name}")
        ran = f"{last['met']} of {last['cases']}" if isinstance(last, dict) else ""
        status = (
            markup.status("COMPLETED" if last["met"] == last["cases"] else "FAILED", ran)
            if ran
            else ""
        )
        count = (
            wording.plural(len(suites[name]), "case")
            if suites.get(name)
            else "ready cases"
            if name in ready
            else ""
        )
        when = wording.ago(int(last.get("at") or 0), visit.now_ms, visit.zone) if ran else ""
        link = markup.link(markup.code(name), markup.address("tests", wf=name))
        rows.append(markup.Row((link, count, status, when)))
    columns = [markup.Column("Definition", cut=True), markup.Column("Tests")]
    columns += [markup.Column("Last run"), markup.Column("When", "right")]
    if rows:
        markup.show(markup.bordered(markup.table(columns, rows)))
    else:
        st.info("There is no definition to test yet. Draw one in the editor first.")
        st.page_link("../pages/editor.py", label="Open the editor")


def show(visit: Visit, name: str, word: str | None, like: str | None) -> None:
    """The suite of one definition. `word` chooses what is played, `like` is an execution to make a
    case from."""
    words = _words(visit, name)
    if not words:
        st.warning(f"{theme.plain(name)} is not published, and you have no draft of it.")
        st.page_link("../pages/definitions.py", label="All definitions")
        return
    chosen = word if word in words else words[0]
    if like and st.session_state.get("made from") != like:
        st.session_state["made from"] = like
        _from_execution(visit, name, like)
    _body(visit, name, words, chosen)


def _words(visit: Visit, name: str) -> list[str]:
    """What can be played: the draft, and every version, the newest first."""
    numbers = [str(each.number) for each in reversed(published.versions_of(visit.client, name))]
    draft = drafting.unpublished(visit.person, name)
    return ([DRAFT] if draft is not None else []) + numbers


def _definition(visit: Visit, name: str, word: str) -> JsonObject:
    if word == DRAFT:
        return copied(drafting.room(visit, name, None).draft.definition)  # type: ignore[no-any-return]
    return published.definition(visit.client, name, int(word)) or {"name": name, "tasks": []}


def _cases(name: str) -> tuple[JsonObject, ...]:
    kept = [suite for suite in desk().suites(name) if suite.name == SUITE]
    return tuple(mock_cases.kept_cases(kept[0].document)) if kept else ()


def _keep(name: str, cases: Sequence[JsonObject]) -> None:
    desk().save_suite(name, SUITE, {"cases": list(cases)})


@st.fragment
def _body(visit: Visit, name: str, words: Sequence[str], first: str) -> None:
    held = st.session_state.get("tested")
    word = str(held) if held in words else first
    table = Table(visit, name, word, _definition(visit, name, word), _cases(name))
    results = _results(table)
    case = _chosen_case(table)
    if case is not None and _plays_freely(table) and not _is_fresh(table, case, results):
        results[case["name"]] = _play(table, case)
    _head(table, words, word, results)
    if case is None:
        _empty(table)
        return
    left, right = st.columns([1.15, 4.3], gap="small")
    with right:
        _case(table, case, results)
    with left:
        _list(table, case, results)


def _chosen_case(table: Table) -> JsonObject | None:
    """The case that is looked at; the first when the chosen one has gone."""
    if not table.cases:
        return None
    names = [case["name"] for case in table.cases]
    if st.session_state.get("case") not in names:
        asked = st.query_params.get("case")
        st.session_state["case"] = asked if asked in names else names[0]
    return table.cases[names.index(st.session_state["case"])]


def _results(table: Table) -> dict[str, Result]:
    held: dict[str, Result] = st.session_state.setdefault(f"results/{table.name}", {})
    return held


def _plays_freely(table: Table) -> bool:
    """Our engine plays a case in memory; a Conductor server keeps each as an execution, so there
    nothing is played before somebody asks."""
    try:
        return table.visit.client.capabilities().product == capabilities.REPRISE
    except ServerError:
        return False


def _mark(table: Table, case: Mapping[str, Any]) -> str:
    said = {key: case.get(key) for key in ("input", "mocks", "children", "expect")}
    text = json.dumps([said, table.definition], sort_keys=True)
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _is_fresh(table: Table, case: JsonObject, results: Mapping[str, Result]) -> bool:
    result = results.get(case["name"])
    return result is not None and result.mark == _mark(table, case)


def _play(table: Table, case: JsonObject) -> Result:
    """One case on the server, and what is to be said about it."""
    mark = _mark(table, case)
    try:
        answer = table.visit.client.test(mock_cases.request_of(case, table.definition))
    except ServerError as error:
        parts = [error.message, *(f"{found.path}: {found.message}" for found in error.violations)]
        return Result(mark, None, (), " ".join(parts))
    report = mock_run.report_of(answer, case)
    return Result(mark, report, mock_run.checks_of(case["expect"], report, table.definition))


def _play_all(table: Table) -> None:
    results = _results(table)
    began = now_ms()
    for case in table.cases:
        results[case["name"]] = _play(table, case)
    met = sum(results[case["name"]].met for case in table.cases)
    line = {"at": now_ms(), "met": met, "cases": len(table.cases), "what": table.title}
    line["took"] = now_ms() - began
    desk().remember(f"suite-run/{table.name}", line)
    desk().remember_recent(f"suite-history/{table.name}", line, most=_HISTORY)


def _head(table: Table, words: Sequence[str], word: str, results: Mapping[str, Result]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            title = markup.tag("h1", "Mock tests of ", markup.code(table.name))
            markup.show(
                markup.tag("div", title, markup.span(table.title, css="rp-tag"), css="rp-title"),
                markup.meta(_meta(table, results)),
            )
        if st.session_state.get("tested") != word:
            st.session_state["tested"] = word
        st.selectbox(
            "What is played",
            list(words),
            key="tested",
            label_visibility="collapsed",
            format_func=lambda each: "Your draft" if each == DRAFT else f"v{each}",
            width=130,
        )
        _new_case(table)
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
                on_click=partial(_play_all, table),
            )


def _meta(table: Table, results: Mapping[str, Result]) -> list[tuple[str, object]]:
    last = desk().recall(f"suite-run/{table.name}")
    if not isinstance(last, dict):
        return [("Cases", len(table.cases)), ("Last run", "none")]
    at = wording.moment(int(last["at"]), table.visit.zone, "%H:%M:%S")
    ran = f"{at}, {wording.plural(int(last['cases']), 'case')} in {wording.took(last.get('took'))}"
    found: list[tuple[str, object]] = [("Last run", ran)]
    coverage = _coverage(table, results)
    if coverage is not None and coverage.branches:
        found.append(("Branches", f"{coverage.branches_covered} of {coverage.branches}"))
    if coverage is not None:
        found.append(("Tasks", f"{coverage.tasks_covered} of {coverage.tasks}"))
    return found


def _reports(table: Table, results: Mapping[str, Result]) -> list[Report]:
    """What is known of cases that were played on this very definition."""
    found = []
    for case in table.cases:
        result = results.get(case["name"])
        if result is not None and result.report is not None and _is_fresh(table, case, results):
            found.append(result.report)
    return found


def _drawing(table: Table, reports: Sequence[Report]) -> layout.Layout:
    return layout.place(table.definition, forked=mock_run.children_of(reports))


def _coverage(table: Table, results: Mapping[str, Result]) -> Coverage | None:
    reports = _reports(table, results)
    if not reports:
        return None
    return mock_run.coverage_of(_drawing(table, reports), table.definition, reports)


def _new_case(table: Table) -> None:
    ways: dict[str, Any] = {f"Ready: {case['name']}": case for case in _ready(table)}
    ways |= {"From the definition": "skeleton", "From the last run": "run"}
    if table.cases:
        ways["Copy of this case"] = "copy"
    st.menu_button(
        "New case",
        list(ways),
        icon=":material/add:",
        key="new_case",
        on_click=partial(_made, table, ways),
    )


def _ready(table: Table) -> list[JsonObject]:
    """The cases that came with the sample of this name, as far as they are not in the suite."""
    known = {case["name"] for case in table.cases}
    for sample in catalogue.samples():
        if table.name == sample.definition.get("name"):
            cases = [
                mock_cases.of_sample(
                    play.title, play.input, play.mocks, play.sub_workflow_requests, play.expect
                )
                for play in sample.plays()
            ]
            return [case for case in cases if case["name"] not in known]
    return []


def _made(table: Table, ways: Mapping[str, Any]) -> None:
    way = ways.get(str(st.session_state.get("new_case")))
    if isinstance(way, dict):
        _add(table, way)
    elif way == "skeleton":
        _add(table, _skeleton(table))
    elif way == "run":
        run = published.last_run(table.visit.client, table.name)
        if run is None:
            st.toast("There is no execution of this definition yet. Start one first.")
        else:
            _add(table, mock_cases.of_execution(run, "As in the last run"))
    elif way == "copy":
        case = next(each for each in table.cases if each["name"] == st.session_state["case"])
        _add(table, {**copied(case), "origin": ""})


def _skeleton(table: Table) -> JsonObject:
    try:
        known = published.task_defs(table.visit.client)
    except ServerError:
        known = []
    return mock_cases.of_definition(table.definition, "Everything completes", known)


def _from_execution(visit: Visit, name: str, id_: str) -> None:
    execution = visit.client.execution(id_)
    word = str(execution.get("status") or "").lower()
    case = mock_cases.of_execution(execution, f"As in {id_[:8]}, {word}")
    cases = _cases(name)
    if case["name"] not in {each["name"] for each in cases}:
        _keep(name, [*cases, case])
    st.session_state["case"] = case["name"]


def _add(table: Table, case: JsonObject) -> None:
    """One more case, under a name that is free, and chosen."""
    known = {each["name"] for each in table.cases}
    name, number = str(case["name"]), 1
    while name in known:
        number += 1
        name = f"{case['name']} {number}"
    _keep(table.name, [*table.cases, {**case, "name": name}])
    st.session_state["case"] = name


def _add_all(table: Table, cases: Sequence[JsonObject]) -> None:
    _keep(table.name, [*table.cases, *cases])
    st.session_state["case"] = cases[0]["name"]


def _empty(table: Table) -> None:
    """No case yet: why one would want some, and the shortest ways to the first."""
    ready = _ready(table)
    st.markdown(
        "A case plays the definition with made-up answers instead of workers and calls, so a change "
        "can be tried in milliseconds and nothing outside is touched."
    )
    with st.container(horizontal=True):
        if ready:
            st.button(
                f"Take the {wording.plural(len(ready), 'ready case')} of this sample",
                type="primary",
                key="take_ready",
                on_click=partial(_add_all, table, ready),
            )
        st.button(
            "Make one from the definition",
            type="secondary" if ready else "primary",
            key="take_skeleton",
            on_click=lambda: _add(table, _skeleton(table)),
        )
    graph_canvas.show(
        layout.place(table.definition),
        key=f"tests/{table.name}/empty",
        height=_HEIGHT,
        label=f"Graph of {table.name}",
    )


def _list(table: Table, case: JsonObject, results: Mapping[str, Result]) -> None:
    with st.container(border=True, key="cases_box"):
        st.radio(
            "Cases",
            [each["name"] for each in table.cases],
            key="case",
            format_func=partial(_case_words, table, results),
            captions=[_caption(each, results) for each in table.cases],
        )
    coverage = _coverage(table, results)
    if coverage is not None and coverage.gaps:
        _never(table, case, coverage.gaps)
    _history(table)


def _case_words(table: Table, results: Mapping[str, Result], name: str) -> str:
    result = results.get(name)
    case = next((each for each in table.cases if each["name"] == name), None)
    if result is None or case is None or not _is_fresh(table, case, results):
        return f":gray[:material/radio_button_unchecked:] {theme.plain(name)}"
    sign = theme.words_markdown("COMPLETED" if result.met else "FAILED", "")
    return f"{sign} {theme.plain(name)}"


def _caption(case: JsonObject, results: Mapping[str, Result]) -> str:
    result = results.get(case["name"])
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
                    on_click=partial(_cover, table, case, gap),
                )
        if len(gaps) > _GAPS_SHOWN:
            st.caption(f"and {len(gaps) - _GAPS_SHOWN} more")


def _cover(table: Table, case: JsonObject, gap: Gap) -> None:
    """A case that goes through the gap, with no more answers than it needs on its way."""
    if gap.case:
        name = f"{gap.ref} = {gap.case}"
        made = steering.steered(case, table.definition, gap.ref, gap.case, name)
    else:
        made = mock_cases.failing(case, gap.ref, f"{gap.ref} fails for good")
    report = _play(table, made).report
    if report is not None and report.ended:
        made = mock_run.pruned(made, report)
        if gap.case:
            made["expect"] = mock_run.accepted(report)
    _add(table, made)


def _history(table: Table) -> None:
    lines = desk().recall(f"suite-history/{table.name}")
    if not isinstance(lines, list) or not lines:
        return
    rows = []
    for line in lines[:6]:
        status = "COMPLETED" if line["met"] == line["cases"] else "FAILED"
        when = wording.ago(int(line["at"]), now_ms(), table.visit.zone)
        ran = markup.status(status, f"{line['met']} of {line['cases']}")
        rows.append(markup.Row((when, line.get("what") or "", ran)))
    columns = [
        markup.Column("When"),
        markup.Column("What", cut=True),
        markup.Column("Passed", "right"),
    ]
    markup.show(markup.box("History", markup.table(columns, rows)))


def _case(table: Table, case: JsonObject, results: Mapping[str, Result]) -> None:
    result = results.get(case["name"])
    fresh = _is_fresh(table, case, results)
    report = result.report if result is not None and fresh else None
    middle, right = st.columns([1.8, 1], gap="small")
    with middle:
        chosen = _graph(table, case, report, results)
    with right:
        _outcome(table, case, result if fresh else None)
    tasks = [(spot.ref, type_of(spot.task)) for spot in spots(table.definition) if spot.ref]
    case_form.show(
        case,
        tasks,
        report,
        chosen,
        keep=partial(_changed, table, case["name"]),
        rename=partial(_renamed, table, case["name"]),
        remove=partial(_removed, table, case["name"]),
    )


def _graph(
    table: Table, case: JsonObject, report: Report | None, results: Mapping[str, Result]
) -> str:
    """The case or the coverage of the suite over the picture; the task that is chosen in it."""
    shown = st.segmented_control(
        "Shown", ["This case", "Coverage"], key="mock_view", default="This case",
        required=True, label_visibility="collapsed",
    )  # fmt: skip
    reports = _reports(table, results)
    drawing = _drawing(table, reports)
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
            "Run this case", icon=":material/play_arrow:", on_click=partial(_one, table, case)
        )
        return
    if result.report is None:
        st.error(f"**Not played.** {coded.markdown(result.fault)}", icon=":material/warning:")
        st.button("Try again", key="play_again", on_click=partial(_one, table, case))
        return
    case_result.show(case["name"], result.report, result.checks)
    with st.container(horizontal=True):
        if not result.met or not result.checks:
            st.button(
                "Expect what happened",
                key="accept",
                help="Takes the status, the end and the output of this run as what is expected.",
                on_click=partial(_accept, table, case, result.report),
            )
        place = markup.address("editor", wf=table.name, task=result.report.failed_ref or None)
        markup.show(markup.button("Open in editor", place))


def _one(table: Table, case: JsonObject) -> None:
    _results(table)[case["name"]] = _play(table, case)


def _accept(table: Table, case: JsonObject, report: Report) -> None:
    _changed(table, case["name"], {**case, "expect": mock_run.accepted(report)})


def _changed(table: Table, name: str, case: JsonObject) -> None:
    _keep(table.name, [case if each["name"] == name else each for each in table.cases])


def _renamed(table: Table, name: str, to: str) -> None:
    to = to.strip()
    if to and to not in {each["name"] for each in table.cases}:
        changed = [{**each, "name": to} if each["name"] == name else each for each in table.cases]
        _keep(table.name, changed)
        st.session_state["case"] = to


def _removed(table: Table, name: str) -> None:
    _keep(table.name, [each for each in table.cases if each["name"] != name])
