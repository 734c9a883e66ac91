"""Every type has a form, and a new task of it fits its form."""

import pytest

from studio.editor.fields import WORKFLOW_FIELDS, fields_of, missing, other_inputs, own_fields
from studio.editor.form_field import ADVANCED, BASIC, Field, Kind
from studio.editor.operations import apply
from studio.editor.task_types import (
    AI,
    DEPRECATED,
    GROUPS,
    QUICK,
    TASK_TYPES,
    menu,
    new_task,
    task_type,
)
from tests.studio.editor.definitions import a_definition, a_task, gap


def field_at(task: dict[str, object], *path: str) -> Field:
    found = [field for field in fields_of(task) if field.path == path]
    assert len(found) == 1, f"{path} is asked for {len(found)} times"
    return found[0]


@pytest.mark.parametrize("word", [*TASK_TYPES, "GRPC", "made_up"])
def test_no_form_asks_for_a_value_twice_and_each_field_explains_itself(word: str) -> None:
    fields = fields_of(new_task(word, "t"))
    paths = [field.path for field in fields]
    assert len(paths) == len(set(paths))
    assert ("name",) in paths and ("taskReferenceName",) in paths
    for field in fields:
        assert field.help.endswith(".") and field.label[0].isupper()
        assert field.group in (BASIC, ADVANCED)
        assert bool(field.choices) is (field.kind is Kind.CHOICE)


@pytest.mark.parametrize("word", TASK_TYPES)
def test_a_new_task_can_be_inserted_and_lacks_only_what_nobody_can_guess(word: str) -> None:
    op = {"op": "insert", "place": gap(0), "type": word}
    task = apply(a_definition(), op).definition["tasks"][0]
    assert task["type"] == word and task["taskReferenceName"] == task_type(word).stem
    for field in missing(task):
        assert field.required and field.value_in(task) in (None, "")


@pytest.mark.parametrize("word", TASK_TYPES)
def test_every_value_a_new_task_brings_is_asked_for(word: str) -> None:
    task = new_task(word, "t")
    asked = {field.path for field in own_fields(task)}
    left = other_inputs(task)
    assert not left or ("inputParameters",) in asked


def test_the_required_fields_that_are_empty_are_found() -> None:
    call = new_task("HTTP", "call")
    assert [field.label for field in missing(call)] == ["Address"]
    call["inputParameters"]["http_request"]["uri"] = "http://a"
    assert missing(call) == []


def test_a_loop_over_a_list_may_have_no_condition() -> None:
    loop = new_task("DO_WHILE", "l") | {"loopCondition": ""}
    assert [field.label for field in missing(loop)] == ["Repeat while"]
    assert missing(loop | {"items": "${workflow.input.list}"}) == []


def test_a_request_is_found_under_its_key_and_straight_among_the_inputs() -> None:
    flat = a_task("call", "HTTP", inputParameters={"uri": "http://a", "method": "GET"})
    assert field_at(flat, "inputParameters", "uri").value_in(flat) == "http://a"
    nested = a_task("call", "HTTP", inputParameters={"http_request": {"uri": "http://b"}})
    uri = field_at(nested, "inputParameters", "http_request", "uri")
    assert uri.value_in(nested) == "http://b"


def test_a_switch_asks_for_a_script_only_when_a_script_decides() -> None:
    switch = new_task("SWITCH", "s")
    assert field_at(switch, "expression").kind is Kind.TEXT
    assert field_at(switch | {"evaluatorType": "javascript"}, "expression").kind is Kind.JAVASCRIPT


def test_a_body_is_asked_for_only_when_the_method_has_one() -> None:
    call = new_task("HTTP", "call")
    paths = [field.path[-1] for field in fields_of(call)]
    assert "body" not in paths
    call["inputParameters"]["http_request"]["method"] = "POST"
    assert "body" in [field.path[-1] for field in fields_of(call)]


def test_what_conductor_refuses_is_not_asked_for() -> None:
    paths = {field.path[0] for field in fields_of(new_task("TERMINATE", "t"))}
    assert not paths & {"optional", "retryCount", "startDelay"}


def test_the_menu_offers_every_type_that_is_not_deprecated_once() -> None:
    offered = [kind.type for _, kinds in menu() for kind in kinds]
    assert sorted(offered) == sorted(w for w, k in TASK_TYPES.items() if k.group != DEPRECATED)
    assert [group for group, _ in menu()] == [group for group in GROUPS if group != DEPRECATED]
    assert set(QUICK) <= set(offered)


def test_an_unknown_type_is_a_worker_of_that_word() -> None:
    assert task_type("made_up").icon == "extension"
    assert "no handler" in task_type("GRPC").needs
    assert new_task("made_up", "m")["type"] == "made_up"


def test_deprecated_types_name_their_successor() -> None:
    for kind in TASK_TYPES.values():
        assert bool(kind.replaced_by) is (kind.group == DEPRECATED)
        assert not kind.replaced_by or kind.replaced_by in TASK_TYPES
    assert TASK_TYPES["LLM_CHAT_COMPLETE"].group == AI


def test_the_fields_of_the_workflow_are_listed_once_each() -> None:
    paths = [field.path for field in WORKFLOW_FIELDS]
    assert len(paths) == len(set(paths)) and ("outputParameters",) in paths
