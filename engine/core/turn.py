"""Core.turn(items): decide, commit, tell. The only write path.

1. Each event meets its execution, and `decide` says what it means; letters to other executions are
   taken in the same turn, and work that waiting workers can take is claimed for them.
2. All of it is committed as one group.
3. Only then are callers answered, work handed out, timers set. What goes wrong: `failures.py`.

Needs no thread: the core thread, mock runs, simulation and tests all call it.
"""

import sys
from collections import deque
from collections.abc import Sequence
from functools import partial

from engine.core.admission import Gates, Keys
from engine.core.apart import Apart
from engine.core.claims import Claims
from engine.core.failures import Failures
from engine.core.handout import Handout
from engine.core.inbox import Asked, Errand, Item, Wanted
from engine.core.knowledge import Knowledge
from engine.core.letters import Letters
from engine.core.live import Live
from engine.core.questions import Evaluate, Questions
from engine.core.queues import Queues
from engine.core.step import Step, Turn, resolve
from engine.core.timers import Timers
from engine.instruments.clock import Clock
from engine.instruments.telemetry import Telemetry
from engine.model.errors import EngineError, NotFound
from engine.model.events import (
    Claim,
    Due,
    Event,
    ExtendLease,
    Start,
)
from engine.model.execution import Changes, Execution
from engine.model.record import encode
from engine.rules.decide import decide
from engine.store.contract import (
    LedgerLine,
    RowRefused,
    Store,
    StoreFailed,
    Written,
    ledger_body,
)

LETTERS_A_TURN = 1000
"""Letters taken in one turn at most; the rest are stored and taken in the next."""

END_OF_TIME = 2**62

QUIET = (Claim, ExtendLease)
"""Events that leave no ledger line: the attempt's own record says all."""


class Core:
    """Owns the executions in memory; decides and writes."""

    def __init__(
        self,
        store: Store,
        knowledge: Knowledge,
        clock: Clock,
        telemetry: Telemetry,
        evaluate: Evaluate,
        apart: Apart | None = None,
    ) -> None:
        self.store = store
        self._apart = apart or Apart()
        self.knowledge = knowledge
        self.clock = clock
        self.telemetry = telemetry
        self.live = Live(store)
        self.timers = Timers(store)
        self.handout = Handout(store)
        self.keys = Keys(store, self.live)
        self.gates = Gates(store)
        knowledge.learn_admission(self.keys.holder, self.gates.refusal)
        self.queues = Queues(self.handout)
        self.failures = Failures(
            store, self.live, self.keys, self.gates, self.queues, clock, telemetry
        )
        self.claims = Claims(
            store,
            self.live,
            self.handout,
            self.queues,
            knowledge,
            telemetry,
            self._take_alone,
            self.failures.poisoned,
        )
        self.questions = Questions(
            store, self.live, self.handout, knowledge, clock, telemetry, evaluate
        )
        self.follow_up: deque[Item] = deque()
        """Items that the turn itself has put up for the next one."""
        self.letters = Letters(store)

    def recover(self) -> None:
        """Begin with what the store has: ready work, letters, due times. Waiting executions are
        not loaded."""
        with self.telemetry.timed("core.recovered"):
            self.handout.fill()
            self.follow_up.extend(self.gates.fill())
            self.follow_up.extend(self.letters.fetch(most=sys.maxsize))
            self.follow_up.extend(self.questions.ask())

    # The turn

    def turn(self, items: Sequence[Item]) -> None:
        """Take what has piled up: decide, commit, tell."""
        turn = Turn(self.clock.now())
        work: deque[Asked] = deque()
        waiting: list[Wanted] = []
        for item in items:
            if isinstance(item, Asked):
                turn.asked.append(item)
                work.append(item)
            elif isinstance(item, Wanted):
                waiting.append(item)
            else:
                self._run_errand(item)
        while work:
            self._take(turn, work.popleft(), work)
        # Work that this very turn has brought about is claimed in the same commit.
        for wanted in (*waiting, *self.handout.answerable(turn.now)):
            self.claims.hand_out(turn, wanted)
        self._commit(turn)

    def _take(self, turn: Turn, asked: Asked, work: deque[Asked]) -> Step | None:
        """One event: find, decide, apply. What goes wrong concerns this event alone."""
        try:
            execution = self._find(turn, asked)
            if execution is None:
                raise NotFound(f"No such workflow found by id: {asked.workflow_id or asked.key}")
            step = self._decide(turn, execution, asked)
        except EngineError as error:
            self.failures.refused(turn, asked, error, work)
            return None
        except Exception as error:
            self.failures.poisoned(turn, asked, error)
            return None
        if step is None:
            return None
        self._collect_letters(turn, step, work)
        return step

    def _take_alone(self, turn: Turn, asked: Asked) -> Step | None:
        """The same for an event from which no letters follow."""
        return self._take(turn, asked, deque())

    def _find(self, turn: Turn, asked: Asked) -> Execution | None:
        if asked.key is not None:
            return self.live.get(asked.key)
        if asked.newborn:
            return self._born(asked)
        found = self.live.find(asked.workflow_id or "")
        if found is None and isinstance(asked.event, Start):
            return self._born(asked)
        return found

    def _born(self, asked: Asked) -> Execution:
        """A new execution, not yet decided on."""
        event = asked.event
        if not isinstance(event, Start):
            raise TypeError("only a start makes an execution")
        return Execution(
            key=self.store.next_key(),
            id=asked.workflow_id or "",
            definition=event.definition,
            definition_hash=event.definition_hash,
            correlation_id=event.correlation_id,
            priority=event.priority,
            parent_id=event.parent_id,
            parent_task_id=event.parent_task_id,
            owner_app=event.owner_app,
            created_by=event.created_by,
            event=event.event,
            idempotency_key=event.idempotency_key,
            task_to_domain=event.task_to_domain,
            rate_limit_key=event.rate_limit_key,
            rate_limited=event.rate_limited,
            isolated=event.isolated,
            input=event.input,
            input_path=event.input_path,
        )

    def _decide(self, turn: Turn, execution: Execution, asked: Asked) -> Step | None:
        event = asked.event
        created = execution.created_at == 0
        if isinstance(event, Start):
            holder = self.keys.existing(event, execution.id) if created else execution.id
            if holder is not None:
                turn.reply(asked, holder)
                turn.consume(asked)
                return None
            self.knowledge.admit(event, execution.id, turn.now)
            heard = asked.reply is not None or event.parent_id is not None
            event = self.gates.stamped(event, heard)
            execution.rate_limit_key = event.rate_limit_key
            execution.rate_limited = event.rate_limited
        key = execution.key
        facts = self.knowledge.facts(
            turn.now,
            partial(self.store.payload, key),
            partial(self.store.outputs, key),
        )
        changes = decide(execution, event, facts)
        if created:
            changes.fields.setdefault("updated_at", turn.now)
            self.live.add(execution)
        elif not changes.empty:
            changes.fields.setdefault("updated_at", turn.now)
        self._apart.put(execution, changes, created)
        before = {seq: execution.runs.get(seq) for seq in changes.runs}
        for seq in changes.removed:
            before[seq] = execution.runs.get(seq)
        line = self._ledger_line(turn, execution, event, changes, created)
        execution.apply(changes)
        if created or changes.logs or not changes.empty:
            turn.group.written.append(Written(execution, changes, created, line))
        turn.touched[key] = execution
        if created:
            self.keys.take(execution)
            self.gates.entered(execution)
        step = Step(asked, execution, changes, before, created)
        turn.steps.append(step)
        turn.newest[key] = step
        self.queues.count(step, +1)
        self.queues.take_in(step)
        turn.consume(asked)
        turn.reply(asked, execution.id if created else changes.reply)
        return step

    @staticmethod
    def _ledger_line(
        turn: Turn, execution: Execution, event: Event, changes: Changes, created: bool
    ) -> LedgerLine | None:
        if isinstance(event, QUIET) or (changes.empty and not created):
            return None
        line = execution.line + 1
        changes.fields["line"] = line
        return LedgerLine(
            line=line,
            at=turn.now,
            cause=type(event).__name__,
            by=event.by,
            why=event.why,
            body=encode(ledger_body(changes)),
        )

    def _collect_letters(self, turn: Turn, step: Step, work: deque[Asked]) -> None:
        """Letters are taken at once, in the same commit; too many wait in the store."""
        for letter in step.changes.letters:
            if isinstance(letter.event, Start):
                self.knowledge.families.grow(letter.to, turn.now)
                self.keys.promise(letter.event, letter.to)
            if turn.letters_taken < LETTERS_A_TURN:
                turn.letters_taken += 1
                work.append(Asked(letter.event, workflow_id=letter.to))
            else:
                turn.unread.append(letter)

    # Commit and tell

    def _commit(self, turn: Turn) -> None:
        group = turn.group
        group.letters = [*turn.unread, *turn.held]
        if group.written or group.letters or group.delivered:
            try:
                with self.telemetry.timed("group.committed"):
                    self.store.commit(group)
            except RowRefused as error:
                self._take_one_by_one(turn, error)
                return
            except StoreFailed as error:
                self.failures.not_stored(turn, error)
                return
        self._tell(turn)

    def _take_one_by_one(self, turn: Turn, error: RowRefused) -> None:
        """One row was refused: only its event fails, not its neighbours."""
        self.failures.undo(turn)
        if len(turn.asked) == 1:
            self.failures.row_refused(turn.asked[0], error)
            return
        for item in turn.asked:
            self.turn([item])

    def _tell(self, turn: Turn) -> None:
        """Everything stands: answer callers, hand out work, set timers, let go."""
        for wanted, handed in turn.handed:
            resolve(wanted.reply, handed, None)
        for reply, value, error in turn.replies:
            resolve(reply, value, error)
        for step in turn.steps:
            self._after(step)
        self.keys.turn_over()
        self.letters.delivered(turn.group.delivered)
        if turn.group.letters:
            self.follow_up.extend(self.letters.fetch(most=len(turn.unread)))
        for execution in turn.touched.values():
            if execution.status.terminal:
                self.follow_up.extend(self.gates.left(execution))
            self.live.let_go_if_idle(execution)
        self.live.trim()
        self.follow_up.extend(self.questions.ask())

    def _after(self, step: Step) -> None:
        """Timers that follow from one step, and what is said about it."""
        key = step.execution.key
        for seq, run in step.changes.runs.items():
            if run.wake_at and run.open:
                self.timers.set(run.wake_at, key, seq)
        if "wake_at" in step.changes.fields:
            self.timers.set(step.execution.wake_at, key, None)
        if isinstance(step.asked.event, Due):
            self._wait_on(step.execution, step.asked.event.seq)
        for kept in step.changes.cached:
            self.knowledge.remember(*kept)
        if step.changes.messages:
            self.telemetry.say("outbox.filled")
        for what in step.changes.told:
            self.telemetry.say(what, execution=step.execution, event=step.asked.event)
        for run in step.changes.runs.values():
            self.telemetry.say(
                "task.moved", execution=step.execution, run=run, was=step.before.get(run.seq)
            )

    def _wait_on(self, execution: Execution, seq: int | None) -> None:
        """A timer that rang too early (the clock was set back) is set once more."""
        holder = execution if seq is None else execution.runs.get(seq)
        if holder is not None and holder.wake_at > self.clock.now():
            self.timers.set(holder.wake_at, execution.key, seq)

    # Errands, and the end

    def _run_errand(self, errand: Errand) -> None:
        """Cold work on the write connection."""
        try:
            value = self.store.errand(errand.work)
        except Exception as error:
            resolve(errand.reply, None, error)
            return
        if errand.catalogue:
            self.knowledge.changed()
        resolve(errand.reply, value, None)

    def dismiss(self) -> None:
        """There will be no more turns: workers that wait go away with nothing."""
        for wanted in self.handout.overdue(END_OF_TIME):
            resolve(wanted.reply, [], None)

    # What time brings

    def due_items(self) -> list[Item]:
        """Events and waiting workers whose time has come."""
        now = self.clock.now()
        items: list[Item] = [
            Asked(Due(seq=wake.seq), key=wake.execution) for wake in self.timers.take(now)
        ]
        items.extend(self.handout.overdue(now))
        items.extend(self.handout.answerable(now))
        items.extend(self.failures.offered_again(now))
        while self.follow_up and len(items) < LETTERS_A_TURN:
            items.append(self.follow_up.popleft())
        return items

    def next_at(self) -> int:
        """The next instant at which something is due."""
        waits = self.handout.next_at()
        instants = [waits, self.timers.next_at(), self.failures.again_at]
        return min(instant for instant in instants if instant)
