"""The engine's command line: `python -m engine serve`. What goes wrong at the start is one line."""

import argparse
import importlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from types import FrameType, ModuleType

import uvicorn

from engine.api.app import create_app
from engine.connection import Connection
from engine.engine import Engine
from engine.instruments.child import when_parent_ends
from engine.instruments.collector import collect_rarely
from engine.model.errors import EngineError, InvalidInput
from engine.settings import Settings, settings_from
from engine.workers.functions import MARK, Worker, worker_of

_log = logging.getLogger("reprise")

OK, FAILED, BAD_START = 0, 1, 2

KEEP_ALIVE_SECONDS = 75
"""Longer than clients keep an idle connection, so that none is closed under a request."""


def main(arguments: Sequence[str] | None = None, typed: str = "python -m engine") -> int:
    """Run a command; its exit code. `typed` is what a person calls this program."""
    given = parser(typed).parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        settings = settings_from(
            os.environ,
            host=given.host,
            port=given.port,
            database=given.database,
            durability=given.durability,
            worker_threads=given.worker_threads,
            evaluators=given.evaluators,
            reach=given.reach,
            python_scripts=given.python_scripts or None,
        )
        return serve(settings, workers_of(given.workers), supervised=given.supervised)
    except EngineError as error:
        complain(error.message)
    except OSError as error:
        complain(str(error))
    return BAD_START


def parser(typed: str) -> argparse.ArgumentParser:
    """What may be asked on the command line."""
    found = argparse.ArgumentParser(prog=typed, description=__doc__)
    commands = found.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="run an engine and its REST API")
    serving.add_argument("--host", help="the address to listen on (127.0.0.1)")
    serving.add_argument("--port", type=int, help="the port to listen on (8080; 0 for any)")
    serving.add_argument("--database", help="sqlite:///FILE, postgresql://..., or memory:")
    serving.add_argument("--durability", help="FULL, NORMAL or OFF")
    serving.add_argument("--worker-threads", type=int, help="threads for each kind of task")
    serving.add_argument("--evaluators", type=int, help="processes that answer scripts")
    serving.add_argument("--reach", help="which addresses HTTP tasks may call")
    serving.add_argument("--python-scripts", action="store_true", help="let INLINE bring Python")
    serving.add_argument(
        "--workers",
        action="append",
        default=[],
        metavar="MODULE",
        help="carry out here the functions of a module: those with @worker, or its table "
        "WORKERS of task name -> function; repeatable",
    )
    serving.add_argument(
        "--supervised", action="store_true", help="end when standard input is closed"
    )
    return found


def complain(text: str) -> None:
    """One line for a person."""
    print(f"reprise: {text}", file=sys.stderr)


def workers_of(modules: Sequence[str]) -> list[Worker]:
    """The workers that modules bring: the functions in their table `WORKERS`, or those declared
    with `@worker`."""
    found: list[Worker] = []
    if modules and os.getcwd() not in sys.path:
        # A console script does not look where it was started; a person's own module lies there.
        sys.path.append(os.getcwd())
    for name in modules:
        try:
            brought = _brought(importlib.import_module(name))
        except ImportError as error:
            raise InvalidInput(
                f"--workers {name}: {error}. Name a module that lies in this folder or is installed."
            ) from None
        if not brought:
            raise InvalidInput(
                f"--workers {name}: it brings no worker. Put @worker('task_name') above a function "
                "of it, or give it a table WORKERS: task name -> function."
            )
        found += brought
    return found


def _brought(module: ModuleType) -> list[Worker]:
    table = getattr(module, "WORKERS", None)
    if table is not None:
        return [Worker(name, call) for name, call in table.items()]
    return [worker_of(one) for one in vars(module).values() if hasattr(one, MARK)]


def serve(
    settings: Settings,
    workers: Sequence[Worker] = (),
    *,
    supervised: bool = False,
) -> int:
    """Run until a signal asks for the end, the core fails, or who started this one has gone."""
    listening = listen(settings.host, settings.port)
    with listening:
        settings = with_port(settings, listening)
        engine = Engine(settings)
        engine.workers.add_all(workers)
        server = Server(engine)
        if supervised:
            when_parent_ends(lambda: os.kill(os.getpid(), signal.SIGTERM))
        try:
            engine.start()
            collect_rarely()
            _log.info("listening on http://%s:%s", settings.host, settings.port)
            server.run([listening])
        finally:
            engine.stop()
    if engine.thread.failure is not None:
        complain(f"the core has failed: {engine.thread.failure}; start the engine again.")
        return FAILED
    return OK


def listen(host: str, port: int) -> socket.socket:
    """The socket, before anything else is touched: an engine that cannot be asked is none."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(kind, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        # Bound is not enough: only a listening socket keeps a second engine from this port.
        found.listen(2048)
    except OSError as error:
        found.close()
        raise OSError(
            f"cannot listen on {host}:{port}: {error.strerror or error}. "
            "Stop what uses the port, or give another with --port."
        ) from None
    return found


def with_port(settings: Settings, listening: socket.socket) -> Settings:
    """The settings with the port that was really taken."""
    return settings_from({}, **{**_values(settings), "port": listening.getsockname()[1]})


def _values(settings: Settings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in Settings.__dataclass_fields__}


class Server(uvicorn.Server):
    """uvicorn, which on a signal lets the engine stop first: the API stays up meanwhile, so that
    workers can still report."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(
            uvicorn.Config(
                create_app(engine),
                http=Connection,
                log_level="warning",
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=2,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                server_header=False,
            )
        )
        self._engine = engine
        engine.on_failure = self.end

    def end(self) -> None:
        """Let the server go; safe from any thread."""
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        threading.Thread(target=self._stop, name="reprise-stop").start()

    def _stop(self) -> None:
        self._engine.stop()
        self.end()
