"""How answers leave: what is written in one round of the loop is one packet."""

import asyncio
import socket
from typing import Any

from engine.connection import Gathered


class Wire:
    """A transport that remembers its packets."""

    def __init__(self) -> None:
        self.packets: list[bytes] = []
        self.closed = False
        self.socket: socket.socket | None = None

    def write(self, packet: bytes) -> None:
        self.packets.append(packet)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def get_extra_info(self, name: str) -> Any:
        return self.socket or name


def told(story: Any) -> Wire:
    """The wire after what a story has written on it."""
    wire = Wire()

    async def play() -> None:
        await story(Gathered(wire, asyncio.get_running_loop()))

    asyncio.run(play())
    return wire


def test_head_and_body_of_an_answer_leave_together() -> None:
    async def story(out: Gathered) -> None:
        out.write(b"head;")
        out.write(b"body")
        await asyncio.sleep(0)
        out.write(b"next")
        await asyncio.sleep(0)

    assert told(story).packets == [b"head;body", b"next"]


def test_what_was_written_leaves_before_the_connection_is_closed() -> None:
    async def story(out: Gathered) -> None:
        out.write(b"last words")
        out.close()
        await asyncio.sleep(0)

    wire = told(story)
    assert wire.packets == [b"last words"]
    assert wire.closed


def test_nothing_is_written_on_a_connection_that_has_gone() -> None:
    async def story(out: Gathered) -> None:
        out.write(b"too late")
        out._transport.closed = True
        await asyncio.sleep(0)

    assert told(story).packets == []


def test_all_else_is_the_transports_own() -> None:
    async def story(out: Gathered) -> None:
        assert out.get_extra_info("peername") == "peername"

    told(story)


def test_nothing_that_matters_is_written_to_a_client_that_left_unnoticed() -> None:
    unsent = []

    async def story(out: Gathered) -> None:
        ours, theirs = socket.socketpair()
        with ours:
            out._transport.socket = ours
            out.mind(lambda: unsent.append("task"))
            out.write(b"task")
            theirs.close()
            await asyncio.sleep(0)

    wire = told(story)
    assert (wire.packets, wire.closed, unsent) == ([], True, ["task"])


def test_what_is_minded_too_late_is_told_of_at_once() -> None:
    unsent = []

    async def story(out: Gathered) -> None:
        out.close()
        out.mind(lambda: unsent.append("task"))

    told(story)
    assert unsent == ["task"]
