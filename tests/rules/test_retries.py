"""Is a failed attempt replaced, and after what delay."""

import pytest

from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.retries import LONGEST_DELAY_SECONDS, delay_seconds
from tests.builders import (
    NOW,
    a_task,
    a_task_def,
    after,
    an_execution,
    facts_at,
    latest,
    result,
)

FAILED = TaskStatus.FAILED


@pytest.mark.parametrize(
    ("policy", "delays"),
    [
        ({"retry_logic": "FIXED"}, [2, 2, 2, 2]),
        ({"retry_logic": "EXPONENTIAL_BACKOFF"}, [2, 4, 8, 16]),
        ({"retry_logic": "LINEAR_BACKOFF"}, [2, 4, 6, 8]),
        ({"retry_logic": "LINEAR_BACKOFF", "backoff_scale_factor": 3}, [6, 12, 18, 24]),
        ({"retry_logic": "EXPONENTIAL_BACKOFF", "max_retry_delay_seconds": 5}, [2, 4, 5, 5]),
    ],
)
def test_a_delay_grows_as_its_policy_says(policy: dict[str, object], delays: list[int]) -> None:
    found = a_task_def(retry_delay_seconds=2, **policy)
    assert [delay_seconds(found, attempt) for attempt in range(4)] == delays


def test_a_delay_never_grows_beyond_what_clients_can_read() -> None:
    policy = a_task_def(retry_delay_seconds=60, retry_logic="EXPONENTIAL_BACKOFF")
    assert delay_seconds(policy, 10_000) == LONGEST_DELAY_SECONDS


def test_a_failed_attempt_is_tried_again_after_its_delay_and_deciding_changes_nothing() -> None:
    facts = facts_at(NOW, a_task_def("a", retry_count=1, retry_delay_seconds=5))
    execution = an_execution(a_task("a"), facts=facts)
    after(execution, result(execution, "a", FAILED, reason="broken"), facts=facts)
    first, second = execution.runs.values()
    assert (first.retried, second.attempt, second.due_at) == (True, 1, NOW + 5_000)
    assert second.retried_task_id == first.task_id


def test_the_random_part_of_a_delay_is_not_shown() -> None:
    policy = a_task_def("a", retry_count=1, retry_delay_seconds=5, backoff_jitter_ms=900)
    facts = facts_at(NOW, policy, jitter=lambda task_id, limit: limit)
    execution = an_execution(a_task("a"), facts=facts)
    after(execution, result(execution, "a", FAILED), facts=facts)
    assert (latest(execution, "a").due_at, latest(execution, "a").callback_after) == (
        NOW + 5_900, 5,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("status", "end"),
    [
        (TaskStatus.FAILED_WITH_TERMINAL_ERROR, ExecutionStatus.FAILED),
        (TaskStatus.CANCELED, ExecutionStatus.TERMINATED),
    ],
)
def test_some_ends_are_never_tried_again(status: TaskStatus, end: ExecutionStatus) -> None:
    facts = facts_at(NOW, a_task_def("a", retry_count=5))
    execution = an_execution(a_task("a"), facts=facts)
    after(execution, result(execution, "a", status), facts=facts)
    assert (len(execution.runs), execution.status) == (1, end)


@pytest.mark.parametrize(("own", "registered", "attempts"), [(2, 0, 3), (0, 3, 1), (None, 1, 2)])
def test_the_tasks_own_retry_count_wins_over_its_definitions(
    own: int | None, registered: int, attempts: int
) -> None:
    facts = facts_at(NOW, a_task_def("a", retry_count=registered))
    execution = an_execution(a_task("a", retry_count=own), facts=facts)
    while not execution.status.terminal:
        after(execution, result(execution, "a", FAILED), facts=facts)
    assert len(execution.runs) == attempts


def test_an_optional_task_is_retried_first_and_then_counts_as_done_with_errors() -> None:
    facts = facts_at(NOW, a_task_def("a", retry_count=1))
    execution = an_execution(a_task("a", optional=True), a_task("b"), facts=facts)
    after(execution, result(execution, "a", FAILED), facts=facts)
    assert latest(execution, "a").status is TaskStatus.SCHEDULED
    after(execution, result(execution, "a", FAILED), facts=facts)
    assert latest(execution, "a").status is TaskStatus.COMPLETED_WITH_ERRORS
    assert latest(execution, "b").status is TaskStatus.SCHEDULED


def test_a_permissive_failure_lets_the_flow_go_on_and_fails_the_workflow_at_its_end() -> None:
    execution = an_execution(a_task("a", permissive=True, retry_count=0), a_task("b"))
    after(execution, result(execution, "a", FAILED, reason="broken"))
    assert execution.status is ExecutionStatus.RUNNING
    after(execution, result(execution, "b"))
    assert execution.status is ExecutionStatus.FAILED
    assert "broken" in (execution.reason or "")
