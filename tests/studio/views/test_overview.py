"""Queues joined with their workers, people waited for, the catalogue, task definitions in words."""

from studio.views import definitions, overview, task_defs
from studio.views.executions import ExecutionRow
from tests.studio.graph.samples import order_saga

NOW = 1_796_000_000_000


def test_a_queue_nobody_asks_for_comes_first() -> None:
    polls = [
        {"queueName": "busy", "workerId": "w1", "lastPollTime": NOW - 1_000},
        {"queueName": "old", "workerId": "w2", "lastPollTime": NOW - 3_600_000},
        {"queueName": "busy", "domain": "blue", "workerId": "w3", "lastPollTime": NOW},
    ]
    rows = overview.queue_rows({"busy": 9, "old": 2, "blue:busy": 1}, polls, NOW)
    assert [(row.name, row.domain, row.waiting, row.workers) for row in rows] == [
        ("old", "", 2, ()),
        ("busy", "", 9, ("w1",)),
        ("busy", "blue", 1, ("w3",)),
    ]
    assert rows[0].alone and not rows[1].alone


def test_whoever_waits_longest_is_first() -> None:
    found = overview.waiting_of(
        [
            {"taskId": "b", "startTime": 9},
            {"taskId": "a", "startTime": 5, "input": '{"title": "T"}'},
        ]
    )
    assert [(one.task_id, one.about) for one in found] == [("a", "T"), ("b", "")]


def test_the_catalogue_has_one_row_a_name_with_its_last_runs() -> None:
    versions = [
        {**order_saga(), "version": 1, "description": "old"},
        {**order_saga(), "version": 2, "description": "new"},
        {"name": "never", "tasks": []},
    ]
    runs = [
        ExecutionRow(str(number), status, "order_saga", 2, started_ms=number)
        for number, status in enumerate(["COMPLETED", "FAILED", "RUNNING"], 1)
    ]
    rows = definitions.catalogue(versions, runs)
    assert [row.name for row in rows] == ["order_saga", "never"]
    first = rows[0]
    assert (first.version, first.versions, first.description) == (2, (2, 1), "new")
    assert (first.last, first.failed, first.running) == (("COMPLETED", "FAILED", "RUNNING"), 1, 1)
    assert first.tasks == 12


def test_a_definition_is_found_by_what_is_inside() -> None:
    every = [order_saga(), {"name": "other", "tasks": []}]
    rows = definitions.catalogue(every, [])
    assert [row.name for row in definitions.matching(rows, every, "POLL_carrier")] == ["order_saga"]
    assert len(definitions.matching(rows, every, " ")) == 2


def test_what_a_run_lacks_is_named() -> None:
    flow = {
        "tasks": [
            {"name": "greet", "taskReferenceName": "greet", "type": "SIMPLE"},
            {"name": "x", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "child"}},
            {"name": "y", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "${w.input.flow}"}},
        ]
    }
    needs = definitions.lacking(flow, [], [], [])
    assert [(need.words, need.blocking) for need in needs] == [
        ("No worker has asked for greet lately.", False),
        ("greet has no task definition; defaults apply.", False),
        ("There is no definition child.", True),
    ]
    assert definitions.lacking(flow, ["greet"], ["greet"], ["child"]) == []


def test_a_schema_counts_only_with_properties() -> None:
    assert definitions.schema_of({"inputSchema": {"data": {"properties": {"a": {}}}}})
    assert definitions.schema_of({"inputSchema": {"data": {}}}) is None
    assert definitions.schema_of({}) is None


def test_the_waits_of_a_task_follow_its_logic() -> None:
    base = {"retryCount": 3, "retryDelaySeconds": 10, "backoffScaleFactor": 2}
    assert task_defs.delays({**base, "retryLogic": "FIXED"}) == [10, 10, 10]
    assert task_defs.delays({**base, "retryLogic": "LINEAR_BACKOFF"}) == [20, 40, 60]
    exponential = {**base, "retryLogic": "EXPONENTIAL_BACKOFF"}
    assert task_defs.delays(exponential) == [10, 20, 40]
    assert task_defs.delays({**exponential, "maxRetryDelaySeconds": 25}) == [10, 20, 25]


def test_numbers_are_told_as_sentences() -> None:
    words = task_defs.in_words({"retryCount": 1, "retryDelaySeconds": 60, "timeoutSeconds": 90})
    assert words == [
        "At most 2 tries, with waits of 1 min: 1 min of waiting in all.",
        "One try may take 1 min 30 s, then the whole execution times out.",
    ]
    assert task_defs.in_words({"retryCount": 0}) == ["A failure is final: there is one try."]


def test_a_change_names_the_fields_it_changes() -> None:
    before = {"name": "a", "retryCount": 3}
    after = {"name": "a", "retryCount": 1, "timeoutSeconds": 0}
    assert task_defs.differences(before, after) == [("retryCount", 3, 1)]


def test_a_task_knows_its_users() -> None:
    flows = [("order", ["a", "b"]), ("invoice", ["b"])]
    assert task_defs.users_of("b", flows) == ["invoice", "order"]


def test_an_answer_has_the_fields_that_later_tasks_read() -> None:
    flow = {
        "tasks": [
            {"taskReferenceName": "approve", "type": "HUMAN"},
            {"inputParameters": {"a": "${approve.output.choice}", "b": "${approve.output.note}"}},
            {"inputParameters": {"c": "${other_approve.output.never}"}},
        ]
    }
    names = definitions.outputs_read(flow, "approve")
    assert names == ["choice", "note"]
    schema = definitions.answer_schema(names, {"choices": ["approve", "reject"]})
    assert schema == {
        "properties": {"choice": {"enum": ["approve", "reject"]}, "note": {"type": "string"}}
    }
    assert definitions.answer_schema([], {}) is None
