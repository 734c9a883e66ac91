"""Executions that blanked the pictures of others; the number is the report's."""

import itertools
from typing import Any

import pytest

from engine.model.status import TaskStatus
from studio.editor.task_types import TASK_TYPES
from studio.graph import layout, svg, timeline
from studio.graph.progress import of_execution
from studio.views.execution import view_of
from tests.studio.graph.samples import a_task

STATUSES = [*TaskStatus, "NEWER_STATUS"]
TYPES = sorted({*TASK_TYPES, "FOO"})
FIELDS = ("status", "taskType", "startTime", "endTime", "iteration", "retryCount", "workflowTask")


def a_row(ref: str, type_: str, status: str, **more: Any) -> dict[str, Any]:
    """A task of an execution as the API shows it."""
    row = {
        "referenceTaskName": ref,
        "taskType": type_,
        "taskDefName": ref,
        "taskId": f"id-{ref}-{more.get('iteration', 0)}",
        "status": status,
        "scheduledTime": 1_000,
        "startTime": 1_001,
        "endTime": 2_000 if status not in ("SCHEDULED", "IN_PROGRESS") else 0,
        "workflowTask": {"name": ref, "taskReferenceName": ref, "type": type_},
    }
    return {**row, **more}


def an_execution(definition: dict[str, Any] | None, rows: list[dict[str, Any]]) -> dict[str, Any]:
    shown = {"workflowId": "w", "workflowName": "x", "status": "RUNNING", "tasks": rows}
    return shown if definition is None else {**shown, "workflowDefinition": definition}


def drawn(execution: dict[str, Any]) -> tuple[str, list[timeline.Row]]:
    """The picture and the timeline of an execution."""
    view = view_of(execution)
    placed = layout.place(execution.get("workflowDefinition") or {})
    picture = svg.render(placed, of_execution(placed, view.outline))
    rows = timeline.rows_of(view.outline, now_ms=3_000)
    timeline.figure(rows)
    return picture, rows


@pytest.mark.parametrize("type_", TYPES)
def test_fr_044_every_status_of_every_type_is_drawn(type_: str) -> None:
    definition = {"name": "x", "tasks": [a_task("one", type_), a_task("two")]}
    for status in STATUSES:
        picture, rows = drawn(an_execution(definition, [a_row("one", type_, status)]))
        assert "one" in picture and rows[0].ref == "one"


@pytest.mark.parametrize(("missing", "status"), [*itertools.product(FIELDS, STATUSES)])
def test_fr_044_a_missing_field_blanks_nothing(missing: str, status: str) -> None:
    definition = {"name": "x", "tasks": [a_task("one"), a_task("two", "HTTP")]}
    whole = [a_row("one", "SIMPLE", status), a_row("two", "HTTP", "IN_PROGRESS")]
    for value in (None, "absent"):
        rows = [dict(row) for row in whole]
        for row in rows:
            row.pop(missing, None) if value == "absent" else row.update({missing: None})
        picture, _ = drawn(an_execution(definition, rows))
        assert "one" in picture and "two" in picture


def test_fr_044_tasks_that_the_definition_does_not_know_are_still_told() -> None:
    rows = [a_row("gone", "SIMPLE", "FAILED"), a_row("forked_7", "FOO", "SKIPPED")]
    for definition in (None, {}, {"name": "x"}, {"name": "x", "tasks": [a_task("other")]}):
        _, told = drawn(an_execution(definition, rows))
        assert {row.ref for row in told} == {"gone", "forked_7"}
    drawn(an_execution({"name": "x", "tasks": [a_task("a")]}, []))


def nested_loop() -> dict[str, Any]:
    inner = a_task("l2", "DO_WHILE", loopCondition="$.l2.iteration < 2", loopOver=[a_task("c")])
    default = [
        a_task("f", "FORK_JOIN", forkTasks=[[a_task("b")], [inner]]),
        a_task("j", "JOIN", joinOn=["b", "l2"]),
        a_task("d", "FORK_JOIN_DYNAMIC", dynamicForkTasksParam="t"),
        a_task("dj", "JOIN"),
    ]
    switch = a_task("sw", "SWITCH", decisionCases={"x": [a_task("a")]}, defaultCase=default)
    loop = a_task("l", "DO_WHILE", loopCondition="$.l.iteration < 3", loopOver=[switch])
    return {"name": "x", "tasks": [loop]}


@pytest.mark.parametrize("last", ["IN_PROGRESS", "FAILED", "COMPLETED"])
def test_fr_045_loops_with_branches_are_drawn_with_every_attempt(last: str) -> None:
    rows = [a_row("l", "DO_WHILE", last, iteration=2)]
    for number in (1, 2):
        for ref, type_ in (("sw", "SWITCH"), ("f", "FORK"), ("b", "SIMPLE"), ("d", "FORK")):
            rows.append(a_row(f"{ref}__{number}", type_, "COMPLETED", iteration=number))
        rows.append(a_row(f"l2__{number}", "DO_WHILE", "COMPLETED", iteration=number))
        rows.append(a_row(f"c__{number}", "SIMPLE", last, iteration=number))
        for branch in range(3):
            rows.append(
                a_row(f"forked_{branch}__{number}", "SIMPLE", "COMPLETED", iteration=number)
            )
    execution = an_execution(nested_loop(), rows)
    picture, bars = drawn(execution)
    for ref in ("l", "sw", "a", "b", "l2", "c", "j", "d", "dj"):
        assert f">{ref}<" in picture, ref
    assert sum(bar.tries for bar in bars) == len(rows)
    assert {bar.iteration for bar in bars if bar.ref == "b"} == {1, 2}
