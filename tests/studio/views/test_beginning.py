"""Where a failure began that came up from a sub-workflow."""

from typing import Any

import pytest

from studio.views.beginning import beginning_of

CAUSE = {"workflowId": "kid-1", "workflow": "kid", "reference": "pay", "attempts": 2}


def test_a_beginning_below_is_named_with_its_workflow_task_and_reason() -> None:
    found = beginning_of({"cause": {**CAUSE, "reason": "no route\nat line 3"}}, "top-1")
    assert found is not None
    assert (found.execution_id, found.workflow, found.ref) == ("kid-1", "kid", "pay")
    assert (found.tries, found.iteration, found.reason) == (2, 0, "no route")


def test_a_task_of_a_loop_is_named_as_in_its_definition_and_any_other_as_it_is() -> None:
    looped = {**CAUSE, "reference": "pay__3", "iteration": 3}
    for cause, ref in ((looped, "pay"), ({**CAUSE, "reference": "pay__3"}, "pay__3")):
        found = beginning_of({"cause": cause}, "top-1")
        assert found is not None and found.ref == ref


def test_a_sub_workflow_that_ended_by_itself_is_a_beginning_without_a_task() -> None:
    cause = {"workflowId": "kid-1", "workflow": "kid", "status": "TIMED_OUT"}
    found = beginning_of({"cause": cause}, "top-1")
    assert found is not None and (found.workflow, found.ref, found.tries) == ("kid", "", 0)


@pytest.mark.parametrize(
    "diagnosis",
    [
        None,
        {},
        {"cause": None},
        {"cause": "nothing"},
        {"cause": {"workflow": "kid"}},
        {"cause": {**CAUSE, "workflowId": "top-1"}},
    ],
)
def test_what_began_in_the_execution_itself_or_is_not_said_has_no_beginning_below(
    diagnosis: dict[str, Any] | None,
) -> None:
    assert beginning_of(diagnosis, "top-1") is None
