"""What a worker asks about tasks: poll and report. How one is read is in `committed.py`."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from engine.core.inbox import Asked, Handed, Wanted
from engine.instruments.counted import NO_DOMAIN
from engine.model.errors import InvalidInput, NotFound
from engine.model.events import ExtendLease, GiveBack, Result
from engine.model.execution import Run
from engine.model.facts import Facts
from engine.model.ids import TaskPlace, task_place
from engine.model.record import Json, encode
from engine.model.requests import TaskResult
from engine.model.status import REPORTABLE, TaskStatus
from engine.rules.task_rendering import handed_json
from engine.services.payloads import Payloads
from engine.services.port import Port
from engine.services.secrets import Secrets
from engine.services.sightings import Sightings
from engine.store.contract import Store
from engine.tasks.view import View

LONGEST_POLL_MS = 5000

MOST_POLLED = 1000
"""Tasks that one poll is given at most."""

KNOWN_IDS = 50_000
"""Executions whose number is remembered, so that a report needs no look into the store."""


@dataclass(frozen=True, slots=True)
class Poll:
    """A poll that is under way."""

    reply: "Future[list[Handed]]"
    _wanted: Wanted
    _give_back: Callable[[list[Handed]], None]

    def withdraw(self) -> None:
        """Whoever asked has gone. It is given nothing any more; what it was given just now goes
        back. (Cancelling the reply could lose a task that is being committed for it.)"""
        self._wanted.count = 0
        self._wanted.until = 1
        self.reply.add_done_callback(self._returned)

    def _returned(self, reply: "Future[list[Handed]]") -> None:
        if not reply.cancelled() and reply.exception() is None:
            self._give_back(reply.result())


class Tasks:
    """Handing out and taking in tasks."""

    def __init__(
        self, port: Port, store: Store, secrets: Secrets, payloads: Payloads | None = None
    ) -> None:
        self._port = port
        self._store = store
        self._secrets = secrets
        self._payloads = payloads or Payloads()
        self._keys: dict[str, int] = {}
        self._homes: dict[str, tuple[str, str | None]] = {}
        """Task id -> type and domain, of what has been handed out and not reported on."""
        self.sightings = Sightings()

    # Poll

    def want(
        self,
        task_type: str,
        *,
        worker: str | None = None,
        domain: str | None = None,
        count: int = 1,
        timeout_ms: int = 100,
    ) -> "Poll":
        """Ask for up to `count` tasks. The reply comes when there is one, or after the timeout."""
        if timeout_ms > LONGEST_POLL_MS:
            raise self._refused_poll(
                task_type, domain, "Long Poll Timeout value cannot be more than 5 seconds"
            )
        now = self._port.core.clock.now()
        self.sightings.note(task_type, domain or None, worker, now)
        self._port.core.telemetry.say("task.polled", task_type=task_type, domain=domain)
        most = min(max(0, count), MOST_POLLED)
        until = now + max(0, timeout_ms) if most else now
        wanted = Wanted(task_type, domain or None, most, worker, until)
        return Poll(self._port.want(wanted), wanted, self.give_back)

    def _refused_poll(self, task_type: str, domain: str | None, message: str) -> InvalidInput:
        error = InvalidInput(message)
        self._port.core.telemetry.say(
            "poll.refused",
            task_type=task_type,
            domain=domain or NO_DOMAIN,
            exception=type(error).__name__,
        )
        return error

    def give_back(self, handed: list[Handed]) -> None:
        """These tasks never reached their worker: they are the next to be handed out."""
        for item in handed:
            event = GiveBack(seq=item.run.seq, poll=item.run.poll_count)
            self._port.send(Asked(event, key=item.execution.key))

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
        poll = self.want(
            task_type, worker=worker, domain=domain, count=count, timeout_ms=timeout_ms
        )
        return [self.shown(handed) for handed in self._port.wait(poll.reply)]

    def shown(self, handed: Handed) -> dict[str, Json]:
        """A handed-out task as its worker gets it: secrets filled in, in this copy only."""
        self._know(handed.execution.id, handed.execution.key)
        if len(self._homes) > KNOWN_IDS:
            self._homes.clear()
        self._homes[handed.run.task_id] = (handed.run.type, handed.run.domain)
        view = View(handed.execution, Facts(now=self._port.core.clock.now()))
        shown = handed_json(view, handed.run, self.input_of(handed))
        names = handed.node.task_def.runtime_metadata
        if names:
            shown["runtimeMetadata"] = {name: self._secrets.of(name) for name in names}
        return shown

    def input_of(self, handed: Handed) -> dict[str, Json]:
        """The input with its secrets."""
        if handed.run.input_path is not None:
            self._payloads.note("READ", handed.run.name, "TASK_INPUT")
        return self._secrets.filled(handed.input)

    # Report

    def update(self, result: TaskResult, by: str | None = None) -> str:
        """Take a worker's report; the task id. Late and repeated reports change nothing."""
        run = self._port.wait(self.report(result, by))
        return self.reported(result, run).task_id

    def report(self, result: TaskResult, by: str | None = None) -> "Future[Run | None]":
        """The same without waiting: the reply is the attempt as it is then, None if it is gone."""
        key, seq = self._place(result)
        event: Result | ExtendLease
        if result.extend_lease:
            event = ExtendLease(seq=seq, by=by)
        else:
            event = self.cleaned(_result(result, seq, by, self.output_of(result)))
        return self._port.send(Asked(event, key=key, workflow_id=result.workflow_instance_id))

    def cleaned(self, result: Result) -> Result:
        """A report as it may be stored: without the values of secrets, and with a file of its output
        where that is large."""
        return self._payloads.lightened(self._secrets.cleaned(result))

    def output_of(self, result: TaskResult, place: str = "") -> bytes:
        """What a report brings, inline or by the path of a file; `place` is where it stands in its
        request."""
        path = result.external_output_payload_storage_path
        if path:
            return self._payloads.named(f"{place}externalOutputPayloadStoragePath", path)
        return encode(result.output_data or {})

    def report_and_want(
        self, result: TaskResult, by: str | None = None
    ) -> "tuple[Future[Run | None], Poll | None]":
        """A report, and at once a poll for the next task of the same type and domain, so that both
        are taken in one turn. No poll: the report ends nothing, or where it came from is not
        known."""
        home = self._homes.pop(result.task_id or "", None)
        reply = self.report(result, by)
        status = reported_status(result.status) if not result.extend_lease else None
        if home is None or status is None or not status.terminal:
            return reply, None
        task_type, domain = home
        return reply, self.want(task_type, worker=result.worker_id, domain=domain)

    @staticmethod
    def reported(result: TaskResult, run: Run | None) -> Run:
        """The attempt that was reported on."""
        if run is None or run.task_id != result.task_id:
            raise NotFound(f"No such task found by id: {result.task_id}")
        return run

    def swift(self, result: TaskResult, size: int) -> bool:
        """Would a report of so many bytes be taken without a look into the store or at a file?"""
        if result.external_output_payload_storage_path or self._payloads.may_be_large(size):
            return False
        return result.workflow_instance_id in self._keys

    def _place(self, result: TaskResult) -> TaskPlace:
        if not result.task_id:
            raise InvalidInput("taskId is empty: name the task that was polled.")
        claimed = result.workflow_instance_id
        key = self._key_of(claimed) if claimed else None
        place = task_place(result.task_id)
        if place is None:
            raise NotFound(f"No such task found by id: {result.task_id}")
        if key is not None and key != place.execution:
            raise InvalidInput(
                f"workflowInstanceId is {claimed}, but task {result.task_id} belongs to another "
                "workflow: send the id that came with the task."
            )
        return place

    def _key_of(self, workflow_id: str) -> int:
        key = self._keys.get(workflow_id)
        if key is None:
            key = self._store.key_of(workflow_id)
            if key is None:
                raise NotFound(f"No such workflow found by id: {workflow_id}")
            self._know(workflow_id, key)
        return key

    def _know(self, workflow_id: str, key: int) -> None:
        """The number of an execution never changes, so remembering it is safe."""
        if len(self._keys) > KNOWN_IDS:
            self._keys.clear()
        self._keys[workflow_id] = key

    def update_by_ref(
        self,
        workflow_id: str,
        ref: str,
        status: str,
        output: dict[str, Json] | bytes,
        worker: str | None = None,
        by: str | None = None,
        path: str | None = None,
    ) -> str | None:
        """Report on the open task of a reference name; the output, which may be known by a `path`, is
        merged. None: none is open."""
        given = reported_status(status)
        key = self._store.key_of(workflow_id)
        loaded = None if key is None else self._store.load(key)
        run = None if loaded is None else open_run(loaded.runs, ref)
        if key is None or run is None:
            return None
        event = Result(
            seq=run.seq,
            status=given,
            output=output if isinstance(output, bytes) else encode(output),
            output_path=path,
            merge=True,
            worker=worker,
            by=by,
        )
        self._port.wait(self._port.send(Asked(self.cleaned(event), key=key)))
        return run.task_id


def _result(result: TaskResult, seq: int, by: str | None, output: bytes) -> Result:
    metadata = result.execution_metadata
    return Result(
        seq=seq,
        status=reported_status(result.status),
        output=output,
        reason=result.reason_for_incompletion,
        callback_after=max(0, result.callback_after_seconds),
        worker=result.worker_id,
        child_id=result.sub_workflow_id,
        output_path=result.external_output_payload_storage_path or None,
        metadata=None if metadata is None else encode(metadata),
        logs=tuple(entry.log or "" for entry in result.logs or ()),
        by=by,
    )


def handed_back(seq: int, line: str, by: str | None = None) -> Result:
    """An attempt goes back to its queue with what it has; its log says why."""
    return Result(seq=seq, status=TaskStatus.IN_PROGRESS, merge=True, logs=(line,), by=by)


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
