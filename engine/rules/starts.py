"""What a start request may say, and the definition that a start or a restart means. Those who begin,
preview and mock go by it alike; nothing here begins anything."""

from collections.abc import Callable
from typing import Protocol

from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.errors import InvalidInput, NotFound, Violation
from engine.model.events import Restart
from engine.model.execution import Execution
from engine.model.facts import Facts, Snapshot
from engine.model.requests import StartWorkflowRequest
from engine.rules.validation import registration_errors, require
from engine.tasks.snapshot import inline_snapshot

PLACE = "startWorkflow.arg0"
"""Where a complaint finds what the caller has sent."""

Sound = Callable[[WorkflowDef, str], None]
"""Refuses, with InvalidInput, a definition that could not be registered; the text is its place."""


class Catalogue(Protocol):
    """What is registered."""

    def task_def(self, name: str) -> TaskDef | None: ...

    def definition(self, name: str, version: int | None) -> Snapshot | None: ...


def require_startable(request: StartWorkflowRequest) -> None:
    """InvalidInput for what no start may say, whatever is registered."""
    found = []
    if request.name is None and request.workflow_def is None:
        message = "Workflow name cannot be null or empty"
        found.append(Violation(f"{PLACE}.name", message))
    given = str(request.priority)
    if request.priority > 99:
        message = f"priority: {given} should be maximum 99"
        found.append(Violation(f"{PLACE}.priority", message, given))
    if request.priority < 0:
        message = f"priority: {given} should be minimum 0"
        found.append(Violation(f"{PLACE}.priority", message, given))
    if found:
        raise InvalidInput.of(found)
    if not request.name and request.workflow_def is None:
        raise InvalidInput("name is empty: give a registered workflow's, or send workflowDef.")
    if request.input is None and not request.external_input_payload_storage_path:
        raise InvalidInput(
            "NULL input passed when starting workflow: send an object in `input`, or leave it out."
        )


def definition_for(
    request: StartWorkflowRequest, catalogue: Catalogue, sound: Sound | None = None
) -> Snapshot:
    """The definition a request names or brings, ready to run by. NotFound: nobody has registered
    it; InvalidInput: the one it brings could not be registered."""
    brought = request.workflow_def
    if brought is not None:
        place = f"{PLACE}.workflowDef"
        if sound is not None:
            sound(brought, place)
        else:
            require(registration_errors(brought, place, task_def=catalogue.task_def))
        facts = Facts(now=0, task_def=catalogue.task_def, definition=catalogue.definition)
        return inline_snapshot(brought.json_value(), facts)
    found = catalogue.definition(request.name or "", request.version)
    if found is None:
        version = "null" if request.version is None else request.version
        raise NotFound(f"No such workflow defined. name={request.name}, version={version}")
    return found


def restart_by_newest(
    execution: Execution, catalogue: Catalogue, by: str | None = None, why: str | None = None
) -> Restart:
    """What starts an execution over by the newest definition of its name. NotFound: none is
    registered any more."""
    found = catalogue.definition(execution.definition.name or "", None)
    if found is None:
        raise NotFound(f"Unable to find latest definition for {execution.id}")
    return Restart(definition=found.definition, definition_hash=found.hash, by=by, why=why)
