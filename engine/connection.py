"""One connection of the REST door: uvicorn's, with answers of one packet, an end to its patience,
and word of answers that never went out.

Left to itself it would wait for ever for a client that never finishes a request, and keep whatever
head it is sent. No request is looked into here.
"""

import asyncio
import select
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from engine.api.answers import error_body
from engine.api.wire import JSON_TYPE, UNSENT
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
    """A transport that writes once a round of its loop, and tells of what it could not write."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._pieces: list[bytes] = []
        self._minded: list[Callable[[], None]] = []
        """Whom to tell if what they have not written yet, or what waits here, does not go out."""
        self._on_its_way: list[Callable[[], None]] = []
        """The same for what the transport has, and the network perhaps not yet."""

    def write(self, piece: bytes) -> None:
        """Later in this round, together with what else is written until then."""
        if not self._pieces:
            self._loop.call_soon(self._flush)
        self._pieces.append(piece)

    def mind(self, unsent: Callable[[], None]) -> None:
        """What is written next matters: `unsent` is called if it is known not to have gone out."""
        if self._transport.is_closing():
            unsent()
        else:
            self._minded.append(unsent)

    def close(self) -> None:
        """After what is written."""
        self._flush()
        self._transport.close()

    def sent(self) -> None:
        """The transport may have passed on all that it had."""
        if not self._on_its_way:
            return
        if self._transport.get_write_buffer_size():
            # From now on it says so when it has nothing left, and not a little earlier.
            self._transport.set_write_buffer_limits(high=0)
        else:
            self._on_its_way.clear()
            self._transport.set_write_buffer_limits()

    def lost(self, error: Exception | None) -> None:
        """The connection is no more."""
        if error is None and not self._transport.get_write_buffer_size():
            self._on_its_way.clear()
        _tell(self._on_its_way)
        _tell(self._minded)

    def _flush(self) -> None:
        pieces, self._pieces = self._pieces, []
        if not pieces:
            return
        if self._minded and (self._transport.is_closing() or self._has_left()):
            _tell(self._minded)
            self._transport.close()
        if self._transport.is_closing():
            return
        self._transport.write(pieces[0] if len(pieces) == 1 else b"".join(pieces))
        if self._minded:
            self._on_its_way += self._minded
            self._minded.clear()
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        if not self._transport.is_closing():
            self.sent()

    def _has_left(self) -> bool:
        """Has the client closed its side, though the loop has not come to hear of it yet?"""
        if not _LEFT:
            return False
        looking = select.poll()
        looking.register(self._transport.get_extra_info("socket").fileno(), _LEFT)
        return bool(looking.poll(0))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


_LEFT: int = getattr(select, "POLLRDHUP", 0)
"""Not every system can tell."""


def _tell(those: list[Callable[[], None]]) -> None:
    told = those.copy()
    those.clear()
    for unsent in told:
        unsent()


class Connection(HttpToolsProtocol):
    """Closes on clients that dawdle: so long for a request, and a second more for every ten
    kilobytes that have come."""

    patience_seconds = 30.0

    def connection_made(self, transport: Any) -> None:
        self._out = Gathered(transport, self.loop)
        self._extensions: dict[str, dict[object, object]] = {UNSENT: {"mind": self._out.mind}}
        super().connection_made(self._out)  # type: ignore[arg-type]
        self._in_head = self._on_its_way = True
        self._came = 0
        self._begun = self.loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._under_way: Any = None
        self._look_after(self.patience_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._look_no_more()
        self._out.lost(exc)
        super().connection_lost(exc)
        self._tell_of_loss()

    def _tell_of_loss(self) -> None:
        """uvicorn tells the request that came last, which may stand behind the one under way."""
        under_way = self._under_way
        if under_way is not None and not under_way.response_complete:
            under_way.disconnected = True
            under_way.message_event.set()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._out.sent()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._under_way = cycle
        super()._start_asgi_task(cycle, app)

    def on_message_begin(self) -> None:
        self._in_head = self._on_its_way = True
        super().on_message_begin()
        self.scope["extensions"] = self._extensions

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
