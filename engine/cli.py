"""The engine's command line: `python -m engine serve`. What goes wrong at the start is one line."""

import argparse
import importlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from types import ModuleType

from engine.engine import Engine
from engine.instruments.child import when_parent_ends
from engine.model.errors import EngineError, InvalidInput
from engine.serving import Server, listen
from engine.settings import Settings, settings_from
from engine.workers.functions import MARK, Worker, worker_of

OK, FAILED, BAD_START = 0, 1, 2


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
            server.run([listening])
        finally:
            engine.stop()
    if engine.drive.failure is not None:
        complain(f"the core has failed: {engine.drive.failure}; start the engine again.")
        return FAILED
    return OK


def with_port(settings: Settings, listening: socket.socket) -> Settings:
    """The settings with the port that was really taken."""
    return settings_from({}, **{**_values(settings), "port": listening.getsockname()[1]})


def _values(settings: Settings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in Settings.__dataclass_fields__}
