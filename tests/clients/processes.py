"""Processes as a person would start them: an engine that can be killed and started again at the
same address, and programs whose output is read as it comes. The standard library only: the venvs
of the clients know nothing else."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

HOUSE = Path(__file__).parents[2]
PATIENCE_SECONDS = 60
PLAYING_SECONDS = 240
CREDENTIALS = ("CONDUCTOR_AUTH_KEY", "CONDUCTOR_AUTH_SECRET")


class Process:
    """A process in a group of its own; its output is kept."""

    def __init__(
        self,
        command: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
        folder: Path = HOUSE,
    ) -> None:
        inherited = {name: value for name, value in os.environ.items() if name not in CREDENTIALS}
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd=folder,
            env={**inherited, **(environment or {})},
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

    @property
    def output(self) -> str:
        """All it has said."""
        return "".join(self.lines)

    def wait_for(self, pattern: str) -> "re.Match[str]":
        """The first line that has this in it."""
        found: list[re.Match[str]] = []

        def said() -> bool:
            found.extend(hit for line in self.lines if (hit := re.search(pattern, line)))
            return bool(found) or not self._reader.is_alive()

        with self._said:
            self._said.wait_for(said, PATIENCE_SECONDS)
        assert found, f"{pattern!r} was never said:\n{self.output}"
        return found[0]

    def wait(self) -> int | None:
        """Its exit code, once it has ended; nothing if it does not come to an end."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(PLAYING_SECONDS)
        return None

    def end(self) -> None:
        """Ask it to end, and leave nothing of what it has started."""
        self._leave(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would, with all it has started."""
        self._leave(signal.SIGKILL)

    def _leave(self, with_signal: int) -> None:
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


class Engine:
    """An engine on a file of this folder, at one address through all its lives."""

    def __init__(self, folder: Path) -> None:
        database = f"sqlite:///{folder / 'engine.db'}"
        self._command = [sys.executable, "-m", "engine", "serve", "--database", database]
        self._port = "0"
        self.start()

    def start(self) -> None:
        """Begin a life."""
        self._process = Process([*self._command, "--port", self._port])
        self.address = self._process.wait_for(r"listening on (http://\S+)")[1]
        self._port = self.address.rpartition(":")[2]

    @property
    def url(self) -> str:
        """What the clients are given."""
        return f"{self.address}/api"

    def kill(self) -> None:
        """End this life in the middle of whatever it is doing."""
        self._process.kill()

    def end(self) -> None:
        """Ask it to end."""
        self._process.end()


@contextmanager
def serving(folder: Path) -> Iterator[Engine]:
    """An engine, ended afterwards."""
    engine = Engine(folder)
    try:
        yield engine
    finally:
        engine.end()
