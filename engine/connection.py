"""One connection of the REST door: uvicorn's, with answers of one packet and an end to its patience.

Left to itself it would wait for ever for a client that never finishes a request, and keep whatever
head it is sent. No request is looked into here.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from engine.api.wire import JSON_TYPE, error_body
from engine.model.errors import EngineError
from engine.model.record import encode

LONGEST_HEAD = 256 * 1024
"""Bytes of a request's first line and headers."""

SLOWEST_BYTES_A_SECOND = 10_000


class TooSlow(EngineError):
    """The request did not come to its end in time; nothing was done. Send it again."""

    code = "too_slow"
    status = 408


class HeadTooLarge(EngineError):
    """The headers are larger than what is read of them. Send large data in the body."""

    code = "head_too_large"
    status = 431


class Gathered:
    """A transport that writes once a round of its loop."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> None:
        """Later in this round, together with what else is written until then."""
        if not self._pieces:
            self._loop.call_soon(self._flush)
        self._pieces.append(piece)

    def close(self) -> None:
        """After what is written."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        pieces, self._pieces = self._pieces, []
        if pieces and not self._transport.is_closing():
            self._transport.write(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Connection(HttpToolsProtocol):
    """Closes on clients that dawdle: so long for a request, and a second more for every ten
    kilobytes that have come."""

    patience_seconds = 30.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(Gathered(transport, self.loop))  # type: ignore[arg-type]
        self._in_head = self._on_its_way = True
        self._came = 0
        self._begun = self.loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._look_after(self.patience_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._look_no_more()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._in_head = self._on_its_way = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._on_its_way = False
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._on_its_way:
            if self._timer is not None:
                self._look_no_more()
            return
        if self.transport.is_closing():
            return
        if self._timer is None:
            self._begin()
        self._came += len(data)
        if self._in_head and self._came > LONGEST_HEAD:
            self._refuse(HeadTooLarge())

    def _begin(self) -> None:
        self._came = 0
        self._begun = self.loop.time()
        self._look_after(self.patience_seconds)

    def _look(self) -> None:
        """Is the request late?"""
        self._timer = None
        if self._earlier_is_answered():
            # Then it is we who are not ready for this one.
            self._begin()
            return
        allowed = self.patience_seconds + self._came / SLOWEST_BYTES_A_SECOND
        left = self._begun + allowed - self.loop.time()
        if left > 0:
            self._look_after(left)
        elif self._came:
            self._refuse(TooSlow())
        else:
            self.transport.close()

    def _earlier_is_answered(self) -> bool:
        """Is the client still owed an answer to a request before the one that is on its way?"""
        cycle = self.cycle
        owed = self._in_head and cycle is not None and not cycle.response_complete
        return owed or bool(self.pipeline)

    def _look_after(self, seconds: float) -> None:
        self._timer = self.loop.call_later(seconds, self._look)

    def _look_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, error: EngineError) -> None:
        self._look_no_more()
        answered = not self._in_head and self.cycle.response_started
        if not answered and not self._earlier_is_answered():
            body = encode(error_body(error))
            head = (
                f"content-type: {JSON_TYPE}\r\ncontent-length: {len(body)}\r\n"
                "connection: close\r\n\r\n"
            )
            self.transport.write(STATUS_LINE[error.status] + head.encode() + body)
        self.transport.close()
