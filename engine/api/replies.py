"""The core's replies for coroutines: awaited without a thread, and without a way back, for a caller
who goes away takes nothing with him."""

import asyncio
import threading
from concurrent.futures import Future
from typing import Any, TypeVar

Value = TypeVar("Value")


def heard(reply: "Future[Any]") -> "asyncio.Future[None]":
    """Done as soon as the reply is there, whatever it is."""
    loop = asyncio.get_running_loop()
    here = threading.get_ident()
    waiting: asyncio.Future[None] = loop.create_future()

    def told(_: "Future[Any]") -> None:
        if threading.get_ident() == here:
            _done(waiting)
            return
        try:
            loop.call_soon_threadsafe(_done, waiting)
        except RuntimeError:
            # The loop is closed, and nobody waits any more.
            return

    reply.add_done_callback(told)
    return waiting


async def settled(reply: "Future[Value]") -> Value:
    """The value of a reply, or its error."""
    await heard(reply)
    return reply.result()


def _done(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)
