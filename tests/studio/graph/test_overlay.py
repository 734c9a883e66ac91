"""What is laid over a definition that does not run: coverage, differences, problems."""

from studio.graph import layout
from studio.graph.blocks import Problem
from studio.graph.overlay import of_changes, of_coverage, of_problems
from tests.studio.graph.samples import broken, order_saga

ORDER = layout.place(order_saga())


def test_coverage_tells_tested_lines_from_untested_ones() -> None:
    found = of_coverage(ORDER, {"route": 6, "charge_card": 1}, {"route>route@merge:low": 6})
    assert found.nodes["charge_card"].badge == "1 case"
    assert found.nodes["manual_review"].note == "Human · 0 cases"
    assert found.edges["route>route@merge:low"] == "tested"
    assert found.edges["route>manual_review:review"] == "untested"
    assert found.case_notes["route>route@merge:low"] == "× 6"


def test_a_difference_marks_tasks_and_the_lines_to_them() -> None:
    found = of_changes(ORDER, {"close_order": "added", "notify_customer": "removed"})
    assert found.nodes["close_order"].change == "added"
    assert found.edges["fulfilled>close_order"] == "added"
    assert found.edges["fulfil>notify_customer"] == "removed"


def test_problems_of_the_checks_join_those_of_the_layout_without_repeating_them() -> None:
    picture = layout.place(broken())
    known = picture.problems["odd"][0]
    found = of_problems(picture, {"odd": [known, Problem("error", "No worker polls.")]})
    assert len(found.problems["odd"]) == 2
