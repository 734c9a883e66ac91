"""Searching executions and tasks: fields, wildcards, times, sorting, paging, words."""

from typing import Any

import pytest

from engine.model.errors import InvalidInput
from engine.model.status import ExecutionStatus, TaskStatus
from engine.store import search, words
from engine.store.contract import Group
from engine.store.rowstore import RowStore
from engine.store.search import Found, Search
from tests.store.builders import a_definition, changed, started

NOON = 1_893_499_200_000
"""2030-01-01T12:00:00Z"""


@pytest.fixture
def filled(database: RowStore) -> RowStore:
    """Executions 1 to 4, each with a task."""
    started(database, {"worker": "w1"}, created_at=NOON, correlation_id="a b")
    started(
        database,
        {"status": TaskStatus.FAILED, "reason": "card declined", "carrier": None},
        created_at=NOON + 1,
        ended_at=NOON + 501,
        status=ExecutionStatus.FAILED,
        correlation_id="50%_off",
        failed_refs=("charge", "ship_1"),
        reason="card declined",
    )
    refund = a_definition("refund", 2)
    started(database, {}, definition=refund, created_at=NOON + 2, parent_id="workflow-1")
    started(database, {}, definition=refund, created_at=NOON + 3, status=ExecutionStatus.PAUSED)
    return database


def find(store: RowStore, query: str = "", **fields: Any) -> Found:
    return store.read(lambda session: search.executions(session, Search(query, **fields)))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [4, 3, 2, 1]),
        ("status = FAILED", [2]),
        ("status = failed", []),
        ("status != FAILED", [4, 3, 1]),
        ("status IN (RUNNING, PAUSED) AND workflowType = refund", [4, 3]),
        ("status NOT IN (RUNNING, PAUSED)", [2]),
        ("status IN ()", []),
        ("status NOT IN ()", [4, 3, 2, 1]),
        ("workflowType = 're*'", [4, 3]),
        ("workflowType = RE*", [4, 3]),
        ("workflowType = *d*", [4, 3, 2, 1]),
        ("version > 1", [4, 3]),
        ("correlationId = 'a b'", [1]),
        ("correlationId = a b", [1]),
        ("correlationId = 50%_*", [2]),
        ("correlationId = 5_%*", []),
        ("correlationId != 'a b'", [4, 3, 2]),
        ("correlationId = ''", [4, 3]),
        ("parentWorkflowId = ''", [4, 2, 1]),
        ("parentWorkflowId != ''", [3]),
        (f"startTime > {NOON} AND startTime <= {NOON + 2}", [3, 2]),
        ("startTime >= '2030-01-01T12:00:00.003Z'", [4]),
        ("startTime < 2030-01-01T13:00:00.001+01:00", [1]),
        ("startTime < 2030-01-02", [4, 3, 2, 1]),
        ("executionTime = 500", [2]),
        ("failedReferenceTaskNames = charge", [2]),
        ("failedReferenceTaskNames = ship", []),
        ("classifier = workflow", [4, 3, 2, 1]),
        ("classifier IN (agent)", []),
        ("workflowId = workflow-3 OR (status = FAILED AND version = 1)", [3, 2]),
    ],
)
def test_a_query_finds_the_executions_it_describes(
    filled: RowStore, query: str, expected: list[int]
) -> None:
    assert find(filled, query) == Found(len(expected), expected)


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("colour = red", "Unknown search field 'colour'. Known fields are"),
        ("startTime > yesterday", "startTime is a time; write 'yesterday'"),
        ("version = one", "version is a number; 'one' is not"),
    ],
)
def test_what_cannot_be_searched_for_is_named(
    database: RowStore, query: str, complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        find(database, query)


def test_results_are_sorted_by_any_fields(filled: RowStore) -> None:
    assert find(filled, sort="workflowType:DESC|startTime:ASC").places == [3, 4, 1, 2]
    assert find(filled, sort="startTime").places == [1, 2, 3, 4]
    with pytest.raises(InvalidInput, match="Unknown search field 'size'"):
        find(filled, sort="size:ASC")
    with pytest.raises(InvalidInput, match="must end in :ASC or :DESC"):
        find(filled, sort="status:UP")


def test_results_come_in_pages(filled: RowStore) -> None:
    assert find(filled, start=1, size=2) == Found(4, [3, 2])
    assert find(filled, size=0) == Found(4, [])
    assert find(filled, start=-5, size=1) == Found(4, [4])
    assert find(filled, size=-1).places == [4, 3, 2, 1]


def test_the_total_is_counted_up_to_a_limit(filled: RowStore) -> None:
    assert find(filled, count_up_to=3).total == 3


def test_only_executions_without_a_parent_are_found_on_demand(filled: RowStore) -> None:
    found = filled.read(lambda session: search.executions(session, Search(), top_level=True))
    assert found.places == [4, 2, 1]


def test_a_query_finds_tasks(filled: RowStore) -> None:
    def tasks(query: str) -> list[tuple[int, int]]:
        return filled.read(lambda session: search.tasks(session, Search(query))).places

    assert tasks("status = FAILED") == [(2, 1)]
    assert tasks("workerId = w1 OR workflowType = refund") == [(4, 1), (3, 1), (1, 1)]
    assert tasks("reasonForIncompletion = *declined") == [(2, 1)]
    with pytest.raises(InvalidInput, match="Unknown search field 'version'"):
        tasks("version = 1")


def test_executions_are_found_by_their_tasks_each_once(filled: RowStore) -> None:
    found = filled.read(
        lambda session: search.executions_of_tasks(session, Search("taskType = SIMPLE"))
    )
    assert found == Found(4, [4, 3, 2, 1])


def test_words_find_executions_once_the_index_has_taken_them_up(filled: RowStore) -> None:
    started(filled, {}, input='{"customer":"Zoë Müller","sum":4711}'.encode(), created_at=NOON + 9)
    assert find(filled, free_text="4711").places == []
    assert filled.errand(words.index_words) == 5
    assert filled.errand(words.index_words) == 0
    assert find(filled, free_text="4711").places == [5]
    assert find(filled, free_text="mül CUSTOMER").places == [5]
    assert find(filled, free_text="declined").places == [2]
    assert find(filled, free_text="declined customer").places == []
    assert find(filled, "status = PAUSED", free_text="refund").places == [4]
    assert find(filled, free_text="*").total == 5
    assert find(filled, free_text="refund workflow-4").places == [4]


def test_the_index_takes_up_what_an_execution_ended_with(filled: RowStore) -> None:
    execution = started(filled, {})
    filled.errand(words.index_words)
    ended = changed(execution, status=ExecutionStatus.COMPLETED, output=b'{"parcel":"QX9"}')
    filled.commit(Group([ended]))
    assert filled.errand(words.index_words) == 1
    assert find(filled, free_text="qx9").places == [execution.key]


@pytest.mark.parametrize("text", ["'", '"', "a' OR", "(((", "a & | b", "-- x", "NOT", "\\", "{}"])
def test_any_free_text_is_a_search_and_no_command(filled: RowStore, text: str) -> None:
    filled.errand(words.index_words)
    find(filled, free_text=text)
