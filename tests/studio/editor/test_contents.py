"""Changing what tasks and the workflow say."""

from typing import Any

import pytest

from studio.editor.operations import ImpossibleOperation, apply
from studio.editor.tree import JsonObject, find
from tests.studio.editor.definitions import a_definition, a_fork, a_loop, a_switch, a_task


def setting(*path: str | int, value: Any) -> JsonObject:
    return {"path": list(path), "value": value}


def test_values_are_set_and_removed_at_their_paths_and_unknown_fields_stay() -> None:
    task = a_task("call", "HTTP", optional=True, madeUp={"kept": [1]})
    request = ("inputParameters", "http_request")
    op = {
        "op": "update",
        "ref": "call",
        "set": [
            setting(*request, "uri", value="http://a"),
            setting(*request, "method", value="GET"),
        ],
        "unset": [["optional"], ["never", "there"]],
    }
    result = apply(a_definition(task), op)
    changed = result.definition["tasks"][0]
    assert changed["inputParameters"] == {"http_request": {"uri": "http://a", "method": "GET"}}
    assert changed["madeUp"] == {"kept": [1]} and "optional" not in changed
    assert result.label.startswith("Change inputParameters.http_request.uri, ")


def test_a_value_cannot_be_set_inside_a_text() -> None:
    task = a_task("call", inputParameters={"a": "text"})
    op = {"op": "update", "ref": "call", "set": [setting("inputParameters", "a", "b", value=1)]}
    with pytest.raises(ImpossibleOperation, match=r"`inputParameters\.a` has no `b`"):
        apply(a_definition(task), op)


def test_inner_tasks_cannot_be_overwritten_by_an_update() -> None:
    op = {"op": "update", "ref": "route", "set": [setting("decisionCases", value={})]}
    with pytest.raises(ImpossibleOperation, match="operations of their own"):
        apply(a_definition(a_switch("route", a=[a_task("x")])), op)


def test_a_form_may_rename_and_change_in_one_operation() -> None:
    reader = a_task("b", inputParameters={"x": "${a.output}"})
    changes = [setting("taskReferenceName", value="c"), setting("optional", value=True)]
    result = apply(a_definition(a_task("a"), reader), {"op": "update", "ref": "a", "set": changes})
    assert result.select == "c"
    assert result.definition["tasks"][0]["optional"] is True
    assert result.definition["tasks"][1]["inputParameters"] == {"x": "${c.output}"}


def test_a_type_that_cannot_hold_the_inner_tasks_is_refused() -> None:
    op = {"op": "update", "ref": "again", "set": [setting("type", value="SWITCH")]}
    with pytest.raises(ImpossibleOperation, match="cannot hold the tasks inside `again`"):
        apply(a_definition(a_loop("again", a_task("a"))), op)


def test_a_fork_and_its_join_keep_their_types() -> None:
    op = {"op": "update", "ref": "split", "set": [setting("type", value="NOOP")]}
    with pytest.raises(ImpossibleOperation, match="are a fork and its join"):
        apply(a_definition(*a_fork("split", [], join="meet")), op)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("${a.output.x}", "${new.output.x}"),
        ("${a[output]}", "${new[output]}"),
        ("${a}", "${new}"),
        ("${$.a.output}", "${$.new.output}"),
        ("${['a'].output}", "${['new'].output}"),
        ('${$["a"].output}', '${$["new"].output}'),
        ("x ${b.output.k} ${a.input.y} z", "x ${b.output.k} ${new.input.y} z"),
        ("${b.output[?(@.id == $.a.output.id)]}", "${b.output[?(@.id == $.new.output.id)]}"),
        ("${b.output['${a.output.k}']}", "${b.output['${new.output.k}']}"),
        ("$${a.output}", "$${a.output}"),
        ("${ab.output} ${b.a.output} a.output", "${ab.output} ${b.a.output} a.output"),
        ("${workflow.input.a}", "${workflow.input.a}"),
    ],
)
def test_renaming_rewrites_the_placeholders_that_read_the_task(before: str, after: str) -> None:
    reader = a_task("b", inputParameters={"deep": [{"x": before}]})
    definition = a_definition(a_task("a"), reader, outputParameters={"y": before})
    result = apply(definition, {"op": "rename", "ref": "a", "to": "new"})
    assert result.definition["tasks"][1]["inputParameters"] == {"deep": [{"x": after}]}
    assert result.definition["outputParameters"] == {"y": after}
    told = "`a` is now `new` in `b`, the workflow's outputParameters too."
    assert result.notes == ((told,) if before != after else ())


def test_renaming_rewrites_joins_and_participants() -> None:
    exclusive = a_task("e", "EXCLUSIVE_JOIN", joinOn=["x", "a"], defaultExclusiveJoinTask=["a"])
    chat = a_task("c", "LLM_CHAT_COMPLETE", inputParameters={"participants": {"a": "user"}})
    definition = a_definition(*a_fork("split", [a_task("a")], join="meet"), exclusive, chat)
    changed = apply(definition, {"op": "rename", "ref": "a", "to": "new"}).definition
    assert find(changed, "meet").task["joinOn"] == ["new"]
    assert find(changed, "e").task["joinOn"] == ["x", "new"]
    assert find(changed, "e").task["defaultExclusiveJoinTask"] == ["new"]
    assert find(changed, "c").task["inputParameters"] == {"participants": {"new": "user"}}


def test_renaming_a_branch_end_leaves_a_join_written_by_hand_alone_without_a_word() -> None:
    fork = a_fork("split", [a_task("x"), a_task("a")], join="meet", on=["x"])
    result = apply(a_definition(*fork), {"op": "rename", "ref": "a", "to": "new"})
    assert find(result.definition, "meet").task["joinOn"] == ["x"]
    assert result.notes == ()


def test_renaming_rewrites_the_condition_of_a_loop_around_it_and_says_so() -> None:
    text = "$.a.done && $['a'].n < 3 && $.ab && $.a-1 > 0 && x.$.a"
    outside = a_loop("other", a_task("y"), condition="$.a > 0")
    definition = a_definition(a_loop("again", a_task("a"), condition=text), outside)
    result = apply(definition, {"op": "rename", "ref": "a", "to": "b-2"})
    assert find(result.definition, "again").task["loopCondition"] == (
        "$['b-2'].done && $['b-2'].n < 3 && $.ab && $['b-2']-1 > 0 && x.$['b-2']"
    )
    assert find(result.definition, "other").task["loopCondition"] == "$.a > 0"
    assert result.notes == ("The condition of the loop `again` now reads `$.b-2`.",)


def test_an_embedded_definition_keeps_its_own_names_when_its_owner_is_renamed() -> None:
    inner = a_definition(a_task("x", inputParameters={"v": "${a.output}"}))
    param = {"name": "${a.output.flow}", "workflowDefinition": inner}
    child = a_task("child", "SUB_WORKFLOW", subWorkflowParam=param)
    definition = a_definition(a_task("a"), child)
    changed = apply(definition, {"op": "rename", "ref": "a", "to": "b"}).definition
    assert changed["tasks"][1]["subWorkflowParam"] == {
        "name": "${b.output.flow}",
        "workflowDefinition": inner,
    }


@pytest.mark.parametrize(
    ("to", "words"),
    [
        ("", "needs a reference name"),
        (None, "needs a reference name"),
        ("b", "already called `b`"),
        ("workflow", "the execution itself"),
        ("my task", "holds a blank"),
        ("my.task", "holds `.`"),
        ("a__1", "iterations of a loop"),
    ],
)
def test_a_name_that_cannot_work_is_refused_with_the_reason(to: str | None, words: str) -> None:
    with pytest.raises(ImpossibleOperation, match=words):
        apply(a_definition(a_task("a"), a_task("b")), {"op": "rename", "ref": "a", "to": to})


def test_replacing_the_json_of_a_task_renames_it_also_inside_the_new_json() -> None:
    new = a_loop("round", a_task("x", inputParameters={"n": "${again.output.iteration}"}))
    reader = a_task("r", inputParameters={"n": "${again.output.iteration}"})
    definition = a_definition(a_loop("again", a_task("x")), reader)
    changed = apply(definition, {"op": "replace", "ref": "again", "task": new}).definition
    assert changed["tasks"][0]["loopOver"][0]["inputParameters"] == {
        "n": "${round.output.iteration}"
    }
    assert changed["tasks"][1]["inputParameters"] == {"n": "${round.output.iteration}"}


def test_replacing_json_cannot_use_a_name_twice() -> None:
    definition = a_definition(a_loop("again", a_task("x")), a_task("y"))
    for body in ([a_task("y")], [a_task("z"), a_task("z")], [a_task("again")]):
        with pytest.raises(ImpossibleOperation, match="would be used twice"):
            apply(definition, {"op": "replace", "ref": "again", "task": a_loop("again", *body)})


def test_a_decision_becomes_a_switch_that_means_the_same() -> None:
    cases = {"a": [a_task("x")], "empty": []}
    decision = a_task("d", "DECISION", caseValueParam="kind", decisionCases=cases)
    result = apply(a_definition(decision), {"op": "convert", "ref": "d"})
    switch = result.definition["tasks"][0]
    assert (switch["type"], switch["evaluatorType"], switch["expression"]) == (
        "SWITCH",
        "value-param",
        "kind",
    )
    assert list(switch["decisionCases"]) == ["a"]
    assert "caseValueParam" not in switch and len(result.notes) == 2


def test_a_lambda_becomes_a_script_with_its_body_in_a_function() -> None:
    old = a_task("l", "LAMBDA", inputParameters={"scriptExpression": "return $.v;", "v": 1})
    new = apply(a_definition(old), {"op": "convert", "ref": "l"}).definition["tasks"][0]
    assert new["type"] == "INLINE"
    assert new["inputParameters"] == {
        "evaluatorType": "javascript",
        "expression": "(function () {\nreturn $.v;\n})();",
        "v": 1,
    }


def test_fields_of_the_workflow_are_set_and_removed_but_not_its_tasks() -> None:
    definition = a_definition(a_task("a"), ownerEmail="a@b", outputParameters={"x": 1})
    op = {
        "op": "set_workflow",
        "set": [setting("outputParameters", "y", value="${a.output}")],
        "unset": [["ownerEmail"]],
    }
    changed = apply(definition, op).definition
    assert (
        changed["outputParameters"] == {"x": 1, "y": "${a.output}"} and "ownerEmail" not in changed
    )
    with pytest.raises(ImpossibleOperation, match="operations of their own"):
        apply(definition, {"op": "set_workflow", "unset": [["tasks"]]})
