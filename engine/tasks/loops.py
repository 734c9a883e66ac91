"""DO_WHILE: runs its body again and again, by a condition or over a list of items.

The loop's record carries the present iteration; body attempts carry it in their reference names.
The outputs of earlier iterations are kept in the loop's output.
"""

from collections.abc import Sequence

from engine.expressions.scripts import Language, ScriptJob, is_true
from engine.model.events import Answer
from engine.model.execution import Run
from engine.model.record import Json, encode
from engine.model.status import TaskStatus
from engine.tasks.draft import Again, Draft
from engine.tasks.kind import NOTHING, SCRIPT, TaskKind, answer_value, fail, give_input
from engine.tasks.plan import Node
from engine.tasks.view import View, reference_of


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
        if d.busy(node.ref) == 0:
            d.act_later(run)
        return NOTHING

    def act(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        """Begin, or go on after all body attempts of this iteration have settled."""
        if run.status.terminal or d.busy(node.ref) > 0:
            return NOTHING
        if run.iteration == 0:
            keep = d.input(run).get("keepLastN")
            if keep is not None and kept_rounds(keep) is None:
                reason = f"keepLastN is {keep!r}: give a whole number from 1, or leave it out"
                return fail(d, run, reason, for_good=True)
            items = self.items(d, run, node)
            if items is not None and not items:
                d.end(run, TaskStatus.COMPLETED, {"iteration": 0})
                return NOTHING
            return self.next_round(d, run, node, {}, items)
        return self.judge(d, run, node)

    def judge(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        """An iteration is complete: collect its outputs, then ask whether to go on."""
        run = d.edit(run)
        output = {**d.output(run), str(run.iteration): self.outputs(d, run, node)}
        bad = self.failures(d, run, node)
        if bad:
            reason = "".join(f"{item.reason} " for item in bad)
            d.end(run, TaskStatus.FAILED, output, reason)
            return NOTHING
        self.forget(d, run, node, output)
        run.output = encode(output)
        items = self.items(d, run, node)
        if items is not None and run.iteration >= len(items):
            d.end(run, TaskStatus.COMPLETED)
            return NOTHING
        if (node.task.loop_condition or "").strip():
            run.carrier = SCRIPT
            return NOTHING
        if items is None:
            d.end(run, TaskStatus.COMPLETED)
            return NOTHING
        return self.next_round(d, run, node, output, items)

    def job(self, view: View, run: Run, node: Node) -> ScriptJob:
        output = view.output(run)
        given = dict(view.fill_inputs(node, run))
        for body in self.body(view, node):
            found = view.newest(body.ref)
            if found is not None:
                given[body.ref] = view.output(found)
        given[node.ref] = output
        for key in ("loopIndex", "loopItem"):
            if key in output:
                given[key] = output[key]
        condition = node.task.loop_condition or ""
        return ScriptJob(Language.JAVASCRIPT, condition, given)

    def answer(self, d: Draft, run: Run, node: Node, answer: Answer) -> Sequence[str]:
        if answer.asked != run.iteration:
            return NOTHING
        d.log(run, answer.logs)
        if answer.error is not None:
            return fail(
                d,
                run,
                f"Unable to evaluate condition {node.task.loop_condition}, "
                f"exception {answer.error}",
                for_good=True,
            )
        if not is_true(answer_value(answer)):
            d.end(run, TaskStatus.COMPLETED)
            return NOTHING
        return self.next_round(d, run, node, d.output(run), self.items(d, run, node))

    def next_round(
        self,
        d: Draft,
        run: Run,
        node: Node,
        output: dict[str, Json],
        items: Sequence[Json] | None,
    ) -> Sequence[str]:
        """Place the body's first task for the next iteration."""
        limit = d.facts.limits.loop_iterations
        if run.iteration >= limit:
            return fail(
                d,
                run,
                f"the loop reached its limit of {limit} iterations; raise the limit in the "
                "settings or end the loop earlier",
                for_good=True,
            )
        run = d.edit(run)
        run.carrier = None
        run.iteration += 1
        run.updated_at = d.facts.now
        output = {**output, "iteration": run.iteration}
        if items is not None:
            output["loopIndex"] = run.iteration - 1
            output["loopItem"] = items[run.iteration - 1]
        run.output = encode(output)
        return (node.task.loop_over[0].ref,) if node.task.loop_over else NOTHING

    def items(self, d: Draft, run: Run, node: Node) -> Sequence[Json] | None:
        """The list it goes over, read afresh each time; None for a loop by condition."""
        if node.items is None:
            return None
        value = d.fill(node.items, run.task_id)
        if value is None:
            return ()
        return value if isinstance(value, list) else [value]

    @staticmethod
    def body(view: View, node: Node) -> list[Node]:
        """The body's tasks at any depth, those of dynamic forks included."""
        known = {**view.plan.nodes, **view.nodes, **view.changes.nodes}
        return [item for item in known.values() if item.loop == node.ref]

    def attempts(self, view: View, run: Run, node: Node) -> list[Run]:
        """The latest attempts of the present iteration."""
        found = (
            view.latest(reference_of(body.ref, run.iteration)) for body in self.body(view, node)
        )
        return [item for item in found if item is not None]

    def outputs(self, view: View, run: Run, node: Node) -> dict[str, Json]:
        """Plain reference name -> output, for the present iteration."""
        return {item.ref: view.output(item) for item in self.attempts(view, run, node)}

    def failures(self, view: View, run: Run, node: Node) -> list[Run]:
        """Body attempts that failed for good without ending the workflow (permissive ones)."""
        return [item for item in self.attempts(view, run, node) if item.status.bad]

    def forget(self, d: Draft, run: Run, node: Node, output: dict[str, Json]) -> None:
        """keepLastN: outputs and attempts of older iterations are dropped."""
        kept = kept_rounds(d.input(run).get("keepLastN")) or 0
        old = run.iteration - kept
        if kept <= 0 or old <= 0:
            return
        output.pop(str(old), None)
        for body in self.body(d, node):
            stale = d.latest(reference_of(body.ref, old))
            while stale is not None:
                d.remove(stale)
                stale = d.before(stale)


def kept_rounds(value: Json) -> int | None:
    """How many rounds `keepLastN` keeps; None where the value says no such number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return int(number) if number >= 1 and number.is_integer() else None
