"""Tasks that a worker carries out: SIMPLE, HTTP, every type word the engine does not know, and
DYNAMIC, which becomes one of the others once its name is known."""

from collections.abc import Sequence
from dataclasses import replace

from engine.model.definitions import TaskDef
from engine.model.execution import Run
from engine.model.record import Json, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.tasks.caching import cached_output
from engine.tasks.draft import Again, Draft
from engine.tasks.kind import NOTHING, TaskKind, fail, give_input, hold_back
from engine.tasks.plan import Node, compile_node
from engine.tasks.view import View
from engine.tasks.words import is_system


class ByWorker(TaskKind):
    """Scheduled into the queue of its type; a worker takes it and reports."""

    queued = True

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        run = d.add(node, iteration, TaskStatus.SCHEDULED, again=again, type_=self.queue_of(node))
        resolved_input = give_input(d, run, node, again)
        given = self.completed(d, run, node, resolved_input)
        if given is not resolved_input:
            run.input = encode(given)
        hold_back(run, node, again)
        if again is None and not is_system(node.task.type):
            run.domain = domain_for(d, run.type)
        run.carrier = run.type
        return self.check(d, run, node, given)

    def completed(
        self, view: View, run: Run, node: Node, given: dict[str, Json]
    ) -> dict[str, Json]:
        """The input with what this type adds to it."""
        if node.task.type == "HTTP" and node.task.async_complete:
            return {**given, "asyncComplete": True}
        return given

    @staticmethod
    def check(d: Draft, run: Run, node: Node, given: dict[str, Json]) -> Sequence[str]:
        """Refuse an input that breaks its schema; take a cached output."""
        complaint = input_complaint(d, run, node, given)
        if complaint is not None:
            return fail(d, run, complaint, for_good=True)
        found = cached_output(d, run, node)
        if found is not None:
            d.log(run, ("output taken from the cache",))
            d.end(run, TaskStatus.COMPLETED, found)
        return NOTHING

    @staticmethod
    def queue_of(node: Node) -> str:
        """The task type that workers poll: a SIMPLE task's name, else the type word."""
        return node.task.name or "" if node.task.type == "SIMPLE" else node.task.type

    def reopen(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        run = d.edit(run)
        run.status = TaskStatus.SCHEDULED
        run.carrier = run.type
        # Its time counts from the poll that is to come.
        run.started_at = 0
        return NOTHING


def input_complaint(d: Draft, run: Run, node: Node, given: dict[str, Json]) -> str | None:
    """Why a task cannot be handed its input."""
    policy = node.task_def
    if policy.enforce_schema and policy.input_schema is not None:
        complaint = d.facts.schema_complaint(policy.input_schema, given)
        if complaint is not None:
            return f"The input of {node.ref} does not fit its inputSchema: {complaint}"
    return None


def domain_for(d: Draft, task_type: str) -> str | None:
    """The domain of a worker task: that of its type, else that of `*`. Of several, the first in
    which a worker polled lately; if none did, the last."""
    domains = d.execution.task_to_domain
    if not domains:
        return None
    entry = domains.get(task_type) or domains.get("*")
    names = [name.strip() for name in (entry or "").split(",") if name.strip()]
    if not names:
        return None
    for name in names:
        if name.upper() != "NO_DOMAIN" and d.facts.polled(task_type, name):
            return name
    return None if names[-1].upper() == "NO_DOMAIN" else names[-1]


class Dynamic(TaskKind):
    """Takes its task name from its input, then runs as that: see `resolve`."""

    def resolve(self, d: Draft, node: Node) -> Node | None:
        """The node under its concrete name; None when there is no name, which ends the workflow."""
        given: dict[str, Json] = d.fill(node.template)
        parameter = node.task.dynamic_task_name_param or ""
        name = str(given.get(parameter) or "").strip()
        if not name:
            shown = encode(given).decode()
            d.end_workflow(
                ExecutionStatus.FAILED,
                "Cannot map a dynamic task based on the parameter and input. "
                f"Parameter= {parameter}, input= {shown}",
            )
            return None
        found = resolved(node, name, d.facts.task_def(name))
        d.know({node.ref: found})
        return found


def resolved(node: Node, name: str, task_def: TaskDef | None) -> Node:
    """A DYNAMIC node as the task it has become; the concrete name's task definition wins."""
    task = node.task.but(
        name=name,
        type=name if is_system(name) else "SIMPLE",
        task_definition=task_def or node.task.task_definition,
    )
    return replace(compile_node(task, node.next, node.loop), feeds=node.feeds, fork=node.fork)
