"""How the work of a lane is carried out: by a function in this thread, on the event loop, or in a
process of its own."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future

from engine.model.record import Json, encode
from engine.workers.functions import (
    Assignment,
    Outcome,
    Worker,
    binding,
    carry_out,
    carry_out_async,
    failure_of,
)
from engine.workers.lane import Craft, Job
from engine.workers.processes import Processes

Done = Callable[[Outcome], None]

CANCELLED = InterruptedError("the coroutine was cancelled before it had finished")


class InThread:
    """A plain function, in the thread that calls. It cannot be stopped, only told."""

    def __init__(self, worker: Worker) -> None:
        self._name = worker.task_name
        self._bind = binding(worker.call)

    def carry_out(self, job: Job, given: dict[str, Json], done: Done) -> None:
        done(carry_out(Assignment(self._name, self._bind, given, job.context)))

    def cancel(self, job: Job) -> None:
        """The function sees it in its TaskContext, if it looks."""

    def close(self) -> None:
        """Nothing is kept."""


class InProcess:
    """A function in a process that can be killed."""

    def __init__(self, worker: Worker) -> None:
        self._processes = Processes(worker.task_name, worker.call)

    def carry_out(self, job: Job, given: dict[str, Json], done: Done) -> None:
        done(self._processes.carry_out(encode(given), job.context))

    def cancel(self, job: Job) -> None:
        self._processes.kill(job.context.task_id)

    def close(self) -> None:
        self._processes.close()


class OnLoop:
    """A coroutine function, on the event loop that all of them share."""

    def __init__(self, worker: Worker, loop: "EventLoop") -> None:
        self._name = worker.task_name
        self._bind = binding(worker.call)
        self._loop = loop
        self._running: dict[str, Future[Outcome]] = {}

    def carry_out(self, job: Job, given: dict[str, Json], done: Done) -> None:
        assignment = Assignment(self._name, self._bind, given, job.context)
        task_id = job.context.task_id
        running = asyncio.run_coroutine_threadsafe(carry_out_async(assignment), self._loop.get())
        self._running[task_id] = running

        def ended(future: "Future[Outcome]") -> None:
            self._running.pop(task_id, None)
            done(failure_of(CANCELLED) if future.cancelled() else future.result())

        running.add_done_callback(ended)

    def cancel(self, job: Job) -> None:
        running = self._running.get(job.context.task_id)
        if running is not None:
            running.cancel()

    def close(self) -> None:
        """The loop is everybody's."""


class EventLoop:
    """One event loop in a thread of its own, begun when it is first needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def get(self) -> asyncio.AbstractEventLoop:
        """The running loop."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="reprise-async", daemon=True
                )
                self._thread.start()
            return self._loop

    def close(self, seconds: float) -> None:
        """Stop it; whoever still runs on it is cancelled."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_cancel_others(), loop).result(seconds)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(seconds)
        if not thread.is_alive():
            loop.close()


async def _cancel_others() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.wait(others, timeout=1.0) if others else None


def craft_of(worker: Worker, loop: EventLoop) -> Craft:
    """How a worker's function is carried out."""
    if worker.process:
        return InProcess(worker)
    return OnLoop(worker, loop) if worker.is_async else InThread(worker)
