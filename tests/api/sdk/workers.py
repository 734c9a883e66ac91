"""Workers on Conductor's own Python SDK, run as a process of their own until they are told to stop.

    python -m tests.api.sdk.workers URL SWITCH

URL is a server's base with /api; SWITCH is a file that exists once the printer has been repaired.
"""

import os
import pathlib
import signal
import sys
import threading
import time

os.environ.setdefault("CONDUCTOR_WORKER_ISOLATION", "thread")

from conductor.client.automator.task_handler import TaskHandler
from conductor.client.configuration.configuration import Configuration
from conductor.client.context import TaskInProgress, get_task_context
from conductor.client.worker.exception import NonRetryableException
from conductor.client.worker.worker_task import worker_task

SWITCH = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "no-switch")


@worker_task(task_definition_name="sdk_layout", thread_count=2, register_task_def=True)
def layout(title: str, copies: int) -> dict[str, object]:
    """How many pages a leaflet has."""
    get_task_context().add_log(f"laying out {title}")
    return {"pages": 4 * copies}


@worker_task(task_definition_name="sdk_print")
def print_pages(pages: int) -> dict[str, object]:
    """The printer is out of order until somebody has repaired it."""
    if not SWITCH.exists():
        raise NonRetryableException("the printer is out of order")
    return {"printed": pages}


@worker_task(task_definition_name="sdk_deliver")
async def deliver(printed: int):  # type: ignore[no-untyped-def]
    """On the road at the first look, there at the second."""
    if get_task_context().get_poll_count() < 2:
        return TaskInProgress(callback_after_seconds=1, output={"on_the_road": True})
    return {"delivered": printed}


@worker_task(task_definition_name="sdk_shaky")
def shaky() -> dict[str, object]:
    """Fails at its first attempt."""
    attempt = get_task_context().get_retry_count()
    if attempt == 0:
        raise RuntimeError("the first attempt never works")
    return {"attempt": attempt}


@worker_task(task_definition_name="sdk_slow", lease_extend_enabled=True)
def slow() -> dict[str, object]:
    """Takes longer than its response timeout, and says so in time."""
    time.sleep(8)
    return {"slow": True}


def main() -> None:
    """Work until SIGTERM; the workers' threads have nothing to bring to an end."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    server = Configuration(server_api_url=sys.argv[1])
    with TaskHandler(configuration=server, scan_for_annotated_workers=True) as handler:
        handler.start_processes()
        threading.Event().wait()


if __name__ == "__main__":
    main()
