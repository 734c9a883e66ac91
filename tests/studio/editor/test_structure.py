"""Inserting, moving, deleting, wrapping and duplicating tasks."""

import pytest

from studio.editor.operations import ImpossibleOperation, apply
from studio.editor.structure import paste_of
from studio.editor.tree import JsonObject, find, ref_of
from tests.studio.editor.definitions import (
    a_definition,
    a_fork,
    a_loop,
    a_switch,
    a_task,
    gap,
)


def top(definition: JsonObject) -> list[str | None]:
    return [ref_of(task) for task in definition["tasks"]]


def join_on(definition: JsonObject, ref: str) -> list[str]:
    refs: list[str] = find(definition, ref).task["joinOn"]
    return refs


def test_a_new_task_gets_a_readable_name_of_its_own() -> None:
    definition = a_definition(a_task("charge"))
    first = apply(definition, {"op": "insert", "place": gap(1), "type": "HTTP"})
    second = apply(first.definition, {"op": "insert", "place": gap(2), "type": "HTTP"})
    assert top(second.definition) == ["charge", "http", "http_2"]
    assert (second.select, second.label) == ("http_2", "Insert http_2 after http")


def test_a_worker_from_the_palette_keeps_its_name_and_gets_a_usable_reference() -> None:
    op = {"op": "insert", "place": gap(0), "type": "SIMPLE", "name": "charge.card now"}
    task = apply(a_definition(), op).definition["tasks"][0]
    assert (task["name"], task["taskReferenceName"]) == ("charge.card now", "charge_card_now")


@pytest.mark.parametrize("word", ["FORK_JOIN", "FORK_JOIN_DYNAMIC"])
def test_a_fork_brings_its_join(word: str) -> None:
    result = apply(a_definition(a_task("join")), {"op": "insert", "place": gap(0), "type": word})
    fork, join, _ = result.definition["tasks"]
    assert (fork["type"], join["type"], join["joinOn"]) == (word, "JOIN", [])
    assert join["taskReferenceName"] == "join_2"
    assert result.select == fork["taskReferenceName"]


def test_a_task_goes_into_an_empty_branch_and_the_join_waits_for_it() -> None:
    definition = a_definition(*a_fork("split", [a_task("a")], [], join="meet"))
    op = {"op": "insert", "place": gap(0, "tasks", 0, "forkTasks", 1), "type": "SIMPLE", "ref": "b"}
    result = apply(definition, op)
    assert join_on(result.definition, "meet") == ["a", "b"]
    assert result.label == "Insert b first in branch 2 of split"


def test_a_join_written_by_hand_is_kept_and_the_difference_is_said() -> None:
    definition = a_definition(*a_fork("split", [a_task("a"), a_task("b")], join="meet", on=["a"]))
    op = {"op": "insert", "place": gap(2, "tasks", 0, "forkTasks", 0), "type": "SIMPLE", "ref": "c"}
    result = apply(definition, op)
    assert join_on(result.definition, "meet") == ["a"]
    assert result.notes == (
        "`meet` keeps the joinOn written by hand (`a`); the branches now end in `c`.",
    )


def test_a_branch_that_comes_to_end_in_a_switch_is_warned_about() -> None:
    definition = a_definition(*a_fork("split", [a_task("a")], join="meet"))
    op = {"op": "insert", "place": gap(1, "tasks", 0, "forkTasks", 0), "type": "SWITCH"}
    result = apply(definition, op)
    assert join_on(result.definition, "meet") == ["switch"]
    assert "will not wait for what its cases run" in result.notes[0]


def test_nothing_can_be_put_between_a_fork_and_its_join() -> None:
    definition = a_definition(*a_fork("split", [a_task("a")], join="meet"))
    with pytest.raises(ImpossibleOperation, match="between the fork `split` and its join"):
        apply(definition, {"op": "insert", "place": gap(1), "type": "HTTP"})


def test_a_default_case_that_is_absent_is_opened_by_an_insertion() -> None:
    switch = a_switch("route", a=[])
    del switch["defaultCase"]
    op = {"op": "insert", "place": gap(0, "tasks", 0, "defaultCase"), "type": "WAIT"}
    result = apply(a_definition(switch), op)
    assert find(result.definition, "wait").path == ("tasks", 0, "defaultCase", 0)
    assert "defaultCase" not in switch


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (None, "is no place"),
        ({"list": ["tasks"], "index": "1"}, "is no place"),
        (gap(9), "outside the list"),
        (gap(-1), "outside the list"),
        (gap(0, "inputParameters"), "no list of tasks"),
        (gap(0, "tasks", 7, "loopOver"), "no task at"),
        (gap(0, "tasks", 0, "loopOver"), "has no loopOver"),
        (gap(0, "tasks", 0, "decisionCases", "b"), "has no case `b` any more"),
    ],
)
def test_a_place_that_is_not_there_is_refused(place: JsonObject | None, words: str) -> None:
    definition = a_definition(a_switch("route", a=[]))
    with pytest.raises(ImpossibleOperation, match=words):
        apply(definition, {"op": "insert", "place": place, "type": "HTTP"})


def test_pasted_tasks_are_renamed_only_where_names_are_taken_and_read_each_other() -> None:
    charge = a_task("charge")
    report = a_task("report", inputParameters={"id": "${charge.output.id}", "x": "${other.output}"})
    result = apply(
        a_definition(a_task("charge")), {"op": "insert", "place": gap(1), "tasks": [charge, report]}
    )
    assert top(result.definition) == ["charge", "charge_2", "report"]
    assert result.definition["tasks"][2]["inputParameters"] == {
        "id": "${charge_2.output.id}",
        "x": "${other.output}",
    }
    assert result.notes == ("`charge` is pasted as `charge_2`, because the name is taken.",)
    assert report["inputParameters"]["id"] == "${charge.output.id}"


def test_a_copied_fork_takes_its_join_along_to_the_clipboard() -> None:
    definition = a_definition(
        a_task("a"), *a_fork("split", [a_task("b")], join="meet"), a_task("c")
    )
    assert [ref_of(task) for task in paste_of(definition, ["c", "split"])] == ["split", "meet", "c"]


def test_an_operation_inside_an_embedded_definition_has_names_of_its_own() -> None:
    inner = a_definition(a_task("charge"))
    child = a_task("child", "SUB_WORKFLOW", subWorkflowParam={"workflowDefinition": inner})
    path = ["tasks", 0, "subWorkflowParam", "workflowDefinition"]
    place = {"list": [*path, "tasks"], "index": 1}
    op = {"op": "insert", "place": place, "type": "SIMPLE", "ref": "child"}
    changed = apply(a_definition(child), op).definition
    assert top(changed["tasks"][0]["subWorkflowParam"]["workflowDefinition"]) == ["charge", "child"]
    again = apply(changed, {"op": "delete", "ref": "charge", "within": path}).definition
    assert top(again["tasks"][0]["subWorkflowParam"]["workflowDefinition"]) == ["child"]
    assert top(inner) == ["charge"]


def test_a_task_is_moved_to_the_place_counted_before_it_left() -> None:
    definition = a_definition(a_task("a"), a_task("b"), a_task("c"))
    result = apply(definition, {"op": "move", "ref": "a", "place": gap(2)})
    assert top(result.definition) == ["b", "a", "c"]
    assert result.label == "Move a after b"


def test_moving_a_fork_takes_its_join_along_and_joins_around_it_follow() -> None:
    inner = a_fork("inner", [a_task("x")], join="inner_meet")
    definition = a_definition(*inner, *a_fork("outer", [a_task("a")], join="meet"))
    place = gap(1, "tasks", 2, "forkTasks", 0)
    changed = apply(definition, {"op": "move", "ref": "inner", "place": place}).definition
    assert top(changed) == ["outer", "meet"]
    assert join_on(changed, "meet") == ["inner_meet"]
    assert join_on(changed, "inner_meet") == ["x"]


def test_moving_a_task_to_where_it_is_changes_nothing_and_says_so() -> None:
    definition = a_definition(a_task("a"), a_task("b"))
    result = apply(definition, {"op": "move", "ref": "a", "place": gap(1)})
    assert result.changed is False
    assert result.notes == ("`a` is already there.",)


def test_a_container_cannot_be_moved_into_its_own_body() -> None:
    definition = a_definition(a_loop("again", a_switch("route", a=[])))
    place = gap(0, "tasks", 0, "loopOver", 0, "decisionCases", "a")
    with pytest.raises(ImpossibleOperation, match="into its own body"):
        apply(definition, {"op": "move", "ref": "again", "place": place})


def test_a_join_of_a_fork_can_neither_be_moved_nor_deleted_alone() -> None:
    definition = a_definition(*a_fork("split", [a_task("a")], join="meet"), a_task("b"))
    for op in ({"op": "move", "place": gap(3)}, {"op": "delete"}, {"op": "duplicate"}):
        with pytest.raises(ImpossibleOperation, match="belongs to the fork `split`"):
            apply(definition, {**op, "ref": "meet"})


@pytest.mark.parametrize(
    ("ref", "direction", "path"),
    [
        ("c", "up", ("tasks", 1)),
        ("a", "down", ("tasks", 2)),
        ("x", "out", ("tasks", 3)),
        ("c", "into", ("tasks", 1, "forkTasks", 0, 1)),
    ],
)
def test_a_task_is_moved_by_keyboard(ref: str, direction: str, path: tuple[object, ...]) -> None:
    fork = a_fork("split", [a_task("x")], join="meet")
    definition = a_definition(a_task("a"), *fork, a_task("c"))
    moved = apply(definition, {"op": "move", "ref": ref, "direction": direction}).definition
    assert find(moved, ref).path == path


def test_deleting_a_fork_takes_its_join_and_says_who_still_reads_it() -> None:
    reader = a_task("report", inputParameters={"x": ["${a.output.id}", "$${b.output}"]})
    definition = a_definition(*a_fork("split", [a_task("a")], join="meet"), reader)
    result = apply(definition, {"op": "delete", "ref": "split"})
    assert top(result.definition) == ["report"]
    assert result.select == "report"
    assert result.notes == ("`report` still reads `a`, which is gone.",)


def test_a_join_that_waits_for_a_deleted_task_is_said_to_wait_for_ever() -> None:
    fork = a_fork("split", [a_task("a"), a_task("b")], join="meet", on=["a"])
    result = apply(a_definition(*fork), {"op": "delete", "ref": "a"})
    assert join_on(result.definition, "meet") == ["a"]
    assert "`meet` still waits for `a`, which will never come." in result.notes


def test_a_deleted_branch_end_is_no_longer_awaited() -> None:
    fork = a_fork("split", [a_task("a"), a_task("b")], join="meet")
    result = apply(a_definition(*fork), {"op": "delete", "ref": "b"})
    assert join_on(result.definition, "meet") == ["a"]
    assert result.notes == ()


def test_unwrapping_keeps_the_contents_in_order() -> None:
    fork = a_fork("split", [a_task("a")], [a_task("b"), a_task("c")], join="meet")
    result = apply(a_definition(*fork), {"op": "delete", "ref": "split", "keep": "children"})
    assert top(result.definition) == ["a", "b", "c"]
    assert result.label == "Unwrap split"


def test_unwrapping_can_keep_one_branch_only() -> None:
    switch = a_switch("route", [a_task("c")], paid=[a_task("a")], late=[a_task("b")])
    op = {"op": "delete", "ref": "route", "keep": "children", "branch": ["decisionCases", "late"]}
    assert top(apply(a_definition(switch), op).definition) == ["b"]


def test_unwrapping_what_holds_nothing_is_refused() -> None:
    with pytest.raises(ImpossibleOperation, match="nothing inside `a` to keep"):
        apply(a_definition(a_task("a")), {"op": "delete", "ref": "a", "keep": "children"})


def test_wrapping_in_a_fork_brings_a_join_that_waits_for_the_last() -> None:
    definition = a_definition(a_task("a"), a_task("b"), a_task("c"))
    op = {"op": "wrap", "refs": ["b", "a"], "type": "FORK_JOIN"}
    result = apply(definition, op)
    assert top(result.definition) == ["fork", "join", "c"]
    assert join_on(result.definition, "join") == ["b"]
    each = apply(definition, {**op, "as": "a_branch_each"})
    assert join_on(each.definition, "join") == ["a", "b"]


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("SWITCH", ("tasks", 0, "decisionCases", "yes", 0)),
        ("DO_WHILE", ("tasks", 0, "loopOver", 0)),
    ],
)
def test_wrapping_puts_tasks_inside(word: str, path: tuple[object, ...]) -> None:
    result = apply(a_definition(a_task("a")), {"op": "wrap", "refs": ["a"], "type": word})
    assert find(result.definition, "a").path == path


def test_a_new_loop_counts_its_own_rounds() -> None:
    definition = a_definition(a_task("loop"))
    result = apply(definition, {"op": "wrap", "refs": ["loop"], "type": "DO_WHILE"})
    assert result.definition["tasks"][0]["loopCondition"] == "$['loop_2'].iteration < 3"


def test_wrapping_tasks_that_are_not_neighbours_is_refused() -> None:
    definition = a_definition(a_task("a"), a_task("b"), a_task("c"), a_loop("d", a_task("e")))
    for refs, words in (
        (["a", "c"], "have others between"),
        (["a", "e"], "neighbours in one list"),
    ):
        with pytest.raises(ImpossibleOperation, match=words):
            apply(definition, {"op": "wrap", "refs": refs, "type": "SWITCH"})


def test_a_duplicate_has_names_of_its_own_all_through() -> None:
    body = a_task("poll", inputParameters={"n": "${again.output.iteration}"})
    loop = a_loop("again", body, condition="$.poll.done == false && $['again'].iteration < 9")
    result = apply(a_definition(loop), {"op": "duplicate", "ref": "again"})
    original, copy = result.definition["tasks"]
    assert original == loop
    assert copy["loopCondition"] == "$.poll_2.done == false && $['again_2'].iteration < 9"
    assert copy["loopOver"][0]["inputParameters"] == {"n": "${again_2.output.iteration}"}
    assert result.select == "again_2"


def test_a_duplicated_fork_has_a_join_that_waits_for_the_copies() -> None:
    definition = a_definition(*a_fork("split", [a_task("a")], join="meet"))
    changed = apply(definition, {"op": "duplicate", "ref": "split"}).definition
    assert top(changed) == ["split", "meet", "split_2", "meet_2"]
    assert join_on(changed, "meet_2") == ["a_2"]


def test_two_tasks_of_one_name_are_told_apart_by_their_path_only() -> None:
    definition = a_definition(a_task("a"), a_task("a"))
    with pytest.raises(ImpossibleOperation, match="2 tasks are called `a`"):
        apply(definition, {"op": "delete", "ref": "a"})
    changed = apply(definition, {"op": "rename", "at": ["tasks", 1], "to": "b"}).definition
    assert top(changed) == ["a", "b"]


def test_an_unknown_operation_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ImpossibleOperation, match=r"`explode` is no operation\. There are insert, "
    ):
        apply(a_definition(), {"op": "explode"})
