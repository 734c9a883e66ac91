"""The problems of a draft in one list, each once, with its place and its way out."""

from studio.editor import json_text
from studio.editor.operations import apply
from studio.graph import layout
from studio.views import problems
from studio.views.problems import Problem, problems_of
from tests.studio.editor.definitions import a_definition, a_fork, a_switch, a_task


def found_in(definition: dict) -> list[Problem]:
    return list(problems_of(definition, layout.place(definition)))


def errors_of(definition: dict, ref: str) -> list[str]:
    return [each.text for each in found_in(definition) if each.ref == ref and each.level == "error"]


def test_a_sound_definition_has_neither_errors_nor_warnings() -> None:
    found = found_in(a_definition(a_task("pay"), outputParameters={"x": "${pay.output.x}"}))
    assert found == []


def test_a_required_field_that_is_empty_is_an_error_of_its_task() -> None:
    call = a_task("call", "HTTP", inputParameters={"http_request": {"uri": "", "method": "GET"}})
    assert errors_of(a_definition(call), "call") == ["`call` needs address."]


def test_one_mistake_is_told_once() -> None:
    definition = a_definition(*a_fork("split", [a_task("left")], [], join="meet"))
    assert errors_of(definition, "split") == ["Branch 2 of `split` is empty."]


def test_a_fix_is_an_operation_that_mends_its_problem() -> None:
    definition = a_definition(*a_fork("split", [a_task("left")], [], join="meet"))
    fix = next(each.fix for each in found_in(definition) if each.ref == "split" and each.fix)
    assert fix[0] == "Remove branch 2"
    mended = apply(definition, fix[1]).definition
    assert errors_of(mended, "split") == []


def test_fr_010_a_join_that_waits_for_nobody_is_told_and_mended_by_one_click() -> None:
    fork, join = a_fork("split", [a_task("left")], [a_task("first"), a_task("right")], join="meet")
    definition = a_definition(fork, {**join, "joinOn": []}, a_task("after"))
    (problem,) = [each for each in found_in(definition) if each.ref == "meet"]
    assert problem.level == "warning" and "waits for nothing" in problem.text
    assert problem.fix is not None and problem.fix[0] == "Wait for left, right"
    mended = apply(definition, problem.fix[1]).definition
    assert mended["tasks"][1]["joinOn"] == ["left", "right"]
    assert not [each for each in found_in(mended) if each.ref == "meet"]


def test_a_slip_in_a_name_is_mended_by_the_nearest_name() -> None:
    reader = a_task("send", inputParameters={"id": "${chrge.output.id}"})
    definition = a_definition(a_task("charge"), reader)
    fixes = [each.fix for each in found_in(definition) if each.ref == "send" and each.fix]
    assert [label for label, _ in fixes] == ["Read charge"]
    mended = apply(definition, fixes[0][1]).definition
    assert mended["tasks"][1]["inputParameters"]["id"] == "${charge.output.id}"


def test_a_switch_that_looks_for_a_missing_input_can_be_given_it() -> None:
    switch = a_switch("route", yes=[a_task("ship")])
    fixes = [each.fix for each in found_in(a_definition(switch)) if each.fix]
    assert [label for label, _ in fixes] == ["Add the input case"]


def test_text_that_is_no_definition_is_the_first_problem_with_its_line() -> None:
    _, fault = json_text.read('{"name": "x",\n}')
    definition = a_definition(a_task("pay"))
    first = problems_of(definition, layout.place(definition), fault)[0]
    assert first.level == "error" and first.text.startswith("Line 1, column 13: ")


def test_errors_come_first_and_hints_are_not_marked_in_the_picture() -> None:
    definition = a_definition(a_switch("route", yes=[a_task("ship")]), a_task("call", "HTTP"))
    levels = [each.level for each in found_in(definition)]
    assert levels == sorted(levels, key=["error", "warning", "info"].index)
    drawing = layout.place(definition)
    hint = Problem("info", "route", "a hint")
    assert problems.by_node([hint], drawing) == {}


def test_a_draft_that_nobody_can_read_has_problems_and_no_exception() -> None:
    for broken in (
        {},
        {"tasks": 7},
        {"tasks": [None, {"type": 3}]},
        {"tasks": [{"forkTasks": "x"}]},
    ):
        assert problems_of(broken, layout.place(broken))
