"""The pool: all workers of this process, and the keeper of what they have in hand.

The keeper extends leases while work lasts, tells work whose task has ended, and at the end sees
to it that nothing is left behind in nobody's hands.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from engine.instruments.telemetry import Telemetry
from engine.model.events import ExtendLease
from engine.model.status import TaskStatus
from engine.services.tasks import Tasks
from engine.workers.crafts import EventLoop, craft_of
from engine.workers.functions import Worker, worker_of
from engine.workers.lane import Craft, Job, Lane, LaneSettings
from engine.workers.reporting import Reporting

LOCAL = "in-process@"
"""How the ids of workers begin whose work ends with this process."""
SOON_SECONDS = 0.05
IDLE_SECONDS = 30.0

Place = tuple[str, str | None]


class WorkerPool:
    """Add workers at any time; they work from `start` on."""

    def __init__(
        self, tasks: Tasks, reporting: Reporting, telemetry: Telemetry, threads: int
    ) -> None:
        self._tasks = tasks
        self._reporting = reporting
        self._threads = threads
        self._lanes: dict[Place, Lane] = {}
        self._in_hand: dict[tuple[int, int], tuple[Job, Lane]] = {}
        self._loop = EventLoop()
        self._lock = threading.Lock()
        self._empty = threading.Condition(self._lock)
        self._wake = threading.Event()
        self._hurry = False
        self._look_at = 0.0
        """When the keeper looks next, in seconds of the monotonic clock."""
        self._over = False
        self._working = self._stopping = False
        self._keeper = threading.Thread(target=self._keep, name="reprise-keeper", daemon=True)
        self.worker_id = f"{LOCAL}{os.uname().nodename}/{os.getpid()}"
        telemetry.listen(self._heard, "task.moved")

    # Workers

    def add(self, function: Callable[..., Any] | Worker) -> Worker:
        """A function declared with `worker`, or a Worker; in place of the one for that task."""
        worker = worker_of(function)
        most = worker.poll_count
        settings = LaneSettings(
            worker.task_name,
            worker.domain,
            self.worker_id,
            self._threads if most is None else min(most, self._threads),
            most,
            patient=worker.is_async,
        )
        self.open(settings, craft_of(worker, self._loop))
        return worker

    def add_all(self, workers: Iterable[Callable[..., Any] | Worker]) -> None:
        """Several at once."""
        for item in workers:
            self.add(item)

    def open(self, settings: LaneSettings, craft: Craft) -> None:
        """A lane with its own way of carrying out."""
        lane = Lane(settings, craft, self._tasks, self._reporting, self)
        place = (settings.task_name, settings.domain)
        with self._lock:
            before = self._lanes.get(place)
            self._lanes[place] = lane
            working = self._working and not self._stopping
        if before is not None:
            before.close()
        if working:
            lane.ask()

    def remove(self, task_name: str, domain: str | None = None) -> bool:
        """Take no more of a task; what runs goes on to its end. Was there such a worker?"""
        with self._lock:
            lane = self._lanes.pop((task_name, domain), None)
        if lane is None:
            return False
        lane.close()
        return True

    def names(self) -> list[Place]:
        """The tasks that are carried out here, each with its domain."""
        with self._lock:
            return list(self._lanes)

    # Start and stop

    def start(self) -> None:
        """Begin to ask for work."""
        with self._lock:
            self._working = True
            lanes = list(self._lanes.values())
        self._keeper.start()
        for lane in lanes:
            lane.ask()

    def stop(self, grace_seconds: float) -> None:
        """Ask for nothing more, wait for what runs, give back what has not ended in time."""
        with self._lock:
            self._stopping = True
            lanes = list(self._lanes.values())
        for lane in lanes:
            lane.close()
        if self._working:
            if not self._all_dropped(grace_seconds):
                for job, lane in self._held():
                    lane.let_go(job)
                self._all_dropped(min(5.0, grace_seconds))
            self._over = True
            self._wake.set()
            self._keeper.join()
        for lane in lanes:
            lane.dismiss()
        self._loop.close(5.0)

    def _all_dropped(self, seconds: float) -> bool:
        with self._lock:
            return self._empty.wait_for(lambda: not self._in_hand, seconds)

    # Keeping

    def took(self, job: Job, lane: Lane) -> None:
        """A job is in hand."""
        with self._lock:
            self._in_hand[job.place] = (job, lane)
        if job.lease_at < self._look_at:
            self._wake.set()

    def dropped(self, job: Job) -> None:
        """It no longer is."""
        with self._lock:
            held = self._in_hand.get(job.place)
            if held is not None and held[0] is job:
                del self._in_hand[job.place]
                if not self._in_hand and self._stopping:
                    self._empty.notify_all()

    def look_soon(self) -> None:
        """A lane has more to do than threads at it."""
        if not self._hurry:
            self._hurry = True
            self._wake.set()

    def _held(self) -> list[tuple[Job, Lane]]:
        with self._lock:
            return list(self._in_hand.values())

    def _keep(self) -> None:
        """One thread looks after all jobs; it sleeps until a lease nears its end."""
        while not self._over:
            pause = SOON_SECONDS if self._hurry else self._pause()
            self._look_at = time.monotonic() + pause
            self._wake.wait(pause)
            self._wake.clear()
            with self._lock:
                lanes = list(self._lanes.values())
            if self._hurry:
                self._wake.wait(SOON_SECONDS)
                self._hurry = False
                for lane in lanes:
                    if lane.hurry():
                        self._hurry = True
            self._extend(time.monotonic())
            for lane in lanes:
                lane.ask()

    def _pause(self) -> float:
        now = time.monotonic()
        soonest = min((job.lease_at for job, _ in self._held()), default=now + IDLE_SECONDS)
        return max(0.01, min(soonest - now, IDLE_SECONDS))

    def _extend(self, now: float) -> None:
        for job, _ in self._held():
            if job.lease_at <= now and not job.finished:
                job.lease_at = now + job.lease_seconds / 3
                key, seq = job.place
                self._reporting.send(key, ExtendLease(seq=seq), _nothing)

    def _heard(self, what: str, facts: dict[str, Any]) -> None:
        """The core has moved a task. One that has ended, or gone to another, needs no work."""
        execution, seq = facts["execution"], facts["run"].seq
        held = self._in_hand.get((execution.key, seq))
        if held is None or held[0].finished:
            return
        # As it is now: what is told may be a step before the claim, of the same commit.
        run = execution.runs.get(seq)
        if run is None or run.status is not TaskStatus.IN_PROGRESS or run.worker != self.worker_id:
            job, lane = held
            lane.cancel(job)


def _nothing() -> None:
    """Nobody waits for it."""
