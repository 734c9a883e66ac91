"""The HTTP server of one engine, on one event loop: how it listens, starts the engine, and lets the
engine stop first."""

import asyncio
import logging
import socket
import threading
from types import FrameType

import uvicorn

from engine.api.app import create_app
from engine.connection import Connection
from engine.engine import Engine
from engine.instruments.collector import collect_rarely

_log = logging.getLogger("reprise")

KEEP_ALIVE_SECONDS = 75
"""Longer than clients keep an idle connection, so that none is closed under a request."""


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


class Server(uvicorn.Server):
    """uvicorn, which on a signal lets the engine stop first: the API stays up meanwhile, so that
    workers can still report."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(
            uvicorn.Config(
                create_app(engine),
                log_level="warning",
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=2,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                server_header=False,
                proxy_headers=False,
                http=Connection,
            )
        )
        self._engine = engine
        engine.on_failure = self.end

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the engine on the loop that serves it, then listen."""
        self._engine.start(asyncio.get_running_loop())
        collect_rarely()
        settings = self._engine.settings
        _log.info("listening on http://%s:%s", settings.host, settings.port)
        await super().startup(sockets)

    def end(self) -> None:
        """Let the server go; safe from any thread."""
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        threading.Thread(target=self._stop, name="reprise-stop").start()

    def _stop(self) -> None:
        self._engine.stop()
        self.end()
