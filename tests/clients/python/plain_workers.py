"""The same workers in the style of the SDK before 1.3: a task goes in, a result comes out.

python -m tests.clients.python.plain_workers URL FOLDER
"""

import os
import pathlib
import signal
import sys
import threading
import time

from conductor.client.automator.task_handler import TaskHandler
from conductor.client.configuration.configuration import Configuration
from conductor.client.http.models.task import Task
from conductor.client.http.models.task_exec_log import TaskExecLog
from conductor.client.http.models.task_result import TaskResult
from conductor.client.http.models.task_result_status import TaskResultStatus
from conductor.client.worker.exception import NonRetryableException
from conductor.client.worker.worker_task import worker_task

FOLDER = pathlib.Path(sys.argv[2])
TOO_LONG_SECONDS = 120


def completed(task: Task, **output: object) -> TaskResult:
    """A result with this output."""
    return TaskResult(
        task_id=task.task_id,
        workflow_instance_id=task.workflow_instance_id,
        status=TaskResultStatus.COMPLETED,
        output_data=output,
    )


@worker_task(task_definition_name="layout")
def layout(task: Task) -> TaskResult:
    """How many pages a leaflet has."""
    done = completed(task, pages=4 * task.input_data["copies"])
    done.logs = [TaskExecLog(f"laying out {task.input_data['title']}", task.task_id, 0)]
    return done


@worker_task(task_definition_name="print")
def print_pages(pages: int) -> dict[str, object]:
    """The printer is out of order until somebody has repaired it."""
    if not (FOLDER / "repaired").exists():
        raise NonRetryableException("the printer is out of order")
    return {"printed": pages}


@worker_task(task_definition_name="deliver")
def deliver(task: Task) -> TaskResult:
    """On the road at the first look, there at the second."""
    result = completed(task, delivered=task.input_data["printed"])
    if task.poll_count < 2:
        result.status = TaskResultStatus.IN_PROGRESS
        result.output_data = {"on_the_road": True}
        result.callback_after_seconds = 1
    return result


@worker_task(task_definition_name="shaky")
def shaky(task: Task) -> TaskResult:
    """Fails at its first attempt."""
    if task.retry_count == 0:
        raise RuntimeError("the first attempt never works")
    return completed(task, attempt=task.retry_count)


@worker_task(task_definition_name="silent")
def silent(task: Task) -> TaskResult:
    """Says nothing for longer than anybody waits."""
    time.sleep(TOO_LONG_SECONDS)
    return completed(task)


@worker_task(task_definition_name="parcel")
def parcel(task: Task) -> TaskResult:
    """Whatever has no domain."""
    return completed(task, by="anyone")


@worker_task(task_definition_name="parcel", domain="express")
def express_parcel(task: Task) -> TaskResult:
    """Only what is express."""
    return completed(task, by="express")


def main() -> None:
    """Work until SIGTERM; who started this leaves none of its processes."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    with TaskHandler(
        configuration=Configuration(server_api_url=sys.argv[1]), scan_for_annotated_workers=True
    ) as handler:
        handler.start_processes()
        threading.Event().wait()


if __name__ == "__main__":
    main()
