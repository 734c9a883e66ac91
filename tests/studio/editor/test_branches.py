"""Cases of a switch and branches of a fork."""

from typing import Any

import pytest

from studio.editor.operations import ImpossibleOperation, Result, apply
from tests.studio.editor.definitions import a_definition, a_fork, a_switch, a_task


def on_switch(**op: Any) -> Result:
    switch = a_switch("route", [a_task("d")], paid=[a_task("a")], late=[a_task("b")])
    return apply(a_definition(switch), {"ref": "route", **op})


def cases(result: Result) -> list[str]:
    return list(result.definition["tasks"][0]["decisionCases"])


def on_fork(**op: Any) -> Result:
    fork = a_fork("split", [a_task("a")], [a_task("b")], join="meet")
    return apply(a_definition(*fork), {"ref": "split", **op})


def join_on(result: Result) -> list[str]:
    refs: list[str] = result.definition["tasks"][1]["joinOn"]
    return refs


def test_a_case_is_added_at_the_end_or_where_it_is_wanted() -> None:
    assert cases(on_switch(op="add_case")) == ["paid", "late", "case_3"]
    assert cases(on_switch(op="add_case", case="vip", index=0)) == ["vip", "paid", "late"]


def test_a_case_keeps_its_place_and_its_tasks_when_renamed() -> None:
    result = on_switch(op="rename_case", case="paid", to="settled")
    assert cases(result) == ["settled", "late"]
    held = result.definition["tasks"][0]["decisionCases"]["settled"]
    assert [task["name"] for task in held] == ["a"]


def test_a_case_is_moved_among_the_others() -> None:
    assert cases(on_switch(op="move_case", case="late", to=0)) == ["late", "paid"]


def test_a_deleted_case_says_what_went_with_it() -> None:
    result = on_switch(op="delete_case", case="paid")
    assert cases(result) == ["late"]
    assert result.notes == ("With it went `a`.",)


def test_the_default_case_is_emptied_not_removed() -> None:
    result = on_switch(op="delete_case", case=None)
    assert result.definition["tasks"][0]["defaultCase"] == []
    assert result.notes == ("With it went `d`.",)


def test_deleting_the_last_case_is_possible_and_warned_about() -> None:
    result = apply(
        a_definition(a_switch("s", a=[])), {"op": "delete_case", "ref": "s", "case": "a"}
    )
    assert cases(result) == []
    assert "needs at least one" in result.notes[0]


def test_two_cases_cannot_have_one_name() -> None:
    for op in (
        {"op": "add_case", "case": "late"},
        {"op": "rename_case", "case": "paid", "to": "late"},
    ):
        with pytest.raises(ImpossibleOperation, match="already has a case `late`"):
            on_switch(**op)


def test_a_case_that_is_not_there_is_refused() -> None:
    for word in ("rename_case", "delete_case", "move_case"):
        with pytest.raises(ImpossibleOperation, match="has no case `vip`"):
            on_switch(op=word, case="vip", to="x")


def test_branches_are_added_moved_and_deleted_and_the_join_follows() -> None:
    assert join_on(on_fork(op="add_branch")) == ["a", "b"]
    assert join_on(on_fork(op="move_branch", branch=1, to=0)) == ["b", "a"]
    deleted = on_fork(op="delete_branch", branch=0)
    assert join_on(deleted) == ["b"]
    assert deleted.notes == ("With it went `a`.",)


def test_the_last_branch_of_a_fork_stays() -> None:
    fork = a_fork("split", [a_task("a")], join="meet")
    with pytest.raises(ImpossibleOperation, match="at least one branch"):
        apply(a_definition(*fork), {"op": "delete_branch", "ref": "split", "branch": 0})


def test_only_a_switch_has_cases_and_only_a_fork_has_branches() -> None:
    with pytest.raises(ImpossibleOperation, match="is a FORK_JOIN: it has no cases"):
        on_fork(op="add_case")
    with pytest.raises(ImpossibleOperation, match="is a SWITCH: it has no branches"):
        on_switch(op="add_branch")
