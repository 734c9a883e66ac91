"""A definition as its author wrote it: what a server fills in goes, what says something stays."""

from studio.editor.plain import plain
from studio.views.compare import compare

WRITTEN = {
    "name": "order",
    "version": 3,
    "schemaVersion": 2,
    "tasks": [
        {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE", "inputParameters": {}},
        {
            "name": "paid",
            "taskReferenceName": "paid",
            "type": "SWITCH",
            "inputParameters": {"case": "${charge.output.status}"},
            "evaluatorType": "value-param",
            "expression": "case",
            "decisionCases": {"yes": []},
            "defaultCase": [],
        },
    ],
}


def filled_in(definition: dict) -> dict:
    """As a server gives it back."""
    defaults = {
        "decisionCases": {}, "defaultCase": [], "forkTasks": [], "startDelay": 0, "joinOn": [],
        "optional": False, "loopOver": [], "asyncComplete": False, "permissive": False,
        "metadata": {}, "onStateChange": {}, "defaultExclusiveJoinTask": [],
    }  # fmt: skip
    tasks = [{**defaults, **task} for task in definition["tasks"]]
    return {**definition, "tasks": tasks, "createTime": 17, "updateTime": 18, "variables": {}}


def test_what_a_server_fills_in_goes_away_again() -> None:
    assert plain(filled_in(WRITTEN)) == WRITTEN


def test_the_definition_given_stays_as_it_is() -> None:
    given = filled_in(WRITTEN)
    plain(given)
    assert given == filled_in(WRITTEN)


def test_keys_that_say_what_a_type_is_about_stay_even_when_empty() -> None:
    switch = plain(filled_in(WRITTEN))["tasks"][1]
    assert switch["defaultCase"] == [] and "forkTasks" not in switch


def test_a_setting_that_differs_from_its_default_stays() -> None:
    definition = {**WRITTEN, "tasks": [{**WRITTEN["tasks"][0], "optional": True, "startDelay": 5}]}
    task = plain(filled_in(definition))["tasks"][0]
    assert task["optional"] is True and task["startDelay"] == 5


def test_written_and_filled_in_are_no_difference_between_versions() -> None:
    assert compare(WRITTEN, filled_in(WRITTEN)).changes == ()
