"""Workers in the style that the SDK has known since 1.3: plain arguments, a context, async, leases.

    python -m tests.clients.python.decorated_workers URL FOLDER

They work until they are told to stop. The printer works once FOLDER/repaired exists; what happens
to the workers is written to FOLDER/events, their metrics to FOLDER/metrics.
"""

import asyncio
import os
import pathlib
import signal
import sys
import threading
import time
from dataclasses import dataclass

os.environ.setdefault("CONDUCTOR_WORKER_ISOLATION", "thread")

from conductor.client.automator.task_handler import TaskHandler
from conductor.client.configuration.configuration import Configuration
from conductor.client.configuration.settings.metrics_settings import MetricsSettings
from conductor.client.context import TaskInProgress, get_task_context
from conductor.client.http.models.task_def import TaskDef
from conductor.client.worker.exception import NonRetryableException
from conductor.client.worker.worker_task import worker_task

FOLDER = pathlib.Path(sys.argv[2])
LONG_SECONDS = 8
"""More than the response timeout of what is leased."""
TOO_LONG_SECONDS = 120
BRIEF_SECONDS = 0.2


@worker_task(task_definition_name="layout", thread_count=2, register_task_def=True)
def layout(title: str, copies: int) -> dict[str, object]:
    """How many pages a leaflet has."""
    get_task_context().add_log(f"laying out {title}")
    return {"pages": 4 * copies}


@worker_task(task_definition_name="print")
def print_pages(pages: int) -> dict[str, object]:
    """The printer is out of order until somebody has repaired it."""
    if not (FOLDER / "repaired").exists():
        raise NonRetryableException("the printer is out of order")
    return {"printed": pages}


@worker_task(task_definition_name="deliver")
async def deliver(printed: int):  # type: ignore[no-untyped-def]
    """On the road at the first look, there at the second."""
    if get_task_context().get_poll_count() < 2:
        return TaskInProgress(callback_after_seconds=1, output={"on_the_road": True})
    return {"delivered": printed}


@worker_task(task_definition_name="shaky", thread_count=4)
def shaky() -> dict[str, object]:
    """Fails at its first attempt."""
    attempt = get_task_context().get_retry_count()
    if attempt == 0:
        raise RuntimeError("the first attempt never works")
    return {"attempt": attempt}


@worker_task(task_definition_name="leased", lease_extend_enabled=True)
def leased() -> dict[str, object]:
    """Takes longer than its response timeout, and says so in time."""
    time.sleep(LONG_SECONDS)
    return {"took": LONG_SECONDS}


@worker_task(task_definition_name="leased_async", lease_extend_enabled=True)
async def leased_async() -> dict[str, object]:
    """The same on an event loop."""
    await asyncio.sleep(LONG_SECONDS)
    return {"took": LONG_SECONDS}


@worker_task(task_definition_name="silent")
def silent() -> dict[str, object]:
    """Says nothing for longer than anybody waits."""
    time.sleep(TOO_LONG_SECONDS)
    return {}


@worker_task(task_definition_name="silent_async")
async def silent_async() -> dict[str, object]:
    """The same on an event loop."""
    await asyncio.sleep(TOO_LONG_SECONDS)
    return {}


@worker_task(task_definition_name="brief_leased", thread_count=5, lease_extend_enabled=True)
async def brief_leased() -> dict[str, object]:
    """Done long before its lease need be extended."""
    await asyncio.sleep(BRIEF_SECONDS)
    return {}


@worker_task(task_definition_name="brief", thread_count=5)
async def brief() -> dict[str, object]:
    """As brief, without a lease."""
    await asyncio.sleep(BRIEF_SECONDS)
    return {}


@dataclass
class Sheet:
    """What is measured."""

    name: str
    width: float
    sides: list[str]


@worker_task(
    task_definition_name="measure",
    register_task_def=True,
    strict_schema=True,
    task_def=TaskDef(name="measure", retry_count=2, timeout_policy="RETRY"),
)
def measure(sheet: Sheet) -> dict[str, object]:
    """Takes an object and not a map."""
    return {"name": sheet.name, "width": sheet.width, "sides": len(sheet.sides)}


@worker_task(task_definition_name="stamp", thread_count=5, register_task_def=True)
async def stamp() -> dict[str, object]:
    """One link of a chain."""
    return {"stamped": True}


@worker_task(task_definition_name="fold", thread_count=5, register_task_def=True)
async def fold() -> dict[str, object]:
    """Another."""
    return {"folded": True}


@worker_task(task_definition_name="parcel")
def parcel() -> dict[str, object]:
    """Whatever has no domain."""
    return {"by": "anyone"}


@worker_task(task_definition_name="parcel", domain="express")
def express_parcel() -> dict[str, object]:
    """Only what is express."""
    return {"by": "express"}


class Diary:
    """Writes down what happens to the workers, in whichever process it happens."""

    def _write(self, event: object) -> None:
        with (FOLDER / "events").open("a") as diary:
            diary.write(f"{type(event).__name__}\n")

    on_poll_started = on_poll_completed = on_poll_failure = _write
    on_task_execution_started = on_task_execution_completed = on_task_execution_failure = _write
    on_task_update_failure = _write


def main() -> None:
    """Work until SIGTERM; the workers' threads have nothing to bring to an end."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    metrics = FOLDER / "metrics"
    metrics.mkdir(exist_ok=True)
    with TaskHandler(
        configuration=Configuration(server_api_url=sys.argv[1]),
        scan_for_annotated_workers=True,
        metrics_settings=MetricsSettings(str(metrics), "metrics.prom", update_interval=1),
        event_listeners=[Diary()],
    ) as handler:
        handler.start_processes()
        threading.Event().wait()


if __name__ == "__main__":
    main()
