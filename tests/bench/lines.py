"""A client that costs next to nothing, so that it is the server that is measured: connections that
are kept, requests that are bytes already, answers of which only the length is read."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any

END_OF_HEAD = b"\r\n\r\n"
LENGTH = b"content-length:"


class Line(asyncio.Protocol):
    """One connection; one request at a time."""

    def __init__(self) -> None:
        self._answer: asyncio.Future[bytes] | None = None
        self._read = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        read = self._read = self._read + data
        head, found, body = read.partition(END_OF_HEAD)
        if not found or len(body) < _length(head):
            return
        self._read = b""
        if self._answer is not None and not self._answer.done():
            if head[9:10] != b"2":
                self._answer.set_exception(RuntimeError(read.decode("latin-1")))
            else:
                self._answer.set_result(body)

    def connection_lost(self, error: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionResetError("closed by the server"))

    async def ask(self, request: bytes) -> bytes:
        """The body of the answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        """Hang up, in the middle of an answer, too."""
        self._answer = None
        self._transport.abort()


def _length(head: bytes) -> int:
    _, found, rest = head.lower().partition(LENGTH)
    return int(rest.partition(b"\r\n")[0]) if found else 0


async def connect(port: int) -> Line:
    """One connection."""
    _, line = await asyncio.get_running_loop().create_connection(Line, "127.0.0.1", port)
    return line


@asynccontextmanager
async def connected(port: int, number: int) -> AsyncIterator[list[Line]]:
    """So many connections."""
    lines = [await connect(port) for _ in range(number)]
    try:
        yield lines
    finally:
        for line in lines:
            line.close()


def get(path: str) -> bytes:
    """A GET as bytes."""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n".encode()


def send(path: str, body: Any, method: str = "POST") -> bytes:
    """A request with JSON as bytes."""
    written = json.dumps(body).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(written)}\r\n\r\n"
    )
    return head.encode() + written


async def all_asked(lines: list[Line], requests: Iterable[bytes]) -> tuple[list[bytes], float]:
    """The answers of requests that these connections share out among themselves, and how many a
    second there were."""
    waiting: Iterator[bytes] = iter(requests)
    answers: list[bytes] = []

    async def carry(line: Line) -> None:
        for request in waiting:
            answers.append(await line.ask(request))

    loop = asyncio.get_running_loop()
    begun = loop.time()
    await asyncio.gather(*map(carry, lines))
    return answers, len(answers) / (loop.time() - begun)
