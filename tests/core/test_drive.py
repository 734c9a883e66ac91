"""Who takes the core's turns: a thread of its own, or the event loop of a door."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from engine.core.drive import CoreLoop, CoreThread, Drive
from engine.core.inbox import Asked, Inbox
from engine.core.turn import Core
from engine.model.errors import NotTaken
from engine.model.events import Pause
from engine.services.port import ThreadPort
from engine.store.contract import Group
from engine.store.memory import MemoryStore
from tests.builders import Bench, a_definition, a_task

PATIENCE = 10


class CountingStore(MemoryStore):
    """Remembers how many events each commit held."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[int] = []

    def commit(self, group: Group) -> None:
        self.commits.append(len(group.written))
        super().commit(group)


class Running:
    """A core that is driven, with a loop in a thread of its own beside it."""

    def __init__(self, on_loop: bool) -> None:
        self.store = CountingStore()
        self.bench = Bench(a_definition(a_task("one")), store=self.store)
        self.inbox = Inbox()
        self.failed = threading.Event()
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        core: Core = self.bench.core
        self.drive: Drive = (
            CoreLoop(core, self.inbox, self.failed.set, self.loop)
            if on_loop
            else CoreThread(core, self.inbox, self.failed.set)
        )

    def __enter__(self) -> "Running":
        self.started = [self.bench.start() for _ in range(5)]
        self.store.commits.clear()
        self.drive.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.drive.stop()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def pause(self, workflow_id: str) -> "Future[Any]":
        """Ask for a pause."""
        reply: Future[Any] = Future()
        self.inbox.put(Asked(Pause(), workflow_id=workflow_id, reply=reply))
        return reply

    def on_loop(self, work: Callable[[], Any]) -> Any:
        """Do something between the loop's callbacks."""

        async def done() -> Any:
            return work()

        return asyncio.run_coroutine_threadsafe(done(), self.loop).result(PATIENCE)


@pytest.mark.parametrize("on_loop", [True, False])
def test_what_is_asked_is_answered_after_its_commit(on_loop: bool) -> None:
    with Running(on_loop) as running:
        running.pause(running.started[0]).result(PATIENCE)
        assert running.store.commits == [1]


def test_what_comes_in_during_one_round_of_the_loop_is_one_group() -> None:
    with Running(on_loop=True) as running:
        asked = running.on_loop(lambda: [running.pause(one) for one in running.started])
        for reply in asked:
            reply.result(PATIENCE)
        assert running.store.commits == [5]


def test_what_comes_in_while_the_loop_goes_round_joins_the_group() -> None:
    with Running(on_loop=True) as running:
        replies: list[Future[Any]] = []

        def ask(left: int) -> None:
            replies.append(running.pause(running.started[left]))
            if left:
                running.loop.call_soon(ask, left - 1)

        running.on_loop(lambda: ask(3))
        running.on_loop(lambda: None)
        while len(replies) < 4:
            running.on_loop(lambda: None)
        for reply in replies:
            reply.result(PATIENCE)
        assert running.store.commits == [4]


@pytest.mark.parametrize("on_loop", [True, False])
def test_a_stopped_drive_refuses_what_comes(on_loop: bool) -> None:
    with Running(on_loop) as running:
        running.drive.stop()
        with pytest.raises(NotTaken):
            running.pause(running.started[0]).result(PATIENCE)


@pytest.mark.parametrize("on_loop", [True, False])
def test_a_drive_whose_core_breaks_says_so_and_refuses_what_it_had(on_loop: bool) -> None:
    with Running(on_loop) as running:

        def broken(items: object) -> None:
            raise LookupError("a fault of ours")

        running.bench.core.turn = broken  # type: ignore[method-assign]
        with pytest.raises(NotTaken):
            running.pause(running.started[0]).result(PATIENCE)
        assert running.failed.wait(PATIENCE)
        assert isinstance(running.drive.failure, LookupError)


def test_a_drive_on_a_loop_that_has_ended_stops_all_the_same() -> None:
    running = Running(on_loop=True)
    with running:
        running.loop.call_soon_threadsafe(running.loop.stop)
        running._thread.join()
        running.drive.stop()
        with pytest.raises(NotTaken):
            running.pause(running.started[0]).result(PATIENCE)
        running._thread = threading.Thread(target=running.loop.run_forever)
        running._thread.start()


def test_the_thread_that_takes_the_turns_cannot_wait_for_one() -> None:
    with Running(on_loop=True) as running:
        port = ThreadPort(running.bench.core, running.inbox)

        def wait() -> str:
            reply = port.send(Asked(Pause(), workflow_id=running.started[0]))
            try:
                port.wait(reply)
            except RuntimeError as error:
                return str(error)
            return "it waited"

        assert "waits for one of them" in running.on_loop(wait)
