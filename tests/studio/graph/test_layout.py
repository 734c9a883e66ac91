"""Definitions become pictures: nothing overlaps, every line is right-angled, every place is real."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.graph import layout
from studio.graph.blocks import Child
from studio.graph.picture import Edge, Layout, Node, Place, resolve
from tests.studio.graph.samples import (
    CASES,
    a_task,
    broken,
    incident,
    many_tasks,
    order_saga,
)

SOLID = ("start", "end", "task", "fold", "switch", "fork", "join")


def overlaps(a: Node, b: Node) -> bool:
    return a.x < b.x + b.w and b.x < a.x + a.w and a.y < b.y + b.h and b.y < a.y + a.h


def touches(node: Node, point: tuple[int, int]) -> bool:
    x, y = point
    return node.x <= x <= node.x + node.w and node.y <= y <= node.y + node.h


def crosses(edge: Edge, node: Node) -> bool:
    """Whether a line runs through the inside of a node."""
    for (ax, ay), (bx, by) in zip(edge.points, edge.points[1:], strict=False):
        left, right, top, bottom = min(ax, bx), max(ax, bx), min(ay, by), max(ay, by)
        inside_x = left < node.x + node.w and right > node.x
        if inside_x and top < node.y + node.h and bottom > node.y:
            return True
    return False


def assert_is_a_clean_picture(picture: Layout, definition: Any) -> None:
    ids = [node.id for node in picture.nodes] + [edge.id for edge in picture.edges]
    assert len(ids) == len(set(ids))
    solid = [node for node in picture.nodes if node.kind in SOLID]
    for a, b in combinations(solid, 2):
        assert not overlaps(a, b), (a.id, b.id)
    for frame in (node for node in picture.nodes if node.kind in ("loop", "fan")):
        assert_holds_only_its_own(picture, frame)
    for node in picture.nodes:
        assert node.x >= 0 and node.x + node.w <= picture.width
        assert node.y >= 0 and node.y + node.h <= picture.height
    for edge in picture.edges:
        assert_is_a_clean_line(picture, edge, solid)
        if edge.place is not None:
            assert_is_a_place(definition, edge.place)
    for row in picture.outline:
        assert_is_a_place(definition, row.place)


def assert_holds_only_its_own(picture: Layout, frame: Node) -> None:
    for node in picture.nodes:
        above = ancestors(picture, node)
        if frame.id in above:
            assert touches(frame, (node.x, node.y)), (frame.id, node.id)
            assert touches(frame, (node.x + node.w, node.y + node.h)), (frame.id, node.id)
        elif node.kind in SOLID:
            assert not overlaps(frame, node), (frame.id, node.id)


def ancestors(picture: Layout, node: Node) -> list[str]:
    found = []
    while node.parent:
        found.append(node.parent)
        node = picture.by_id[node.parent]
    return found


def assert_is_a_clean_line(picture: Layout, edge: Edge, solid: list[Node]) -> None:
    for (ax, ay), (bx, by) in zip(edge.points, edge.points[1:], strict=False):
        assert ax == bx or ay == by, (edge.id, edge.points)
    source, target = picture.by_id[edge.source], picture.by_id[edge.target]
    assert touches(source, edge.points[0]), edge
    assert touches(target, edge.points[-1]), edge
    for node in solid:
        assert not crosses(edge, node), (edge.id, edge.points, node.id)


def assert_is_a_place(definition: Any, place: Place) -> None:
    tasks = resolve(definition, place)
    if tasks is None:  # a default case or a list that is not there yet
        assert place["index"] == 0
    else:
        assert 0 <= place["index"] <= len(tasks)


@pytest.mark.parametrize("editing", [False, True])
@pytest.mark.parametrize("case", ["run", "edit", "dynamic", "empty"])
def test_a_definition_becomes_a_clean_picture(case: str, editing: bool) -> None:
    picture = layout.place(CASES[case], editing=editing)
    assert_is_a_clean_picture(picture, CASES[case])
    assert not picture.problems


def test_the_same_definition_always_gives_the_same_picture() -> None:
    first, second = layout.place(order_saga()), layout.place(order_saga())
    assert (first.nodes, first.edges) == (second.nodes, second.edges)


def test_a_line_between_two_tasks_names_the_place_between_them() -> None:
    edges = {edge.id: edge for edge in layout.place(incident()).edges}
    assert edges["root_cause>plan"].place == {"list": ["tasks"], "index": 3}


def test_a_line_into_an_empty_case_names_the_start_of_that_case() -> None:
    picture = layout.place(incident())
    edge = next(edge for edge in picture.edges if edge.case == "rejected")
    assert edge.place == {"list": ["tasks", 5, "decisionCases", "rejected"], "index": 0}


def test_behind_a_switch_a_task_enters_the_outer_list() -> None:
    edges = {edge.id: edge for edge in layout.place(incident(), editing=True).edges}
    assert edges["decide@merge>report"].place == {"list": ["tasks"], "index": 6}
    assert edges["decide@merge>report"].plus_at is not None


def test_a_missing_default_case_is_drawn_and_names_its_place() -> None:
    picture = layout.place(order_saga())
    edge = next(edge for edge in picture.edges if edge.case == "default")
    assert edge.place == {"list": ["tasks", 2, "defaultCase"], "index": 0}


def test_nothing_may_be_added_between_a_fork_and_its_join() -> None:
    rows = {row.id: row for row in layout.place(order_saga()).outline}
    assert rows["fulfil"].place == {"list": ["tasks"], "index": 6}


def test_nothing_leaves_a_terminate_task() -> None:
    picture = layout.place({"tasks": [a_task("stop", "TERMINATE"), a_task("never")]})
    assert not [edge for edge in picture.edges if edge.source == "stop"]


def test_the_way_back_of_a_loop_stays_inside_its_frame() -> None:
    picture = layout.place(order_saga())
    frame = picture.by_id["track"]
    back = next(edge for edge in picture.edges if edge.back)
    assert all(touches(frame, point) for point in back.points)


def test_a_broken_draft_is_drawn_with_its_problems() -> None:
    picture = layout.place(broken(), editing=True)
    assert_is_a_clean_picture(picture, broken())
    said = {id_: " ".join(p.text for p in found) for id_, found in picture.problems.items()}
    assert "`taskReferenceName` is missing." in said["@tasks/1"]
    assert "used by another task" in said["first'"]
    assert "ROCKET" in said["odd"]
    assert "No JOIN follows" in said["loose_fork"]
    assert "`decisionCases` is missing." in said["no_cases"]
    assert "The loop has no task." in said["empty_loop"]
    assert "JSON object" in said["@tasks/6"]


@pytest.mark.parametrize(
    "definition", [None, [], "text", 3, {}, {"tasks": None}, {"tasks": {"a": 1}}, {"tasks": [[]]}]
)
def test_anything_at_all_can_be_drawn(definition: Any) -> None:
    picture = layout.place(definition)
    assert picture.by_id["@start"] and picture.by_id["@end"]


def test_nesting_beyond_what_can_be_read_is_folded() -> None:
    task = a_task("innermost")
    for depth in range(300):
        task = a_task(f"loop_{depth}", "DO_WHILE", loopOver=[task])
    picture = layout.place({"tasks": [task]})
    folded = [node for node in picture.nodes if node.kind == "fold"]
    assert [node.detail for node in folded] == ["260 tasks"]


def test_a_folded_container_is_one_node_that_tells_how_much_it_holds() -> None:
    picture = layout.place(order_saga(), folded=["track"])
    assert picture.by_id["track"].kind == "fold"
    assert picture.by_id["track"].detail == "1 task"
    assert "poll_carrier" not in picture.by_id


def test_children_of_a_dynamic_fork_are_nodes_while_they_are_few() -> None:
    few = [Child(f"c{n}", "SIMPLE", "") for n in range(30)]
    picture = layout.place(CASES["dynamic"], forked={"each_file": few})
    assert picture.by_id["c29"].parent == "each_file@children"
    many = [*few, Child("c30", "SIMPLE", "")]
    picture = layout.place(CASES["dynamic"], forked={"each_file": many})
    assert "c29" not in picture.by_id
    assert picture.by_id["each_file@children"].detail == "31 children"


def test_two_thousand_tasks_are_all_placed() -> None:
    definition = many_tasks(2_000)
    picture = layout.place(definition)
    assert len([node for node in picture.nodes if node.path]) == 2_000
    assert picture.height > picture.width


REFS = st.integers(0, 10**6).map(lambda n: f"t{n}")
LEAVES = st.builds(
    a_task, REFS, st.sampled_from(["SIMPLE", "HTTP", "SUB_WORKFLOW", "TERMINATE", "WAIT"])
)


def containers(tasks: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    lists = st.lists(tasks, max_size=3)
    cases = st.dictionaries(st.text("abc", min_size=1, max_size=12), lists, min_size=1, max_size=3)
    switches = st.builds(
        lambda ref, found, rest: a_task(ref, "SWITCH", decisionCases=found, defaultCase=rest),
        *(REFS, cases, lists),
    )
    loops = st.builds(lambda ref, body: a_task(ref, "DO_WHILE", loopOver=body), REFS, lists)
    forks = st.builds(
        lambda ref, lanes: a_task(ref, "FORK_JOIN", forkTasks=lanes),
        REFS,
        st.lists(lists, max_size=3),
    )
    joins = st.builds(a_task, REFS, st.sampled_from(["JOIN", "EXCLUSIVE_JOIN"]))
    return st.one_of(switches, loops, forks, joins)


TASKS = st.recursive(LEAVES, containers, max_leaves=12)


@settings(max_examples=120, deadline=None)
@given(st.lists(TASKS, max_size=4), st.booleans())
def test_any_nesting_becomes_a_clean_picture(tasks: list[dict[str, Any]], editing: bool) -> None:
    definition = {"tasks": tasks}
    assert_is_a_clean_picture(layout.place(definition, editing=editing), definition)
