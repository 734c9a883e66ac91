"""Tasks that wait for others: JOIN for all, EXCLUSIVE_JOIN for the branch that was taken.

A JOIN counts down as its tasks settle; it looks at all of them only when it is placed and when it
ends, so a fork of n branches costs n, not n squared.
"""

from collections.abc import Sequence

from engine.model.execution import Run
from engine.model.record import Json, encode
from engine.model.status import TaskStatus
from engine.tasks.draft import Again, Draft
from engine.tasks.kind import NOTHING, TaskKind
from engine.tasks.plan import Node
from engine.tasks.rounds import reference_of
from engine.tasks.view import View


class Join(TaskKind):
    """Ends when every task it names has ended."""

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        run = d.add(node, iteration, TaskStatus.IN_PROGRESS, again=again, name=node.task.type)
        run.input = encode(self.given(node))
        if node is not d.plan.nodes.get(node.ref):
            run.node = node.task
        d.act_later(run)
        return NOTHING

    def given(self, node: Node) -> dict[str, Json]:
        """The recorded input."""
        return {"joinOn": list(node.task.join_on)}

    def reopen(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        d.act_later(run)
        return NOTHING

    def act(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        """Count what is still awaited."""
        awaited = [reference_of(ref, run.iteration) for ref in node.task.join_on]
        settled = [self.settled(d.latest(reference)) for reference in awaited]
        d.changes.left[run.reference] = len(awaited) - sum(settled)
        if all(settled):
            self.finish(d, run, node)
        return NOTHING

    @staticmethod
    def settled(run: Run | None) -> bool:
        """Ended, and everything that follows from it done: no retry is coming."""
        return run is not None and run.status.terminal and run.executed and not run.retried

    def hear(self, d: Draft, run: Run, node: Node) -> None:
        """One of the awaited tasks has settled."""
        left = d.left(run.reference)
        if left is None:
            self.act(d, run, node)
            return
        d.changes.left[run.reference] = left - 1
        if left - 1 <= 0:
            self.finish(d, run, node)

    def finish(self, d: Draft, run: Run, node: Node) -> None:
        """All have ended: put their outputs together and end as they did."""
        runs = awaited_runs(d, run, node)
        output = outputs_by_reference(d, runs)
        bad = [item for item in runs if item.status.bad]
        if bad:
            cancelled = all(item.status is TaskStatus.CANCELED for item in bad)
            status = TaskStatus.CANCELED if cancelled else TaskStatus.FAILED
            d.end(run, status, output, " ".join(item.reason or "" for item in bad).strip())
            return
        flawed = [item for item in runs if item.status is TaskStatus.COMPLETED_WITH_ERRORS]
        if flawed:
            named = "".join(f"{item.name}/{item.task_id} " for item in flawed)
            status, reason = TaskStatus.COMPLETED_WITH_ERRORS, named + "completed with errors"
            d.end(run, status, output, reason)
            return
        d.end(run, TaskStatus.COMPLETED, output)

    def give_up(self, d: Draft, run: Run, node: Node) -> None:
        """Nothing else will ever happen here, and some awaited tasks never came."""
        missing = [
            ref
            for ref in node.task.join_on
            if not self.settled(d.latest(reference_of(ref, run.iteration)))
        ]
        d.end(
            run,
            TaskStatus.FAILED,
            outputs_by_reference(d, awaited_runs(d, run, node)),
            f"waits for tasks that can no longer run: {', '.join(missing)}",
        )


def awaited_runs(view: View, run: Run, node: Node) -> list[Run]:
    """The latest attempts of the tasks a join names, as far as there are any."""
    found = (view.latest(reference_of(ref, run.iteration)) for ref in node.task.join_on)
    return [item for item in found if item is not None]


def outputs_by_reference(view: View, runs: Sequence[Run]) -> dict[str, Json]:
    """What a JOIN shows: the output of each task under its reference name, empty ones left out."""
    outputs = {run.reference: view.output(run) for run in runs if run.status.terminal}
    return {reference: output for reference, output in outputs.items() if output}


class ExclusiveJoin(Join):
    """Takes the first of its tasks that was reached; its outcome and output become the join's."""

    def given(self, node: Node) -> dict[str, Json]:
        return {
            "joinOn": list(node.task.join_on),
            "defaultExclusiveJoinTask": list(node.task.default_exclusive_join_task),
        }

    def act(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        chosen = self._first(d, run, node.task.join_on)
        if chosen is not None and self.settled(chosen):
            self._follow(d, run, chosen)
            return NOTHING
        fallback = self._first(d, run, node.task.default_exclusive_join_task)
        if fallback is not None and self.settled(fallback):
            self._follow(d, run, fallback)
        else:
            d.changes.left[run.reference] = 1
        return NOTHING

    def hear(self, d: Draft, run: Run, node: Node) -> None:
        self.act(d, run, node)

    @staticmethod
    def _first(d: Draft, run: Run, refs: Sequence[str]) -> Run | None:
        for ref in refs:
            found = d.latest(reference_of(ref, run.iteration))
            if found is not None and found.status is not TaskStatus.SKIPPED:
                return found
        return None

    @staticmethod
    def _follow(d: Draft, run: Run, chosen: Run) -> None:
        output = d.output(chosen)
        if chosen.status.bad:
            d.end(run, TaskStatus.FAILED, output, chosen.reason)
        else:
            d.end(run, TaskStatus.COMPLETED, output)
