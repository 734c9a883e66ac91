"""A draft takes each operation once, forgets nothing, and keeps text as it was typed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.editor.draft import Draft, UnreadableDraft
from studio.editor.operations import ImpossibleOperation
from studio.editor.tree import JsonObject, ref_of
from tests.studio.editor.definitions import a_definition, a_fork, a_switch, a_task, gap


def insert(ref: str, place: JsonObject | None = None) -> JsonObject:
    return {"op": "insert", "place": place or gap(0), "type": "SIMPLE", "ref": ref}


def sent(seq: int, op: JsonObject, rev: int | None = None, cid: str = "c1") -> JsonObject:
    return {**op, "cid": cid, "seq": seq} | ({} if rev is None else {"rev": rev})


def top(draft: Draft) -> list[str | None]:
    return [ref_of(task) for task in draft.definition["tasks"]]


def test_a_new_draft_is_dirty_and_one_of_a_published_version_is_not() -> None:
    assert Draft.blank("pay").is_dirty
    draft = Draft.of(a_definition(version=4))
    assert (draft.is_dirty, draft.base_version, draft.revision) == (False, 4, 0)


def test_a_change_makes_it_dirty_and_undoing_or_publishing_clean_again() -> None:
    draft = Draft.of(a_definition())
    draft.apply(insert("a"))
    assert draft.is_dirty and draft.undo_label == "Insert a at the start"
    draft.undo()
    assert not draft.is_dirty and draft.redo_label == "Insert a at the start"
    draft.redo()
    draft.mark_published(2)
    assert (draft.is_dirty, draft.base_version) == (False, 2)
    draft.undo()
    assert draft.is_dirty


def test_a_new_change_after_undo_forgets_what_could_be_redone() -> None:
    draft = Draft.of(a_definition())
    draft.apply(insert("a"))
    draft.undo()
    draft.apply(insert("b"))
    assert draft.redo() is None and draft.labels == ["Insert b at the start"]


def test_an_operation_that_changes_nothing_is_no_revision() -> None:
    draft = Draft.of(a_definition(a_task("a")))
    draft.apply({"op": "move", "ref": "a", "place": gap(0)})
    assert (draft.revision, draft.undo_label) == (0, None)


def test_an_impossible_operation_leaves_the_draft_as_it_was() -> None:
    draft = Draft.of(a_definition())
    with pytest.raises(ImpossibleOperation):
        draft.apply({"op": "delete", "ref": "nobody"})
    assert (draft.revision, draft.is_dirty) == (0, False)


@given(st.lists(st.integers(0, 8), min_size=1, max_size=8))
def test_an_outbox_sent_again_and_again_is_applied_exactly_once(read_up_to: list[int]) -> None:
    draft = Draft.of(a_definition())
    ops = [sent(n, insert(f"t{n}")) for n in range(1, 9)]
    acknowledged = 0
    for upto in [*read_up_to, 8]:
        # The browser drops what was acknowledged the last time it looked, and adds new ones.
        draft.take([op for op in ops[:upto] if op["seq"] > acknowledged])
        acknowledged = draft.acknowledged.get("c1", 0) if upto % 2 else acknowledged
    assert sorted(map(str, top(draft))) == [f"t{n}" for n in range(1, 9)]
    assert draft.acknowledged == {"c1": 8}


def test_two_browsers_are_counted_apart() -> None:
    draft = Draft.of(a_definition())
    draft.take([sent(1, insert("a"))])
    draft.take([sent(1, insert("b"), cid="c2")])
    assert top(draft) == ["b", "a"]
    assert draft.acknowledged == {"c1": 1, "c2": 1}


def test_a_refused_operation_is_acknowledged_with_its_reason_and_the_next_goes_on() -> None:
    draft = Draft.of(a_definition())
    taken = draft.take([sent(2, insert("a")), sent(1, {"op": "delete", "ref": "nobody"})])
    assert (taken.applied, taken.select) == (1, "a")
    assert [(refusal.seq, refusal.message) for refusal in taken.refusals] == [
        (1, "There is no task `nobody` in this definition any more.")
    ]
    assert draft.acknowledged == {"c1": 2}


def test_what_is_no_numbered_operation_is_passed_over() -> None:
    draft = Draft.of(a_definition())
    for outbox in (None, "x", [None, 3, {"op": "undo"}, {"cid": "c", "seq": True, "op": "undo"}]):
        taken = draft.take(outbox)
        assert (taken.applied, taken.refusals, draft.acknowledged) == (0, (), {})


def test_undo_redo_and_open_come_through_the_outbox_too() -> None:
    draft = Draft.of(a_definition())
    taken = draft.take(
        [
            sent(1, insert("a")),
            sent(2, {"op": "undo"}),
            sent(3, {"op": "undo"}),
            sent(4, {"op": "redo"}),
            sent(5, {"op": "open", "ref": "a"}),
        ]
    )
    assert top(draft) == ["a"]
    assert (taken.applied, taken.opened) == (3, "a")
    assert [refusal.message for refusal in taken.refusals] == ["There is nothing to undo."]


def test_after_an_undo_nothing_is_selected_that_is_no_longer_there() -> None:
    draft = Draft.of(a_definition())
    assert draft.take([sent(1, insert("a")), sent(2, {"op": "undo"})]).select is None
    assert draft.take([sent(3, {"op": "redo"})]).select == "a"


def test_a_burst_aimed_at_one_picture_lands_where_it_was_aimed() -> None:
    fork = a_fork("split", [a_task("x")], [a_task("y")], join="meet")
    draft = Draft.of(a_definition(a_task("a"), *fork, a_switch("route", late=[])))
    in_branch = gap(1, "tasks", 1, "forkTasks", 1)
    in_case = gap(0, "tasks", 3, "decisionCases", "late")
    taken = draft.take(
        [
            sent(1, insert("n1", gap(1)), rev=0),
            sent(2, insert("n2", gap(1)), rev=0),
            sent(3, insert("n3", in_branch), rev=0),
            sent(4, {"op": "move_branch", "ref": "split", "branch": 1, "to": 0}, rev=0),
            sent(5, insert("n4", in_branch), rev=0),
            sent(6, insert("n5", in_case), rev=0),
            sent(7, {"op": "delete", "at": ["tasks", 0]}, rev=0),
            sent(8, insert("n6", gap(4)), rev=0),
        ]
    )
    assert taken.refusals == ()
    assert top(draft) == ["n1", "n2", "split", "meet", "route", "n6"]
    fork_now = draft.definition["tasks"][2]
    assert [[ref_of(task) for task in branch] for branch in fork_now["forkTasks"]] == [
        ["y", "n3", "n4"],
        ["x"],
    ]
    assert ref_of(draft.definition["tasks"][4]["decisionCases"]["late"][0]) == "n5"


def test_a_place_that_went_in_the_meantime_is_refused_not_guessed() -> None:
    draft = Draft.of(a_definition(a_switch("route", late=[a_task("x")])))
    in_case = gap(1, "tasks", 0, "decisionCases", "late")
    taken = draft.take(
        [
            sent(1, {"op": "delete_case", "ref": "route", "case": "late"}, rev=0),
            sent(2, insert("a", in_case), rev=0),
            sent(3, {"op": "delete", "ref": "route"}, rev=1),
            sent(4, insert("a", in_case), rev=0),
            sent(5, insert("a", gap(0)), rev=77),
        ]
    )
    assert [refusal.message for refusal in taken.refusals] == [
        "`route` has no case `late` any more.",
        "There is no task `route` in this definition any more.",
        "The graph has changed since. Choose the place again.",
    ]
    assert top(draft) == []


def test_looking_for_an_old_place_leaves_no_trace_in_the_definition() -> None:
    switch = a_switch("route", a=[])
    del switch["defaultCase"]
    draft = Draft.of(a_definition(a_task("x"), switch))
    place = gap(5, "tasks", 1, "defaultCase")
    draft.take([sent(1, {"op": "delete", "ref": "x"}, rev=0), sent(2, insert("a", place), rev=0)])
    assert draft.definition["tasks"] == [switch]


def test_text_is_kept_as_it_was_typed_until_an_operation_speaks() -> None:
    draft = Draft.of(a_definition())
    typed = '{"name": "pay",\n\n   "tasks": [ ], "made_up": 1.50 }'
    assert draft.edit_text(typed) is None
    assert draft.text == typed
    assert draft.definition == {"name": "pay", "tasks": [], "made_up": 1.5}
    draft.apply(insert("a"))
    assert draft.text == json.dumps(draft.definition, indent=2)
    draft.undo()
    assert draft.text == typed
    draft.undo()
    assert draft.definition == a_definition()


def test_the_same_text_again_is_no_revision() -> None:
    draft = Draft.of(a_definition())
    assert draft.edit_text(draft.text) is None
    assert draft.revision == 0


def test_text_that_cannot_be_read_is_kept_beside_the_last_good_definition() -> None:
    draft = Draft.of(a_definition(a_task("a")))
    broken = draft.text.replace('"tasks"', "tasks")
    problem = draft.edit_text(broken)
    assert problem is not None and (problem.line, problem.column) == (5, 3)
    assert (draft.text, draft.problem, top(draft)) == (broken, problem, ["a"])
    assert draft.is_dirty and draft.revision == 0
    with pytest.raises(ImpossibleOperation, match=r"no definition yet \(line 5\)"):
        draft.apply(insert("b"))
    draft.undo()
    assert draft.problem is None and not draft.is_dirty


def test_mending_the_text_takes_it() -> None:
    draft = Draft.of(a_definition())
    draft.edit_text("{")
    assert draft.edit_text('{"tasks": []}') is None
    assert (draft.problem, draft.definition) == (None, {"tasks": []})


def test_a_saved_draft_is_the_same_draft_again() -> None:
    draft = Draft.of(a_definition())
    draft.take([sent(1, insert("a")), sent(2, insert("b")), sent(3, {"op": "undo"})])
    draft.edit_text('{"tasks": [1], "odd": "\ud83d"}')
    draft.edit_text("{nonsense")
    again = Draft.from_json(json.loads(json.dumps(draft.to_json())))
    assert again.to_json() == draft.to_json()
    assert again.problem == draft.problem
    again.take([sent(2, insert("twice"))])
    assert "twice" not in again.text


@pytest.mark.parametrize("document", [{}, {"pendingText": 3}, {"pendingText": None, "done": 1}])
def test_a_saved_draft_of_another_form_is_refused_clearly(document: dict[str, Any]) -> None:
    with pytest.raises(UnreadableDraft, match="Start again from the published version"):
        Draft.from_json(document)


def test_a_long_history_of_a_large_definition_stays_small() -> None:
    tasks = [a_task(f"t{n}", inputParameters={"text": "x" * 50}) for n in range(300)]
    draft = Draft.of(a_definition(a_switch("all", tasks, a=[])))
    size = len(json.dumps(draft.definition))
    for n in range(30):
        draft.apply({"op": "rename", "ref": f"t{n}", "to": f"r{n}"})
        draft.apply({"op": "move", "ref": f"r{n}", "direction": "down"})
    draft.apply({"op": "update", "ref": "all", "set": [{"path": ["optional"], "value": True}]})
    assert len(json.dumps(draft.to_json()["done"])) < size
