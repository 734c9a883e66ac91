"""What came of a mock run: read from the execution, judged against what was expected."""

from typing import Any

from studio.graph import layout
from studio.views import mock_run
from studio.views.mock_cases import case_of
from tests.studio.editor.definitions import a_definition, a_switch, a_task


def a_row(
    ref: str, status: str = "COMPLETED", type_: str = "SIMPLE", **fields: Any
) -> dict[str, Any]:
    return {
        "referenceTaskName": ref,
        "taskType": type_,
        "workflowTask": {"type": type_},
        "status": status,
        **fields,
    }


def a_run(*rows: dict[str, Any], status: str = "COMPLETED", **fields: Any) -> dict[str, Any]:
    return {"status": status, "tasks": list(rows), **fields}


def checked(
    expect: dict[str, Any], run: dict[str, Any], mocks: Any = None, definition: Any = None
) -> list[Any]:
    case = case_of("one", mocks=mocks, expect=expect)
    report = mock_run.report_of(run, case)
    return list(mock_run.checks_of(expect, report, definition or a_definition()))


def test_a_run_that_waits_says_which_task_has_no_mock() -> None:
    run = a_run(
        a_row("pay"),
        a_row("ship", "SCHEDULED"),
        a_row("join", "IN_PROGRESS", "JOIN"),
        status="RUNNING",
    )
    report = mock_run.report_of(run, case_of("one"))
    assert report.waiting == ("ship",) and not report.ended
    assert report.stopped == "Stopped at `ship`: no mock is left for it."


def test_a_run_that_failed_says_which_task_ended_it_and_why() -> None:
    failed = a_row("pay", "FAILED_WITH_TERMINAL_ERROR", reasonForIncompletion="no money")
    run = a_run(
        failed,
        a_row("loop", "FAILED", "DO_WHILE"),
        status="FAILED",
        reasonForIncompletion="Task 17 failed",
    )
    report = mock_run.report_of(run, case_of("one"))
    assert report.failed_ref == "pay"
    assert report.stopped == "`pay` ended the run: no money"


def test_a_terminate_task_is_named_as_the_end() -> None:
    run = a_run(a_row("stop", "COMPLETED", "TERMINATE"), status="FAILED")
    assert mock_run.report_of(run, case_of("one")).failed_ref == "stop"


def test_a_mock_that_nobody_asked_for_is_a_difference() -> None:
    mocks = {"pay": [{}, {}], "ship": [{}]}
    found = checked({}, a_run(a_row("pay")), mocks)
    assert [check.met for check in found] == [False]
    assert found[0].why == "Nobody asked for `pay` (1), `ship` (1)."


def test_a_plain_mock_serves_every_round_of_a_loop() -> None:
    rows = [a_row(f"poll__{n}", iteration=n) for n in (1, 2)]
    assert checked({}, a_run(*rows), {"poll": [{}, {}]}) == []


def test_a_mock_of_one_round_serves_that_round_alone() -> None:
    rows = [a_row(f"poll__{n}", iteration=n) for n in (1, 2)]
    left = mock_run.report_of(
        a_run(*rows), case_of("one", mocks={"poll__2": [{}], "poll": [{}, {}]})
    ).left
    assert [(each.key, each.given - each.used) for each in left] == [("poll", 1)]


def test_an_output_that_differs_shows_both_and_where_it_is_read() -> None:
    definition = a_definition(outputParameters={"total": "${sum.output.n}"})
    found = checked({"output_has": {"total": 3}}, a_run(output={"total": 4}), definition=definition)
    assert (found[0].met, found[0].expected, found[0].actual) == (False, 3, 4)
    assert found[0].why == "`total` reads `${sum.output.n}`."


def test_true_is_not_one_and_the_order_of_keys_does_not_matter() -> None:
    assert not checked({"output_has": {"a": 1}}, a_run(output={"a": True}))[0].met
    assert checked({"output_has": {"a": {"x": 1, "y": 2}}}, a_run(output={"a": {"y": 2, "x": 1}}))[
        0
    ].met


def test_attempts_and_inputs_are_judged() -> None:
    run = a_run(a_row("pay", "FAILED"), a_row("pay", inputData={"amount": 5}))
    found = checked({"ran": {"pay": 2}, "inputs": {"pay": {"amount": 5}}}, run)
    assert [check.met for check in found] == [True, True]
    assert found[0].text == "`pay` ran twice"


def test_what_happened_can_become_what_is_expected() -> None:
    run = a_run(a_row("pay", "FAILED"), status="FAILED", output={"a": 1})
    expect = mock_run.accepted(mock_run.report_of(run, case_of("one")))
    assert expect == {
        "status": "FAILED",
        "failedRef": "pay",
        "output_has": {"a": 1},
        "ran": {"pay": 1},
    }
    assert all(check.met for check in checked(expect, run))


def test_coverage_names_the_branches_and_failures_that_no_case_went_through() -> None:
    definition = a_definition(a_switch("route", yes=[a_task("ship")], no=[a_task("refuse")]))
    rows = [a_row("route", type_="SWITCH", outputData={"selectedCase": "yes"}), a_row("ship")]
    report = mock_run.report_of(a_run(*rows), case_of("one"))
    coverage = mock_run.coverage_of(layout.place(definition), definition, [report])
    assert (coverage.branches_covered, coverage.branches) == (1, 3)
    assert (coverage.tasks_covered, coverage.tasks) == (2, 3)
    assert [(gap.ref, gap.case) for gap in coverage.gaps] == [
        ("route", "no"), ("route", "default"), ("ship", ""), ("refuse", ""),
    ]  # fmt: skip


def test_a_foreign_server_with_odd_rows_gives_a_report_all_the_same() -> None:
    report = mock_run.report_of({"tasks": [None, {"status": 7}, "x"], "status": None}, {})
    assert report.status == "" and not report.ended
