"""Connections of clients that dawdle: they are closed, and what they began is not done."""

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from engine.api.wire import UNSENT
from engine.connection import LONGEST_HEAD, Connection

POST = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"
GET = b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n"


class Hasty(Connection):
    patience_seconds = 0.2


class App:
    """Answers with the body it was sent, after some seconds, and remembers what it heard."""

    def __init__(self, seconds: float = 0) -> None:
        self.heard: list[str] = []
        self._seconds = seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            self.heard.append(message["type"])
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        await asyncio.sleep(self._seconds)
        length = str(len(body)).encode()
        head = [(b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": body})


class Precious:
    """Answers each request with as many bytes, when it is let, and remembers which of its answers
    it was told have not gone out."""

    def __init__(self, size: int, let: bool = True) -> None:
        self._body = b"x" * size
        self.let = threading.Event()
        if let:
            self.let.set()
        self.asked = threading.Semaphore(0)
        self.gone = threading.Event()
        self.unsent: list[str] = []
        self.told = threading.Semaphore(0)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        listening = asyncio.ensure_future(self._listen(receive))
        self.asked.release()
        while not self.let.is_set():
            await asyncio.sleep(0.001)
        listening.cancel()
        scope["extensions"][UNSENT]["mind"](lambda: self._unsent(scope["path"]))
        head = [(b"content-length", str(len(self._body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": self._body})

    async def _listen(self, receive: Any) -> None:
        assert (await receive())["type"] == "http.disconnect"
        self.gone.set()

    def _unsent(self, path: str) -> None:
        self.unsent.append(path)
        self.told.release()


@contextmanager
def calling(app: Any, loop: Any = "auto") -> Iterator[socket.socket]:
    """A connection to an app behind hasty connections."""
    config = uvicorn.Config(
        app, http=Hasty, log_level="error", lifespan="off", access_log=False, loop=loop
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = threading.Thread(target=server.run, args=([listening],))
        serving.start()
        try:
            with socket.create_connection(listening.getsockname(), timeout=20) as client:
                yield client
        finally:
            if isinstance(app, Precious):
                app.let.set()
            server.should_exit = True
            serving.join()


def all_said(client: socket.socket) -> bytes:
    """What the server says until it closes."""
    said = b""
    while piece := client.recv(65536):
        said += piece
    return said


def refused(said: bytes) -> Any:
    """The status line and the error of a refusal."""
    head, _, body = said.partition(b"\r\n\r\n")
    document = json.loads(body)
    assert head.split(b" ")[1] == str(document["status"]).encode()
    assert b"connection: close" in head
    return document


def test_a_head_that_never_ends_is_too_slow() -> None:
    with calling(App()) as client:
        client.sendall(GET[:-2])
        assert refused(all_said(client))["status"] == 408


def test_a_body_that_stops_coming_is_too_slow_and_its_app_hears_that_the_client_has_gone() -> None:
    app = App()
    with calling(app) as client:
        client.sendall(POST + b"ab")
        document = refused(all_said(client))
        assert document["status"] == 408 and "Send it again" in document["message"]
    assert app.heard[-1] == "http.disconnect"


def test_the_second_request_of_a_connection_is_no_more_patiently_waited_for() -> None:
    with calling(App()) as client:
        client.sendall(POST + b"abcd")
        assert client.recv(65536).endswith(b"abcd")
        client.sendall(POST + b"ab")
        assert refused(all_said(client))["status"] == 408


def test_a_connection_on_which_nothing_is_asked_is_closed_without_a_word() -> None:
    with calling(App()) as client:
        assert all_said(client) == b""


def test_an_answer_may_take_longer_than_a_request_even_with_half_the_next_one_behind_it() -> None:
    with calling(App(seconds=0.5)) as client:
        client.sendall(GET + POST + b"ab")
        assert b"200 OK" in client.recv(65536)
        client.sendall(b"cd")
        assert client.recv(65536).endswith(b"abcd")


def test_a_head_may_not_grow_without_end() -> None:
    with calling(App()) as client:
        client.sendall(GET[:-2] + b"X-Long: ")
        for _ in range(LONGEST_HEAD // 65536):
            client.sendall(b"y" * 65536)
        assert refused(all_said(client))["status"] == 431


EACH_LOOP = pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
HUGE = 20_000_000
"""Bytes that no kernel takes off our hands at once."""


def reset(client: socket.socket) -> None:
    """Close without a farewell."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


@EACH_LOOP
def test_an_app_is_told_of_an_answer_that_its_client_did_not_take(loop: str) -> None:
    app = Precious(HUGE)
    with calling(app, loop) as client:
        client.sendall(GET)
        client.recv(10)
        assert app.unsent == []
        client.close()
        assert app.told.acquire(timeout=10)
    assert app.unsent == ["/x"]


def take(client: socket.socket, size: int) -> None:
    """Read an answer with a body of so many bytes."""
    said = client.recv(1_000_000)
    size -= len(said.partition(b"\r\n\r\n")[2])
    while size > 0:
        size -= len(client.recv(1_000_000))


@EACH_LOOP
def test_an_app_is_told_of_nothing_when_its_answer_was_taken(loop: str) -> None:
    app = Precious(HUGE)
    with calling(app, loop) as client:
        for _ in range(2):
            client.sendall(GET)
            take(client, HUGE)
        reset(client)
    assert app.unsent == []


@EACH_LOOP
def test_an_app_is_told_of_nothing_when_its_last_answer_was_taken(loop: str) -> None:
    app = Precious(HUGE)
    with calling(app, loop) as client:
        client.sendall(GET[:-2] + b"Connection: close\r\n\r\n")
        take(client, HUGE)
        assert client.recv(1) == b""
    assert app.unsent == []


@EACH_LOOP
@pytest.mark.parametrize("leave", [socket.socket.close, reset])
def test_an_app_is_told_of_an_answer_to_a_client_that_has_left(leave: Any, loop: str) -> None:
    app = Precious(2, let=False)
    with calling(app, loop) as client:
        client.sendall(GET)
        assert app.asked.acquire(timeout=10)
        leave(client)
        assert app.gone.wait(10)
        app.let.set()
        assert app.told.acquire(timeout=10)
    assert app.unsent == ["/x"]


@EACH_LOOP
def test_a_client_that_leaves_more_than_one_request_behind_is_known_to_have_left(loop: str) -> None:
    app = Precious(2, let=False)
    with calling(app, loop) as client:
        client.sendall(GET * 3)
        assert app.asked.acquire(timeout=10)
        client.close()
        app.let.set()
        assert app.told.acquire(timeout=10)
    # The requests behind it may have been answered to nobody, too, by now.
    assert set(app.unsent) == {"/x"}


@EACH_LOOP
def test_the_request_under_way_hears_of_a_reset_though_others_wait_behind_it(loop: str) -> None:
    app = Precious(2, let=False)
    with calling(app, loop) as client:
        client.sendall(GET + GET)
        assert app.asked.acquire(timeout=10)
        reset(client)
        assert app.gone.wait(10)
        app.let.set()
        assert app.told.acquire(timeout=10)
