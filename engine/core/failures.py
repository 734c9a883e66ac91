"""What goes wrong in a turn, and what is done about it. What is refused, or raises, concerns one event;
a store that takes nothing undoes the whole turn. Nothing is decided here."""

import traceback
from collections import deque

from engine.core.admission import Gates, Keys
from engine.core.inbox import Asked
from engine.core.live import Live
from engine.core.queues import Queues
from engine.core.step import Turn, resolve
from engine.instruments.clock import Clock
from engine.instruments.telemetry import Telemetry
from engine.model.errors import EngineError, NotTaken
from engine.model.events import ChildRefused, Claim, Due, Event, Letter, Start
from engine.model.execution import Changes, Execution
from engine.model.record import encode
from engine.store.contract import LedgerLine, RowRefused, Store, StoreFailed, Written

AGAIN_AFTER_MS = 1000
"""How long the core waits before it offers a failed store the same events again."""

OWN = (Due, Claim)
"""Events that the core makes by itself and can make again."""


class Failures:
    """Keeps a failure where it belongs: memory never runs ahead of the store, and whoever asked is
    told."""

    def __init__(
        self,
        store: Store,
        live: Live,
        keys: Keys,
        gates: Gates,
        queues: Queues,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        self._store = store
        self._live = live
        self._keys = keys
        self._gates = gates
        self._queues = queues
        self._clock = clock
        self._telemetry = telemetry
        self._again: list[Asked] = []
        """Events that nobody will repeat, from turns that the store did not take."""
        self.again_at = 0
        """When those are offered again; 0 for never, for there are none."""

    # One event

    def refused(self, turn: Turn, asked: Asked, error: EngineError, work: deque[Asked]) -> None:
        """An event that the rules refuse has done nothing; whoever asked is told why."""
        turn.consume(asked)
        turn.reply(asked, None, error)
        event = asked.event
        self._telemetry.say("event.refused", event=event)
        if isinstance(event, Start) and event.parent_id and event.parent_task_id:
            refusal = ChildRefused(
                task_id=event.parent_task_id,
                child_id=asked.workflow_id or "",
                reason=error.message,
            )
            work.append(Asked(refusal, workflow_id=event.parent_id))

    def poisoned(self, turn: Turn, asked: Asked, error: Exception) -> None:
        """An event that raises has done nothing. Its execution is marked stuck, for people to see."""
        trace = "".join(traceback.format_exception(error))
        self._telemetry.say("event.poisoned", cause=type(asked.event).__name__, trace=trace)
        turn.reply(asked, None, error)
        execution = self._concerned(asked)
        if execution is None:
            return
        if asked.letter is None and asked.reply is None and not isinstance(asked.event, OWN):
            turn.held.append(Letter(execution.id, asked.event))
        _mark_stuck(turn, execution, asked.event, f"{type(error).__name__}: {error}", trace)

    def _concerned(self, asked: Asked) -> Execution | None:
        """The execution that an event was for; none if it was to begin one."""
        execution = None
        if asked.key is not None:
            execution = self._live.get(asked.key)
        elif asked.workflow_id is not None:
            execution = self._live.find(asked.workflow_id)
        return None if execution is None or execution.created_at == 0 else execution

    # A whole turn

    def not_stored(self, turn: Turn, error: StoreFailed) -> None:
        """The store failed: callers may repeat, and what nobody repeats is offered again."""
        self._telemetry.say("store.failed", error=str(error))
        for reply, _, _ in turn.replies:
            resolve(reply, None, NotTaken(f"Nothing was stored: {error}. Send it again."))
        self.undo(turn)
        self._again += [asked for asked in turn.asked if asked.reply is None]
        self.again_at = turn.now + AGAIN_AFTER_MS if self._again else 0

    def offered_again(self, now: int) -> list[Asked]:
        """What the store did not take and may take by now."""
        if not self._again or now < self.again_at:
            return []
        again, self._again, self.again_at = self._again, [], 0
        return again

    def undo(self, turn: Turn) -> None:
        """Nothing of the turn has happened: neither what it decided and handed out, nor what it
        counted, took or withdrew. The latest first, so that what was there before prevails."""
        self._keys.turn_over()
        for key in turn.touched:
            self._live.let_go(key)
        for wanted, _ in turn.handed:
            resolve(wanted.reply, [], None)
        for step in reversed(turn.steps):
            self._queues.count(step, -1)
            if step.created:
                self._gates.forget(step.execution)
            for run in step.before.values():
                if run is not None and run.carrier is not None and run.open:
                    self._queues.offer(step.execution.key, run)

    def row_refused(self, asked: Asked, error: RowRefused) -> None:
        """The culprit is found. Somebody who waits is told; else its execution is stuck."""
        self._telemetry.say("row.refused", error=str(error))
        if asked.reply is not None:
            resolve(asked.reply, None, NotTaken(f"It could not be stored: {error}"))
            return
        execution = self._concerned(asked)
        if execution is None:
            return
        again = Turn(self._clock.now())
        _mark_stuck(again, execution, asked.event, str(error), "")
        try:
            self._store.commit(again.group)
        except (RowRefused, StoreFailed) as failure:
            self._telemetry.say("store.failed", error=str(failure))
        self._live.let_go(execution.key)


def _mark_stuck(turn: Turn, execution: Execution, event: Event, text: str, trace: str) -> None:
    line = execution.line + 1
    changes = Changes(open=execution.open, unsettled=set(execution.unsettled))
    changes.fields = {
        "stuck": f"{type(event).__name__} could not be taken: {text}",
        "line": line,
        "updated_at": turn.now,
    }
    body = encode({"stuck": text, "trace": trace[-4000:]})
    written = LedgerLine(line, turn.now, "Stuck", event.by, event.why, body)
    execution.apply(changes)
    turn.group.written.append(Written(execution, changes, False, written))
    turn.touched[execution.key] = execution
