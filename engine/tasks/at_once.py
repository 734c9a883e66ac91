"""Tasks that are done as soon as they are reached: SET_VARIABLE, NOOP, TERMINATE, EVENT."""

from collections.abc import Sequence

from engine.model.execution import Run
from engine.model.record import Json, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.tasks.draft import Again, Draft, Ending
from engine.tasks.kind import NOTHING, TaskKind, fail, give_input
from engine.tasks.plan import Node
from engine.tasks.view import View

MESSAGE = "event"
"""Topic of the messages that EVENT tasks publish."""


class AtOnce(TaskKind):
    """Placed in progress; `act` ends it in the same decision."""

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        run = d.add(node, iteration, TaskStatus.IN_PROGRESS, again=again)
        give_input(d, run, node, again)
        d.act_later(run)
        return NOTHING

    def reopen(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        d.act_later(run)
        return NOTHING


class Noop(AtOnce):
    """Completes."""

    def act(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        d.end(run, TaskStatus.COMPLETED)
        return NOTHING


class SetVariable(AtOnce):
    """Puts its inputs into the workflow's variables; top-level keys replace."""

    def act(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        variables = encode({**d.variables(), **d.input(run)})
        complaint = d.variables_complaint(variables)
        if complaint is not None:
            return fail(d, run, complaint, for_good=True)
        d.set(variables=variables)
        d.end(run, TaskStatus.COMPLETED)
        return NOTHING


_TERMINATION = {
    "COMPLETED": ExecutionStatus.COMPLETED,
    "FAILED": ExecutionStatus.FAILED,
    "TERMINATED": ExecutionStatus.TERMINATED,
}


class TerminateTask(AtOnce):
    """Ends the workflow with a status, a reason and an output of its own."""

    def act(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        given = d.input(run)
        ending = termination(d, run)
        if ending is None:
            return fail(
                d,
                run,
                "given termination status is not valid: "
                f"{given.get('terminationStatus')!r}; use COMPLETED, FAILED or TERMINATED",
            )
        output: Json = given.get("workflowOutput")
        if output is None:
            output = {}
        if not isinstance(output, dict):
            output = {"output": output}
        run = d.end(run, TaskStatus.COMPLETED, output)
        if run.status is not TaskStatus.COMPLETED:
            return NOTHING
        d.end_workflow(ending.status, ending.reason, run)
        return NOTHING


def termination(view: View, run: Run) -> Ending | None:
    """How a TERMINATE task ends its workflow; None for a status that it cannot be."""
    given = view.input(run)
    status = _TERMINATION.get(str(given.get("terminationStatus")))
    if status is None:
        return None
    reason = str(given.get("terminationReason") or "").strip()
    return Ending(status, reason or f"Workflow is {status} by TERMINATE task: {run.task_id}", run)


class EventTask(AtOnce):
    """Publishes a message to its sink. The message leaves after the commit, at least once."""

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        super().place(d, node, iteration, again)
        run = d.latest_of(node, iteration)
        given = dict(d.input(run))
        given["sink"] = d.fill_value(node.task.sink, run.task_id)
        given["asyncComplete"] = node.task.async_complete
        run.input = encode(given)
        return NOTHING

    def act(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        if d.facts.held(d.execution, run):
            return NOTHING
        given = d.input(run)
        sink = str(given.get("sink") or "")
        queue = self.queue_name(d, run, sink)
        if queue is None:
            return fail(d, run, _sink_complaint(run, sink))
        execution = d.execution
        output = {
            **given,
            "workflowInstanceId": execution.id,
            "workflowType": execution.definition.name,
            "workflowVersion": execution.definition.version,
            "correlationId": execution.correlation_id,
            "taskToDomain": execution.task_to_domain,
            "event_produced": queue,
        }
        d.changes.messages.append((MESSAGE, {"event": queue, "id": run.task_id, "payload": output}))
        if node.task.async_complete:
            mine = d.edit(run)
            mine.output = encode(output)
            return NOTHING
        d.end(run, TaskStatus.COMPLETED, output)
        return NOTHING

    @staticmethod
    def queue_name(d: Draft, run: Run, sink: str) -> str | None:
        """The full name of the queue a sink means; None for one that cannot be."""
        provider, colon, rest = sink.partition(":")
        if provider == "conductor":
            return f"conductor:{d.execution.definition.name}:{rest if colon else run.ref}"
        if provider.startswith("conductor") or not colon:
            return None
        return sink if provider in d.facts.sinks else None


def _sink_complaint(run: Run, sink: str) -> str:
    """Why nothing can be published there."""
    provider, colon, _ = sink.partition(":")
    if not colon or provider.startswith("conductor"):
        return f"Invalid / Unsupported sink specified: {sink}"
    error = f"Unknown queue type {provider}"
    return f"Error loading queue:{sink}, for task:{run.task_id}, error: {error}"
