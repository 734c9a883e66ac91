"""Steering a case into a branch that no case has gone through."""

from studio.views.mock_cases import of_definition
from studio.views.steering import steered
from tests.studio.editor.definitions import a_definition, a_switch, a_task


def a_switch_on(template: str) -> dict:
    switch = a_switch("route", yes=[a_task("ship")])
    return {**switch, "inputParameters": {"case": template}}


def test_a_switch_over_an_output_is_steered_by_its_mock() -> None:
    definition = a_definition(a_task("ask"), a_switch_on("${ask.output.answer.word}"))
    case = of_definition(definition, "all")
    made = steered(case, definition, "route", "yes", "route = yes")
    assert made["mocks"]["ask"][0]["output"] == {"answer": {"word": "yes"}}
    assert case["mocks"]["ask"][0]["output"] != made["mocks"]["ask"][0]["output"]


def test_a_switch_over_the_input_is_steered_by_the_input() -> None:
    definition = a_definition(a_switch_on("${workflow.input.kind}"))
    made = steered(of_definition(definition, "all"), definition, "route", "yes", "yes")
    assert made["input"] == {"kind": "yes"}


def test_the_default_is_reached_by_a_value_that_no_case_names() -> None:
    definition = a_definition(a_switch_on("${workflow.input.kind}"))
    made = steered(of_definition(definition, "all"), definition, "route", "default", "else")
    assert made["input"]["kind"] not in ("yes", "default", "")


def test_a_switch_by_script_is_left_to_the_person() -> None:
    switch = {**a_switch_on("${ask.output.x}"), "evaluatorType": "javascript"}
    definition = a_definition(a_task("ask"), switch)
    case = of_definition(definition, "all")
    assert steered(case, definition, "route", "yes", "yes")["mocks"] == case["mocks"]
