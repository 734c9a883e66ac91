"""An execution laid over its definition: the newest attempt speaks, lines say what was taken."""

import pytest

from studio.graph import layout, progress
from studio.graph.outline import forked_children
from studio.graph.overlay import Overlay
from studio.graph.progress import of_execution
from tests.studio.graph.samples import (
    a_run,
    a_task,
    broken,
    dynamic,
    dynamic_run,
    many_tasks,
    order_run,
    order_saga,
)

ORDER = layout.place(order_saga())


def an_order(ticks: int = 1) -> Overlay:
    return of_execution(ORDER, order_run(ticks))


def lines(found: Overlay) -> dict[str, str]:
    return dict(found.edges)


def test_the_newest_attempt_of_the_newest_iteration_speaks_for_a_task() -> None:
    state = an_order().nodes["poll_carrier"]
    assert (state.status, state.iteration, state.tries) == ("FAILED", 3, 3)
    assert (state.note, state.badge) == ("HTTP · iteration 3", "3 tries")
    assert state.reason == "HTTP 503 from the carrier gateway"


def test_a_retry_that_came_later_wins_whatever_the_order_of_the_outline() -> None:
    runs = [a_run("charge_card", retryCount=1), a_run("charge_card", "FAILED", retryCount=0)]
    assert of_execution(ORDER, runs).nodes["charge_card"].status == "COMPLETED"


def test_a_loop_shows_one_square_an_iteration() -> None:
    assert an_order().nodes["track"].squares == ("COMPLETED", "COMPLETED", "FAILED")


def test_a_join_says_who_has_arrived() -> None:
    state = an_order().nodes["fulfilled"]
    assert state.arrived == (1, 2)
    assert state.note == "join, 1 of 2 arrived"


def test_lines_are_taken_not_taken_or_pending() -> None:
    found = lines(an_order())
    assert found["score_risk>route"] == "taken"
    assert found["route>route@merge:low"] == "taken"
    assert found["route>manual_review:review"] == "not"
    assert found["manual_review>route@merge"] == "not"
    assert found["track>fulfilled"] == "pending"
    assert found["fulfilled>close_order"] == "pending"


def test_a_task_in_a_case_that_was_not_chosen_is_not_taken_others_are_not_reached() -> None:
    found = an_order()
    assert found.nodes["manual_review"].away == "not taken"
    assert found.nodes["close_order"].away == "not reached"
    assert found.counts == {"COMPLETED": 7, "FAILED": 1, "CANCELED": 1, "": 2}


def test_everything_inside_a_case_that_was_not_chosen_is_not_taken() -> None:
    inner = [a_task("loop", "DO_WHILE", loopOver=[a_task("deep")])]
    cases = {"a": [a_task("first")], "b": inner}
    picture = layout.place({"tasks": [a_task("choose", "SWITCH", decisionCases=cases)]})
    found = of_execution(picture, [a_run("choose"), a_run("first")])
    assert found.nodes["loop"].away == found.nodes["deep"].away == "not taken"


def test_an_empty_case_is_taken_when_the_outline_names_it() -> None:
    found = lines(of_execution(ORDER, [a_run("route", case="something else")]))
    assert found["route>route@merge:default"] == "taken"
    assert found["route>route@merge:low"] == "not"


def test_nobody_guesses_which_of_two_empty_cases_was_taken() -> None:
    found = lines(of_execution(ORDER, [a_run("route")]))
    assert found["route>route@merge:low"] == found["route>route@merge:default"] == "pending"


def test_the_end_is_reached_when_the_last_task_is_done() -> None:
    picture = layout.place({"tasks": [a_task("only")]})
    assert of_execution(picture, [a_run("only")]).nodes["@end"].status == "COMPLETED"
    assert of_execution(picture, [a_run("only", "FAILED")]).nodes["@end"].away == "not reached"


def test_a_permissive_failure_does_not_break_the_line() -> None:
    picture = layout.place({"tasks": [a_task("shaky"), a_task("next")]})
    found = of_execution(picture, [a_run("shaky", "FAILED"), a_run("next")])
    assert found.edges["shaky>next"] == "taken"


def test_a_running_task_shows_its_time_so_far() -> None:
    runs = [{"ref": "reserve_stock", "status": "IN_PROGRESS", "startTime": 1_000}]
    assert of_execution(ORDER, runs, now_ms=5_200).nodes["reserve_stock"].note == "Worker · 4.2 s"
    assert of_execution(ORDER, runs).nodes["reserve_stock"].note == "Worker · in progress"


def test_an_unknown_status_keeps_its_raw_name() -> None:
    found = of_execution(ORDER, [{"ref": "reserve_stock", "status": "LEVITATING"}])
    assert found.nodes["reserve_stock"].status == "LEVITATING"
    assert found.nodes["reserve_stock"].note == "Worker · LEVITATING"


def test_a_run_that_is_not_in_the_definition_is_named_not_dropped() -> None:
    assert of_execution(ORDER, [a_run("ghost")]).unplaced == ("ghost",)


def test_many_children_of_a_dynamic_fork_fold_into_counted_squares_failed_first() -> None:
    picture = layout.place(dynamic(), forked=forked_children(dynamic_run()))
    found = of_execution(picture, dynamic_run())
    fan = found.nodes["each_row@children"]
    assert fan.counts == {"FAILED": 8, "COMPLETED": 112}
    assert fan.squares[:9] == ("FAILED",) * 8 + ("COMPLETED",)
    assert found.nodes["file_1"].status == "IN_PROGRESS"
    assert not found.unplaced


def test_the_join_of_a_dynamic_fork_counts_the_children_that_have_arrived() -> None:
    found = of_execution(layout.place(dynamic()), dynamic_run())
    assert found.nodes["all_files"].note == "join, 5 of 7 arrived"


def test_children_are_counted_even_if_the_layout_does_not_know_them() -> None:
    found = of_execution(layout.place(dynamic()), dynamic_run())
    assert found.nodes["each_file@children"].counts["COMPLETED"] == 5
    assert not found.unplaced


def test_a_folded_container_counts_what_is_inside() -> None:
    picture = layout.place(order_saga(), folded=["fulfil"])
    found = of_execution(picture, [a_run("fulfil")])
    assert found.nodes["fulfil"].note == "Fork · 4 tasks"


@pytest.mark.parametrize("runs", [[], [{}], [{"ref": None, "status": None, "iteration": "x"}]])
def test_a_poor_outline_is_shown_as_far_as_it_goes(runs: list[dict[str, object]]) -> None:
    assert of_execution(layout.place(broken()), runs).nodes


def test_two_thousand_tasks_all_get_a_state() -> None:
    picture = layout.place(many_tasks(2_000))
    runs = [a_run(node.ref) for node in picture.nodes if node.ref]
    found = of_execution(picture, runs)
    assert found.counts["COMPLETED"] == 2_000 - 125


def test_the_loudest_status_speaks_for_a_group() -> None:
    assert progress.loudest(["COMPLETED", "IN_PROGRESS", "FAILED"]) == "FAILED"
    assert progress.loudest(["LEVITATING"]) == "LEVITATING"
    assert progress.loudest([]) == ""
