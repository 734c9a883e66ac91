"""An execution as it is about to be: what a rule writes to.

Writes collect in `Changes`; the execution itself stays as it is. Nothing here knows a store, a
clock or a queue.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from engine.model.definitions import WorkflowDef
from engine.model.events import Event, Letter
from engine.model.execution import EMPTY, Execution, Run
from engine.model.facts import Facts
from engine.model.ids import task_id, task_place
from engine.model.record import Json, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.tasks.plan import Node, plan_of
from engine.tasks.rounds import is_open_loop, reference_of, whole_output
from engine.tasks.view import View


@dataclass(frozen=True, slots=True)
class Ending:
    """How the workflow is to end, and which attempt brought it about."""

    status: ExecutionStatus
    reason: str | None
    cause: Run | None = None
    output: bytes | None = None
    """The output, where it does not follow from the tasks."""


class Again(NamedTuple):
    """A failed attempt that is to be replaced, and how long its replacement waits."""

    run: Run
    delay_ms: int = 0
    delay_seconds: int = 0
    """The delay without its random part: what the record shows."""


class Draft(View):
    """One decision in the making."""

    __slots__ = ("acts", "agenda", "ending")

    def __init__(self, execution: Execution, facts: Facts) -> None:
        super().__init__(execution, facts)
        self.agenda: deque[int] = deque()
        """Ended attempts to follow up."""
        self.acts: deque[int] = deque()
        """Placed attempts that do their work at once, after all were placed."""
        self.ending: Ending | None = None
        """Set once something demands the end of the workflow: then nothing else follows."""

    def set(self, **fields: Any) -> None:
        """Change fields of the execution."""
        self.changes.fields.update(fields)

    def edit(self, run: Run) -> Run:
        """The draft's own copy of an attempt, free to be changed."""
        if self.changes.runs.get(run.seq) is run:
            return run
        mine = run.copy()
        self.changes.runs[run.seq] = mine
        return mine

    def add(
        self,
        node: Node,
        iteration: int,
        status: TaskStatus,
        *,
        again: Again | None = None,
        type_: str | None = None,
        name: str | None = None,
    ) -> Run:
        """A new attempt, perhaps replacing a failed one. Its input is yet to be given."""
        execution, now = self.execution, self.facts.now
        seq: int = self.field("next_seq")
        self.set(next_seq=seq + 1)
        task = node.task
        run = Run(
            seq=seq,
            task_id=task_id(execution.key, seq),
            ref=node.ref,
            reference=reference_of(node.ref, iteration),
            type=type_ or task.type,
            name=name or task.name or type_ or task.type,
            status=status,
            iteration=iteration,
            priority=execution.priority,
            fork=node.fork,
            scheduled_at=now,
            queued_at=now,
            first_scheduled_at=now,
        )
        if again is not None:
            before = again.run
            run.attempt = before.attempt + 1
            run.retried_task_id = before.task_id
            run.domain = before.domain
            run.node = before.node
            run.first_scheduled_at = before.first_scheduled_at
        if status is TaskStatus.IN_PROGRESS:
            run.started_at = now
        self.changes.runs[seq] = run
        self.changes.latest[run.reference] = seq
        self.changes.last_of[run.ref] = run.reference
        self.changes.open += 1
        self.count(node.loop, +1)
        return run

    def end(
        self,
        run: Run,
        status: TaskStatus,
        output: dict[str, Json] | bytes | None = None,
        reason: str | None = None,
    ) -> Run:
        """An open attempt ends; what follows from it is put on the agenda. A loop that is given no
        output is left with its rounds, which are stored here and not before."""
        now = self.facts.now
        if output is None and is_open_loop(run):
            output = whole_output(self, run)
        run = self.edit(run)
        run.status = status
        run.ended_at = now
        run.updated_at = run.updated_at or now
        run.carrier = None
        run.wake_at = 0
        if output is not None:
            run.output = output if isinstance(output, bytes) else encode(output)
            run.output_path = None
        if reason is not None:
            run.reason = reason
        self._refuse_size(run)
        self.changes.open -= 1
        self.changes.unsettled.add(run.seq)
        self.agenda.append(run.seq)
        return run

    def fits(self, data: bytes | None) -> bool:
        """May an attempt have this payload?"""
        return data is None or len(data) <= self.facts.limits.task_payload

    def size_complaint(self, side: str, data: bytes, workflow_id: str | None = None) -> str | None:
        """Why an execution (this one, or one that it starts) cannot have this input or output."""
        limit = self.facts.limits.workflow_payload
        if len(data) <= limit:
            return None
        return (
            f"The payload size: {len(data)} of workflow: {workflow_id or self.execution.id} is "
            f"greater than the permissible limit: {limit} bytes. It is the workflow's {side}: store "
            "large data elsewhere and pass a reference."
        )

    def variables_complaint(self, encoded: bytes) -> str | None:
        """Why the execution cannot have these variables."""
        limit = self.facts.limits.variables
        if len(encoded) <= limit:
            return None
        return (
            f"The variables payload size: {len(encoded)} of workflow: {self.execution.id} is "
            f"greater than the permissible limit: {limit // 1024} kilobytes"
        )

    def _refuse_size(self, run: Run) -> None:
        """A payload above the limit fails its attempt for good, and is not kept."""
        limit = self.facts.limits.task_payload
        for side in ("input", "output"):
            data: bytes | None = getattr(run, side)
            if data is None or self.fits(data):
                continue
            setattr(run, side, EMPTY)
            setattr(run, f"{side}_path", None)
            run.status = TaskStatus.FAILED_WITH_TERMINAL_ERROR
            run.reason = (
                f"The payload size: {len(data)} of task: {run.task_id} in workflow: "
                f"{self.execution.id} is greater than the permissible limit: {limit} bytes. It is "
                f"the task's {side}: store large data elsewhere and pass a reference."
            )

    def reopen(self, run: Run, status: TaskStatus) -> Run:
        """An ended attempt is set back to open in place; what it was is kept aside."""
        self.changes.aside.append(run)
        run = self.edit(run)
        node = self.node(run.ref)
        if run.executed and node is not None:
            self.count(node.loop, +1)
            self._count_again(run, node)
        self.changes.unsettled.discard(run.seq)
        self.changes.open += 1
        run.status = status
        run.executed = run.retried = False
        run.reason = None
        run.ended_at = run.wake_at = run.due_at = 0
        run.queued_at = self.facts.now
        return run

    def _count_again(self, run: Run, node: Node) -> None:
        """Open joins that have heard of its end are to wait for it once more."""
        for ref in node.feeds:
            join = self.latest(reference_of(ref, 0 if run.type == "DO_WHILE" else run.iteration))
            if join is not None and join.open:
                self.act_later(join)

    def remove(self, run: Run) -> None:
        """Take an attempt out of the execution; what it was is kept aside."""
        self.changes.aside.append(run)
        node = self.node(run.ref)
        if run.open:
            self.changes.open -= 1
        if node is not None and not run.executed and run.status is not TaskStatus.SKIPPED:
            self.count(node.loop, -1)
        self.changes.unsettled.discard(run.seq)
        newest = self.latest(run.reference)
        self.changes.runs.pop(run.seq, None)
        self.changes.removed.add(run.seq)
        if newest is not None and newest.seq == run.seq:
            self._look_back(run)

    def _look_back(self, run: Run) -> None:
        """The newest attempt under a name is gone: the one before it is the newest now."""
        before = self.before(run)
        self.changes.latest[run.reference] = 0 if before is None else before.seq
        if before is not None or self.newest_reference(run.ref) != run.reference:
            return
        earlier = (reference_of(run.ref, number) for number in range(run.iteration - 1, -1, -1))
        found = (reference for reference in earlier if self.latest(reference) is not None)
        self.changes.last_of[run.ref] = next(found, "")

    def before(self, run: Run) -> Run | None:
        """The attempt that this one replaced, or the one that was replaced before it."""
        replaced: Run | None = run
        while replaced is not None and replaced.retried_task_id:
            place = task_place(replaced.retried_task_id)
            seq = 0 if place is None else place.seq
            found = self.run(seq)
            if found is not None:
                return found
            replaced = self.execution.runs.get(seq)
        return None

    def settle(self, run: Run) -> Run:
        """All that follows from an ended attempt has been done, or never will be."""
        run = self.edit(run)
        run.executed = True
        self.changes.unsettled.discard(run.seq)
        node = self.node(run.ref)
        if node is not None:
            self.count(node.loop, -1)
        return run

    def count(self, loop: str | None, by: int) -> None:
        """One body attempt of a loop more, or one less, that is open or unsettled."""
        if loop is not None:
            busy = self.changes.busy
            busy[loop] = busy.get(loop, self.execution.busy.get(loop, 0)) + by

    def busy(self, loop: str) -> int:
        """Body attempts of a loop that are open or unsettled."""
        return self.changes.busy.get(loop, self.execution.busy.get(loop, 0))

    def left(self, join: str) -> int | None:
        """How many tasks an open JOIN still waits for; None if it has not been counted."""
        return self.changes.left.get(join, self.execution.left.get(join))

    def act_later(self, run: Run) -> None:
        """The attempt does its work once everything of this step has been placed."""
        self.acts.append(run.seq)

    def end_workflow(
        self, status: ExecutionStatus, reason: str | None, cause: Run | None = None
    ) -> None:
        """Demand the end of the workflow; the first demand counts."""
        if self.ending is None:
            self.ending = Ending(status, reason, cause)

    def use(self, definition: WorkflowDef, content_hash: str) -> None:
        """Go on by another snapshot."""
        self.set(definition=definition, definition_hash=content_hash, nodes={})
        self.nodes = {}
        self.plan = plan_of(definition, content_hash)

    def know(self, nodes: dict[str, Node]) -> None:
        """Compiled tasks that the definition does not have."""
        self.changes.nodes.update(nodes)

    def send(self, to: str, event: Event) -> None:
        """Tell another execution."""
        self.changes.letters.append(Letter(to, event, self.execution.id))

    def log(self, run: Run, lines: Iterable[str]) -> None:
        """Lines for an attempt's log."""
        self.changes.logs.extend((run.task_id, line) for line in lines)

    def say(self, what: str) -> None:
        """What happened, for metrics and the ledger."""
        self.changes.told.append(what)
