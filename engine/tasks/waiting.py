"""Tasks that wait: WAIT for an instant or an answer, HUMAN for a person, messages for a loop."""

from collections.abc import Sequence

from engine.expressions.durations import InvalidDuration, InvalidUntil, duration_ms, until_ms
from engine.model.execution import Run
from engine.model.record import Json
from engine.model.status import TaskStatus
from engine.tasks.draft import Again, Draft
from engine.tasks.kind import NOTHING, TaskKind, fail, give_input
from engine.tasks.plan import Node

FOR_EVER = 2147483647
"""callbackAfterSeconds of a wait without an end."""


class Wait(TaskKind):
    """Waits for a duration, until an instant, or for an update."""

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        run = d.add(node, iteration, TaskStatus.IN_PROGRESS, again=again)
        give_input(d, run, node, again)
        return self.reopen(d, run, node)

    def reopen(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        run = d.edit(run)
        given, now = d.input(run), d.facts.now
        duration, until = _said(given.get("duration")), _said(given.get("until"))
        run.callback_after, run.due_at = FOR_EVER, 0
        if duration is not None and until is not None:
            return fail(
                d,
                run,
                "Both 'duration' and 'until' specified. Please provide only one input",
                for_good=True,
            )
        try:
            if duration is not None:
                run.due_at = now + duration_ms(duration)
            elif until is not None:
                run.due_at = max(until_ms(until), 1)
        except (InvalidDuration, InvalidUntil) as error:
            return fail(d, run, str(error), for_good=True)
        if run.due_at:
            run.callback_after = max(0, (run.due_at - now) // 1000)
        return NOTHING

    def due(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        d.end(run, TaskStatus.COMPLETED)
        return NOTHING


def _said(value: Json) -> Json:
    """A blank text says nothing."""
    return None if isinstance(value, str) and not value.strip() else value


class Human(TaskKind):
    """Waits for a person's answer."""

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        run = d.add(node, iteration, TaskStatus.IN_PROGRESS, again=again)
        give_input(d, run, node, again)
        return NOTHING
