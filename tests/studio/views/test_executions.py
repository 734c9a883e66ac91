"""Filters of an address, the query they make, and rows that come back."""

import pytest

from studio.views import executions
from studio.views.executions import (
    Filters,
    failing_groups,
    filters_of,
    query_of,
    rows_of,
    written,
)

NOW = 1_796_000_000_000


def test_an_address_and_its_filters_are_the_same_thing() -> None:
    filters = Filters(q="gateway", wf="order", status=("FAILED",), since="-1h", page=3, top=True)
    parameters = {
        key: value if isinstance(value, list) else [str(value)]
        for key, value in filters.parameters().items()
    }
    assert filters_of(parameters) == filters


def test_values_that_are_unknown_are_named_and_dropped() -> None:
    found = filters_of(
        {"status": ["failed", "HAPPY"], "from": ["-2y"], "sort": ["x"], "page": ["0"]}
    )
    assert found.status == ("FAILED",)
    assert (found.since, found.sort, found.page) == ("", "startTime:DESC", 1)
    assert found.dropped == ("status HAPPY", "from -2y", "sort x", "page 0")


def test_filters_become_conductors_query() -> None:
    filters = Filters(wf="order", corr="o 1", status=("FAILED", "TIMED_OUT"), since="-1h")
    query, free = query_of(filters, NOW)
    assert query == (
        "status IN (FAILED,TIMED_OUT) AND workflowType = order AND "
        f'correlationId = "o 1" AND startTime > {NOW - 3_600_000}'
    )
    assert free == "*"


@pytest.mark.parametrize(
    ("words", "query", "free"),
    [
        ("gateway down", "", "gateway down"),
        ("status = FAILED", "status = FAILED", "*"),
        ("workflowType IN (a,b)", "workflowType IN (a,b)", "*"),
    ],
)
def test_free_words_and_query_words_are_told_apart(words: str, query: str, free: str) -> None:
    assert query_of(Filters(q=words), NOW) == (query, free)


def test_a_name_that_is_no_plain_word_is_quoted_in_a_query() -> None:
    assert [written(name) for name in ("order_saga", "my flow", 'say "hi"', "<b>'s")] == [
        "order_saga",
        '"my flow"',
        "'say \"hi\"'",
        '"<b>\'s"',
    ]
    assert query_of(Filters(wf="my flow"), 0)[0] == 'workflowType = "my flow"'


def test_a_filter_can_be_taken_off() -> None:
    filters = Filters(wf="order", status=("FAILED",), page=4)
    assert executions.without(filters, "status") == Filters(wf="order")
    assert executions.without(filters, "wf") == Filters(status=("FAILED",))


def a_summary(id_: str = "1", status: str = "FAILED", **more: object) -> dict[str, object]:
    return {
        "workflowId": id_,
        "workflowType": "order",
        "version": 7,
        "status": status,
        "startTime": "2026-11-30T01:00:00.000Z",
        "endTime": "2026-11-30T01:01:09.000Z",
        "failedReferenceTaskNames": "poll,other",
        "reasonForIncompletion": "HTTP 503\nstack",
        **more,
    }


def test_a_row_has_the_first_failed_task_and_the_first_line_of_the_reason() -> None:
    row = rows_of([a_summary()], NOW)[0]
    assert (row.failed_at, row.reason, row.ran_ms) == ("poll", "HTTP 503", 69_000)


def test_a_completed_run_names_no_failed_task() -> None:
    assert rows_of([a_summary(status="COMPLETED")], NOW)[0].failed_at == ""


def test_a_summary_that_lacks_everything_is_still_a_row() -> None:
    row = rows_of([{}], NOW)[0]
    assert (row.id, row.status, row.ran_ms) == ("", "", None)


def test_failures_are_grouped_by_definition_and_task() -> None:
    rows = rows_of(
        [
            a_summary("1"),
            a_summary("2"),
            a_summary("3", workflowType="invoice"),
            a_summary("4", status="COMPLETED"),
        ],
        1_796_000_480_000,
    )
    groups = failing_groups(rows, 1_796_000_480_000)
    assert [(group.name, len(group.rows)) for group in groups] == [("order", 2), ("invoice", 1)]
    assert groups[0].per_slot == (*(0,) * 11, 2)
