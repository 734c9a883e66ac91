"""An engine in a process of its own, started as a person would start it, and workers beside it."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE_SECONDS = 60


class Process:
    """A process whose output is read as it comes."""

    def __init__(self, command: Sequence[str], environment: dict[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        self.lines: list[str] = []
        self._said = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._said:
                self.lines.append(line)
                self._said.notify_all()
        with self._said:
            self._said.notify_all()

    def wait_for(self, pattern: str) -> "re.Match[str]":
        """The first line that has this in it."""
        found: list[re.Match[str]] = []

        def said() -> bool:
            found.extend(hit for line in self.lines if (hit := re.search(pattern, line)))
            return bool(found) or self._process.poll() is not None

        with self._said:
            self._said.wait_for(said, PATIENCE_SECONDS)
        assert found, f"{pattern!r} was never said:\n{''.join(self.lines)}"
        return found[0]

    def end(self, with_signal: int = signal.SIGTERM) -> None:
        """Ask it to end, or kill it; nothing it started is left."""
        if self._process.poll() is None:
            self._process.send_signal(with_signal)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(15)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The base address of an engine on a file in this folder."""
    database = f"sqlite:///{folder / 'sdk.db'}"
    process = Process(["-m", "engine", "serve", "--port", "0", "--database", database])
    try:
        address = process.wait_for(r"listening on (http://\S+)")[1]
        yield f"{address}/api"
    finally:
        process.end()


@contextmanager
def working(url: str, switch: Path) -> Iterator[None]:
    """Workers on the SDK, asking this server."""
    process = Process(["-m", "tests.api.sdk.workers", url, str(switch)])
    try:
        yield
    finally:
        process.end()
