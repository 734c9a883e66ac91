"""`test`: plays suites of mock tests and judges them; for a person, a pipeline, and JUnit's readers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from studio.cli import cases as cases_room
from studio.cli import documents
from studio.cli.asking import Asking, asks_even_alone
from studio.cli.cases import Suite, shown
from studio.cli.failures import FAILED, Told, sentence
from studio.cli.output import plain, say
from studio.client.errors import ServerError, Unreachable
from studio.editor.tree import JsonObject
from studio.views import mock_cases, mock_run, wording


@dataclass(frozen=True, slots=True)
class Result:
    """One case played. `problems` are sentences; none means it passed."""

    suite: str
    case: str
    status: str
    took_ms: int
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.problems

    def document(self) -> JsonObject:
        return {
            "suite": self.suite,
            "case": self.case,
            "passed": self.passed,
            "status": self.status,
            "tookMs": self.took_ms,
            "problems": list(self.problems),
        }


@click.command()
@click.argument("suites", metavar="[SUITE|FILE|DIR]...", nargs=-1)
@click.option("--desk", metavar="FILE", help="The desk's file; else REPRISE_DESK.")
@click.option(
    "--definition",
    "files",
    metavar="FILE",
    multiple=True,
    help="Play on the definitions in this file instead of those registered.",
)
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write JUnit XML.")
@click.option("--list", "only_list", is_flag=True, help="Name the cases, play none.")
@asks_even_alone
def test(
    ask: Asking,
    suites: tuple[str, ...],
    desk: str | None,
    files: tuple[str, ...],
    junit: Path | None,
    only_list: bool,
) -> None:
    """Play definitions on mocks: no worker, no waiting, nothing outside is touched.

    A SUITE is one saved in the studio, by its name or its definition's. A FILE holds
    `definition` (its name, or whole) and `cases`, or is a sample.json; a DIR is searched for
    those. Without any, all suites saved are played. The exit code is 1 if a case fails.
    """
    given = cases_room.definitions_in(files)
    chosen = cases_room.suites(suites, desk)
    if only_list:
        named = [{"suite": one.name, "case": case["name"]} for one in chosen for case in one.cases]
        ask.out.many(named, ("SUITE", "CASE"), lambda one: (one["suite"], one["case"]), "No cases.")
        return
    if ask.alone:
        _take_along(ask, chosen, given.values())
    results = []
    for suite in chosen:
        for result in _played(ask, suite, given):
            results.append(result)
            ask.out.event(result.document(), "\n".join(_lines(result)))
    if junit is not None:
        _write_junit(junit, results)
    _conclude(results)


def _take_along(ask: Asking, chosen: Iterable[Suite], given: Iterable[JsonObject]) -> None:
    """An engine of our own knows nothing yet: children and policies come out of the files."""
    definitions = [*given]
    for suite in chosen:
        definitions += [*suite.others, *([suite.definition] if suite.definition else [])]
        for task_def in suite.task_defs:
            ask.client.save_task_def(task_def, ask.actor())
    for definition in definitions:
        ask.client.register_definition(definition, ask.actor(), overwrite=True)


def _played(ask: Asking, suite: Suite, given: Mapping[str, JsonObject]) -> Iterator[Result]:
    try:
        definition = given.get(suite.definition_name) or suite.definition
        definition = definition or ask.client.definition(suite.definition_name)
    except Unreachable:
        raise
    except ServerError as error:
        yield Result(suite.name, suite.definition_name, "", 0, (sentence(error),))
        return
    for case in suite.cases:
        yield _judged(ask, suite, case, definition)


def _judged(ask: Asking, suite: Suite, case: JsonObject, definition: JsonObject) -> Result:
    name = str(case["name"])
    try:
        execution = ask.client.test(mock_cases.request_of(case, definition))
    except Unreachable:
        raise
    except ServerError as error:
        return Result(suite.name, name, "", 0, (sentence(error),))
    report = mock_run.report_of(execution, case)
    checks = mock_run.checks_of(case.get("expect") or {}, report, definition)
    problems = [_problem(check) for check in checks if not check.met]
    if not checks and report.status != "COMPLETED":
        problems.append(report.stopped or f"The run is {report.status}.")
    return Result(suite.name, name, report.status, report.took_ms, tuple(problems))


def _problem(check: mock_run.Check) -> str:
    compared = f": expected {shown(check.expected)}, got {shown(check.actual)}"
    if check.expected is None and check.actual is None:
        compared = ": not so"
    return f"{check.text}{compared}. {check.why}".strip()


def _lines(result: Result) -> Iterator[str]:
    word, colour = ("ok  ", "green") if result.passed else ("FAIL", "red")
    yield f"{click.style(word, fg=colour)}  {plain(result.suite)}: {plain(result.case)}"
    for problem in result.problems:
        yield f"      {plain(problem)}"


def _conclude(results: list[Result]) -> None:
    failed = [one for one in results if not one.passed]
    count = wording.plural(len(results), "case")
    if failed:
        raise Told(f"{len(failed)} of {count} failed.", FAILED)
    if not results:
        raise Told("There was no case to play.", FAILED)
    say(f"{count} passed.")


def _write_junit(path: Path, results: Iterable[Result]) -> None:
    """The form that build servers read; names are cleaned, since XML has no place for control
    characters."""
    by_suite: dict[str, list[Result]] = {}
    for result in results:
        by_suite.setdefault(result.suite, []).append(result)
    root = ElementTree.Element("testsuites")
    for name, listed in by_suite.items():
        failures = sum(not one.passed for one in listed)
        about: dict[str, Any] = {"name": plain(name), "tests": len(listed), "failures": failures}
        suite = ElementTree.SubElement(root, "testsuite", {k: str(v) for k, v in about.items()})
        for one in listed:
            seconds = f"{one.took_ms / 1_000:.3f}"
            at = {"classname": plain(one.suite), "name": plain(one.case), "time": seconds}
            case = ElementTree.SubElement(suite, "testcase", at)
            if one.problems:
                failure = ElementTree.SubElement(case, "failure", message=plain(one.problems[0]))
                failure.text = "\n".join(plain(problem) for problem in one.problems)
    try:
        ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        reason = documents.reason(error)
        raise click.UsageError(f"{path} cannot be written: {reason}.") from error
