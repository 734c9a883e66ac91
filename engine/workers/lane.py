"""A lane: the work of one task name and domain, from asking for it to reporting it.

It asks the queue that remote workers poll, so it has no right of way. How much it has in hand
follows from how long its work takes: quick work is taken in handfuls, slow work as there are
threads.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Protocol

from engine.core.inbox import Handed
from engine.model.events import Event, Result
from engine.model.record import Json
from engine.model.status import TaskStatus
from engine.services.tasks import Poll, Tasks
from engine.workers.functions import Outcome, TaskContext, failure_of
from engine.workers.reporting import Reporting

ASK_MS = 5000
HANDFUL = 512
"""Tasks that a lane of quick work has in hand at most."""
HANDFUL_SECONDS = 0.25
"""A handful is done in this time, by what is known of the work."""
QUICK_SECONDS = 0.002
"""Work that takes less than this on average is quick."""
WEIGHT = 0.2
"""How much the latest duration counts in the average."""

_OURS = True


@dataclass(slots=True, eq=False)
class Job:
    """A claimed task, until its report is stored."""

    handed: Handed
    context: TaskContext
    lease_at: float
    """When its lease is to be extended, in seconds of the monotonic clock."""
    lease_seconds: float
    finished: bool = False
    """Carried out, or given back: nobody else may report on it."""

    @property
    def place(self) -> tuple[int, int]:
        """Execution and seq."""
        return self.handed.execution.key, self.handed.run.seq


class Craft(Protocol):
    """Who carries out the tasks of a lane."""

    def carry_out(self, job: Job, given: dict[str, Json], done: Callable[[Outcome], None]) -> None:
        """Do the work and tell the outcome, now or later. Called in a thread of the lane."""
        ...

    def cancel(self, job: Job) -> None:
        """The work is no longer wanted."""
        ...

    def close(self) -> None:
        """The lane is closed."""
        ...


class Keeper(Protocol):
    """Who knows of all jobs in hand, and looks after them while they last."""

    def took(self, job: Job, lane: "Lane") -> None:
        """The job is in hand."""
        ...

    def dropped(self, job: Job) -> None:
        """It no longer is."""
        ...

    def look_soon(self) -> None:
        """A lane has more to do than threads at it; they may be held up."""
        ...


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """What distinguishes one lane from another."""

    task_name: str
    domain: str | None
    worker_id: str
    threads: int
    most: int | None = None
    """Tasks in hand at most; None: by their speed."""
    patient: bool = False
    """Carrying out only begins the work (it goes on elsewhere), so it says nothing of its speed."""


class Lane:
    """Asks, carries out, reports."""

    def __init__(
        self,
        settings: LaneSettings,
        craft: Craft,
        tasks: Tasks,
        reporting: Reporting,
        keeper: Keeper,
    ) -> None:
        self.settings = settings
        self._craft = craft
        self._tasks = tasks
        self._reporting = reporting
        self._keeper = keeper
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)
        self._queue: deque[Job] = deque()
        self._asked: Poll | None = None
        self._in_hand = 0
        self._threads = 0
        self._idle = 0
        self._average = QUICK_SECONDS
        self._open = True
        self._begun = self._begun_before = 0
        """Tasks begun by now, and when the keeper last looked."""

    # Asking

    def ask(self) -> None:
        """Ask for as many tasks as there is room for, unless that has been done."""
        with self._lock:
            room = self._room()
            if not self._open or self._asked is not None or room <= 0:
                return
            settings = self.settings
            self._asked = poll = self._tasks.want(
                settings.task_name,
                worker=settings.worker_id,
                domain=settings.domain,
                count=room,
                timeout_ms=ASK_MS,
            )
        poll.reply.add_done_callback(self._given)

    def _room(self) -> int:
        """How many more to take; a few only when there is room for many would be a waste."""
        room = self._most() - self._in_hand
        return room if room > self._most() // 4 or self._in_hand < self.settings.threads else 0

    def _most(self) -> int:
        settings = self.settings
        if settings.most is not None:
            return settings.most
        if settings.patient:
            return HANDFUL
        if not self._quick:
            return settings.threads
        return min(HANDFUL, int(HANDFUL_SECONDS / max(self._average, 1e-6)))

    @property
    def _quick(self) -> bool:
        return self._average < QUICK_SECONDS

    def _given(self, reply: "Future[list[Handed]]") -> None:
        """The core has answered."""
        try:
            handed = reply.result()
        except (CancelledError, Exception):
            # The engine is stopping, or the store is in trouble: the keeper asks again.
            with self._lock:
                self._asked = None
            return
        jobs = [self._job(item) for item in handed]
        for job in jobs:
            self._keeper.took(job, self)
        with self._lock:
            if self._open:
                self._asked = None
                self._in_hand += len(jobs)
                self._queue.extend(jobs)
                self._wake()
                jobs.clear()
        # `close` has withdrawn the poll, which gives back what it still brings.
        for job in jobs:
            self._keeper.dropped(job)
        self.ask()

    @staticmethod
    def _job(handed: Handed) -> Job:
        run, execution = handed.run, handed.execution
        context = TaskContext(run.task_id, execution.id, run.reference, run.attempt)
        lease = handed.node.task_def.response_timeout_seconds or 3600
        return Job(handed, context, time.monotonic() + lease / 3, float(lease))

    # Carrying out

    def _wake(self) -> None:
        """Put threads to the queue: one for quick work, else as many as there are tasks."""
        wished = 1 if self._quick else len(self._queue)
        self._put_to_work(wished)
        if self._quick and len(self._queue) > 1:
            self._keeper.look_soon()

    def _put_to_work(self, wished: int) -> None:
        self._work.notify(min(wished, self._idle))
        fresh = min(wished - self._idle, self.settings.threads - self._threads)
        for _ in range(max(0, fresh)):
            self._threads += 1
            name = f"reprise-{self.settings.task_name}-{self._threads}"
            threading.Thread(target=self._run, name=name, daemon=True).start()

    def hurry(self) -> bool:
        """If nothing was begun since the last look, put another thread to what waits: work that
        was thought to be quick holds it up. Does some still wait?"""
        with self._lock:
            if self._queue and self._begun == self._begun_before:
                self._put_to_work(1)
            self._begun_before = self._begun
            return bool(self._queue)

    def _run(self) -> None:
        while (job := self._next()) is not None:
            begun = time.perf_counter()
            self._carry_out(job)
            if not self.settings.patient:
                took = time.perf_counter() - begun
                self._average += WEIGHT * (took - self._average)

    def _next(self) -> Job | None:
        with self._lock:
            while self._open and not self._queue:
                self._idle += 1
                self._work.wait()
                self._idle -= 1
            self._begun += 1
            return self._queue.popleft() if self._queue else None

    def _carry_out(self, job: Job) -> None:
        try:
            given = self._tasks.input_of(job.handed)
            self._craft.carry_out(job, given, lambda outcome: self._done(job, outcome))
        except BaseException as error:
            self._done(job, failure_of(error))

    def _done(self, job: Job, outcome: Outcome) -> None:
        """Report what came of it."""
        with self._lock:
            if job.finished:
                return
            job.finished = True
        self._report(job, self._tasks.cleaned(self._result(job, outcome)))

    def _result(self, job: Job, outcome: Outcome) -> Result:
        return Result(
            seq=job.handed.run.seq,
            status=outcome.status,
            output=outcome.output,
            reason=outcome.reason,
            callback_after=outcome.callback_after,
            worker=None if outcome.elsewhere else self.settings.worker_id,
            logs=outcome.logs,
        )

    def _report(self, job: Job, event: Event) -> None:
        self._reporting.send(job.handed.execution.key, event, lambda: self._keeper.dropped(job))
        with self._lock:
            self._in_hand -= 1
        self.ask()

    # Ending

    def close(self) -> None:
        """Take nothing more; what is not begun goes back."""
        with self._lock:
            self._open = False
            poll, self._asked = self._asked, None
            left = list(self._queue)
            self._queue.clear()
            for job in left:
                job.finished = True
            self._work.notify_all()
        if poll is not None:
            poll.withdraw()
        self._tasks.give_back([job.handed for job in left])
        for job in left:
            self._keeper.dropped(job)

    def let_go(self, job: Job) -> None:
        """Work that has not ended within its grace goes back to its queue."""
        with self._lock:
            if job.finished:
                return
            job.finished = True
        job.context.cancelled = True
        self._craft.cancel(job)
        line = "handed back: the engine stopped before this attempt had ended"
        event = Result(
            seq=job.handed.run.seq, status=TaskStatus.IN_PROGRESS, merge=True, logs=(line,)
        )
        self._report(job, event)

    def cancel(self, job: Job) -> None:
        """Its task has ended otherwise."""
        job.context.cancelled = True
        self._craft.cancel(job)

    def dismiss(self) -> None:
        """Nothing is in hand any more."""
        self._craft.close()
