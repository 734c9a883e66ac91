"""What the REST door costs beside a bare Starlette app: `python -m tests.bench.door [--quick]`.

Requests a second and their ratio to the same bytes without work, the time from a start's answer to
the worker that holds the task, the processor time of idle workers, and memory under a crowd.
"""

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import psutil

from tests.bench.bare import NOBODY
from tests.bench.lines import Line, all_asked, connect, connected, get, send

STEPS = 3
WORK = {
    "name": "steps",
    "schemaVersion": 2,
    "tasks": [
        {
            "name": "step",
            "taskReferenceName": f"s{number}",
            "type": "SIMPLE",
            "inputParameters": {"order": "${workflow.input.order}"},
        }
        for number in range(STEPS)
    ],
}
SOON = {
    "name": "soon",
    "schemaVersion": 2,
    "tasks": [{"name": "soon", "taskReferenceName": "soon", "type": "SIMPLE"}],
}
ORDER = {"id": 4711, "lines": [{"item": f"item {n}", "price": 9.95} for n in range(4)]}


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    requests: int = 3000
    connections: int = 16
    starts: int = 300
    idle_seconds: float = 10
    crowd: int = 200
    crowd_seconds: float = 30


QUICK = Scale(requests=150, starts=30, idle_seconds=1, crowd=40, crowd_seconds=3)


@contextmanager
def running(*command: str) -> Iterator[tuple[int, psutil.Process]]:
    """A server process: its port, and the process."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline().decode().strip()
        if "listening on" not in said:
            raise RuntimeError(said + process.stderr.read().decode())
        yield int(said.rpartition(":")[2]), psutil.Process(process.pid)
    finally:
        process.terminate()
        process.communicate(timeout=60)


def poll(kind: str, timeout_ms: int) -> bytes:
    """A poll for one task."""
    return get(f"/api/tasks/poll/batch/{kind}?workerid=bench&count=1&timeout={timeout_ms}")


def report(given: bytes) -> bytes:
    """What a worker sends about a task that a poll gave."""
    [task] = json.loads(given)
    return send(
        "/api/tasks",
        {
            "workflowInstanceId": task["workflowInstanceId"],
            "taskId": task["taskId"],
            "workerId": "bench",
            "status": "COMPLETED",
            "outputData": {"order": task["inputData"]["order"]},
        },
    )


START = send("/api/workflow", {"name": "steps", "input": {"order": ORDER}})


async def rates(port: int, scale: Scale, folder: Path) -> None:
    """Requests a second, ours and bare in turns, so that a busy machine slows both."""
    async with connected(port, scale.connections) as ours:
        # A task to show the bare one, which is also the first that is warm.
        await ours[0].ask(START)
        given = await ours[0].ask(poll("step", 1000))
        (folder / "task.json").write_bytes(given)
        with running("tests.bench.bare", str(folder / "task.json")) as (bare_port, _):
            async with connected(bare_port, scale.connections) as bare:
                await _rates(ours, bare, given, scale.requests)


async def _rates(ours: list[Line], bare: list[Line], given: bytes, number: int) -> None:
    seen: dict[str, list[tuple[float, float]]] = {}

    async def row(name: str, requests: list[bytes], like: bytes) -> list[bytes]:
        answers, rate = await all_asked(ours, requests)
        _, possible = await all_asked(bare, repeat(like, len(requests)))
        seen.setdefault(name, []).append((rate, possible))
        return answers

    await all_asked(bare, repeat(poll("step", 0), 200))
    await row("start", [START] * number, START)
    for _ in range(STEPS):
        await row("empty poll", [poll(NOBODY, 0)] * number, poll(NOBODY, 0))
        tasks = await row("poll with a task", [poll("step", 0)] * number, poll("step", 0))
        if b"[]" in tasks:
            raise RuntimeError("A poll found no task where there had to be one.")
        await row("report", [report(task) for task in tasks], report(given))
    print(f"{'requests a second':<20}{'ours':>8}{'bare':>8}{'ratio':>8}")
    for name, pairs in seen.items():
        rate, possible = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(ours / bare for ours, bare in pairs)
        print(f"{name:<20}{rate:>8.0f}{possible:>8.0f}{ratio:>8.2f}")


async def latencies(port: int, workers: int, starts: int) -> list[float]:
    """Milliseconds from a start's answer until a worker holds the task, one start at a time. Below
    zero the worker was told first: both are told by the same commit."""
    loop = asyncio.get_running_loop()
    held: asyncio.Queue[tuple[str, float]] = asyncio.Queue()
    found = []

    async def work(line: Line) -> None:
        while True:
            given = await line.ask(poll("soon", 5000))
            now = loop.time()
            for task in json.loads(given):
                held.put_nowait((task["workflowInstanceId"], now))

    async with connected(port, workers + 1) as [starter, *lines]:
        waiting = [asyncio.create_task(work(line)) for line in lines]
        for _ in range(starts):
            # Whoever held the last one is back at the door.
            await asyncio.sleep(0.01)
            name = (await starter.ask(send("/api/workflow", {"name": "soon"}))).decode()
            answered = loop.time()
            whose, since = await asyncio.wait_for(held.get(), 10)
            if whose != name:
                raise RuntimeError(f"A worker holds a task of {whose}, not of {name}.")
            found.append((since - answered) * 1000)
        await cancelled(waiting)
    return found


async def cancelled(waiting: list["asyncio.Task[None]"]) -> None:
    """End what has no end of its own."""
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def as_the_sdk(line: Line, kind: str) -> None:
    """Polls as Conductor's workers do: a tenth of a second at the door, then longer and longer
    away, up to a tenth of a second."""
    pause = 0.001
    while True:
        await line.ask(poll(kind, 100))
        pause = min(pause * 2, 0.1)
        await asyncio.sleep(pause)


async def patiently(line: Line, kind: str) -> None:
    """Polls that wait as long as is allowed."""
    while True:
        await line.ask(poll(kind, 5000))


def processor_seconds(process: psutil.Process) -> float:
    """What the server and its evaluators have used."""
    used = 0.0
    for one in (process, *process.children(recursive=True)):
        times = one.cpu_times()
        used += times.user + times.system
    return used


async def idle(port: int, process: psutil.Process, seconds: float, habit: Any) -> float:
    """Percent of a core that 50 workers without work cost; none with no habit."""
    async with connected(port, 50 if habit else 0) as lines:
        polling = [asyncio.create_task(habit(line, f"idle{n}")) for n, line in enumerate(lines)]
        await asyncio.sleep(min(1.0, seconds))
        before, begun = processor_seconds(process), asyncio.get_running_loop().time()
        await asyncio.sleep(seconds)
        passed = asyncio.get_running_loop().time() - begun
        used = processor_seconds(process) - before
        await cancelled(polling)
    return 100 * used / passed


def megabytes(process: psutil.Process) -> float:
    """What the server holds in memory."""
    held: int = process.memory_info().rss
    return held / 2**20


async def come_and_go(port: int, seed: int) -> None:
    """Polls of all lengths on new connections; some are dropped in the middle."""
    chance = random.Random(seed)
    while True:
        line = await connect(port)
        for _ in range(chance.randint(1, 5)):
            with suppress(TimeoutError):
                asked = line.ask(poll(f"crowd{seed % 20}", chance.randint(0, 1500)))
                await asyncio.wait_for(asked, chance.choice([0.05, 0.4, 5]))
                continue
            break
        line.close()


async def crowd(port: int, process: psutil.Process, scale: Scale) -> list[tuple[float, int]]:
    """Megabytes and threads of the server, four times a second, under pollers that come and go."""
    polling = [asyncio.create_task(come_and_go(port, seed)) for seed in range(scale.crowd)]
    # What 200 connections need once is no growth.
    await asyncio.sleep(scale.crowd_seconds / 6)
    seen = []
    for _ in range(int(scale.crowd_seconds * 4)):
        await asyncio.sleep(0.25)
        seen.append((megabytes(process), process.num_threads()))
    failed = [task.exception() for task in polling if task.done()]
    await cancelled(polling)
    if failed:
        raise RuntimeError(f"{len(failed)} pollers failed, the first with {failed[0]!r}")
    return seen


async def measured(port: int, process: psutil.Process, scale: Scale, folder: Path) -> bool:
    """Print all of it; whether memory and threads have stayed."""
    async with connected(port, 1) as [line]:
        await line.ask(send("/api/metadata/workflow", [WORK, SOON], "PUT"))
    at_rest = megabytes(process)
    await rates(port, scale, folder)
    print(f"\n{'from start to run':<20}{'p50 ms':>8}{'p99 ms':>8}")
    for workers in (1, 50):
        found = sorted(await latencies(port, workers, scale.starts))
        late = found[min(len(found) - 1, len(found) * 99 // 100)]
        print(f"{f'{workers} polling':<20}{statistics.median(found):>8.2f}{late:>8.2f}")
    print(f"\n{'50 idle workers':<20}{'% of a core':>12}")
    for name, habit in (("none", None), ("as the SDK", as_the_sdk), ("long polls", patiently)):
        print(f"{name:<20}{await idle(port, process, scale.idle_seconds, habit):>12.1f}")
    print(f"\n{'a crowd of pollers':<20}{'MB':>8}{'threads':>8}")
    print(f"{'before all':<20}{at_rest:>8.1f}")
    print(f"{'before the crowd':<20}{megabytes(process):>8.1f}{process.num_threads():>8}")
    return stayed(await crowd(port, process, scale))


def stayed(seen: list[tuple[float, int]]) -> bool:
    """Print what a crowd has cost; whether its last third needed no more than its first."""
    third = len(seen) // 3
    first, last = seen[:third], seen[-third:]
    sizes = [statistics.mean(size for size, _ in part) for part in (first, last)]
    threads = [max(number for _, number in part) for part in (first, last)]
    for name, size, number in zip(("first third", "last third"), sizes, threads, strict=True):
        print(f"{name:<20}{size:>8.1f}{number:>8}")
    return sizes[1] <= sizes[0] * 1.02 and threads[1] <= threads[0]


def main() -> int:
    """Measure against a server of its own."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true", help="see that it works; no figures to keep")
    scale = QUICK if asked.parse_args().quick else Scale()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = f"sqlite:///{folder / 'door.db'}"
        with running("engine", "serve", "--port", "0", "--database", database) as (port, process):
            kept = asyncio.run(measured(port, process, scale, folder))
    print("memory and threads have stayed" if kept else "memory or threads have GROWN")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
