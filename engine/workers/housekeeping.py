"""Chores: the text index, retention, the write-ahead log, who polled when. One thread; what writes
goes to the core as short errands, and waits while the core is busy."""

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from engine.core.inbox import Errand, Inbox
from engine.instruments.clock import Clock
from engine.instruments.telemetry import Telemetry
from engine.model.status import ExecutionStatus
from engine.services.sightings import Sightings
from engine.store import catalogue, files, retention, words
from engine.store.rowstore import RowStore
from engine.store.sqlite import SqliteStore

HOUR_MS = 3600 * 1000
DAY_MS = 24 * HOUR_MS
PIECE = 20
"""Executions whose words one errand takes up."""
FEW = 4
"""Executions that one errand takes away: an archived one is read and compressed as a whole, and the
door may stand still as long as an errand takes."""
FILES = 100
"""Payload files that one errand may drop."""
LOOK_SECONDS = 0.02
PATIENCE_SECONDS = 1.0
"""A chore waits no longer than this for a quiet moment."""
WORKERS_KEPT_MS = 7 * DAY_MS

Work = Callable[[], bool]
"""Does a piece; is there more?"""


@dataclass(slots=True)
class Chore:
    """Work that comes up again."""

    name: str
    every_seconds: float
    work: Work
    due: float = 0.0


class Housekeeping:
    """Does each chore in its time; one that fails is told of and comes up again."""

    def __init__(
        self, inbox: Inbox, telemetry: Telemetry, is_quiet: Callable[[], bool] = lambda: True
    ) -> None:
        self._inbox = inbox
        self._is_quiet = is_quiet
        self.telemetry = telemetry
        self._chores: list[Chore] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reprise-chores", daemon=True)

    def add(self, name: str, every_seconds: float, work: Work) -> None:
        """One more, to be done at the start and every so many seconds."""
        self._chores.append(Chore(name, every_seconds, work))

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the present piece."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def errand(self, work: Callable[[Any], Any], catalogue: bool = False) -> Any:
        """Have the core write something when it is not busy."""
        patient_until = time.monotonic() + PATIENCE_SECONDS
        while not self._is_quiet() and time.monotonic() < patient_until:
            if self._stopping.wait(LOOK_SECONDS):
                break
        errand = Errand(work, catalogue=catalogue)
        self._inbox.put(errand)
        return errand.reply.result()

    def _run(self) -> None:
        while not self._stopping.is_set():
            now = time.monotonic()
            for chore in self._chores:
                if chore.due <= now and not self._stopping.is_set():
                    more = self._do(chore)
                    chore.due = time.monotonic() + (0.0 if more else chore.every_seconds)
            soonest = min((chore.due for chore in self._chores), default=now + 60.0)
            self._stopping.wait(max(0.0, soonest - time.monotonic()))

    def _do(self, chore: Chore) -> bool:
        try:
            return chore.work()
        except Exception as error:
            trace = traceback.format_exc()
            self.telemetry.say("chore.failed", chore=chore.name, error=str(error), trace=trace)
            return False


@dataclass(frozen=True, slots=True)
class Chores:
    """The usual chores of a store."""

    keeper: Housekeeping
    store: RowStore
    clock: Clock
    sightings: Sightings
    retention_days: float | None
    archive: bool = False
    """Keep what is taken away, compressed."""
    payload_grace_hours: float = 24.0

    def add_all(self) -> None:
        """Put them on the list."""
        add = self.keeper.add
        add("text index", 1.0, self.index)
        add("poll data", 10.0, self.note_workers)
        add("log of the file", 60.0, self.tidy)
        add("workers long gone", 3600.0, self.forget_workers)
        if self.retention_days is not None:
            add("retention", 60.0, self.take_away)
        if self.store.folder is not None:
            add("payload files", 3600.0, self.sweep_files)

    def index(self) -> bool:
        """Take up the words of new and ended executions."""
        if not self.store.read(words.has_unindexed):
            return False
        return bool(self.keeper.errand(lambda s: words.index_words(s, PIECE)) >= PIECE)

    def note_workers(self) -> bool:
        """Write down who polled."""
        seen = self.sightings.unwritten()
        if seen:
            self.keeper.errand(lambda session: catalogue.note_workers(session, seen))
        return False

    def forget_workers(self) -> bool:
        """Drop workers that nobody has seen for a week."""
        before = self.clock.now() - WORKERS_KEPT_MS
        self.keeper.errand(lambda session: catalogue.forget_workers(session, before))
        return False

    def take_away(self) -> bool:
        """Take away executions that ended longer ago than they are kept."""
        now = self.clock.now()
        before = now - int((self.retention_days or 0) * DAY_MS)
        ended = [status.value for status in ExecutionStatus if status.terminal]

        archived: list[tuple[str, str]] = []

        def remove(session: Any) -> int:
            return retention.take_away(
                session,
                before,
                now,
                keep=self.archive,
                statuses=ended,
                limit=FEW,
                told=lambda *who: archived.append(who),
            )

        more = bool(self.keeper.errand(remove) >= FEW)
        for name, status in archived:
            self.keeper.telemetry.say("execution.archived", name=name, status=status)
        return more

    def sweep_files(self) -> bool:
        """Drop payload files that nothing refers to: left by clients and never named, or written for
        a commit that never came."""
        folder = self.store.folder
        if folder is None:
            return False
        before = self.clock.now() - int(self.payload_grace_hours * HOUR_MS)
        names = iter(folder.older(before))
        while piece := list(islice(names, FILES)):
            idle = self.store.read(partial(files.unused, names=piece))
            if idle:
                self.keeper.errand(partial(files.sweep, names=idle, before_ms=before))
        return False

    def tidy(self) -> bool:
        """Move the write-ahead log into the file."""
        store = self.store
        if isinstance(store, SqliteStore):
            self.keeper.errand(lambda session: store.tidy())
        return False
