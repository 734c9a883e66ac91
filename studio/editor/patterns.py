"""Shapes that come up again and again, as tasks ready to be inserted and then filled in.

An insertion gives them names of their own where theirs are taken, and lets them read each other.
"""

from dataclasses import dataclass
from typing import Any

from studio.editor.task_types import new_task
from studio.editor.tree import JsonObject, copied


@dataclass(frozen=True, slots=True)
class Pattern:
    name: str
    label: str
    icon: str
    help: str
    tasks: tuple[JsonObject, ...]

    def operation(self, place: JsonObject) -> JsonObject:
        """The operation that puts this pattern there."""
        return {"op": "insert", "place": place, "tasks": copied(list(self.tasks))}


def _task(word: str, ref: str, inputs: JsonObject | None = None, **fields: Any) -> JsonObject:
    task = new_task(word, ref) | fields
    return task if inputs is None else task | {"inputParameters": inputs}


def _stop(ref: str, reason: str) -> JsonObject:
    inputs = {"terminationStatus": "FAILED", "terminationReason": reason, "workflowOutput": {}}
    return _task("TERMINATE", ref, inputs)


def _decide(ref: str, value: str, cases: dict[str, list[JsonObject]]) -> JsonObject:
    inputs = {"switchCaseValue": value}
    return _task("SWITCH", ref, inputs, decisionCases=cases, defaultCase=[])


PATTERNS = (
    Pattern(
        "approval",
        "Approval",
        "person_check",
        "A person decides; a rejection ends the execution.",
        (
            _task("HUMAN", "approval", {"assignee": "", "question": ""}),
            _decide(
                "approved",
                "${approval.output.decision}",
                {"rejected": [_stop("rejected", "${approval.output.reason}")]},
            ),
        ),
    ),
    Pattern(
        "poll_until",
        "Poll until done",
        "repeat",
        "Asks again after a pause until the answer says so, or twenty times.",
        (
            _task(
                "DO_WHILE",
                "poll",
                loopCondition="$.check.response.body.status != 'DONE' && $.poll.iteration < 20",
                loopOver=[
                    _task("HTTP", "check"),
                    _task("WAIT", "pause", {"duration": "10 seconds"}),
                ],
            ),
        ),
    ),
    Pattern(
        "fan_out",
        "Fan out over a list",
        "call_split",
        "One task for each element of a list, then all results together.",
        (
            _task(
                "FORK_JOIN_DYNAMIC",
                "fan_out",
                {"forkTaskName": "", "forkTaskInputs": "${workflow.input.items}"},
            ),
            _task("JOIN", "gather"),
        ),
    ),
    Pattern(
        "side_by_side",
        "Two things side by side",
        "call_split",
        "Two branches with a task each; the join waits for both.",
        (
            _task(
                "FORK_JOIN",
                "split",
                forkTasks=[[_task("SIMPLE", "left")], [_task("SIMPLE", "right")]],
            ),
            _task("JOIN", "meet", joinOn=["left", "right"]),
        ),
    ),
    Pattern(
        "compensate",
        "Undo on failure",
        "undo",
        "When the second step fails for good, the first is taken back and the execution fails.",
        (
            _task("SIMPLE", "reserve"),
            _task("SIMPLE", "commit", optional=True),
            _decide(
                "committed",
                "${commit.status}",
                {
                    "COMPLETED_WITH_ERRORS": [
                        _task("SIMPLE", "release", {"reserved": "${reserve.output}"}),
                        _stop("not_committed", "${commit.reasonForIncompletion}"),
                    ]
                },
            ),
        ),
    ),
)
