"""/workflow: read, verbs, mock tests. What is waited for is in `synchronous.py`, a plain start in
`hot.py`."""

import uuid
from typing import Any

from engine.api.answers import NO_CONTENT, Text
from engine.api.mocking import played
from engine.api.wire import Call, Route
from engine.model.record import Json, Record
from engine.model.requests import RerunRequest, SkipRequest
from engine.services.house import House

PLACE = "/workflow"


class Correlated(Record):
    """Which executions, by correlation ids and workflow names."""

    correlation_ids: list[str] = []
    workflow_names: list[str] = []


class Workflows:
    """Answers about single executions."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._executions = house.executions

    def routes(self) -> list[Route]:
        """Fixed words first, then what is variable."""
        return [
            Route("POST", "/workflow/test", self.test, (), "WorkflowTestRequest"),
            Route("POST", "/workflow/correlated/batch", self.correlated_batch, (), "Correlated"),
            Route("GET", "/workflow/running/{name}", self.running, _RUNNING),
            Route("PUT", "/workflow/decide/{id}", self.decide, gives="none"),
            Route("POST", "/workflow/{id}/rerun", self.rerun, _WHY, "RerunRequest", "text"),
            Route(
                "POST",
                "/workflow/{id}/restart",
                self.restart,
                ("useLatestDefinitions:bool", *_WHY),
                gives="nothing",
            ),
            Route(
                "POST",
                "/workflow/{id}/retry",
                self.retry,
                ("resumeSubworkflowTasks:bool", *_WHY),
                gives="nothing",
            ),
            Route("POST", "/workflow/{id}/resetcallbacks", self.reset_callbacks, gives="nothing"),
            Route("POST", "/workflow/{id}/messages", self.post, (), "map", "text"),
            Route("POST", "/workflow/{id}/variables", self.set_variables, _VARIABLES, "map"),
            Route("POST", "/workflow/{name}/correlated", self.correlated_many, _CORRELATED, "list"),
            Route(
                "GET", "/workflow/{name}/correlated/{correlationId}", self.correlated, _CORRELATED
            ),
            Route("GET", "/workflow/{id}/status", self.status, _STATUS),
            Route("GET", "/workflow/{id}/tasks", self.tasks, _TASKS),
            Route("PUT", "/workflow/{id}/pause", self.pause, _WHY, gives="none"),
            Route("PUT", "/workflow/{id}/resume", self.resume, _WHY, gives="none"),
            Route("PUT", "/workflow/{id}/skiptask/{ref}", self.skip, _WHY, "SkipRequest", "none"),
            Route("DELETE", "/workflow/{id}/remove", self.remove, _REMOVE, gives="none"),
            Route(
                "DELETE",
                "/workflow/{id}/terminate-remove",
                self.end_and_remove,
                _REMOVE,
                gives="none",
            ),
            Route(
                "DELETE",
                "/workflow/{id}",
                self.terminate,
                (*_WHY, "triggerFailureWorkflow:bool"),
                gives="none",
            ),
        ]

    # Play

    def test(self, call: Call) -> dict[str, Json]:
        """Play a definition on mocks; the execution that came of it. Nothing of it is kept."""
        return played(self._house, call).workflow

    # Read

    def status(self, call: Call) -> dict[str, Json]:
        """An execution's status, with output and variables on demand."""
        return self._executions.status(
            call.path["id"], call.flag("includeOutput"), call.flag("includeVariables")
        )

    def tasks(self, call: Call) -> dict[str, Json]:
        """A page of an execution's tasks."""
        return self._house.searches.tasks_of(
            call.path["id"], call.texts("status"), call.number("start"), call.number("count", 15)
        )

    def running(self, call: Call) -> list[str]:
        """Ids of the executions of a workflow that have not ended."""
        since, until = call.optional_number("startTime"), call.optional_number("endTime")
        version = call.optional_number("version")
        return self._house.searches.running(call.path["name"], version, since, until)

    def correlated(self, call: Call) -> list[Json]:
        """Executions of a workflow with a correlation id."""
        return self._of(call.path["name"], call.path["correlationId"], call)

    def correlated_many(self, call: Call) -> dict[str, Json]:
        """Executions of a workflow by several correlation ids."""
        name = call.path["name"]
        return {id_: self._of(name, id_, call) for id_ in call.ids()}

    def correlated_batch(self, call: Call) -> dict[str, Json]:
        """Executions of several workflows by several correlation ids."""
        asked = call.record(Correlated)
        return {
            id_: [found for name in asked.workflow_names for found in self._of(name, id_, call)]
            for id_ in asked.correlation_ids
        }

    def _of(self, name: str, correlation_id: str, call: Call) -> list[Json]:
        ended, tasks = call.flag("includeClosed"), call.flag("includeTasks")
        return [*self._house.searches.correlated(name, correlation_id, ended, tasks)]

    # Verbs

    def pause(self, call: Call) -> None:
        """Hold an execution: nothing new is scheduled."""
        self._executions.pause(call.path["id"], call.person, call.reason)

    def resume(self, call: Call) -> None:
        """Let a paused execution go on."""
        self._executions.resume(call.path["id"], call.person, call.reason)

    def decide(self, call: Call) -> None:
        """Look at an execution again."""
        self._executions.decide(call.path["id"], call.person)

    def skip(self, call: Call) -> None:
        """Pass over a task that has not been reached; the body may give its input and output."""
        request = call.record(SkipRequest)
        self._executions.skip(call.path["id"], call.path["ref"], request, call.person, call.reason)

    def rerun(self, call: Call) -> Text:
        """Run again from a task, or from the start."""
        request = call.record(RerunRequest)
        return Text(self._executions.rerun(call.path["id"], request, call.person, call.reason))

    def restart(self, call: Call) -> Any:
        """Start over under the same id."""
        latest = call.flag("useLatestDefinitions")
        self._executions.restart(
            call.path["id"], use_latest=latest, by=call.person, why=call.reason
        )
        return NO_CONTENT

    def retry(self, call: Call) -> Any:
        """Try again what failed."""
        self._executions.retry(
            call.path["id"],
            resume_subworkflow_tasks=call.flag("resumeSubworkflowTasks"),
            by=call.person,
            why=call.reason,
        )
        return NO_CONTENT

    def reset_callbacks(self, call: Call) -> Any:
        """Tasks that wait for a callback become deliverable now."""
        self._executions.reset_callbacks(call.path["id"], call.person, call.reason)
        return NO_CONTENT

    def terminate(self, call: Call) -> None:
        """End an execution."""
        self._executions.terminate(
            call.path["id"],
            call.reason,
            trigger_failure_workflow=call.flag("triggerFailureWorkflow"),
            by=call.person,
        )

    def remove(self, call: Call) -> None:
        """Remove an ended execution; one in any state with archiveWorkflow=false."""
        archive = call.flag("archiveWorkflow", True)
        self._house.removal.remove(call.path["id"], archive, call.person, call.reason)

    def end_and_remove(self, call: Call) -> None:
        """End an execution, then remove it."""
        archive = call.flag("archiveWorkflow", True)
        self._house.removal.terminate_and_remove(call.path["id"], archive, call.reason, call.person)

    def post(self, call: Call) -> Text:
        """Put a message into an execution's mailbox; the message's id."""
        message_id = str(uuid.uuid4())
        self._executions.post(call.path["id"], call.map(), call.person)
        return Text(message_id)

    def set_variables(self, call: Call) -> dict[str, Json]:
        """Merge workflow variables; the execution as it is then."""
        workflow_id = call.path["id"]
        self._executions.set_variables(
            workflow_id, call.map(), call.flag("appendArray"), call.person, call.reason
        )
        self._executions.decide(workflow_id, call.person)
        return self._executions.get(workflow_id)


_WHY = ("reason",)
_RUNNING = ("version:int", "startTime:int", "endTime:int")
_CORRELATED = ("includeClosed:bool", "includeTasks:bool")
_STATUS = ("includeOutput:bool", "includeVariables:bool")
_TASKS = ("start:int", "count:int", "status*")
_REMOVE = ("archiveWorkflow:bool", "reason")
_VARIABLES = ("appendArray:bool", "reason")
