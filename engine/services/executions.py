"""What a caller can ask of executions: start, pause ... retry, rerun, restart. How one is read is in
`committed.py`."""

import os
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from engine.core.inbox import Asked
from engine.model.errors import Conflict, InvalidInput, NotFound, TooLarge
from engine.model.events import (
    Decide,
    Event,
    Pause,
    Post,
    Rerun,
    ResetCallbacks,
    Restart,
    Resume,
    Retry,
    SetVariables,
    Skip,
    Start,
    Terminate,
)
from engine.model.execution import EMPTY
from engine.model.facts import Snapshot
from engine.model.ids import execution_id, task_place
from engine.model.record import Json, decode, encode
from engine.model.requests import (
    IdempotencyStrategy,
    RerunRequest,
    SkipRequest,
    StartWorkflowRequest,
)
from engine.rules.decide import decide
from engine.rules.starts import (
    Sound,
    definition_for,
    require_startable,
    restart_by_newest,
)
from engine.services.archive_shelf import ArchiveShelf
from engine.services.committed import Committed
from engine.services.payloads import Payloads
from engine.services.port import Port, ask
from engine.services.schemas import schema_complaint
from engine.store.contract import Store
from engine.tasks.snapshot import input_for


class Executions(Committed):
    """The verbs, beside reading one execution."""

    def __init__(
        self,
        port: Port,
        store: Store,
        archive: ArchiveShelf | None = None,
        randomness: Callable[[int], bytes] = os.urandom,
        payloads: Payloads | None = None,
        sound: Sound | None = None,
    ) -> None:
        super().__init__(port, store, archive)
        self._randomness = randomness
        self._payloads = payloads or Payloads()
        self._sound = sound

    # Start

    def start(
        self, request: StartWorkflowRequest, by: str | None = None, *, isolated: bool = False
    ) -> str:
        """Start an execution; its workflow id."""
        started: str = self._port.wait(self.begin(request, by, isolated=isolated))
        return started

    def begin(
        self, request: StartWorkflowRequest, by: str | None = None, *, isolated: bool = False
    ) -> "Future[str]":
        """The same without waiting."""
        workflow_id = execution_id(self._port.core.clock.now(), self._randomness(10))
        event = self.prepare(request, by, isolated=isolated)
        return self._port.send(Asked(event, workflow_id=workflow_id, newborn=True))

    def swift(self, request: StartWorkflowRequest, size: int) -> bool:
        """Would a start whose body has so many bytes be prepared without a look into the store, at
        a file, or at a schema?"""
        if request.workflow_def is not None or request.external_input_payload_storage_path:
            return False
        known = self._port.core.knowledge.known(request.name or "", request.version)
        if known is None or known.definition.input_schema is not None:
            return False
        return not self._payloads.may_be_large(size)

    def prepare(
        self, request: StartWorkflowRequest, by: str | None, *, isolated: bool = False
    ) -> Start:
        """The event that starts what a request describes."""
        try:
            return self._prepared(request, by, isolated)
        except Exception:
            self._port.core.telemetry.say(
                "start.refused", name=request.name, owner=self._asked_owner(request)
            )
            raise

    def _asked_owner(self, request: StartWorkflowRequest) -> str | None:
        """Whose the definition is that a request names or brings, as far as it is at hand."""
        known = self._port.core.knowledge.known(request.name or "", request.version)
        definition = request.workflow_def or (known and known.definition)
        return definition.owner_app if definition else None

    def _prepared(self, request: StartWorkflowRequest, by: str | None, isolated: bool) -> Start:
        require_startable(request)
        found = self.snapshot_for(request)
        given = input_for(found.definition, self.input_of(request), schema_complaint)
        encoded = _require_fits(
            "the input", given, self._port.core.knowledge.limits.workflow_payload
        )
        start = Start(
            definition=found.definition,
            definition_hash=found.hash,
            input=encoded,
            correlation_id=request.correlation_id,
            priority=request.priority,
            task_to_domain=dict(request.task_to_domain or {}),
            created_by=request.created_by or by,
            idempotency_key=request.idempotency_key or None,
            idempotency_strategy=request.idempotency_strategy or IdempotencyStrategy.FAIL,
            isolated=isolated,
            input_path=request.external_input_payload_storage_path or None,
            by=by,
        )
        return self._payloads.lightened_start(start)

    def input_of(self, request: StartWorkflowRequest) -> dict[str, Json]:
        """What a request brings, inline or by the path of a file."""
        path = request.external_input_payload_storage_path
        if not path:
            return request.input or {}
        found: dict[str, Json] = decode(
            self._payloads.named("externalInputPayloadStoragePath", path)
        )
        return found

    def snapshot_for(self, request: StartWorkflowRequest) -> Snapshot:
        """The definition a request names or brings, ready to run by."""
        return definition_for(request, self._port.core.knowledge, self._sound)

    # Verbs

    def _out_of_the_archive(self, workflow_id: str) -> None:
        """Whatever is to run again, and whatever that may reach, must be among the living."""
        if self._archive is not None:
            self._archive.bring_back(workflow_id)

    def _ask(self, workflow_id: str, event: Event) -> Any:
        """One that is archived, or is put away just now, answers as it would among the living, and
        is brought back only if anything changes."""
        try:
            return ask(self._port, event, workflow_id=workflow_id, urgent=True)
        except NotFound:
            view = self._archived(workflow_id)
            if view is None:
                raise
        changes = decide(view.execution, event, view.facts)
        if changes.empty:
            return changes.reply
        self._out_of_the_archive(workflow_id)
        return ask(self._port, event, workflow_id=workflow_id, urgent=True)

    def pause(self, workflow_id: str, by: str | None = None, why: str | None = None) -> None:
        """Hold it."""
        self._ask(workflow_id, Pause(by=by, why=why))

    def resume(self, workflow_id: str, by: str | None = None, why: str | None = None) -> None:
        """Let it go on."""
        self._ask(workflow_id, Resume(by=by, why=why))

    def terminate(
        self,
        workflow_id: str,
        reason: str | None = None,
        *,
        trigger_failure_workflow: bool = False,
        by: str | None = None,
    ) -> None:
        """End it as TERMINATED."""
        event = Terminate(
            reason=reason, trigger_failure_workflow=trigger_failure_workflow, by=by, why=reason
        )
        self._ask(workflow_id, event)

    def retry(
        self,
        workflow_id: str,
        *,
        resume_subworkflow_tasks: bool = False,
        by: str | None = None,
        why: str | None = None,
    ) -> None:
        """Try again what failed."""
        self._out_of_the_archive(workflow_id)
        self._ask(
            workflow_id, Retry(resume_subworkflow_tasks=resume_subworkflow_tasks, by=by, why=why)
        )

    def restart(
        self,
        workflow_id: str,
        *,
        use_latest: bool = False,
        by: str | None = None,
        why: str | None = None,
    ) -> None:
        """Start it over."""
        self._out_of_the_archive(workflow_id)
        event = Restart(by=by, why=why)
        if use_latest:
            execution = self.view(workflow_id, payloads=False).execution
            event = restart_by_newest(execution, self._port.core.knowledge, by, why)
        self._ask(workflow_id, event)

    def rerun(
        self,
        workflow_id: str,
        request: RerunRequest,
        by: str | None = None,
        why: str | None = None,
    ) -> str:
        """Run again from a task, which may be one of a sub-workflow; its own workflow id."""
        limits = self._port.core.knowledge.limits
        _require_fits("workflowInput", request.workflow_input, limits.workflow_payload)
        _require_fits("taskInput", request.task_input, limits.task_payload)
        self._out_of_the_archive(workflow_id)
        target = request.re_run_from_task_id or None
        owner = workflow_id
        if target is not None:
            owner = self._owner_of(workflow_id, target)
        event = Rerun(
            task_id=target,
            task_input=request.task_input,
            workflow_input=request.workflow_input,
            correlation_id=request.correlation_id,
            by=by,
            why=why,
        )
        self._ask(owner, event)
        return workflow_id

    def _owner_of(self, workflow_id: str, task_id: str) -> str:
        """The execution a task belongs to: the given one, or one of its descendants."""
        place = task_place(task_id)
        here = self.view(workflow_id, payloads=False).execution
        loaded = None if place is None else self._store.load(place.execution)
        if (
            place is None
            or loaded is None
            or not any(run.task_id == task_id for run in loaded.runs)
        ):
            raise InvalidInput(f"Task {task_id} not found in workflow {workflow_id}")
        found = loaded.execution
        ancestor = found
        while ancestor.id != here.id:
            if ancestor.parent_id is None:
                raise InvalidInput(f"Task {task_id} not found in workflow {workflow_id}")
            ancestor = self.view(ancestor.parent_id, payloads=False).execution
        if not here.status.terminal:
            raise Conflict(f"Workflow: {here.id} is not in terminal state, unable to rerun.")
        return found.id

    def skip(
        self,
        workflow_id: str,
        ref: str,
        request: SkipRequest,
        by: str | None = None,
        why: str | None = None,
    ) -> None:
        """Pass over a task that has not been reached."""
        limit = self._port.core.knowledge.limits.task_payload
        _require_fits("taskInput", request.task_input, limit)
        _require_fits("taskOutput", request.task_output, limit)
        event = Skip(ref=ref, input=request.task_input, output=request.task_output, by=by, why=why)
        self._ask(workflow_id, event)

    def set_variables(
        self,
        workflow_id: str,
        variables: dict[str, Json],
        append_arrays: bool = False,
        by: str | None = None,
        why: str | None = None,
    ) -> None:
        """Merge workflow variables."""
        event = SetVariables(variables=variables, append_arrays=append_arrays, by=by, why=why)
        self._ask(workflow_id, event)

    def post(self, workflow_id: str, message: dict[str, Json], by: str | None = None) -> None:
        """Put a message into the execution's mailbox."""
        self._ask(workflow_id, Post(message=message, by=by))

    def decide(self, workflow_id: str, by: str | None = None) -> None:
        """Look again."""
        self._ask(workflow_id, Decide(by=by))

    def reset_callbacks(
        self, workflow_id: str, by: str | None = None, why: str | None = None
    ) -> None:
        """Waiting worker tasks become deliverable now."""
        self._ask(workflow_id, ResetCallbacks(by=by, why=why))

    def send(self, asked: Asked) -> Any:
        """Send any event and wait."""
        return self._port.wait(self._port.send(asked))


def _require_fits(what: str, value: dict[str, Json] | None, limit: int) -> bytes:
    """What a caller brings, encoded."""
    encoded = encode(value) if value else EMPTY
    if len(encoded) > limit:
        raise TooLarge(
            f"The payload size: {len(encoded)} of {what} is greater than the permissible limit: "
            f"{limit} bytes. Store large data elsewhere and pass a reference."
        )
    return encoded
