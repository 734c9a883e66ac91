"""Studio, `/api` and the engine in one process and on one port, for a laptop or a notebook.

The engine begins and ends with the server; the studio asks it without a network. Live pages and
heavy runs share one interpreter here: two processes are the usual way.
"""

import importlib
import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from engine.api.app import create_app
from engine.engine import Engine
from engine.settings import settings_from
from studio import samples, server, session
from studio.client.client import Actor, Client
from studio.client.transport import in_process

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]

_ENGINES: Final = ("/api", "/health", "/actuator", "/metrics", "/api-docs")
"""What the engine's door answers; the rest belongs to the studio."""


def run(host: str, port: int, database: str | None, *, with_samples: bool) -> int:
    """Serves until a signal."""
    engine = Engine(settings_from(os.environ, host=host, port=port, database=database))
    if with_samples:
        engine.employ(importlib.import_module(samples.WORKERS).WORKERS)
    api = create_app(engine)
    client = Client(in_process(api), name=f"http://{host}:{port}")
    session.use(lambda: client)

    def start() -> None:
        engine.start()
        if with_samples:
            samples.register(client, Actor("reprise", "samples"))
        print(
            f"Reprise is ready: http://{host}:{port}  (API: http://{host}:{port}/api)", flush=True
        )

    def stop() -> None:
        client.close()
        engine.stop()

    server.serve(_both(api, server.studio_app(start=start, stop=stop)), host, port)
    return 0


def _both(api: App, studio: App) -> App:
    async def app(scope: Scope, receive: Any, send: Any) -> None:
        path = str(scope.get("path", ""))
        asked = any(path == place or path.startswith(f"{place}/") for place in _ENGINES)
        chosen = api if scope["type"] == "http" and asked else studio
        await chosen(scope, receive, send)

    return app
