"""Processes that answer scripts. A script is foreign: it runs in a child that can be killed, never in
the engine. A child that hangs or dies costs its job and nothing else; the next job gets a new one."""

import os
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from queue import LifoQueue

import orjson

from engine.expressions.scripts import LONGEST_SCRIPT, ScriptAnswer, ScriptJob
from engine.instruments.child import Child, ChildGone, ChildSilent
from engine.instruments.telemetry import Telemetry
from engine.workers.script_limits import LENGTH_BYTES, Limits, error_text, time_limit_text

START_SECONDS = 30.0
GRACE_SECONDS = 0.5
ANSWER_SLACK_BYTES = 1024 * 1024
BYTES_A_CHARACTER = 4
BREAKDOWNS = ("SIGABRT", "SIGSEGV", "SIGBUS")
CLOSED = "The evaluators are closed, the engine is stopping"


class EvaluatorPool:
    """At most `size` warm children. Any thread may call `evaluate`; it waits for a free child."""

    def __init__(
        self,
        size: int = 2,
        limits: Limits | None = None,
        allow_python: bool = False,
        telemetry: Telemetry | None = None,
    ) -> None:
        if size < 1:
            raise ValueError(f"an evaluator pool needs at least one process, not {size}")
        self._limits = limits or Limits()
        self._allow_python = allow_python
        self._telemetry = telemetry or Telemetry()
        self._size = size
        self._free: LifoQueue[Child | None] = LifoQueue()
        for _ in range(size):
            self._free.put(None)
        self._lock = threading.Lock()
        self._running: set[Child] = set()
        self._closed = False

    def evaluate(self, job: ScriptJob) -> ScriptAnswer:
        """Run one script. Whatever it does, the answer says so; nothing is raised for it."""
        try:
            frames = _frames(job, self._limits)
        except ValueError as error:
            return ScriptAnswer(error=str(error))
        child, kept = self._free.get(), None
        try:
            kept, frame = self._exchange(child, frames)
        except _Failed as failure:
            return ScriptAnswer(error=str(failure), retriable=failure.retriable)
        finally:
            self._free.put(kept)
        return _answer(frame)

    def close(self) -> None:
        """End all children, the busy ones too; their jobs are answered with an error."""
        with self._lock:
            self._closed = True
            children = list(self._running)
        for child in children:
            child.kill()
        for _ in range(self._size):
            # A busy child is given back by its thread, which has just learnt that it is gone.
            idle = self._free.get()
            if idle is not None:
                self._discard(idle)
        for _ in range(self._size):
            self._free.put(None)

    def children(self) -> list[int]:
        """The process ids of the children that live."""
        with self._lock:
            return [child.pid for child in self._running if child.is_running]

    def _exchange(self, child: Child | None, frames: bytes) -> tuple[Child, bytes]:
        """Send a job, get its answer. A child found dead before it had the whole job began nothing,
        so the job goes to a new one."""
        if child is not None:
            try:
                return child, self._ask(child, frames)
            except _NotBegun:
                pass
        child = self._start()
        try:
            return child, self._ask(child, frames)
        except _NotBegun as failure:
            raise _Failed(
                "The evaluator process ended before it could take the script"
            ) from failure

    def _ask(self, child: Child, frames: bytes) -> bytes:
        """After anything but an answer the child is not used again: an answer that comes late must
        not be taken for the next job's."""
        try:
            return self._talk(child, frames)
        except BaseException:
            self._discard(child)
            raise

    def _talk(self, child: Child, frames: bytes) -> bytes:
        deadline = time.monotonic() + self._limits.seconds + GRACE_SECONDS
        begun = False
        try:
            child.send(frames, deadline)
            begun = True
            return self._receive(child, deadline)
        except ChildSilent as error:
            self._telemetry.say("evaluator.killed")
            raise _Failed(time_limit_text(self._limits)) from error
        except ChildGone as error:
            raise (self._lost(child) if begun else _NotBegun()) from error

    def _receive(self, child: Child, deadline: float) -> bytes:
        size = int.from_bytes(child.receive(LENGTH_BYTES, deadline), "big")
        if size > self._limits.output_bytes * BYTES_A_CHARACTER + ANSWER_SLACK_BYTES:
            raise _Failed(error_text("the evaluator answered more than it may"), retriable=False)
        return child.receive(size, deadline)

    def _lost(self, child: Child) -> "_Failed":
        """A child that was killed may have met somebody else's trouble; one that broke down on its
        script would break down again."""
        if self._closed:
            return _Failed(CLOSED)
        child.wait(GRACE_SECONDS)
        how = child.ended_by()
        self._telemetry.say("evaluator.killed")
        if how == "SIGXCPU":
            return _Failed(time_limit_text(self._limits))
        likely = "; it probably needed too much memory" if how in BREAKDOWNS else ""
        return _Failed(
            error_text(f"the evaluator process was ended by {how}{likely}"),
            retriable=how in ("SIGKILL", "SIGTERM"),
        )

    def _start(self) -> Child:
        with self._lock:
            if self._closed:
                raise _Failed(CLOSED)
            child = Child(_command(self._limits, self._allow_python), _environment(), talks=True)
            self._running.add(child)
        try:
            self._receive(child, time.monotonic() + START_SECONDS)
        except BaseException as error:
            self._discard(child)
            if isinstance(error, ChildGone | ChildSilent):
                how = CLOSED if self._closed else f"The evaluator did not start: {child.ended_by()}"
                raise _Failed(how) from error
            raise
        return child

    def _discard(self, child: Child) -> None:
        child.close()
        with self._lock:
            self._running.discard(child)


class _NotBegun(Exception):
    """The child was gone before it had the job."""


class _Failed(Exception):
    """The job has no answer; the text says why."""

    def __init__(self, text: str, retriable: bool = True) -> None:
        super().__init__(text)
        self.retriable = retriable


def _command(limits: Limits, allow_python: bool) -> list[str]:
    settings = {"limits": asdict(limits), "allow_python": allow_python}
    module = "engine.workers.languages"
    return [sys.executable, "-P", "-m", module, orjson.dumps(settings).decode()]


def _environment() -> dict[str, str]:
    """Where modules are found, and nothing else of ours."""
    house = str(Path(__file__).parents[2])
    return {"PYTHONPATH": os.pathsep.join([house, *(entry for entry in sys.path if entry)])}


def _frames(job: ScriptJob, limits: Limits) -> bytes:
    """The job as two frames; the input is passed on as it is when it is encoded already."""
    if len(job.source) > LONGEST_SCRIPT:
        raise ValueError(
            error_text(f"a script may have {LONGEST_SCRIPT} characters, this has {len(job.source)}")
        )
    head = {
        "language": job.language.value,
        "source": job.source,
        "seed": job.seed,
        "now_ms": job.now_ms,
        "check_only": job.check_only,
    }
    try:
        inputs = job.inputs if isinstance(job.inputs, bytes) else orjson.dumps(job.inputs)
        encoded = orjson.dumps(head)
    except TypeError as error:
        raise ValueError(error_text(f"the script or its input is not JSON: {error}")) from error
    if len(inputs) > limits.input_bytes:
        raise ValueError(
            error_text(
                f"the input of a script may have {limits.input_bytes} bytes of JSON, this has {len(inputs)}"
            )
        )
    return b"".join(len(f).to_bytes(LENGTH_BYTES, "big") + f for f in (encoded, inputs))


def _answer(frame: bytes) -> ScriptAnswer:
    told = orjson.loads(frame)
    return ScriptAnswer(
        value=told.get("value"),
        error=told.get("error"),
        logs=tuple(told.get("logs", ())),
        retriable=told.get("retriable", False),
        not_finite=told.get("not_finite"),
    )
