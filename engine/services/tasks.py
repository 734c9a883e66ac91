"""What a caller can ask about tasks: poll, report, log, look at."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from engine.core.inbox import Asked, Handed, Wanted
from engine.expressions.secrets import fill_secrets, mentions_secrets
from engine.model.errors import InvalidInput, NotFound
from engine.model.events import ExtendLease, Result
from engine.model.execution import EMPTY, Execution, Run
from engine.model.facts import Facts
from engine.model.ids import task_place
from engine.model.record import Json, decode, encode
from engine.model.requests import TaskResult
from engine.model.status import REPORTABLE, TaskStatus
from engine.rules.rendering import task_json
from engine.services.port import Port
from engine.store.contract import Store
from engine.tasks.restoring import restore
from engine.tasks.view import View

LONGEST_POLL_MS = 5000

Secrets = Callable[[str], str | None]


class Tasks:
    """Handing out, taking in, and reading tasks."""

    def __init__(self, port: Port, store: Store, secrets: Secrets) -> None:
        self._port = port
        self._store = store
        self._secrets = secrets

    # Poll

    def want(
        self,
        task_type: str,
        *,
        worker: str | None = None,
        domain: str | None = None,
        count: int = 1,
        timeout_ms: int = 100,
    ) -> "Future[list[Handed]]":
        """Ask for up to `count` tasks; resolved when there is one, or after the timeout."""
        if timeout_ms > LONGEST_POLL_MS:
            raise InvalidInput("Long Poll Timeout value cannot be more than 5 seconds")
        until = self._port.core.clock.now() + max(0, timeout_ms)
        wanted = Wanted(task_type, domain or None, max(1, count), worker, until)
        return self._port.want(wanted)

    def poll(
        self,
        task_type: str,
        *,
        worker: str | None = None,
        domain: str | None = None,
        count: int = 1,
        timeout_ms: int = 100,
    ) -> list[dict[str, Json]]:
        """Tasks for a worker, in Conductor's JSON."""
        reply = self.want(
            task_type, worker=worker, domain=domain, count=count, timeout_ms=timeout_ms
        )
        return [self.shown(handed) for handed in self._port.wait(reply)]

    def shown(self, handed: Handed) -> dict[str, Json]:
        """A handed-out task as its worker gets it: secrets filled in, in this copy only."""
        view = View(handed.execution, Facts(now=self._port.core.clock.now()))
        shown = task_json(view, handed.run, payloads=False)
        shown["inputData"] = self.input_of(handed)
        shown["outputData"] = decode(handed.run.output or EMPTY)
        names = handed.node.task_def.runtime_metadata
        if names:
            shown["runtimeMetadata"] = {name: self._secrets(name) for name in names}
        return shown

    def input_of(self, handed: Handed) -> dict[str, Json]:
        """The input with its secrets."""
        value: dict[str, Json] = decode(handed.input)
        if mentions_secrets(handed.input):
            value = fill_secrets(value, self._secrets)
        return value

    # Report

    def update(self, result: TaskResult, by: str | None = None) -> str:
        """Take a worker's report; the task id. Late and repeated reports change nothing."""
        execution, run = self._named(result)
        if result.extend_lease:
            event: Result | ExtendLease = ExtendLease(seq=run.seq, by=by)
        else:
            event = self._result(result, run, by)
        self._send(execution.key, event)
        return run.task_id

    def send(self, result: TaskResult) -> "Future[Any]":
        """The same without waiting."""
        execution, run = self._named(result)
        event: Result | ExtendLease = (
            ExtendLease(seq=run.seq) if result.extend_lease else self._result(result, run, None)
        )
        return self._port.send(Asked(event, key=execution.key))

    def _send(self, key: int, event: Result | ExtendLease) -> None:
        self._port.wait(self._port.send(Asked(event, key=key)))

    def _named(self, result: TaskResult) -> tuple[Execution, Run]:
        if not result.task_id:
            raise InvalidInput("taskId is empty: name the task that was polled.")
        execution, run = self.find(result.task_id)
        claimed = result.workflow_instance_id
        if claimed and claimed != execution.id:
            if self._store.key_of(claimed) is None:
                raise NotFound(f"No such workflow found by id: {claimed}")
            raise InvalidInput(
                f"workflowInstanceId is {claimed}, but task {run.task_id} belongs to workflow "
                f"{execution.id}: send that id, or leave the field out."
            )
        return execution, run

    @staticmethod
    def _result(result: TaskResult, run: Run, by: str | None) -> Result:
        return Result(
            seq=run.seq,
            status=reported_status(result.status),
            output=encode(result.output_data or {}),
            reason=result.reason_for_incompletion,
            callback_after=max(0, result.callback_after_seconds),
            worker=result.worker_id,
            child_id=result.sub_workflow_id,
            output_path=result.external_output_payload_storage_path,
            metadata=None if result.execution_metadata is None else encode(result.execution_metadata),
            logs=tuple(entry.log or "" for entry in result.logs or ()),
            by=by,
        )

    def update_by_ref(
        self,
        workflow_id: str,
        ref: str,
        status: str,
        output: dict[str, Json],
        worker: str | None = None,
    ) -> str | None:
        """Report on the open task of a reference name; the output is merged. None: none is open."""
        key = self._store.key_of(workflow_id)
        loaded = None if key is None else self._store.load(key)
        if key is None or loaded is None:
            raise NotFound(f"No such workflow found by id: {workflow_id}")
        given = reported_status(status)
        run = open_run(loaded.runs, ref)
        if run is None:
            return None
        event = Result(seq=run.seq, status=given, output=encode(output), merge=True, worker=worker)
        self._send(key, event)
        return run.task_id

    # Read

    def find(self, task_id: str) -> tuple[Execution, Run]:
        """The execution (bare) and attempt of a task id."""
        place = task_place(task_id)
        loaded = None if place is None else self._store.load(place.execution)
        if place is not None and loaded is not None:
            for run in loaded.runs:
                if run.task_id == task_id:
                    return loaded.execution, run
        raise NotFound(f"No such task found by id: {task_id}")

    def get(self, task_id: str) -> dict[str, Json]:
        """A task in Conductor's JSON."""
        execution, run = self.find(task_id)
        loaded = self._store.load(execution.key)
        if loaded is None:
            raise NotFound(f"No such task found by id: {task_id}")
        key = execution.key
        facts = Facts(
            now=self._port.core.clock.now(),
            payload=lambda seq, side: self._store.payload(key, seq, side),
        )
        view = View(restore(loaded.execution, loaded.runs), facts)
        return task_json(view, view.execution.runs[run.seq])


def open_run(runs: list[Run], ref: str) -> Run | None:
    """The first open attempt of a reference name, else of that name inside a loop."""
    still_open = [run for run in runs if run.open]
    exact = next((run for run in still_open if run.reference == ref), None)
    return exact or next((run for run in still_open if run.ref == ref), None)


def reported_status(text: str | None) -> TaskStatus:
    """A status that a worker may report."""
    allowed = ", ".join(sorted(REPORTABLE))
    if not text:
        raise InvalidInput(f"status is empty: report one of {allowed}.")
    try:
        status = TaskStatus(text)
    except ValueError:
        raise InvalidInput(f"status is {text!r}: report one of {allowed}.") from None
    if status not in REPORTABLE:
        raise InvalidInput(f"status {status} is made by the engine: report one of {allowed}.")
    return status
