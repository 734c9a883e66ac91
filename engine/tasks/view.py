"""An execution as rules and expressions read it: what is stored, overlaid by what is decided.

`View` reads, `Scope` is the same for `${...}` expressions. Nothing here changes anything.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from engine.expressions.roots import ENVIRONMENT, MISSING, Missing
from engine.expressions.templates import Template, compile_template, fill_inputs
from engine.model.execution import EMPTY, Changes, Execution, Run
from engine.model.facts import Facts
from engine.model.record import Json, decode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.tasks.plan import Node, Plan, plan_of
from engine.tasks.rounds import is_open_loop, partial_output, reference_of, whole_output


def node_in(execution: Execution, run: Run) -> Node:
    """The compiled task of an attempt, without a view."""
    plan = plan_of(execution.definition, execution.definition_hash)
    node: Node | None = execution.nodes.get(run.ref) or plan.nodes.get(run.ref)
    if node is None:
        raise LookupError(f"no task {run.ref} in {execution.definition.name}")
    return node


def list_order(run: Run) -> tuple[bool, int]:
    """Attempts are listed by seq; what a person skipped beforehand comes first."""
    return run.status is not TaskStatus.SKIPPED, run.seq


class View:
    """An execution together with the changes that are decided, but not applied yet."""

    __slots__ = ("changes", "execution", "facts", "nodes", "plan")

    def __init__(self, execution: Execution, facts: Facts) -> None:
        self.execution = execution
        self.facts = facts
        self.plan: Plan = plan_of(execution.definition, execution.definition_hash)
        self.nodes: dict[str, Node] = execution.nodes
        """Compiled tasks that are not in the definition, as they were before this decision."""
        self.changes = Changes(open=execution.open, unsettled=set(execution.unsettled))

    @property
    def status(self) -> ExecutionStatus:
        """The execution's status as decided so far."""
        found: ExecutionStatus = self.field("status")
        return found

    def field(self, name: str) -> Any:
        """A field of the execution as decided so far."""
        fields = self.changes.fields
        return fields[name] if name in fields else getattr(self.execution, name)

    def run(self, seq: int) -> Run | None:
        """An attempt by its seq."""
        if seq in self.changes.removed:
            return None
        return self.changes.runs.get(seq) or self.execution.runs.get(seq)

    def latest(self, reference: str) -> Run | None:
        """The newest attempt under a full reference name."""
        seq = self.changes.latest.get(reference)
        if seq is None:
            seq = self.execution.latest.get(reference)
        return None if not seq else self.run(seq)

    def newest(self, ref: str) -> Run | None:
        """The newest attempt of a task in its newest iteration."""
        reference = self.newest_reference(ref)
        return None if not reference else self.latest(reference)

    def newest_reference(self, ref: str) -> str | None:
        """The full reference name of a task's newest iteration."""
        reference = self.changes.last_of.get(ref)
        return self.execution.last_of.get(ref) if reference is None else reference

    def all_runs(self) -> list[Run]:
        """Every attempt in the order it is listed. Its cost grows with the execution: for ends
        and recoveries only."""
        seqs = self.execution.runs.keys() | self.changes.runs.keys()
        found = [run for seq in seqs if (run := self.run(seq)) is not None]
        return sorted(found, key=list_order)

    def node(self, ref: str) -> Node | None:
        """The compiled task of a reference name."""
        return self.changes.nodes.get(ref) or self.nodes.get(ref) or self.plan.nodes.get(ref)

    def node_of(self, run: Run) -> Node:
        """The compiled task of an attempt."""
        node = self.node(run.ref)
        if node is None:
            raise LookupError(f"no task {run.ref} in {self.execution.definition.name}")
        return node

    def input(self, run: Run) -> dict[str, Json]:
        """An attempt's input, decoded. Not to be changed."""
        return self._payload(run, "input")

    def output(self, run: Run) -> dict[str, Json]:
        """An attempt's output, decoded. Not to be changed. That of an open loop is put together:
        whoever needs little of it asks for that little (`part_of_output`)."""
        if is_open_loop(run):
            whole: dict[str, Json] = decode(whole_output(self, run))
            return whole
        return self._payload(run, "output")

    def part_of_output(self, run: Run, name: str | None) -> dict[str, Json]:
        """The same, of which only one member will be looked at (None: any may be)."""
        if name is not None and is_open_loop(run):
            return partial_output(self, run, (name,))
        return self.output(run)

    def stored_output(self, run: Run) -> dict[str, Json]:
        """What an attempt's record holds as its output, decoded. Not to be changed."""
        return self._payload(run, "output")

    def encoded_outputs(self, runs: Sequence[Run]) -> dict[int, bytes]:
        """What the records of attempts hold as their outputs, by seq; what is not in memory is
        read in one go."""
        unread = [run.seq for run in runs if run.output is None]
        read = self.facts.outputs(unread) if len(unread) > 1 else {}
        found = {}
        for run in runs:
            data = run.output
            if data is None:
                data = read.get(run.seq) or self.facts.payload(run.seq, "output")
            found[run.seq] = data or EMPTY
        return found

    def _payload(self, run: Run, side: str) -> dict[str, Json]:
        data: bytes | None = getattr(run, side)
        if data == EMPTY:
            return {}
        key = (run.seq, side)
        original = self.execution.runs.get(run.seq)
        unchanged = original is not None and getattr(original, side) is data
        if unchanged and key in self.execution.decoded:
            found: dict[str, Json] = self.execution.decoded[key]
            return found
        if data is None:
            data = self.facts.payload(run.seq, side)
        value: dict[str, Json] = decode(data) or {}
        if unchanged:
            self.execution.decoded[key] = value
        return value

    def variables(self) -> dict[str, Json]:
        """The workflow's variables, decoded. Not to be changed."""
        return self._own("variables")

    def workflow_input(self) -> dict[str, Json]:
        """The workflow's input, decoded. Not to be changed."""
        return self._own("input")

    def workflow_output(self) -> dict[str, Json]:
        """The workflow's output so far, decoded. Not to be changed."""
        return self._own("output")

    def _own(self, name: str) -> dict[str, Json]:
        data = self.field(name)
        if data == EMPTY:
            return {}
        if name in self.changes.fields:
            return decode(data) or {}
        key = (0, name)
        if key not in self.execution.decoded:
            if data is None:
                data = self.facts.payload(0, name)
            self.execution.decoded[key] = decode(data) or {}
        found: dict[str, Json] = self.execution.decoded[key]
        return found

    def latest_of(self, node: Node, iteration: int) -> Run:
        """The newest attempt of a task in an iteration, which must be there."""
        run = self.latest(reference_of(node.ref, iteration))
        if run is None:
            raise LookupError(f"no attempt of {node.ref} in iteration {iteration}")
        return run

    def fill_inputs(self, node: Node, run: Run) -> dict[str, Json]:
        """The resolved inputs of a task about to be attempted. Not to be changed."""
        return fill_inputs(node.template, node.defaults, Scope(self, run.task_id))

    def fill_value(self, value: Json, own_id: str | None = None) -> Json:
        """Any JSON value with its expressions filled."""
        return value if value is None else self.fill(compile_template(value), own_id)

    def fill(self, template: Template, own_id: str | None = None) -> Json:
        """A template filled from this execution; `own_id` is what ${CPEWF_TASK_ID} stands for."""
        return template.fill(Scope(self, own_id))


_TASK_FIELDS: dict[str, Callable[[View, Run], Json]] = {
    "input": lambda view, run: view.input(run),
    "output": lambda view, run: view.output(run),
    "taskType": lambda view, run: run.type,
    "status": lambda view, run: run.status.value,
    "referenceTaskName": lambda view, run: run.reference,
    "retryCount": lambda view, run: run.attempt,
    "correlationId": lambda view, run: view.execution.correlation_id,
    "pollCount": lambda view, run: run.poll_count,
    "taskDefName": lambda view, run: run.name,
    "scheduledTime": lambda view, run: run.scheduled_at,
    "startTime": lambda view, run: run.started_at,
    "endTime": lambda view, run: run.ended_at,
    "workflowInstanceId": lambda view, run: view.execution.id,
    "taskId": lambda view, run: run.task_id,
    "reasonForIncompletion": lambda view, run: run.reason,
    "callbackAfterSeconds": lambda view, run: run.callback_after,
    "workerId": lambda view, run: run.worker,
    "iteration": lambda view, run: run.iteration,
}

_WORKFLOW_FIELDS: dict[str, Callable[[View], Json]] = {
    "input": lambda view: view.workflow_input(),
    "output": lambda view: view.workflow_output(),
    "status": lambda view: view.status.value,
    "workflowId": lambda view: view.execution.id,
    "parentWorkflowId": lambda view: view.execution.parent_id,
    "parentWorkflowTaskId": lambda view: view.execution.parent_task_id,
    "workflowType": lambda view: view.execution.definition.name,
    "version": lambda view: view.execution.definition.version,
    "correlationId": lambda view: view.field("correlation_id"),
    "reasonForIncompletion": lambda view: view.field("reason"),
    "schemaVersion": lambda view: view.execution.definition.schema_version,
    "variables": lambda view: view.variables(),
}


class Scope:
    """What `${...}` can name in an execution: the workflow, and every task that has run."""

    __slots__ = ("own_id", "view")

    def __init__(self, view: View, own_id: str | None) -> None:
        self.view = view
        self.own_id = own_id

    def field(self, name: str, field: str, only: str | None = None) -> Json | Missing:
        """One member of a root; the others stay encoded. Of an open loop's output no other rounds
        are put together than the one that is read."""
        if name == "workflow":
            read = _WORKFLOW_FIELDS.get(field)
            return MISSING if read is None else read(self.view)
        run = self.view.newest(name)
        if run is None:
            return MISSING
        if field == "output":
            return self.view.part_of_output(run, only)
        of_task = _TASK_FIELDS.get(field)
        return MISSING if of_task is None else of_task(self.view, run)

    def get(self, name: str) -> Json | Missing:
        """A root as a whole."""
        if name == "workflow":
            return {key: read(self.view) for key, read in _WORKFLOW_FIELDS.items()}
        run = self.view.newest(name)
        if run is not None:
            return {key: read(self.view, run) for key, read in _TASK_FIELDS.items()}
        if name == "CPEWF_TASK_ID" and self.own_id is not None:
            return self.own_id
        environment = self.view.facts.environment
        if name == ENVIRONMENT:
            return dict(environment)
        return environment.get(name, MISSING)

    def names(self) -> Iterable[str]:
        """The workflow and every task that has run."""
        view = self.view
        return ["workflow", *(view.execution.last_of | view.changes.last_of)]
