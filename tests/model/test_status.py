"""Statuses and the moves between them."""

from engine.model.status import EXECUTION_TRAITS, REPORTABLE, TASK_MOVES, TASK_TRAITS, TaskStatus


def test_every_status_has_its_traits_and_its_moves() -> None:
    assert TASK_TRAITS.keys() == TASK_MOVES.keys() == set(TaskStatus)
    assert all(hasattr(status, "terminal") for status in EXECUTION_TRAITS)


def test_an_ended_attempt_moves_by_itself_only_to_done_with_errors() -> None:
    moves = {move for status, to in TASK_MOVES.items() if status.terminal for move in to}
    assert moves == {TaskStatus.COMPLETED_WITH_ERRORS}


def test_an_end_that_was_good_is_never_left() -> None:
    assert all(not TASK_MOVES[s] for s in TaskStatus if s.terminal and s.successful)


def test_a_worker_may_not_report_what_only_the_engine_makes() -> None:
    made = {TaskStatus.SCHEDULED, TaskStatus.TIMED_OUT, TaskStatus.SKIPPED}
    assert not REPORTABLE & (made | {TaskStatus.COMPLETED_WITH_ERRORS})
