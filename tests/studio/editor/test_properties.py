"""What holds for every operation on every definition."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from studio.editor.draft import Draft
from studio.editor.history import applied, difference, inverse
from studio.editor.joins import FORKS, branch_ends, joined_on, watch
from studio.editor.operations import OPERATIONS, ImpossibleOperation, Result, apply
from studio.editor.tree import JsonObject, all_refs, copied, refs_in, same, spots, type_of
from studio.graph.layout import place as lay_out
from tests.studio.editor.definitions import definitions, operations

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, 1.0])
    | st.sampled_from("ab"),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), JSON, max_size=4)


def attempt(definition: JsonObject, op: JsonObject) -> Result | None:
    try:
        return apply(definition, op)
    except ImpossibleOperation as refused:
        assert str(refused).endswith(".") or "`" in str(refused)
        return None


def lone_forks(definition: JsonObject) -> list[str]:
    return [
        str(spot.ref)
        for spot in spots(definition)
        if type_of(spot.task) in FORKS
        and [type_of(task) for task in spot.siblings[spot.index + 1 : spot.index + 2]] != ["JOIN"]
    ]


@given(st.data())
@settings(max_examples=400)
def test_an_operation_keeps_names_unique_and_forks_with_their_joins(data: st.DataObject) -> None:
    definition = data.draw(definitions())
    untouched = copied(definition)
    result = attempt(definition, data.draw(operations(definition)))
    assert same(definition, untouched)
    if result is None:
        return
    assert result.changed is not same(definition, result.definition)
    refs = refs_in(result.definition["tasks"])
    assert len(refs) == len(set(refs))
    assert lone_forks(result.definition) == []
    assert result.select is None or result.select in refs
    assert result.label or not result.changed


@given(st.data())
@settings(max_examples=400)
def test_joins_that_followed_their_branches_still_do_and_others_are_left(
    data: st.DataObject,
) -> None:
    definition = data.draw(definitions())
    op = data.draw(operations(definition))
    result = attempt(definition, op)
    if result is None or op["op"] in ("rename", "replace", "set_definition"):
        return
    before = {str(pair.join["taskReferenceName"]): pair for pair in watch(definition)}
    for pair in watch(result.definition):
        known = before.get(str(pair.join["taskReferenceName"]))
        if known is not None and not known.derived:
            assert joined_on(pair.join) == joined_on(known.join)
        elif known is not None or op["op"] not in ("insert", "duplicate"):
            assert sorted(joined_on(pair.join)) == sorted(branch_ends(pair.fork))


@given(st.data())
@settings(max_examples=300)
def test_no_operation_loses_a_task_it_was_not_asked_to_delete(data: st.DataObject) -> None:
    definition = data.draw(definitions())
    op = data.draw(operations(definition))
    result = attempt(definition, op)
    if result is None:
        return
    before, after = all_refs(definition), all_refs(result.definition)
    if op["op"] in ("insert", "duplicate", "wrap", "add_case", "add_branch"):
        assert before <= after
    elif op["op"] in ("move", "rename_case", "move_case", "move_branch", "update"):
        assert before == after
    elif op["op"] == "rename":
        assert len(before) == len(after)
    elif op.get("keep") == "children":
        assert len(before - after) <= 2


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_undoing_everything_gives_the_first_definition_and_redoing_the_last(
    data: st.DataObject,
) -> None:
    first = data.draw(definitions())
    draft = Draft.of(first)
    states = [copied(first)]
    for _ in range(data.draw(st.integers(1, 4))):
        try:
            if draft.apply(data.draw(operations(draft.definition))).changed:
                states.append(copied(draft.definition))
        except ImpossibleOperation:
            continue
    draft = Draft.from_json(json.loads(json.dumps(draft.to_json())))
    for state in reversed(states[:-1]):
        assert draft.undo() is not None
        assert same(draft.definition, state)
    assert draft.undo() is None and not draft.is_dirty
    for state in states[1:]:
        assert draft.redo() is not None
        assert same(draft.definition, state)
    assert draft.redo() is None


@given(OBJECTS, OBJECTS)
@settings(max_examples=500)
def test_a_difference_leads_there_and_back_again(before: JsonObject, after: JsonObject) -> None:
    change = difference(before, after)
    assert same(applied(before, change), after)
    assert same(applied(after, inverse(change)), before)
    assert (change == ()) is same(before, after)


@given(
    st.dictionaries(
        st.sampled_from(["op", "ref", "at", "place", "set", "type", "within", "to"]), JSON
    ),
    st.sampled_from([*OPERATIONS, "unheard_of"]),
    OBJECTS,
)
@settings(max_examples=500)
def test_whatever_is_sent_to_whatever_draft_ends_in_a_result_or_a_clear_refusal(
    op: JsonObject, word: str, broken: JsonObject
) -> None:
    definition = {"name": "pay", "tasks": [broken, {"taskReferenceName": "a", "forkTasks": broken}]}
    attempt(definition, {"ref": "a", **op, "op": word})
    attempt({"tasks": broken}, {**op, "op": word})


@given(definitions())
@settings(max_examples=150, deadline=None)
def test_every_plus_in_the_picture_is_a_place_where_something_can_be_inserted(
    definition: JsonObject,
) -> None:
    picture: Any = lay_out(definition, editing=True)
    offered = [edge.place for edge in picture.edges if edge.place and edge.plus_at]
    assert offered
    for place in offered:
        inserted = apply(definition, {"op": "insert", "place": place, "type": "HTTP"})
        assert inserted.select not in all_refs(definition)
