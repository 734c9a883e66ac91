"""What the official workers are good for when something dies: a worker in the middle of a task, or
the server under all of them. Work goes on within seconds, and every step is completed once."""

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.clients.installed import Shelf
from tests.clients.official import Command, node
from tests.clients.processes import Engine, Process, serving

RESPONSE_TIMEOUT_SECONDS = 3
STEP_SECONDS = 0.5
STEPS = ("one", "two", "three", "four")
EXECUTIONS = 8
PATIENCE_SECONDS = 60
GOES_ON_WITHIN_SECONDS = 30
"""The SDKs ask again after 2, 4, 8 … seconds, and a task in flight has its timeout to wait for."""
ATTEMPTS = 3

Json = Any
Kill = Callable[[int], None]


@dataclass(frozen=True)
class Crew:
    """Official workers of one language."""

    name: str
    command: Callable[[Shelf, Path], Command]
    restarts_itself: bool


def python(shelf: Shelf, folder: Path) -> Command:
    """The Python SDK that the tests are installed with."""
    return [sys.executable, "-m", "tests.clients.python.crew", folder]


def javascript(shelf: Shelf, folder: Path) -> Command:
    """The JavaScript SDK, whose workers share one process."""
    return [*node(shelf, folder, "crew.mjs"), folder]


CREWS = [
    pytest.param(Crew("python", python, restarts_itself=True), id="python"),
    pytest.param(Crew("javascript", javascript, restarts_itself=False), id="javascript"),
]


class Site:
    """An engine, crews that work for it, and the eyes on both."""

    def __init__(self, engine: Engine, command: Command, folder: Path) -> None:
        self.engine = engine
        self._command = [*command, engine.url]
        self._trace = folder / "trace"
        self._pause = threading.Event()
        self.crews = [Process(self._command)]
        chain = [task(ref, "async_step" if ref == "three" else "step") for ref in STEPS]
        self.ask("POST", "metadata/taskdefs", [definition("step"), definition("async_step")])
        self.ask("PUT", "metadata/workflow", [{"name": "chain", "version": 1, "tasks": chain}])

    def ask(self, method: str, path: str, body: Json = None) -> httpx.Response:
        """One request that succeeds."""
        answer = httpx.request(method, f"{self.engine.url}/{path}", json=body, timeout=30)
        assert answer.status_code < 300, answer.text
        return answer

    def start(self, number: int) -> list[str]:
        """So many executions."""
        return [self.ask("POST", "workflow", {"name": "chain"}).text for _ in range(number)]

    def another_crew(self) -> None:
        """One more of the same, as whoever runs them would start it."""
        self.crews.append(Process(self._command))

    def trace(self) -> list[list[str]]:
        """What the workers have noted: word, task, process."""
        if not self._trace.exists():
            return []
        return [line.split() for line in self._trace.read_text().splitlines()]

    def until(self, what: str, look: Callable[[], Json]) -> Json:
        """Look again until there is something."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            found = look()
            if found:
                return found
            self._pause.wait(0.05)
        said = "".join(crew.output[-3000:] for crew in self.crews)
        raise AssertionError(f"not within {PATIENCE_SECONDS} s: {what}\n{self.trace()}\n{said}")

    def in_hand(self, done_before: int) -> list[str]:
        """A task that has been taken up and is not done, once so many are done."""

        def look() -> Json:
            notes = self.trace()
            done = {one for word, one, _ in notes if word == "done"}
            open_ones = [note for note in notes if note[0] == "begun" and note[1] not in done]
            return open_ones[-1] if len(done) >= done_before and open_ones else None

        note: list[str] = self.until("a task is in hand", look)
        return note

    def executions(self, ids: list[str]) -> list[Json]:
        """The executions as they are now."""
        return [self.ask("GET", f"workflow/{one}").json() for one in ids]

    def completed(self, ids: list[str]) -> list[Json]:
        """The executions, once all have ended."""

        def look() -> Json:
            found = self.executions(ids)
            return found if all(one["status"] != "RUNNING" for one in found) else None

        executions: list[Json] = self.until("all executions have ended", look)
        assert [one["status"] for one in executions] == ["COMPLETED"] * len(ids)
        return executions


def task(ref: str, kind: str) -> Json:
    """A step of the chain."""
    return {
        "name": kind,
        "taskReferenceName": ref,
        "type": "SIMPLE",
        "inputParameters": {"seconds": STEP_SECONDS},
    }


def definition(name: str) -> Json:
    """Tried again at once when its worker has not been heard of."""
    return {
        "name": name,
        "retryCount": ATTEMPTS,
        "retryDelaySeconds": 0,
        "responseTimeoutSeconds": RESPONSE_TIMEOUT_SECONDS,
    }


@contextmanager
def working(crew: Crew, shelf: Shelf, folder: Path) -> Iterator[Site]:
    """An engine with this crew."""
    shared = folder / "shared"
    shared.mkdir()
    command = crew.command(shelf, shared)
    with serving(folder) as engine:
        site = Site(engine, command, shared)
        try:
            yield site
        finally:
            for each in site.crews:
                each.end()


def accounted(executions: list[Json], notes: list[list[str]]) -> list[Json]:
    """Every step is completed once in the record, by an attempt whose effect is there once; nothing
    ran that is not recorded, and nothing ran again that was completed. What is left over are the
    attempts that were lost: they have timed out, and another followed."""
    attempts = [attempt for execution in executions for attempt in execution["tasks"]]
    begun = Counter(one for word, one, _ in notes if word == "begun")
    done = Counter(one for word, one, _ in notes if word == "done")
    assert set(begun) <= {attempt["taskId"] for attempt in attempts}
    assert set(begun.values()) == {1} and set(done.values()) == {1}
    for execution in executions:
        for ref in STEPS:
            tries = [one for one in execution["tasks"] if one["referenceTaskName"] == ref]
            *lost, last = [one["status"] for one in tries]
            assert last == "COMPLETED" and set(lost) <= {"TIMED_OUT"}
            assert done[tries[-1]["taskId"]] == 1
    return [attempt for attempt in attempts if attempt["status"] == "TIMED_OUT"]


def completed_attempts(executions: list[Json]) -> set[str]:
    """The ids of what is completed."""
    attempts = [attempt for execution in executions for attempt in execution["tasks"]]
    return {attempt["taskId"] for attempt in attempts if attempt["status"] == "COMPLETED"}


def unfinished(notes: list[list[str]], pid: str) -> set[str]:
    """What a process has taken up and not done."""
    mine = {(word, one) for word, one, by in notes if by == pid}
    return {one for word, one in mine if word == "begun" and ("done", one) not in mine}


@pytest.mark.parametrize("crew", CREWS)
def test_a_task_whose_worker_was_killed_is_done_by_another(
    crew: Crew, shelf: Shelf, tmp_path: Path
) -> None:
    with working(crew, shelf, tmp_path) as site:
        ids = site.start(EXECUTIONS)
        _, _, pid = site.in_hand(done_before=4)
        os.kill(int(pid), signal.SIGKILL)
        killed = time.monotonic()
        interrupted = unfinished(site.trace(), pid)
        if not crew.restarts_itself:
            site.another_crew()
        executions = site.completed(ids)
        assert time.monotonic() - killed < GOES_ON_WITHIN_SECONDS
        lost = {attempt["taskId"] for attempt in accounted(executions, site.trace())}
        assert interrupted and interrupted <= lost
        assert pid not in {note[2] for note in site.trace()[-EXECUTIONS:]}


@pytest.mark.parametrize("crew", CREWS)
def test_a_server_that_was_killed_goes_on_with_the_workers_that_waited_for_it(
    crew: Crew, shelf: Shelf, tmp_path: Path
) -> None:
    with working(crew, shelf, tmp_path) as site:
        ids = site.start(EXECUTIONS)
        site.in_hand(done_before=6)
        before = completed_attempts(site.executions(ids))
        site.engine.kill()
        site.engine.start()
        returned = time.monotonic()
        executions = site.completed(ids)
        assert time.monotonic() - returned < GOES_ON_WITHIN_SECONDS
        accounted(executions, site.trace())
        assert before and before <= completed_attempts(executions)
