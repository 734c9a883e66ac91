"""Waiting for an execution without holding a thread."""

import asyncio
from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool

from engine.services.signals import Signals, Stand

LOOK_AGAIN_SECONDS = 1.0
"""A look is taken this often even when nobody says that something has moved."""


async def stand_still(
    signals: Signals,
    workflow_id: str,
    refs: Sequence[str],
    seconds: float,
    gone: asyncio.Event,
) -> tuple[Stand, bool]:
    """How an execution stands once it is over, at a WAIT without an end, or past one of the named
    tasks; and whether the time was over before, or the client gone."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    moved = asyncio.Event()

    def wake() -> None:
        loop.call_soon_threadsafe(moved.set)

    watched = frozenset([workflow_id])
    signals.watch(watched, wake)
    leaving = asyncio.ensure_future(_passed_on(gone, moved))
    try:
        while True:
            moved.clear()
            stand = await run_in_threadpool(signals.look, workflow_id)
            if stand.waits_for_nothing_but_a_signal() or stand.has_ended(refs):
                return stand, False
            if not stand.involved <= watched:
                # A child has appeared: it may have moved before it was watched.
                watched |= stand.involved
                signals.watch(watched, wake)
                continue
            left = until - loop.time()
            if left <= 0 or gone.is_set():
                return stand, True
            await _wait(moved, min(left, LOOK_AGAIN_SECONDS))
    finally:
        leaving.cancel()
        signals.unwatch(wake)


async def _passed_on(gone: asyncio.Event, moved: asyncio.Event) -> None:
    await gone.wait()
    moved.set()


async def _wait(moved: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(moved.wait(), seconds)
    except TimeoutError:
        return
