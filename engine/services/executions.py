"""What a caller can ask about executions: start, read, pause ... retry, rerun, restart."""

import os
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from engine.core.inbox import Asked
from engine.model.definitions import WorkflowDef
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
from engine.model.facts import Facts, Snapshot
from engine.model.ids import execution_id, task_place
from engine.model.record import Json, decode, encode
from engine.model.requests import (
    IdempotencyStrategy,
    RerunRequest,
    SkipRequest,
    StartWorkflowRequest,
)
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.decide import decide
from engine.rules.rendering import workflow_json
from engine.rules.starts import Sound, definition_for, require_startable
from engine.rules.task_rendering import spliced, task_json
from engine.services.archive_shelf import ArchiveShelf
from engine.services.payloads import Payloads
from engine.services.port import Port, ask
from engine.services.schemas import schema_complaint
from engine.store.contract import Store
from engine.tasks.restoring import restore
from engine.tasks.snapshot import input_for
from engine.tasks.view import View


class Executions:
    """The verbs, and reading one execution."""

    def __init__(
        self,
        port: Port,
        store: Store,
        archive: ArchiveShelf | None = None,
        randomness: Callable[[int], bytes] = os.urandom,
        payloads: Payloads | None = None,
        sound: Sound | None = None,
    ) -> None:
        self._port = port
        self._store = store
        self._archive = archive
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

    # Read

    def view(self, workflow_id: str, payloads: bool = True) -> View:
        """An execution as it is committed. NotFound when there is none."""
        key = self._store.key_of(workflow_id)
        found = self._archived(workflow_id) if key is None else self.view_of(key, payloads)
        if found is None:
            raise NotFound(f"No such workflow found by id: {workflow_id}")
        return found

    def _archived(self, place: str | int) -> View | None:
        """The same from the archive, always with its payloads."""
        if self._archive is None or (found := self._archive.find(place)) is None:
            return None
        facts = Facts(now=self._port.core.clock.now(), payload=self._archive.payloads_of(found))
        return View(restore(found.loaded.execution, found.loaded.runs), facts)

    def view_of(self, key: int, payloads: bool = False) -> View | None:
        """The same by number; None when there is none."""
        loaded = self._store.load(key, payloads)
        if loaded is None:
            return self._archived(key)
        facts = Facts(
            now=self._port.core.clock.now(),
            payload=partial(self._store.payload, key),
            outputs=partial(self._store.outputs, key),
        )
        return View(restore(loaded.execution, loaded.runs), facts)

    def head(self, workflow_id: str) -> View:
        """An execution without its attempts, as it is committed. NotFound when there is none."""
        found = self._store.head(workflow_id)
        if found is None:
            return self.view(workflow_id, payloads=False)
        facts = Facts(
            now=self._port.core.clock.now(),
            payload=partial(self._store.payload, found.key),
        )
        return View(found, facts)

    def get(self, workflow_id: str, tasks: bool = True) -> dict[str, Json]:
        """An execution in Conductor's JSON."""
        view = self.view(workflow_id) if tasks else self.head(workflow_id)
        return workflow_json(view, tasks)

    def shown(self, key: int, tasks: bool = True) -> dict[str, Json] | None:
        """The same by number; None when there is none."""
        view = self.view_of(key, payloads=tasks)
        return None if view is None else workflow_json(view, tasks)

    def stand(self, workflow_id: str) -> tuple[ExecutionStatus, dict[int, TaskStatus]]:
        """Its status and that of each attempt."""
        execution = self.view(workflow_id, payloads=False).execution
        return execution.status, {seq: run.status for seq, run in execution.runs.items()}

    @staticmethod
    def task_in(view: View | None, seq: int) -> dict[str, Json] | None:
        """One of its attempts in Conductor's JSON; None when it is gone."""
        run = None if view is None else view.execution.runs.get(seq)
        return None if view is None or run is None else task_json(view, run)

    def archived_task(self, task_id: str) -> dict[str, Json] | None:
        """An attempt of an archived execution in Conductor's JSON; None when there is none."""
        place = task_place(task_id)
        view = None if place is None else self._archived(place.execution)
        shown = None if place is None else self.task_in(view, place.seq)
        return shown if shown is not None and shown["taskId"] == task_id else None

    def status(self, workflow_id: str, output: bool, variables: bool) -> dict[str, Json]:
        """Conductor's WorkflowStatus: an execution in a few words."""
        view = self.head(workflow_id)
        execution = view.execution
        shown: dict[str, Json] = {"workflowId": execution.id, "status": execution.status.value}
        if execution.correlation_id:
            shown["correlationId"] = execution.correlation_id
        if output:
            held = execution.output
            held = view.facts.payload(0, "output") if held is None else held
            shown["output"] = spliced(held, execution.definition.masked_fields)
        if variables:
            shown["variables"] = spliced(execution.variables, execution.definition.masked_fields)
        return shown

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
        definition: WorkflowDef | None = None
        content_hash = None
        if use_latest:
            name = self.view(workflow_id, payloads=False).execution.definition.name or ""
            found = self._port.core.knowledge.definition(name, None)
            if found is None:
                raise NotFound(f"Unable to find latest definition for {workflow_id}")
            definition, content_hash = found.definition, found.hash
        event = Restart(definition=definition, definition_hash=content_hash, by=by, why=why)
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
