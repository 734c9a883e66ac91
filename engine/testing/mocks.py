"""Mocked outcomes by reference name: one for each attempt, in order.

A list under the full name of a loop iteration (`ref__2`) serves that iteration; a list under the
plain name serves all others, one after the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.model.errors import InvalidInput, Violation
from engine.model.execution import Run
from engine.model.record import Json
from engine.model.requests import TaskMock, WorkflowTestRequest
from engine.model.status import REPORTABLE, TaskStatus

MOCKABLE = REPORTABLE | {TaskStatus.TIMED_OUT}
"""What a mock may say. TIMED_OUT: nothing is heard of the attempt until a deadline passes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one attempt is to go; times in milliseconds of the test's own clock."""

    status: TaskStatus = TaskStatus.COMPLETED
    output: Mapping[str, Json] | None = None
    reason: str | None = None
    waits_ms: int = 0
    """In its queue, before it is taken."""
    takes_ms: int = 0
    """From being taken until the report."""


class Mocks:
    """The mocks for one execution, and those for its sub-workflows."""

    def __init__(self, request: WorkflowTestRequest, place: str = "") -> None:
        self._lists = {
            name: _outcomes(mocks, f"{place}taskRefToMockOutput.{name}")
            for name, mocks in (request.task_ref_to_mock_output or {}).items()
        }
        self._used = dict.fromkeys(self._lists, 0)
        self._children = {
            ref: Mocks(
                _test_of_child(described, f"{place}subWorkflowTestRequest.{ref}"),
                f"{place}subWorkflowTestRequest.{ref}.",
            )
            for ref, described in (request.sub_workflow_test_request or {}).items()
        }

    def take(self, run: Run) -> Outcome | None:
        """The next outcome for this attempt; None when none is left."""
        name = self._name_for(run)
        if name is None or self._used[name] >= len(self._lists[name]):
            return None
        self._used[name] += 1
        return self._lists[name][self._used[name] - 1]

    def mentions(self, run: Run) -> bool:
        """Is there a list for this attempt, used up or not?"""
        return self._name_for(run) is not None

    def answers(self, run: Run) -> bool:
        """Does a mock answer this sub-workflow as a whole? When its list is used up, a test request
        for the child takes over, if there is one."""
        name = self._name_for(run)
        if name is None:
            return False
        return self._used[name] < len(self._lists[name]) or self.child(run) is None

    def child(self, run: Run) -> "Mocks | None":
        """The mocks for the child of a SUB_WORKFLOW attempt."""
        return self._children.get(run.reference) or self._children.get(run.ref)

    def unused(self) -> dict[str, int]:
        """The lists of which outcomes are left, and how many."""
        left = {name: len(self._lists[name]) - used for name, used in self._used.items()}
        return {name: count for name, count in left.items() if count}

    def _name_for(self, run: Run) -> str | None:
        return next((name for name in (run.reference, run.ref) if name in self._lists), None)


NO_MOCKS = Mocks(WorkflowTestRequest())
"""For a child that nobody has given mocks."""


def _test_of_child(described: Json, place: str) -> WorkflowTestRequest:
    request = WorkflowTestRequest.read(described, place)
    if request.external_input_payload_storage_path:
        raise InvalidInput(
            f"{place}.externalInputPayloadStoragePath names an input: a sub-workflow has that of its "
            "task. Leave the field out."
        )
    return request


def _outcomes(mocks: Sequence[TaskMock], place: str) -> tuple[Outcome, ...]:
    found = [
        violation
        for number, mock in enumerate(mocks)
        for violation in _violations(mock, f"{place}[{number}]")
    ]
    if found:
        raise InvalidInput.of(found)
    return tuple(
        Outcome(
            TaskStatus(mock.status or TaskStatus.COMPLETED),
            mock.output,
            mock.reason,
            mock.queue_wait_time,
            mock.execution_time,
        )
        for mock in mocks
    )


def _violations(mock: TaskMock, place: str) -> list[Violation]:
    found = []
    if mock.status and mock.status not in MOCKABLE:
        allowed = ", ".join(sorted(MOCKABLE))
        found.append(
            Violation(
                f"{place}.status", f"a mock may say {allowed}; not {mock.status}.", mock.status
            )
        )
    for name, value in (
        ("executionTime", mock.execution_time),
        ("queueWaitTime", mock.queue_wait_time),
    ):
        if value < 0:
            message = f"{name} is {value}: give 0 or more milliseconds."
            found.append(Violation(f"{place}.{name}", message, str(value)))
    return found
