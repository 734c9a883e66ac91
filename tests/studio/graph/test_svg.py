"""The static picture: valid XML in both themes, and no name ever becomes markup."""

from xml.etree import ElementTree

import pytest

from studio.graph import layout, marks, svg
from studio.graph.outline import forked_children
from studio.graph.overlay import of_changes, of_coverage
from studio.graph.progress import of_execution
from tests.studio.graph.samples import (
    a_run,
    a_task,
    broken,
    dynamic,
    dynamic_run,
    order_run,
    order_saga,
)

HOSTILE = '<script>alert("x")</script>&\x00\x1b'


def texts(picture: str) -> str:
    return " ".join(ElementTree.fromstring(picture).itertext())


@pytest.mark.parametrize("dark", [False, True])
def test_an_execution_is_drawn_in_both_themes(dark: bool) -> None:
    picture = layout.place(order_saga())
    found = svg.render(picture, of_execution(picture, order_run()), dark=dark)
    assert "poll_carrier" in texts(found) and "3 tries" in texts(found)
    assert marks.mark_of("FAILED").colour(dark) in found


def test_markup_in_a_reference_name_stays_text() -> None:
    cases = {HOSTILE: [a_task(HOSTILE)]}
    tasks = [
        a_task(HOSTILE + "switch", "SWITCH", decisionCases=cases),
        a_task(HOSTILE + "loop", "DO_WHILE", loopCondition=HOSTILE, loopOver=[a_task("x")]),
        a_task(HOSTILE + "fork", "FORK_JOIN", forkTasks=[[a_task("y", HOSTILE)]]),
    ]
    picture = layout.place({"tasks": tasks})
    runs = [a_run(HOSTILE, HOSTILE, reason=HOSTILE)]
    found = svg.render(picture, of_execution(picture, runs), title=HOSTILE)
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(found).iter()}
    assert tags == {"svg", "title", "rect", "g", "path", "text", "circle"}


def test_broken_drafts_and_folded_forks_are_drawn() -> None:
    assert "unnamed" not in texts(svg.render(layout.place(order_saga())))
    assert "no_reference_name" in texts(svg.render(layout.place(broken())))
    picture = layout.place(dynamic(), forked=forked_children(dynamic_run()))
    found = svg.render(picture, of_execution(picture, dynamic_run()))
    assert "8 failed, 112 completed" in texts(found)


def test_changes_and_coverage_are_drawn() -> None:
    picture = layout.place(order_saga())
    assert "Added" in texts(svg.render(picture, of_changes(picture, {"close_order": "added"})))
    found = texts(svg.render(picture, of_coverage(picture, {"reserve_stock": 1}, {})))
    assert "1 case" in found and "review × 0" in found


def test_corners_are_rounded_and_straight_lines_are_not() -> None:
    assert svg.rounded([(0, 0), (0, 40)]) == "M0 0L0 40"
    assert svg.rounded([(0, 0), (0, 40), (40, 40)]) == "M0 0L0 32Q0 40 8 40L40 40"
