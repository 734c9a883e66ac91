"""What may be registered, what is refused in which words, and what is merely unwise."""

from typing import Any

import pytest

from engine.expressions.scripts import ScriptAnswer, ScriptJob
from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.errors import InvalidInput
from engine.rules.validation import registration_errors, require, task_def_errors
from tests.vectors import by_id, rows


@pytest.mark.parametrize("row", rows("validation"), ids=by_id)
def test_a_definition_is_refused_in_conductors_words_and_for_nothing_else(row: dict[str, Any]):
    known = {name: TaskDef.read(given) for name, given in row.get("task_defs", {}).items()}

    def check(job: ScriptJob) -> ScriptAnswer:
        assert job.check_only
        bad = job.source in row.get("unreadable", [])
        return ScriptAnswer(error="SyntaxError" if bad else None)

    found = registration_errors(
        WorkflowDef.read(row["definition"]),
        task_def=known.get,
        check=check,
        environment=row.get("environment", ()),
    )
    assert [[violation.path, violation.message] for violation in found] == row["errors"]


def test_a_violation_shows_the_value_only_where_it_is_a_plain_one():
    definition = WorkflowDef.read({"name": "", "schemaVersion": 1})
    shown = {v.path.rpartition(".")[2]: v.invalid_value for v in registration_errors(definition)}
    assert shown == {"name": "", "tasks": None, "schemaVersion": "1"}


def test_the_callers_place_stands_in_front_of_every_path():
    definition = WorkflowDef.read({"name": "w", "tasks": [{"name": "a"}]})
    paths = [v.path for v in registration_errors(definition, "updateWorkflowDef.arg0[2]")]
    assert paths == ["updateWorkflowDef.arg0[2].tasks[0].taskReferenceName"]


def test_everything_that_is_wrong_is_told_in_one_error():
    found = registration_errors(WorkflowDef.read({"name": "", "tasks": []}))
    with pytest.raises(InvalidInput) as refused:
        require(found)
    assert refused.value.status == 400
    assert len(refused.value.violations) == 2


def test_nothing_is_raised_for_a_sound_definition():
    require([])


@pytest.mark.parametrize(
    ("given", "path", "message"),
    [
        ({"name": ""}, ".name", "TaskDef name cannot be null or empty"),
        ({"retryCount": -1}, ".retryCount", "TaskDef retryCount: 0 must be >= 0"),
        ({"pollTimeoutSeconds": -1}, ".pollTimeoutSeconds", "pollTimeoutSeconds: 0 must be >= 0"),
        ({"maxRetryDelaySeconds": -1}, ".maxRetryDelaySeconds", "0 must be >= 0"),
        ({"backoffJitterMs": -1}, ".backoffJitterMs", "0 must be >= 0"),
        ({"totalTimeoutSeconds": -1}, ".totalTimeoutSeconds", "0 must be >= 0"),
        ({"backoffScaleFactor": 0}, ".backoffScaleFactor", "Backoff scale factor"),
        (
            {"responseTimeoutSeconds": 0},
            ".responseTimeoutSeconds",
            "TaskDef responseTimeoutSeconds: 0 should be minimum 1 second",
        ),
    ],
)
def test_a_task_definition_with_an_impossible_number_is_refused(
    given: dict[str, Any], path: str, message: str
):
    found = task_def_errors(TaskDef.read({"name": "charge", **given}))
    assert [violation.path for violation in found] == [f"registerTaskDef.arg0[0]{path}"]
    assert message in found[0].message


def test_a_timeout_below_the_silent_default_is_refused_with_the_way_out():
    found = task_def_errors(TaskDef.read({"name": "charge", "timeoutSeconds": 60}))
    assert [violation.path for violation in found] == ["registerTaskDef.arg0[0]"]
    assert found[0].message == (
        "TaskDef: charge responseTimeoutSeconds: 3600 must be less than timeoutSeconds: 60. "
        "Set responseTimeoutSeconds to 60 or less (the value where none is given is 3600), or "
        "timeoutSeconds to 3600 or more"
    )


def test_a_response_timeout_equal_to_the_timeout_is_taken():
    given = {"name": "charge", "timeoutSeconds": 60, "responseTimeoutSeconds": 60}
    assert task_def_errors(TaskDef.read(given)) == []


def test_a_timeout_above_the_total_is_refused_with_both_names():
    given = {
        "name": "charge",
        "timeoutSeconds": 60,
        "responseTimeoutSeconds": 10,
        "totalTimeoutSeconds": 50,
    }
    (found,) = task_def_errors(TaskDef.read(given))
    assert (
        "timeoutSeconds: 60 must be less than or equal to totalTimeoutSeconds: 50" in found.message
    )
