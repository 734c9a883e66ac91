"""TaskKind: how one task type is placed, carried out, and heeds what happens to it.

One class for each type; `registry.py` is the table. Every method works on a `Draft` and returns
the reference names to place next, in order.
"""

from collections.abc import Sequence

from engine.expressions.scripts import ScriptJob
from engine.model.events import Answer
from engine.model.execution import Run
from engine.model.record import Json, encode
from engine.model.status import TaskStatus
from engine.tasks.draft import Again, Draft
from engine.tasks.plan import Node
from engine.tasks.view import View

SCRIPT = "#script"
"""The carrier of an attempt whose script is to be evaluated; no queue bears this name."""

NOTHING: Sequence[str] = ()


class TaskKind:
    """What all types share; a type overrides what is special about it."""

    recorded_type: str | None = None
    """The type word on the record, where it differs from the definition's."""
    queued = False
    """Handed out through the queue of its type."""

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        """A new attempt; `again` names the failed one it replaces, if it does."""
        raise NotImplementedError

    def act(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        """Work that needs nothing but the execution; done once everything is placed."""
        return NOTHING

    def job(self, view: View, run: Run, node: Node) -> ScriptJob | None:
        """The script of an attempt whose carrier is SCRIPT."""
        return None

    def answer(self, d: Draft, run: Run, node: Node, answer: Answer) -> Sequence[str]:
        """The evaluator has answered."""
        return NOTHING

    def due(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        """The instant this attempt waited for has come (no deadline: those are rules)."""
        return NOTHING

    def cancel(self, d: Draft, run: Run, node: Node, reason: str) -> None:
        """The attempt is about to be cancelled with its workflow."""

    def reopen(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        """The attempt was set back to open in place: what must be done for it to go on."""
        return NOTHING


def answer_value(answer: Answer) -> Json:
    """An evaluator's value; NaN and the infinities, which no JSON holds, as the numbers they are."""
    return float(answer.not_finite) if answer.not_finite else answer.value


def give_input(d: Draft, run: Run, node: Node, again: Again | None = None) -> dict[str, Json]:
    """Resolve the attempt's inputs; those of the attempt it replaces shine through."""
    value = d.fill_inputs(node, run)
    if again is not None:
        value = {**d.input(again.run), **value}
    run.input = encode(value)
    return value


def hold_back(run: Run, node: Node, again: Again | None) -> None:
    """A first attempt waits for the task's startDelay, a retry for its delay."""
    if again is not None:
        run.start_delay = run.callback_after = again.delay_seconds
        run.due_at = run.scheduled_at + again.delay_ms if again.delay_ms else 0
    elif node.task.start_delay > 0:
        run.start_delay = run.callback_after = node.task.start_delay
        run.due_at = run.scheduled_at + node.task.start_delay * 1000


def under_way(d: Draft, run: Run) -> None:
    """The attempt waits for an end that comes from elsewhere."""
    run.status = TaskStatus.IN_PROGRESS
    run.started_at = run.started_at or d.facts.now
    run.updated_at = d.facts.now
    run.due_at = run.callback_after = 0


def fail(
    d: Draft,
    run: Run,
    reason: str,
    *,
    for_good: bool = False,
    output: dict[str, Json] | None = None,
) -> Sequence[str]:
    """The attempt fails; nothing follows at once."""
    status = TaskStatus.FAILED_WITH_TERMINAL_ERROR if for_good else TaskStatus.FAILED
    d.end(run, status, output, reason)
    return NOTHING
