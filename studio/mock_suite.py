"""The suite of mock tests of one definition: its cases on the desk, played by the server, judged here.
What a person sees of it is in `mock_testing.py`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import streamlit as st

from sample_workflows import catalogue
from studio import drafting, published
from studio.client import capabilities
from studio.client.errors import ServerError
from studio.components.visit import Visit, now_ms
from studio.desk.place import desk
from studio.editor.tree import JsonObject, copied
from studio.graph import layout
from studio.graph.picture import Layout
from studio.views import mock_cases, mock_run, steering
from studio.views.mock_run import Check, Coverage, Gap, Report

SUITE: Final = "mock tests"
DRAFT: Final = "draft"
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
    """What lies on the table: the definition that is tested, its suite, and what is known of it."""

    visit: Visit
    name: str
    word: str
    definition: JsonObject
    cases: tuple[JsonObject, ...]
    results: dict[str, Result]
    """What came of each case when it was last played; the session's own."""

    @property
    def title(self) -> str:
        version = self.definition.get("version")
        return "draft" if self.word == DRAFT else f"v{version}"


def playable(visit: Visit, name: str) -> list[str]:
    """What can be played: the draft, and every version, the newest first."""
    numbers = [str(each.number) for each in reversed(published.versions_of(visit.client, name))]
    draft = drafting.unpublished(visit.person, name)
    return ([DRAFT] if draft is not None else []) + numbers


def table_of(visit: Visit, name: str, word: str) -> Table:
    """The definition as the draft or a version has it, beside its suite as the desk keeps it."""
    results = st.session_state.setdefault(f"results/{name}", {})
    return Table(visit, name, word, _definition(visit, name, word), _cases_of(name), results)


def _definition(visit: Visit, name: str, word: str) -> JsonObject:
    if word == DRAFT:
        return copied(drafting.room(visit, name, None).draft.definition)  # type: ignore[no-any-return]
    return published.definition(visit.client, name, int(word)) or {"name": name, "tasks": []}


def _cases_of(name: str) -> tuple[JsonObject, ...]:
    kept = [suite for suite in desk().suites(name) if suite.name == SUITE]
    return tuple(mock_cases.kept_cases(kept[0].document)) if kept else ()


def _keep(name: str, cases: Sequence[JsonObject]) -> None:
    desk().save_suite(name, SUITE, {"cases": list(cases)})


def chosen_case(table: Table) -> JsonObject | None:
    """The case that is looked at; the first when the chosen one has gone."""
    if not table.cases:
        return None
    names = [case["name"] for case in table.cases]
    if st.session_state.get("case") not in names:
        asked = st.query_params.get("case")
        st.session_state["case"] = asked if asked in names else names[0]
    return table.cases[names.index(st.session_state["case"])]


def plays_freely(table: Table) -> bool:
    """Our engine plays a case in memory; a Conductor server keeps each as an execution, so there
    nothing is played before somebody asks."""
    try:
        return table.visit.client.capabilities().product == capabilities.REPRISE
    except ServerError:
        return False


def play(table: Table, case: JsonObject) -> Result:
    """One case on the server, and what is to be said about it."""
    mark = _mark(table, case)
    try:
        answer = table.visit.client.test(mock_cases.request_of(case, table.definition))
    except ServerError as error:
        parts = [error.message, *(f"{found.path}: {found.message}" for found in error.violations)]
        return Result(mark, None, (), " ".join(parts))
    report = mock_run.report_of(answer, case)
    return Result(mark, report, mock_run.checks_of(case["expect"], report, table.definition))


def play_all(table: Table) -> None:
    began = now_ms()
    for case in table.cases:
        play_again(table, case)
    met = sum(table.results[case["name"]].met for case in table.cases)
    line = {"at": now_ms(), "met": met, "cases": len(table.cases), "what": table.title}
    line["took"] = now_ms() - began
    desk().remember(f"suite-run/{table.name}", line)
    desk().remember_recent(f"suite-history/{table.name}", line, most=_HISTORY)


def play_again(table: Table, case: JsonObject) -> None:
    table.results[case["name"]] = play(table, case)


def fresh_result(table: Table, case: JsonObject) -> Result | None:
    """What came of a case, unless it or the definition has been changed since."""
    result = table.results.get(case["name"])
    return result if result is not None and result.mark == _mark(table, case) else None


def _mark(table: Table, case: Mapping[str, Any]) -> str:
    said = {key: case.get(key) for key in ("input", "mocks", "children", "expect")}
    text = json.dumps([said, table.definition], sort_keys=True)
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def reports_of(table: Table) -> list[Report]:
    """What is known of cases that were played on this very definition."""
    fresh = (fresh_result(table, case) for case in table.cases)
    return [result.report for result in fresh if result is not None and result.report is not None]


def drawing_of(table: Table, reports: Sequence[Report]) -> Layout:
    return layout.place(table.definition, forked=mock_run.children_of(reports))


def coverage_of(table: Table) -> Coverage | None:
    reports = reports_of(table)
    if not reports:
        return None
    return mock_run.coverage_of(drawing_of(table, reports), table.definition, reports)


def ready_cases(table: Table) -> list[JsonObject]:
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


def skeleton(table: Table) -> JsonObject:
    known = published.task_defs_if_any(table.visit.client)
    return mock_cases.of_definition(table.definition, "Everything completes", known)


def add_from_execution(visit: Visit, name: str, id_: str) -> None:
    execution = visit.client.execution(id_)
    word = str(execution.get("status") or "").lower()
    case = mock_cases.of_execution(execution, f"As in {id_[:8]}, {word}")
    cases = _cases_of(name)
    if case["name"] not in {each["name"] for each in cases}:
        _keep(name, [*cases, case])
    st.session_state["case"] = case["name"]


def add(table: Table, case: JsonObject) -> None:
    """One more case, under a name that is free, and chosen."""
    known = {each["name"] for each in table.cases}
    name, number = str(case["name"]), 1
    while name in known:
        number += 1
        name = f"{case['name']} {number}"
    _keep(table.name, [*table.cases, {**case, "name": name}])
    st.session_state["case"] = name


def add_all(table: Table, cases: Sequence[JsonObject]) -> None:
    _keep(table.name, [*table.cases, *cases])
    st.session_state["case"] = cases[0]["name"]


def cover(table: Table, case: JsonObject, gap: Gap) -> None:
    """A case that goes through the gap, with no more answers than it needs on its way."""
    if gap.case:
        name = f"{gap.ref} = {gap.case}"
        made = steering.steered(case, table.definition, gap.ref, gap.case, name)
    else:
        made = mock_cases.failing(case, gap.ref, f"{gap.ref} fails for good")
    report = play(table, made).report
    if report is not None and report.ended:
        made = mock_run.pruned(made, report)
        if gap.case:
            made["expect"] = mock_run.accepted(report)
    add(table, made)


def accept(table: Table, case: JsonObject, report: Report) -> None:
    change(table, case["name"], {**case, "expect": mock_run.accepted(report)})


def change(table: Table, name: str, case: JsonObject) -> None:
    _keep(table.name, [case if each["name"] == name else each for each in table.cases])


def rename(table: Table, name: str, to: str) -> None:
    to = to.strip()
    if to and to not in {each["name"] for each in table.cases}:
        changed = [{**each, "name": to} if each["name"] == name else each for each in table.cases]
        _keep(table.name, changed)
        st.session_state["case"] = to


def remove(table: Table, name: str) -> None:
    _keep(table.name, [each for each in table.cases if each["name"] != name])
