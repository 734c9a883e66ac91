"""Two versions: what changed in words, and both in one definition to draw."""

import pytest
from hypothesis import given, settings

from sample_workflows.catalogue import sample, samples
from studio.editor.operations import apply
from studio.editor.tree import all_refs, refs_in
from studio.graph import layout
from studio.views.compare import Comparison, compare
from tests.studio.editor.definitions import definitions

REPAIR = sample("incident_repair").definition


def after(*ops: dict) -> Comparison:
    new = REPAIR
    for op in ops:
        new = apply(new, op).definition
    return compare(REPAIR, new)


def said(found: Comparison, ref: str) -> list[tuple[str, str, str]]:
    return [(c.kind, c.about, c.detail) for c in found.changes if c.ref == ref]


@pytest.mark.parametrize("name", [each.name for each in samples()])
def test_a_definition_does_not_differ_from_itself(name: str) -> None:
    definition = sample(name).definition
    found = compare(definition, definition)
    assert found.changes == () and found.marks == {}


def test_an_added_task_is_told_with_its_place() -> None:
    place = {"list": ["tasks"], "index": 3}
    found = after({"op": "insert", "type": "HTTP", "ref": "call", "place": place})
    assert said(found, "call") == [("added", "`call`, HTTP", "after find_root_cause")]
    assert found.marks == {"call": "added"}


def test_a_removed_task_is_told_with_those_who_still_read_it() -> None:
    found = after({"op": "delete", "ref": "find_root_cause"})
    assert said(found, "find_root_cause")[0][:2] == ("removed", "`find_root_cause`, SIMPLE")
    assert "still read" in said(found, "find_root_cause")[0][2]


def test_an_input_is_told_key_by_key() -> None:
    change = {"path": ["inputParameters", "depth"], "value": 3}
    found = after({"op": "update", "ref": "find_root_cause", "set": [change]})
    assert said(found, "find_root_cause") == [
        ("changed", "`find_root_cause` input `depth`", "now `3`")
    ]


def test_a_new_case_belongs_to_its_switch() -> None:
    found = after({"op": "add_case", "ref": "is_approved", "case": "later"})
    assert said(found, "is_approved") == [("changed", "`is_approved` case `later`", "is new")]


def test_a_moved_task_is_moved_and_its_neighbours_are_not() -> None:
    found = after({"op": "move", "ref": "write_report", "direction": "up"})
    assert found.marks == {"write_report": "changed"}
    assert said(found, "write_report")[0][1] == "`write_report` moved"


def test_the_order_of_keys_is_no_change() -> None:
    turned = dict(reversed(REPAIR.items()))
    assert compare(REPAIR, turned).changes == ()


def test_the_version_number_itself_is_no_change() -> None:
    assert compare(REPAIR, {**REPAIR, "version": 9}).changes == ()


def test_removed_tasks_stand_where_they_stood_in_the_picture_of_both() -> None:
    found = after({"op": "delete", "ref": "plan_repair"})
    refs = refs_in(found.definition["tasks"])
    assert refs[refs.index("plan_repair") - 1] == "find_root_cause"


def test_a_removed_fork_branch_comes_back_into_its_fork() -> None:
    found = after({"op": "delete", "ref": "query_metrics"})
    fork = found.definition["tasks"][0]
    assert "query_metrics" in refs_in([fork])


def test_a_name_with_backticks_cannot_leave_its_code() -> None:
    definition = {"tasks": [{"taskReferenceName": "a`**b", "type": "SIMPLE"}]}
    found = compare({"tasks": []}, definition)
    assert found.changes[0].about == "`a'**b`, SIMPLE"


@settings(max_examples=60, deadline=None)
@given(definitions(), definitions())
def test_the_picture_of_both_holds_every_task_of_both_once(old: dict, new: dict) -> None:
    found = compare(old, new)
    refs = refs_in(found.definition["tasks"])
    assert set(refs) == all_refs(old) | all_refs(new)
    assert len(refs) == len(set(refs))
    layout.place(found.definition)


@settings(max_examples=60, deadline=None)
@given(definitions(), definitions())
def test_added_and_removed_are_the_difference_of_the_names(old: dict, new: dict) -> None:
    marks = compare(old, new).marks
    assert {r for r, kind in marks.items() if kind == "added"} == all_refs(new) - all_refs(old)
    assert {r for r, kind in marks.items() if kind == "removed"} == all_refs(old) - all_refs(new)
