"""A child process: started, watched, spoken to under a deadline, killed at will, never orphaned. It
is told the end of its parent by the end of its input, so it must read that to its end."""

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import IO

CHUNK = 64 * 1024


class ChildGone(Exception):
    """The process has ended."""


class ChildSilent(Exception):
    """The process did not take or give what was asked in time."""


class Child:
    """One process. With `talks` its output is read by `receive`; else it goes where ours goes."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        talks: bool = False,
    ) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if talks else None,
            stderr=subprocess.DEVNULL if talks else None,
            env=None if environment is None else dict(environment),
            start_new_session=True,
        )
        self._input = _open_end(self._process.stdin)
        self._output = _open_end(self._process.stdout) if talks else None

    def __enter__(self) -> "Child":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """None while it runs; the number of a signal is negative."""
        return self._process.poll()

    @property
    def is_running(self) -> bool:
        return self.returncode is None

    def ended_by(self) -> str:
        """How it ended, in words: a signal's name or an exit code."""
        code = self.returncode
        if code is None:
            return "running"
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def send(self, data: bytes, deadline: float) -> None:
        """Write all of it; `deadline` is a moment of time.monotonic()."""
        rest = memoryview(data)
        while rest:
            self._await(self._input, select.POLLOUT, deadline)
            try:
                rest = rest[os.write(self._input, rest[:CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise ChildGone("the process no longer reads") from error

    def receive(self, count: int, deadline: float) -> bytes:
        """Exactly so many bytes of its output."""
        if self._output is None:
            raise ValueError("this child was started without talks=True")
        data = bytearray()
        while len(data) < count:
            self._await(self._output, select.POLLIN, deadline)
            try:
                piece = os.read(self._output, min(CHUNK, count - len(data)))
            except BlockingIOError:
                continue
            if not piece:
                raise ChildGone("the process closed its output")
            data += piece
        return bytes(data)

    def wait(self, seconds: float | None = None) -> int | None:
        """Its exit code, or None when it still runs after so many seconds."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, grace_seconds: float) -> None:
        """Ask it to end; kill it when it does not."""
        if self.is_running:
            self._process.terminate()
            self.wait(grace_seconds)
        self.close()

    def kill(self) -> None:
        """End it and whatever it started, now. Safe from any thread, also while another one waits
        for an answer: the pipes stay open until `close`."""
        if self.is_running:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                self._process.kill()
            self._process.wait()

    def close(self) -> None:
        """Kill it and give back the pipes; only for the one that speaks to it."""
        self.kill()
        for end in (self._process.stdin, self._process.stdout):
            if end is not None:
                end.close()

    def _await(self, end: int, what: int, deadline: float) -> None:
        watcher = select.poll()
        watcher.register(end, what)
        left = deadline - time.monotonic()
        if left <= 0 or not watcher.poll(left * 1000):
            raise ChildSilent("the process did not answer in time")


def _open_end(end: IO[bytes] | None) -> int:
    assert end is not None
    os.set_blocking(end.fileno(), False)
    return end.fileno()


def when_parent_ends(then: Callable[[], None]) -> threading.Thread:
    """In a child: call `then` when the parent has closed our input, by will or by dying."""

    def watch() -> None:
        while os.read(0, CHUNK):
            pass
        then()

    watcher = threading.Thread(target=watch, name="parent-watch", daemon=True)
    watcher.start()
    return watcher
