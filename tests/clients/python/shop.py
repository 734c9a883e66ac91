"""A print shop on Conductor's Python SDK: its clients, its definitions, and waiting for what comes.

Every version of the SDK that is played with understands all of this.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from conductor.client.configuration.configuration import Configuration
from conductor.client.http.models import StartWorkflowRequest
from conductor.client.http.models.task_def import TaskDef
from conductor.client.http.rest import ApiException
from conductor.client.orkes_clients import OrkesClients
from conductor.client.workflow.conductor_workflow import ConductorWorkflow
from conductor.client.workflow.task.simple_task import SimpleTask
from conductor.client.workflow.task.wait_task import WaitTask

NOBODY = "00000000-0000-0000-0000-000000000000"
PATIENCE_SECONDS = 45
Value = TypeVar("Value")

TASK_DEFINITIONS = (
    TaskDef(name="shaky", retry_count=2, retry_delay_seconds=1),
    TaskDef(name="leased", retry_count=0, response_timeout_seconds=5, timeout_seconds=60),
    TaskDef(name="leased_async", retry_count=0, response_timeout_seconds=5, timeout_seconds=60),
    TaskDef(name="silent", retry_count=0, response_timeout_seconds=2, timeout_seconds=60),
    TaskDef(name="silent_async", retry_count=0, response_timeout_seconds=2, timeout_seconds=60),
)
SLOW = ("silent", "silent_async", "leased", "leased_async")
"""What takes its time: begun before all else, and looked at last."""


class Shop:
    """The SDK's clients for one server, and a folder that its workers share."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.configuration = Configuration(server_api_url=url)
        self.clients = OrkesClients(self.configuration)
        self.executor = self.clients.get_workflow_executor()
        self.workflows = self.clients.get_workflow_client()
        self.tasks = self.clients.get_task_client()
        self.metadata = self.clients.get_metadata_client()
        self.folder = folder
        self.repaired = folder / "repaired"
        self.begun: dict[str, str] = {}
        self._pause = threading.Event()

    def open(self) -> None:
        """Register what several stories use, and begin what is slow."""
        self.leaflet().register(overwrite=True)
        for definition in TASK_DEFINITIONS:
            self.metadata.register_task_def(definition)
            self.one_task(str(definition.name))
        for kind in SLOW:
            self.begun[kind] = self.start(kind)

    def leaflet(self) -> Any:
        """Layout, print, an approval, delivery."""
        flow = ConductorWorkflow(executor=self.executor, name="leaflet", version=1)
        lay_out = SimpleTask("layout", "layout")
        lay_out.input(key="title", value="${workflow.input.title}")
        lay_out.input(key="copies", value="${workflow.input.copies}")
        flow >> lay_out
        flow >> SimpleTask("print", "print").input(key="pages", value="${layout.output.pages}")
        flow >> WaitTask("approval", wait_until=None, wait_for_seconds=None)
        printed = "${print.output.printed}"
        flow >> SimpleTask("deliver", "deliver").input(key="printed", value=printed)
        flow.output_parameters({"delivered": "${deliver.output.delivered}"})
        return flow

    def one_task(self, kind: str) -> None:
        """A definition of a single task, which has the task's own name."""
        self.flow(kind, SimpleTask(kind, "only")).register(overwrite=True)

    def flow(self, name: str, *tasks: Any) -> Any:
        """A definition of tasks in a row."""
        flow = ConductorWorkflow(executor=self.executor, name=name, version=1)
        for task in tasks:
            flow >> task
        return flow

    def start(self, name: str, **request: Any) -> str:
        """Start an execution; its id."""
        asked = StartWorkflowRequest(name=name, version=1, **request)
        workflow_id: str = self.executor.start_workflow(asked)
        return workflow_id

    def execution(self, workflow_id: str) -> Any:
        """An execution with its tasks."""
        return self.workflows.get_workflow(workflow_id, include_tasks=True)

    def until(self, what: str, look: Callable[[], Value | None]) -> Value:
        """Look again until there is something."""
        for _ in range(PATIENCE_SECONDS * 10):
            found = look()
            if found:
                return found
            self._pause.wait(0.1)
        raise AssertionError(f"not within {PATIENCE_SECONDS} s: {what}")

    def until_status(self, workflow_id: str, *statuses: str) -> Any:
        """The execution, once it is in one of these states."""

        def look() -> Any:
            found = self.execution(workflow_id)
            return found if found.status in statuses else None

        return self.until(f"{workflow_id} is {' or '.join(statuses)}", look)

    def until_approval(self, workflow_id: str) -> Any:
        """The execution, once it waits for its approval."""

        def look() -> Any:
            found = self.execution(workflow_id)
            waits = [task for task in found.tasks if task.reference_task_name == "approval"]
            return found if waits and waits[-1].status == "IN_PROGRESS" else None

        return self.until(f"{workflow_id} waits for its approval", look)

    def approve(self, workflow_id: str) -> Any:
        """The execution, approved and completed."""
        self.until_approval(workflow_id)
        self.tasks.update_task_by_ref_name(workflow_id, "approval", "COMPLETED", {"by": "ann"})
        return self.until_status(workflow_id, "COMPLETED")

    def delivered(self) -> Any:
        """A leaflet that has been delivered."""
        self.repaired.touch()
        done = self.approve(self.start("leaflet", input={"title": "A", "copies": 2}))
        assert done.output["delivered"] == 8
        return done

    def broken(self) -> Any:
        """A leaflet for which the printer was out of order."""
        self.repaired.unlink(missing_ok=True)
        return self.until_status(self.start("leaflet", input={"title": "A", "copies": 2}), "FAILED")


def last(execution: Any, ref: str) -> Any:
    """The newest attempt of a task."""
    return [task for task in execution.tasks if task.reference_task_name == ref][-1]


def statuses(execution: Any) -> list[str]:
    """How each attempt of an execution's tasks has ended."""
    return [task.status for task in execution.tasks]


def refused(status: int, call: Callable[[], object]) -> str:
    """The message of a refusal, as the SDK tells it."""
    try:
        call()
    except ApiException as refusal:
        assert refusal.status == status and refusal.message, (refusal.status, refusal.body)
        return str(refusal.message)
    raise AssertionError(f"no refusal, where {status} was due")
