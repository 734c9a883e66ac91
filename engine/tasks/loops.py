"""DO_WHILE: runs its body again and again, by a condition or over a list of items.

The loop's record carries the present iteration; body attempts carry it in their reference names.
Their outputs become the loop's output when it ends; until then they are put together on demand.
"""

from collections.abc import Collection, Sequence

from engine.expressions.scripts import Language, ScriptJob, is_true
from engine.model.events import Answer
from engine.model.execution import Run
from engine.model.record import Json, encode
from engine.model.status import TaskStatus
from engine.tasks.conditions import Sight, sight_of
from engine.tasks.draft import Again, Draft
from engine.tasks.kind import NOTHING, SCRIPT, TaskKind, answer_value, fail, give_input
from engine.tasks.plan import Node
from engine.tasks.rounds import (
    attempts_of,
    kept_rounds,
    own_part,
    partial_output,
    whole_output,
)
from engine.tasks.view import View


class DoWhile(TaskKind):
    """Repeats its body."""

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        run = d.add(node, 0, TaskStatus.IN_PROGRESS, again=again)
        give_input(d, run, node, again)
        d.act_later(run)
        return NOTHING

    def reopen(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        run.output = encode(own_part(d.stored_output(run)))
        if d.busy(node.ref) == 0:
            d.act_later(run)
        return NOTHING

    def act(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        """Begin, or go on after all body attempts of this iteration have settled."""
        if run.status.terminal or d.busy(node.ref) > 0:
            return NOTHING
        if run.iteration == 0:
            if not node.task.loop_over:
                return fail(d, run, "loopOver is empty: there is nothing to repeat", for_good=True)
            keep = d.input(run).get("keepLastN")
            if keep is not None and kept_rounds(keep) is None:
                reason = f"keepLastN is {keep!r}: give a whole number from 1, or leave it out"
                return fail(d, run, reason, for_good=True)
            items = self.items(d, run, node)
            if items is not None and not items:
                d.end(run, TaskStatus.COMPLETED, {"iteration": 0})
                return NOTHING
            return self.next_round(d, run, node, items)
        return self.judge(d, run, node)

    def judge(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        """An iteration is complete: ask whether to go on."""
        # Failures of body attempts that did not end the workflow: permissive ones.
        bad = [item for item in attempts_of(d, run, run.iteration) if item.status.bad]
        if bad:
            return self.finish(
                d, run, TaskStatus.FAILED, "".join(f"{item.reason} " for item in bad)
            )
        self.forget(d, run)
        items = self.items(d, run, node)
        if items is not None and run.iteration >= len(items):
            return self.finish(d, run, TaskStatus.COMPLETED)
        if (node.task.loop_condition or "").strip():
            d.edit(run).carrier = SCRIPT
            return NOTHING
        if items is None:
            return self.finish(d, run, TaskStatus.COMPLETED)
        return self.next_round(d, run, node, items)

    @staticmethod
    def finish(d: Draft, run: Run, status: TaskStatus, reason: str | None = None) -> Sequence[str]:
        """The loop ends, and its present iteration is over."""
        d.end(run, status, whole_output(d, run, run.iteration), reason)
        return NOTHING

    def job(self, view: View, run: Run, node: Node) -> ScriptJob:
        """The condition, with as much of what it may look at as its text does look at."""
        condition = node.task.loop_condition or ""
        sight = sight_of(condition, node.ref)
        given = dict(view.fill_inputs(node, run))
        for ref in self.seen_body(view, node, sight):
            found = view.newest(ref)
            if found is not None:
                given[ref] = view.output(found)
        if sight.rounds is None:
            output = view.output(run)
        else:
            output = partial_output(view, run, sight.rounds)
        given[node.ref] = output
        for key in ("loopIndex", "loopItem"):
            if key in output:
                given[key] = output[key]
        seen = {key: value for key, value in given.items() if sight.sees(key)}
        return ScriptJob(Language.JAVASCRIPT, condition, seen)

    @staticmethod
    def seen_body(view: View, node: Node, sight: Sight) -> list[str]:
        """The body's tasks that a condition looks at, those of dynamic forks included."""
        names: Collection[str] | None = sight.names
        if names is None:
            names = {**view.plan.nodes, **view.nodes, **view.changes.nodes}
        found = (view.node(ref) for ref in names)
        return [item.ref for item in found if item is not None and item.loop == node.ref]

    def answer(self, d: Draft, run: Run, node: Node, answer: Answer) -> Sequence[str]:
        if answer.asked != run.iteration:
            return NOTHING
        d.log(run, answer.logs)
        if answer.error is not None:
            condition = node.task.loop_condition
            reason = f"Unable to evaluate condition {condition}, exception {answer.error}"
            return self.finish(d, run, TaskStatus.FAILED_WITH_TERMINAL_ERROR, reason)
        if not is_true(answer_value(answer)):
            return self.finish(d, run, TaskStatus.COMPLETED)
        return self.next_round(d, run, node, self.items(d, run, node))

    def next_round(
        self, d: Draft, run: Run, node: Node, items: Sequence[Json] | None
    ) -> Sequence[str]:
        """Place the body's first task for the next iteration."""
        limit = d.facts.limits.loop_iterations
        if run.iteration >= limit:
            reason = (
                f"the loop reached its limit of {limit} iterations; raise the limit in the "
                "settings or end the loop earlier"
            )
            return self.finish(d, run, TaskStatus.FAILED_WITH_TERMINAL_ERROR, reason)
        run = d.edit(run)
        run.updated_at = d.facts.now
        self.stand_at(d, run, run.iteration + 1, items)
        return (node.task.loop_over[0].ref,) if node.task.loop_over else NOTHING

    def go_back(self, d: Draft, run: Run, node: Node, iteration: int) -> None:
        """The loop, open again, stands at an earlier iteration."""
        self.stand_at(d, run, iteration, self.items(d, run, node))

    @staticmethod
    def stand_at(d: Draft, run: Run, iteration: int, items: Sequence[Json] | None) -> None:
        """The record as it is in an iteration: everything of its output but the rounds."""
        run.carrier = None
        run.iteration = iteration
        output = {**own_part(d.stored_output(run)), "iteration": iteration}
        if items is not None and iteration <= len(items):
            output["loopIndex"] = iteration - 1
            output["loopItem"] = items[iteration - 1]
        run.output = encode(output)

    def items(self, d: Draft, run: Run, node: Node) -> Sequence[Json] | None:
        """The list it goes over, read afresh each time; None for a loop by condition."""
        if node.items is None:
            return None
        value = d.fill(node.items, run.task_id)
        if value is None:
            return ()
        return value if isinstance(value, list) else [value]

    @staticmethod
    def forget(d: Draft, run: Run) -> None:
        """keepLastN: the attempts of older iterations are dropped, and so their outputs."""
        kept = kept_rounds(d.input(run).get("keepLastN")) or 0
        old = run.iteration - kept
        if kept <= 0 or old <= 0:
            return
        for attempt in attempts_of(d, run, old):
            stale: Run | None = attempt
            while stale is not None:
                d.remove(stale)
                stale = d.before(stale)
