"""Claiming: waiting workers are given attempts within the turn, so that a claim is committed with
what has brought the work about."""

from collections.abc import Callable

from engine.core.handout import Handout
from engine.core.inbox import Asked, Handed, Wanted
from engine.core.knowledge import Knowledge
from engine.core.live import Live
from engine.core.queues import Queues
from engine.core.step import Step, Turn
from engine.instruments.telemetry import Telemetry
from engine.model.events import Claim
from engine.model.execution import EMPTY, Execution, Run
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.deadlines import wake_at
from engine.rules.reports import take
from engine.store.contract import Ready, Store, StoreFailed
from engine.tasks.plan import Node
from engine.tasks.view import node_in

Take = Callable[[Turn, Asked], Step | None]
Poisoned = Callable[[Turn, Asked, Exception], None]


class Claims:
    """Hands attempts to workers."""

    def __init__(
        self,
        store: Store,
        live: Live,
        handout: Handout,
        queues: Queues,
        knowledge: Knowledge,
        telemetry: Telemetry,
        take: Take,
        poisoned: Poisoned,
    ) -> None:
        """`take` decides on an event within a turn, `poisoned` notes one that cannot be taken."""
        self._store = store
        self._live = live
        self._handout = handout
        self._queues = queues
        self._knowledge = knowledge
        self._telemetry = telemetry
        self._take = take
        self._poisoned = poisoned

    def hand_out(self, turn: Turn, wanted: Wanted) -> None:
        """Claim up to `count` attempts for a worker; it waits when there are none."""
        if wanted.reply.cancelled():
            return
        self._knowledge.seen(wanted.carrier, wanted.domain, turn.now)
        taken: list[Handed] = []
        while len(taken) < wanted.count:
            ready = self._handout.take((wanted.carrier, wanted.domain), turn.now)
            if ready is None:
                break
            handed = self._claim(turn, ready, wanted.worker)
            if handed is not None:
                taken.append(handed)
        if taken or wanted.until <= turn.now:
            turn.handed.append((wanted, taken))
        else:
            self._handout.wait(wanted)

    def _claim(self, turn: Turn, ready: Ready, worker: str | None) -> Handed | None:
        """Take one attempt for a worker, if it is still there and its limits admit it."""
        key, seq = ready.execution, ready.seq
        execution = self._live.get(key)
        run = None if execution is None else execution.runs.get(seq)
        if execution is None or run is None or run.status is not TaskStatus.SCHEDULED:
            return None
        asked = Asked(Claim(seq=seq, worker=worker), key=key)
        if run.due_at > turn.now:
            self._queues.offer(key, run)
            return None
        try:
            node = node_in(execution, run)
        except LookupError as error:
            self._poisoned(turn, asked, error)
            return None
        if not self._handout.admits(run, node.task_def, turn.now):
            rate = self._handout.hold(ready, run, node.task_def, turn.now)
            what = "task.rate_limited" if rate else "task.concurrency_limited"
            self._telemetry.say(what, execution=execution, task_type=run.name)
            return None
        try:
            data = run.input if run.input is not None else self._store.payload(key, seq, "input")
        except StoreFailed as error:
            self._poisoned(turn, asked, error)
            return None
        if not self._claim_newborn(turn, execution, run, node, worker):
            step = self._take(turn, asked)
            if step is None or not step.changes.reply:
                return None
        self._handout.handed_out(run, node.task_def, turn.now)
        run = execution.runs[seq]
        return Handed(execution, run, node, data or EMPTY)

    def _claim_newborn(
        self, turn: Turn, execution: Execution, run: Run, node: Node, worker: str | None
    ) -> bool:
        """An attempt that this turn has placed, and nobody has heard of yet, is taken where it
        stands: one row, no decision of its own. False: it must be claimed as usual."""
        step = turn.newest.get(execution.key)
        if step is None or step.changes.runs.get(run.seq) is not run:
            return False
        if node.task.on_state_change or self._knowledge.tells_tasks:
            return False
        if step.before.get(run.seq) is not None or execution.status is not ExecutionStatus.RUNNING:
            return False
        take(run, turn.now, worker)
        run.wake_at = wake_at(run, node, self._knowledge.facts(turn.now, lambda seq, side: None))
        self._handout.count(run.name, +1)
        return True
