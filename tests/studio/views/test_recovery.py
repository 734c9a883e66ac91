"""Plans: what runs again, is reused, is cancelled; which actions a state allows; what came of it."""

import pytest

from studio.views import recovery
from studio.views.execution import view_of
from tests.client.conductor_data import NOW, a_failed_order, a_waiting_incident


@pytest.mark.parametrize(
    ("status", "actions"),
    [
        ("RUNNING", ("pause", "skip", "terminate")),
        ("PAUSED", ("resume", "terminate")),
        ("FAILED", ("retry", "rerun", "restart")),
        ("COMPLETED", ("rerun", "restart")),
        ("LEVITATING", ()),
    ],
)
def test_a_state_allows_certain_actions(status: str, actions: tuple[str, ...]) -> None:
    assert recovery.allowed(status) == actions


def test_a_retry_reuses_what_has_ended_well() -> None:
    plan = recovery.plan_of(view_of(a_failed_order()), recovery.RETRY)
    assert plan.again == ("poll_carrier", "track", "fulfilled")
    assert "charge_card" in plan.reused and "poll_carrier" not in plan.reused
    assert plan.unknown == ("Whether close_order will run",)
    assert plan.confirm == "Retry 3 tasks"
    assert plan.estimated and not plan.blocked


def test_a_rerun_runs_a_task_and_all_behind_it() -> None:
    plan = recovery.plan_of(view_of(a_failed_order()), recovery.RERUN, "charge_card")
    assert "charge_card" in plan.again and "fulfil" in plan.again and "book_shipment" in plan.again
    assert "reserve_stock" in plan.reused


def test_a_rerun_needs_a_task_that_has_run() -> None:
    view = view_of(a_failed_order())
    assert recovery.plan_of(view, recovery.RERUN).blocked
    assert recovery.plan_of(view, recovery.RERUN, "close_order").blocked


def test_a_terminated_execution_retries_what_was_cancelled() -> None:
    execution = a_failed_order(status="TERMINATED")
    assert "fulfilled" in recovery.plan_of(view_of(execution), recovery.RETRY).again


def test_the_engines_own_preview_goes_first() -> None:
    preview = {"runsAgain": ["a"], "begins": ["b"], "reused": ["c"], "cancelled": [], "told": ["x"]}
    plan = recovery.plan_of(view_of(a_failed_order()), recovery.RETRY, preview=preview)
    assert (plan.again, plan.reused, plan.estimated) == (("a", "b"), ("c",), False)
    assert plan.unknown == ("1 other execution will be told",)


def test_what_the_engine_refuses_blocks_the_plan() -> None:
    preview = {"runsAgain": [], "refused": "There are no retryable tasks!"}
    plan = recovery.plan_of(view_of(a_failed_order()), recovery.RETRY, preview=preview)
    assert plan.blocked == "There are no retryable tasks!"


def test_only_a_task_still_to_come_can_be_skipped() -> None:
    view = view_of(a_waiting_incident())
    assert recovery.plan_of(view, recovery.SKIP, "gather").blocked
    assert not recovery.plan_of(view, recovery.SKIP, "report").blocked
    assert "report" in recovery.skip_choices(view) and "plan" not in recovery.skip_choices(view)


def test_a_termination_names_what_is_cancelled() -> None:
    plan = recovery.plan_of(view_of(a_waiting_incident()), recovery.TERMINATE)
    assert plan.cancelled == ("approval",)


def test_an_action_in_the_wrong_state_is_blocked_with_the_reason() -> None:
    plan = recovery.plan_of(view_of(a_waiting_incident()), recovery.RETRY)
    assert plan.blocked == "Retry is not possible while it is RUNNING."


@pytest.mark.parametrize(
    ("action", "status", "words", "settled"),
    [
        ("retry", "RUNNING", "Retry accepted 1.0 s ago, not recovered yet.", False),
        ("retry", "COMPLETED", "Recovered and verified after 1 min 9 s.", True),
        ("retry", "FAILED", "Retry accepted, not recovered: FAILED again.", True),
        ("pause", "PAUSED", "Pause: verified, the execution is PAUSED.", True),
        ("pause", "RUNNING", "Pause accepted, not seen yet.", False),
    ],
)
def test_an_outcome_is_measured(action: str, status: str, words: str, settled: bool) -> None:
    view = view_of(a_failed_order(status=status))
    found = recovery.outcome_of(view, action, NOW, NOW + 1_000)
    assert (found.words, found.settled) == (words, settled)


def test_a_rerun_names_the_newest_attempt() -> None:
    assert recovery.task_id_of(view_of(a_failed_order()), "poll_carrier") == "poll_carrier-12"
    assert recovery.task_id_of(view_of(a_failed_order()), "close_order") is None
