"""`reprise` without a command: starts the engine and the studio, keeps both alive, ends both in order.

The engine goes first and ends last. A child that dies is started again after a pause that grows;
five deaths within a minute are too many. A child whose parent is gone ends by itself.
"""

import argparse
import logging
import os
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Final

from engine.instruments.child import Child
from studio import one_process, samples
from studio.client.client import Actor, Client
from studio.client.errors import ServerError
from studio.client.transport import over_network
from studio.session import SERVER

OK, FAILED, BAD_START = 0, 1, 2
HEALTH_SECONDS: Final = 60.0
GRACE_SECONDS: Final = 15.0
DEATHS_ALLOWED: Final = 5
DEATH_WINDOW_SECONDS: Final = 60.0
PAUSES_SECONDS: Final = (0.5, 1.0, 2.0, 4.0, 8.0)

_log: Final = logging.getLogger("reprise")


class BadStart(Exception):
    """What is asked for cannot be started; the message is one line for a person."""


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="reprise", description=__doc__)
    found.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    found.add_argument("--port", type=int, default=8501, help="the studio's port")
    found.add_argument("--engine-port", type=int, default=8080, help="the engine's port")
    found.add_argument("--database", help="sqlite:///FILE, postgresql://..., or memory:")
    found.add_argument("--server", help="show another server; no engine is started")
    found.add_argument("--no-samples", action="store_true", help="do not register the samples")
    found.add_argument("--no-browser", action="store_true", help="do not open a browser")
    found.add_argument(
        "--one-process", action="store_true", help="engine and studio in one process"
    )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs until a signal; the exit code."""
    given = parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        if given.one_process and given.server:
            raise BadStart("--one-process runs an engine and --server asks another: give one.")
        if given.one_process:
            need_port(given.host, given.port, "--port")
            return one_process.run(
                given.host, given.port, given.database, with_samples=not given.no_samples
            )
        return _Household(given).run()
    except BadStart as error:
        print(f"reprise: {error}", file=sys.stderr)
        return BAD_START


def need_port(host: str, port: int, option: str) -> None:
    """Refuses a port that is taken, before anything is started."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(kind, socket.SOCK_STREAM) as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, port))
            found.listen(1)
        except (OSError, OverflowError) as error:
            raise BadStart(
                f"cannot listen on {host}:{port}: {getattr(error, 'strerror', None) or error}. "
                f"Stop what uses the port, or give another with {option}."
            ) from None


@dataclass
class Member:
    """A child process: how it is started, and how often it has died."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    child: Child | None = None
    deaths: list[float] = field(default_factory=list)
    start_at: float = 0.0

    def start(self) -> None:
        self.child = Child(self.command, self.environment)
        _log.info("%s started, process %s", self.name, self.child.pid)

    @property
    def is_dead(self) -> bool:
        return self.child is not None and not self.child.is_running

    def bury(self, now: float) -> float:
        """Notes a death; the seconds to wait before the next start. BadStart after too many."""
        assert self.child is not None
        words = self.child.ended_by()
        self.child.close()
        self.child = None
        self.deaths = [at for at in self.deaths if now - at < DEATH_WINDOW_SECONDS] + [now]
        if len(self.deaths) >= DEATHS_ALLOWED:
            raise BadStart(
                f"the {self.name} ended {len(self.deaths)} times within a minute, last by {words}. "
                "Its own lines above say why."
            )
        pause = PAUSES_SECONDS[min(len(self.deaths), len(PAUSES_SECONDS)) - 1]
        _log.warning("%s ended by %s; it is started again in %g s", self.name, words, pause)
        self.start_at = now + pause
        return pause

    def stop(self) -> None:
        if self.child is not None:
            self.child.stop(GRACE_SECONDS)
            _log.info("%s stopped", self.name)
            self.child = None


class _Household:
    """The children of one supervisor."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self._over = threading.Event()
        loopback = "127.0.0.1" if given.host in ("0.0.0.0", "::") else given.host
        self._server: str = given.server or f"http://{loopback}:{given.engine_port}"
        self._address = f"http://{loopback}:{given.port}"
        self._members: list[Member] = []
        if not given.server:
            self._members.append(Member("engine", self._engine_command(), dict(os.environ)))
        told = {**os.environ, SERVER: self._server}
        self._members.append(Member("studio", self._studio_command(), told))

    def _engine_command(self) -> list[str]:
        given = self._given
        found = [sys.executable, "-m", "engine", "serve", "--supervised"]
        found += ["--host", given.host, "--port", str(given.engine_port)]
        found += ["--database", given.database] if given.database else []
        return found if given.no_samples else [*found, "--workers", samples.WORKERS]

    def _studio_command(self) -> list[str]:
        given = self._given
        place = ["--host", given.host, "--port", str(given.port)]
        return [sys.executable, "-m", "studio.server", "--supervised", *place]

    def run(self) -> int:
        need_port(self._given.host, self._given.port, "--port")
        if not self._given.server:
            need_port(self._given.host, self._given.engine_port, "--engine-port")
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._end)
        try:
            self._begin()
            self._watch()
        finally:
            for member in reversed(self._members):
                member.stop()
        return OK

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._over.set()

    def _begin(self) -> None:
        client = Client(over_network(self._server))
        for member in self._members:
            member.start()
        if not self._given.server:
            self._await("engine", client.health)
            if not self._given.no_samples and not self._over.is_set():
                register_samples(client)
        self._await("studio", self._studio_answers)
        client.close()
        if self._over.is_set():
            return
        print(f"Reprise is ready: {self._address}  (API: {self._server}/api)", flush=True)
        if not self._given.no_browser:
            with suppress(webbrowser.Error):
                webbrowser.open(self._address)

    def _studio_answers(self) -> bool:
        """Whether somebody listens on the studio's port."""
        place = (self._address.split("//")[1].split(":")[0], self._given.port)
        try:
            with socket.create_connection(place, timeout=1):
                return True
        except OSError:
            return False

    def _await(self, name: str, answers: Callable[[], bool]) -> None:
        """Waits until a child answers; a child that dies meanwhile is the reason not to."""
        until = time.monotonic() + HEALTH_SECONDS
        while not self._over.wait(0.1):
            member = next((one for one in self._members if one.name == name), None)
            if member is not None and member.is_dead and member.child is not None:
                how = member.child.ended_by()
                raise BadStart(f"the {name} could not start: it ended by {how}.")
            try:
                if answers():
                    return
            except ServerError:
                pass
            if time.monotonic() > until:
                raise BadStart(f"the {name} gave no answer within {HEALTH_SECONDS:g} s.")

    def _watch(self) -> None:
        """Until the end is asked for: whoever has died is started again after its pause."""
        while not self._over.wait(0.2):
            now = time.monotonic()
            for member in self._members:
                if member.is_dead:
                    member.bury(now)
                elif member.child is None and now >= member.start_at:
                    member.start()


def register_samples(client: Client) -> None:
    """The samples' definitions; one that the server refuses is told and left out."""
    for words in samples.register(client, Actor("reprise", "samples")):
        _log.warning("sample not registered: %s", words)


if __name__ == "__main__":
    sys.exit(main())
