"""Every sample, played to its end on a real engine with its real workers: the happy run, the
failing one and what an operator does about it. Once over REST, once by the services.

Mock runs of the same samples are in tests/testing/test_samples.py.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import orjson
import pytest

from engine.model.requests import RerunRequest, StartWorkflowRequest
from sample_workflows.catalogue import Play, Sample, samples
from sample_workflows.workers import WORKERS
from tests.api.door import Door

PATIENCE = 40.0
Json = Any

PLAYS = [
    pytest.param(sample, one, id=f"{sample.name}-{number}")
    for sample in samples()
    for number, one in enumerate((sample.happy, sample.failing, *sample.variants))
]


class Way(Protocol):
    """How the engine is asked."""

    def start(self, name: str, given: Json) -> str: ...
    def get(self, workflow_id: str) -> Json: ...
    def complete(self, workflow_id: str, ref: str, output: Json) -> None: ...
    def retry(self, workflow_id: str) -> None: ...
    def rerun(self, workflow_id: str, request: Json) -> None: ...


class OverRest:
    """By Conductor's endpoints."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def start(self, name: str, given: Json) -> str:
        return self._door.post(f"workflow/{name}", given).text

    def get(self, workflow_id: str) -> Json:
        return self._door.get(f"workflow/{workflow_id}")

    def complete(self, workflow_id: str, ref: str, output: Json) -> None:
        self._door.post(f"tasks/{workflow_id}/{ref}/COMPLETED", output)

    def retry(self, workflow_id: str) -> None:
        self._door.post(f"workflow/{workflow_id}/retry", resumeSubworkflowTasks="true")

    def rerun(self, workflow_id: str, request: Json) -> None:
        self._door.post(f"workflow/{workflow_id}/rerun", request)


class ByServices:
    """By the engine's own services, in this process."""

    def __init__(self, door: Door) -> None:
        self._engine = door.engine

    def start(self, name: str, given: Json) -> str:
        return self._engine.executions.start(StartWorkflowRequest(name=name, input=given))

    def get(self, workflow_id: str) -> Json:
        return orjson.loads(orjson.dumps(self._engine.executions.get(workflow_id)))

    def complete(self, workflow_id: str, ref: str, output: Json) -> None:
        self._engine.tasks.update_by_ref(workflow_id, ref, "COMPLETED", output)

    def retry(self, workflow_id: str) -> None:
        self._engine.executions.retry(workflow_id, resume_subworkflow_tasks=True)

    def rerun(self, workflow_id: str, request: Json) -> None:
        self._engine.executions.rerun(workflow_id, RerunRequest.read(request))


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with Door(evaluators=2) as found:
        found.engine.employ(WORKERS)
        for sample in samples():
            if sample.task_defs:
                found.post("metadata/taskdefs", list(sample.task_defs))
            found.put("metadata/workflow", list(sample.definitions))
        yield found


@pytest.fixture(params=[OverRest, ByServices], ids=["rest", "engine"])
def way(request: pytest.FixtureRequest, door: Door) -> Way:
    made: Way = request.param(door)
    return made


def until(what: Callable[[], Any], told: str) -> Any:
    """The first true value; a failure says what was waited for."""
    pause, end = threading.Event(), time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        pause.wait(0.02)
    raise AssertionError(f"waited {PATIENCE:.0f} s for {told}")


def open_task(way: Way, workflow_id: str, ref: str) -> bool:
    """Does this execution wait at the task?"""
    return any(
        task["referenceTaskName"] == ref and task["status"] == "IN_PROGRESS"
        for task in way.get(workflow_id)["tasks"]
    )


def play_on(way: Way, workflow_id: str, steps: tuple[Json, ...]) -> Json:
    """What people do, then the end."""
    for step in steps:
        ref = step["complete"]
        until(lambda ref=ref: open_task(way, workflow_id, ref), f"the task {ref}")
        way.complete(workflow_id, ref, step.get("output", {}))

    def ended() -> Json:
        found = way.get(workflow_id)
        return found if found["status"] not in ("RUNNING", "PAUSED") else None

    return until(ended, "the end")


def check(way: Way, execution: Json, expect: Json) -> None:
    """The end is the one that was promised."""
    assert execution["status"] == expect["status"], execution.get("reasonForIncompletion")
    promised = expect.get("output_has", {})
    assert {key: execution["output"].get(key) for key in promised} == promised
    assert expect.get("reason_has", "") in (execution.get("reasonForIncompletion") or "")
    failed = expect.get("failedRef")
    if failed and execution["failedReferenceTaskNames"]:
        assert failed in execution["failedReferenceTaskNames"]
    undo = expect.get("failureWorkflow")
    if undo:
        started = execution["output"]["conductor.failure_workflow"]
        ended = until(
            lambda: (found := way.get(started))["status"] != "RUNNING" and found, "the undoing"
        )
        assert (ended["workflowName"], ended["status"]) == (undo["name"], undo["status"])


@pytest.mark.parametrize(("sample", "one"), PLAYS)
def test_a_sample_comes_to_its_end_and_can_be_mended(sample: Sample, one: Play, way: Way) -> None:
    workflow_id = way.start(sample.definition["name"], one.input)
    check(way, play_on(way, workflow_id, one.steps), one.expect)
    if one.fix is None:
        return
    if one.fix.action == "retry":
        way.retry(workflow_id)
    else:
        request: dict[str, Json] = {}
        if one.fix.from_ref:
            tasks = way.get(workflow_id)["tasks"]
            target = [task for task in tasks if task["referenceTaskName"] == one.fix.from_ref][-1]
            request["reRunFromTaskId"] = target["taskId"]
        if one.fix.task_input is not None:
            request["taskInput"] = one.fix.task_input
        if one.fix.workflow_input is not None:
            request["workflowInput"] = one.fix.workflow_input
        way.rerun(workflow_id, request)
    check(way, play_on(way, workflow_id, one.fix.steps), one.fix.expect)
