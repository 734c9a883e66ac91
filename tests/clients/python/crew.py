"""Workers that leave a trace, each in a process of its own, as the SDK runs them by default.

    python -m tests.clients.python.crew FOLDER URL

FOLDER/trace has a line for each task as it is taken up and one as it is done: the word, the task's
id, and the process that works on it.
"""

import os
import pathlib
import signal
import sys
import threading
import time

from conductor.client.automator.task_handler import TaskHandler
from conductor.client.configuration.configuration import Configuration
from conductor.client.context import get_task_context
from conductor.client.worker.worker_task import worker_task

TRACE = pathlib.Path(sys.argv[1]) / "trace"


@worker_task(task_definition_name="step", thread_count=3)
def step(seconds: float) -> dict[str, object]:
    """Work for a while; the effect is the second line."""
    note("begun")
    time.sleep(seconds)
    note("done")
    return {"by": os.getpid()}


@worker_task(task_definition_name="async_step", thread_count=3)
async def async_step(seconds: float) -> dict[str, object]:
    """The same with the SDK's other kind of runner; it is over at once."""
    note("begun")
    note("done")
    return {"by": os.getpid()}


def note(word: str) -> None:
    """One line, written whole."""
    trace = os.open(TRACE, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(trace, f"{word} {get_task_context().get_task_id()} {os.getpid()}\n".encode())
    finally:
        os.close(trace)


def main() -> None:
    """Work until SIGTERM; who started this leaves none of its processes."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    server = Configuration(server_api_url=sys.argv[2])
    with TaskHandler(configuration=server, scan_for_annotated_workers=True) as handler:
        handler.start_processes()
        threading.Event().wait()


if __name__ == "__main__":
    main()
