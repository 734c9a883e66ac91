"""/workflow, where the caller waits: an execution is started or given something, and the answer comes
once it stands still."""

import uuid

from starlette.concurrency import run_in_threadpool

from engine.api.waiting import stand_still
from engine.api.wire import Call, Route, whole
from engine.model.errors import InvalidInput, NotFound
from engine.model.record import Json, Record
from engine.model.requests import StartWorkflowRequest, TaskResult
from engine.services.house import House
from engine.services.signals import ReturnStrategy, return_strategy
from engine.services.tasks import open_run, reported_status

WAIT_SECONDS = 10
LONGEST_WAIT_SECONDS = 600


class StateUpdate(Record):
    """A task's result and variables at once."""

    task_reference_name: str | None = None
    task_result: TaskResult | None = None
    variables: dict[str, Json] | None = None


class Synchronous:
    """Answers that wait for an execution, up to a time."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._executions = house.executions

    def routes(self) -> list[Route]:
        """Fixed words first, then what is variable."""
        return [
            Route(
                "POST",
                "/workflow/execute/{name}/{version}",
                self.execute,
                _EXECUTE,
                "StartWorkflowRequest",
            ),
            Route(
                "POST", "/workflow/execute/{name}", self.execute, _EXECUTE, "StartWorkflowRequest"
            ),
            Route("GET", "/workflow/execute/{name}", self.execute, _EXECUTE, changes=True),
            Route("POST", "/workflow/{id}/state", self.update_state, _STATE, "StateUpdate"),
        ]

    async def execute(self, call: Call) -> dict[str, Json]:
        """Start an execution and wait for it, up to a time."""
        request = call.record(StartWorkflowRequest)
        version = _version(call.path.get("version", "0"))
        name = call.path["name"]
        if request.workflow_def is None:
            request = request.but(name=name, version=version)
        else:
            marked = {"dynamic": True}
            given = {**(request.input or {}), "_systemMetadata": marked}
            request = request.but(name=name, input=given)
        strategy = return_strategy(call.text("returnStrategy"))
        seconds = call.number("waitForSeconds") or WAIT_SECONDS
        workflow_id = await run_in_threadpool(self._executions.start, request, call.person)
        request_id = call.text("requestId") or str(uuid.uuid4())
        return await self._answer(call, workflow_id, strategy, seconds, request_id)

    async def update_state(self, call: Call) -> dict[str, Json]:
        """Merge variables and report on a task at once, then wait for the execution."""
        workflow_id = call.path["id"]
        await run_in_threadpool(self._take_state, workflow_id, call.record(StateUpdate), call)
        seconds = call.number("waitForSeconds", WAIT_SECONDS)
        strategy = return_strategy(None)
        return await self._answer(call, workflow_id, strategy, seconds, call.text("requestId"))

    async def _answer(
        self,
        call: Call,
        workflow_id: str,
        strategy: ReturnStrategy,
        seconds: int,
        request_id: str | None,
    ) -> dict[str, Json]:
        """How the execution stands once nothing moves it any more, or the time is up."""
        signals, seconds = self._house.signals, min(seconds, LONGEST_WAIT_SECONDS)
        stand, late = await stand_still(signals, workflow_id, _refs(call), seconds, call.gone)
        return await run_in_threadpool(signals.answer, stand, strategy, request_id, late)

    def _take_state(self, workflow_id: str, update: StateUpdate, call: Call) -> None:
        view = self._executions.view(workflow_id, payloads=False)
        result, ref = update.task_result, update.task_reference_name
        if result is not None:
            # Before anything is changed: a refused update has merged no variables.
            reported_status(result.status)
            if not ref:
                raise InvalidInput("taskReferenceName is empty: name the task of taskResult.")
            if open_run(view.all_runs(), ref) is None:
                raise NotFound(f"Found no running task {ref} of workflow {workflow_id} to update")
            output = self._house.tasks.output_of(result, "taskResult.")
        if update.variables:
            self._executions.set_variables(
                workflow_id, update.variables, by=call.person, why=call.reason
            )
        if result is None or not ref:
            self._executions.decide(workflow_id, call.person)
            return
        self._house.tasks.update_by_ref(
            workflow_id,
            ref,
            result.status or "",
            output,
            result.worker_id,
            call.person,
            result.external_output_payload_storage_path or None,
        )


_EXECUTE = ("requestId", "waitUntilTaskRef", "waitForSeconds:int", "consistency", "returnStrategy")
_STATE = ("requestId", "waitUntilTaskRef", "waitForSeconds:int", "reason")


def _version(text: str) -> int | None:
    """A version in a path; 0 stands for the newest."""
    return whole("version", text) or None


def _refs(call: Call) -> list[str]:
    """The tasks to wait for; Python's SDK writes None where it means none."""
    return [ref.strip() for ref in call.texts("waitUntilTaskRef") if ref.strip() != "None"]
