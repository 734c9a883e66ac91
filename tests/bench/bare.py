"""The least that a Starlette app does for the same bytes: `python -m tests.bench.bare FILE`.

What our door is measured against. It reads requests as far as an app must, and does no work at all:
a poll is answered with the task in FILE, a poll of the type `nobody` with nothing.
"""

import socket
import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

NOBODY = "nobody"
TEXT = "text/plain;charset=UTF-8"


def app_with(given: bytes) -> Starlette:
    """Answers a poll with this task."""

    async def poll(request: Request) -> Response:
        empty = request.path_params["type"] == NOBODY
        return Response(b"[]" if empty else given, media_type="application/json")

    async def take(request: Request) -> Response:
        await request.body()
        return Response(b"3f0a3c52-8f27-4ddc-9f1a-6d4b1c1d7a90", media_type=TEXT)

    return Starlette(
        routes=[
            Route("/api/tasks/poll/batch/{type}", poll),
            Route("/api/tasks", take, methods=["POST"]),
            Route("/api/workflow", take, methods=["POST"]),
        ]
    )


def main(given: Path) -> None:
    """Listen on any port, say which, serve until a signal."""
    config = uvicorn.Config(
        app_with(given.read_bytes()),
        http="httptools",
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
    )
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        print(f"listening on http://127.0.0.1:{listening.getsockname()[1]}", file=sys.stderr)
        uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
