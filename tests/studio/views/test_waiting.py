"""What an execution waits for, in the words of the server or in those of its open tasks."""

from datetime import UTC
from typing import Any

from studio.views.execution import ExecutionView, view_of
from studio.views.waiting import Waits, waits_of
from tests.client.conductor_data import NOW, a_waiting_incident


def an_entry(reference: str, **more: Any) -> dict[str, Any]:
    return {"ref": reference, "reference": reference, "status": "SCHEDULED", **more}


def a_view(*entries: dict[str, Any], status: str = "RUNNING") -> ExecutionView:
    return view_of({"workflowId": "w"}, {"status": status, "tasks": list(entries)})


def waits(view: ExecutionView, *sentences: str, steps: tuple[str, ...] = ()) -> Waits:
    diagnosis = {"waiting": list(sentences), "nextSteps": list(steps)}
    return waits_of(view, diagnosis, NOW, UTC)


def test_without_a_diagnosis_the_open_tasks_are_what_is_awaited() -> None:
    found = waits_of(view_of(a_waiting_incident()), None, NOW, UTC)
    assert [(one.ref, one.status) for one in found.awaited] == [("approval", "IN_PROGRESS")]
    assert found.awaited[0].words.startswith("since ") and found.steps == ()


def test_a_diagnosis_of_no_waiting_leaves_it_to_the_open_tasks() -> None:
    found = waits(a_view(an_entry("a")), steps=("Report it.",))
    assert [one.ref for one in found.awaited] == ["a"] and found.steps == ()


def test_a_sentence_belongs_to_the_task_whose_name_it_begins_with() -> None:
    view = a_view(an_entry("ship__2", ref="ship", iteration=2, status="IN_PROGRESS"))
    found = waits(view, "ship__2 has been with w for 3 seconds", steps=("See w.",))
    one = found.awaited[0]
    assert (one.shown_ref, one.ref, one.status) == ("ship__2", "ship", "IN_PROGRESS")
    assert one.words == "has been with w for 3 seconds"
    assert found.steps == ("See w.",)


def test_the_longest_name_that_fits_is_the_task() -> None:
    view = a_view(an_entry("book"), an_entry("book flight"))
    assert waits(view, "book flight goes on in 2 hours").awaited[0].ref == "book flight"


def test_the_sub_workflow_that_a_sentence_names_is_known() -> None:
    view = a_view(an_entry("sub", subWorkflowId="child-7"), an_entry("other", subWorkflowId="c-8"))
    found = waits(view, "sub has waited 1 minute for its sub-workflow child-7", "other goes on")
    assert [one.child_id for one in found.awaited] == ["child-7", ""]


def test_a_sentence_about_no_task_is_about_the_execution() -> None:
    one = waits(a_view(status="PAUSED"), "It is paused until somebody resumes it").awaited[0]
    assert (one.ref, one.status) == ("", "PAUSED")
    assert one.words == "It is paused until somebody resumes it"
