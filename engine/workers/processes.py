"""Functions in a process of their own, which can be killed: for work that computes long, holds the
interpreter, or must end when its task ends.

The process imports the function by its module's name and carries out one task after another.
"""

import os
import pickle
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from engine.instruments.child import Child, ChildGone, ChildSilent
from engine.model.status import TaskStatus
from engine.workers.functions import Assignment, Outcome, TaskContext, binding, carry_out, decoded

LENGTH_BYTES = 4
START_SECONDS = 30.0
FOR_EVER = 10.0**6
"""A function may take as long as it likes; its task's timeouts end it."""


class Processes:
    """Processes for one function, each with one task at a time; an idle one is used again."""

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self._name = name
        self._place = place_of(call)
        self._idle: list[Child] = []
        self._busy: dict[str, Child] = {}
        self._lock = threading.Lock()

    def carry_out(self, given: bytes, context: TaskContext) -> Outcome:
        """Have a task carried out; killed meanwhile, it has failed."""
        try:
            child = self._taken(context.task_id)
            return self._talk(child, given, context)
        except (ChildGone, ChildSilent) as error:
            return Outcome(TaskStatus.FAILED, reason=f"The process of {self._name}: {error}")

    def kill(self, task_id: str) -> None:
        """End the process that carries out a task."""
        with self._lock:
            child = self._busy.get(task_id)
        if child is not None:
            child.kill()

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            idle, self._idle = self._idle, []
            busy = list(self._busy.values())
        for child in idle:
            child.close()
        for child in busy:
            # Its pipes belong to the thread that speaks to it.
            child.kill()

    def _taken(self, task_id: str) -> Child:
        with self._lock:
            child = self._idle.pop() if self._idle else None
            if child is None or not child.is_running:
                child = Child(_command(*self._place), _environment(), talks=True)
            self._busy[task_id] = child
        return child

    def _talk(self, child: Child, given: bytes, context: TaskContext) -> Outcome:
        told = pickle.dumps(
            (given, context.task_id, context.workflow_id, context.reference, context.attempt)
        )
        try:
            child.send(_framed(told), time.monotonic() + START_SECONDS)
            end = time.monotonic() + FOR_EVER
            size = int.from_bytes(child.receive(LENGTH_BYTES, end), "big")
            answer: Outcome = pickle.loads(child.receive(size, end))
        except ChildGone:
            child.wait(1.0)
            how = child.ended_by()
            self._put_back(context.task_id, child, keep=False)
            raise ChildGone(f"it was ended by {how} before it had finished") from None
        except BaseException:
            self._put_back(context.task_id, child, keep=False)
            raise
        self._put_back(context.task_id, child, keep=True)
        return answer

    def _put_back(self, task_id: str, child: Child, *, keep: bool) -> None:
        with self._lock:
            self._busy.pop(task_id, None)
            if keep and child.is_running:
                self._idle.append(child)
                return
        child.close()


def place_of(call: Callable[..., Any]) -> tuple[str, str]:
    """Where another process finds a function: module and name."""
    module, name = getattr(call, "__module__", ""), getattr(call, "__qualname__", "")
    if not module or module == "__main__" or "<" in name or not name:
        raise TypeError(
            f"{name or call!r} cannot run in a process of its own: define it with `def` at the top "
            "of a module that can be imported."
        )
    return module, name


def _command(module: str, name: str) -> list[str]:
    return [sys.executable, "-P", "-m", "engine.workers.processes", module, name]


def _environment() -> dict[str, str]:
    """Ours, and where modules are found."""
    house = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([house, *filter(None, sys.path)])}


def _framed(data: bytes) -> bytes:
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


# In the process


def _frames(source: BinaryIO, found: "SimpleQueue[bytes]") -> None:
    """Hand on what the engine sends; when it has gone, there is nobody to work for."""
    while len(head := source.read(LENGTH_BYTES)) == LENGTH_BYTES:
        found.put(source.read(int.from_bytes(head, "big")))
    os._exit(0)


def main() -> None:
    """Carry out tasks until the engine closes the pipe."""
    module, name = sys.argv[1:3]
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What the function prints must not end up between the frames.
    os.dup2(2, 1)
    found: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_frames, args=(source, found), daemon=True).start()

    def bind(given: dict[str, Any]) -> Any:
        # Imported here, so that a module that cannot be imported fails its tasks with a reason.
        return binding(_found(module, name))(given)

    while True:
        given, *about = pickle.loads(found.get())
        outcome = carry_out(Assignment(name, bind, decoded(given), TaskContext(*about)))
        target.write(_framed(pickle.dumps(outcome)))
        target.flush()


def _found(module: str, name: str) -> Callable[..., Any]:
    value: Any = import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    call: Callable[..., Any] = value
    return call


if __name__ == "__main__":
    main()
