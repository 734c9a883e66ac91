"""Definitions, executions and facts for tests, and a bench on which a core is driven by hand.

Everything has a sensible default, and any field can be given.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from engine.core.inbox import Asked, Handed, Wanted
from engine.core.knowledge import Knowledge
from engine.core.questions import Question
from engine.core.turn import Core
from engine.instruments.clock import HandClock
from engine.instruments.telemetry import Telemetry
from engine.model.definitions import SchemaDef, TaskDef, WorkflowDef, WorkflowTask
from engine.model.events import Answer, Event, ExtendLease, Result, Start
from engine.model.execution import Execution, Run
from engine.model.facts import Facts, Limits, Snapshot
from engine.model.record import Json, decode, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.decide import decide
from engine.store.memory import MemoryStore
from engine.tasks.restoring import restore
from engine.tasks.snapshot import snapshot
from engine.tasks.view import View

NOW = 1_700_000_000_000
"""The moment at which everything begins."""


# Tasks of a definition


def a_task(ref: str, type_: str = "SIMPLE", **fields: Any) -> WorkflowTask:
    """A task whose name is its reference name; fields in snake case or Conductor's."""
    given = {"name": ref, "task_reference_name": ref, "type": type_, **fields}
    return WorkflowTask.model_validate(given)


def a_switch(ref: str, cases: dict[str, Sequence[WorkflowTask]], **fields: Any) -> WorkflowTask:
    """A SWITCH over its input `case`; `default` names the default case."""
    chosen = {key: tuple(tasks) for key, tasks in cases.items() if key != "default"}
    given: dict[str, Any] = {
        "evaluator_type": "value-param",
        "expression": "case",
        "decision_cases": chosen,
        "default_case": tuple(cases.get("default", ())),
        "input_parameters": {"case": "${workflow.input.case}"},
    }
    return a_task(ref, "SWITCH", **{**given, **fields})


def a_fork(
    ref: str, *branches: Sequence[WorkflowTask], join: str = "join", **fields: Any
) -> tuple[WorkflowTask, WorkflowTask]:
    """A FORK_JOIN and the JOIN that waits for the last task of each branch."""
    ends = tuple(branch[-1].ref for branch in branches)
    return (
        a_task(ref, "FORK_JOIN", fork_tasks=tuple(tuple(branch) for branch in branches)),
        a_task(join, "JOIN", **{"join_on": ends, **fields}),
    )


def a_loop(ref: str, *body: WorkflowTask, **fields: Any) -> WorkflowTask:
    """A DO_WHILE by a condition, or over `items` where those are given."""
    given: dict[str, Any] = {"loop_over": body}
    if "items" not in fields:
        given["loop_condition"] = f"$.{ref}['iteration'] < 3"
    return a_task(ref, "DO_WHILE", **{**given, **fields})


def a_child(ref: str, of: str, **fields: Any) -> WorkflowTask:
    """A SUB_WORKFLOW that runs the highest version of a definition."""
    return a_task(ref, "SUB_WORKFLOW", sub_workflow_param={"name": of}, **fields)


def a_dynamic_fork(ref: str, join: str = "join") -> tuple[WorkflowTask, WorkflowTask]:
    """A FORK_JOIN_DYNAMIC over the workflow's inputs `tasks` and `inputs`, and its JOIN."""
    return (
        a_task(
            ref,
            "FORK_JOIN_DYNAMIC",
            dynamic_fork_tasks_param="tasks",
            dynamic_fork_tasks_input_param_name="inputs",
            input_parameters={
                "tasks": "${workflow.input.tasks}",
                "inputs": "${workflow.input.inputs}",
            },
        ),
        a_task(join, "JOIN"),
    )


# Definitions, executions, facts


def a_definition(*tasks: WorkflowTask, name: str = "order", **fields: Any) -> WorkflowDef:
    """A definition of these tasks."""
    return WorkflowDef.model_validate({"name": name, "tasks": tasks or (a_task("a"),), **fields})


def a_task_def(name: str = "a", **fields: Any) -> TaskDef:
    """A task definition; without retries unless they are asked for."""
    given = {"retry_count": 0, "retry_delay_seconds": 0}
    return TaskDef.model_validate({"name": name, **given, **fields})


def facts_at(
    now: int = NOW,
    *task_defs: TaskDef,
    definitions: Sequence[WorkflowDef] = (),
    payload: Callable[[int, str], bytes | None] | None = None,
    **fields: Any,
) -> Facts:
    """What a decision may know at an instant."""
    known = {item.name or "": item for item in task_defs}
    registered = {item.name or "": item for item in definitions}

    def definition(name: str, version: int | None) -> Snapshot | None:
        found = registered.get(name)
        return None if found is None else snapshot(found, Facts(now=0, task_def=known.get))

    if payload is not None:
        fields["payload"] = payload
    return Facts(now=now, task_def=known.get, definition=definition, **fields)


def a_start(definition: WorkflowDef, facts: Facts | None = None, **fields: Any) -> Start:
    """The event that starts a definition, as it is snapshotted with the facts at hand."""
    found = snapshot(definition, facts or facts_at())
    given = fields.pop("input", {})
    return Start(
        definition=found.definition, definition_hash=found.hash, input=encode(given), **fields
    )


def a_bare_execution(start: Start, key: int = 1, workflow_id: str = "w-1") -> Execution:
    """An execution as it is before its start has been decided."""
    return Execution(
        key=key,
        id=workflow_id,
        definition=start.definition,
        definition_hash=start.definition_hash,
        input=start.input,
        correlation_id=start.correlation_id,
        priority=start.priority,
        task_to_domain=start.task_to_domain,
        parent_id=start.parent_id,
        parent_task_id=start.parent_task_id,
        rate_limited=start.rate_limited,
    )


def an_execution(
    *tasks: WorkflowTask, facts: Facts | None = None, input: Json = None, **fields: Any
) -> Execution:
    """An execution of these tasks that has just started."""
    facts = facts or facts_at()
    start = a_start(a_definition(*tasks, **fields), facts, input=input or {})
    execution = a_bare_execution(start)
    execution.apply(decide(execution, start, facts))
    return execution


def after(execution: Execution, *events: Event, facts: Facts | None = None) -> Execution:
    """The same execution after some events."""
    for event in events:
        execution.apply(decide(execution, event, facts or facts_at()))
    return execution


def result(
    execution: Execution, reference: str, status: TaskStatus = TaskStatus.COMPLETED, **fields: Any
) -> Result:
    """A report on the latest attempt under a reference name."""
    output = fields.pop("output", {})
    return Result(seq=execution.latest[reference], status=status, output=encode(output), **fields)


def latest(execution: Execution, reference: str) -> Run:
    """The latest attempt under a reference name."""
    return execution.runs[execution.latest[reference]]


def statuses(execution: Execution) -> dict[str, str]:
    """Reference name -> status of its latest attempt, in the order of their numbers."""
    runs = sorted(execution.runs.values(), key=lambda run: run.seq)
    return {run.reference: run.status.value for run in runs}


class Bench:
    """Core, store in memory and a clock turned by hand: rule tests read as sentences on it."""

    def __init__(
        self,
        *definitions: WorkflowDef,
        task_defs: Sequence[TaskDef] = (),
        store: MemoryStore | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.clock = HandClock(NOW)
        self.limits = limits
        self.store = store or MemoryStore()
        self.task_defs = {item.name or "": item for item in task_defs}
        self.definitions: dict[tuple[str, int], WorkflowDef] = {}
        self.said: list[tuple[str, dict[str, Any]]] = []
        self.questions: list[Question] = []
        self.conditions: Callable[[Question], Json] = lambda question: False
        """What the evaluator answers to scripts."""
        self.complain: Callable[[SchemaDef, Json], str | None] = lambda schema, value: None
        """Why a value breaks a schema; known to the next core that wakes up."""
        self.started = 0
        for definition in definitions:
            self.register(definition)
        self.core = self.wake_up()

    def wake_up(self) -> Core:
        """A core on what the store has: the engine after a restart."""
        knowledge = Knowledge(
            self.task_defs.get,
            self._definition,
            jitter=False,
            limits=self.limits,
            schema_complaint=self.complain,
        )
        telemetry = Telemetry()
        telemetry.listen(lambda what, facts: self.said.append((what, facts)))
        self.questions.clear()
        self.core = Core(self.store, knowledge, self.clock, telemetry, self.questions.append)
        self.core.recover()
        return self.core

    def register(self, definition: WorkflowDef) -> None:
        """Make a definition known."""
        self.definitions[definition.name or "", definition.version] = definition

    def _definition(self, name: str, version: int | None) -> WorkflowDef | None:
        if version is not None:
            return self.definitions.get((name, version))
        versions = [number for known, number in self.definitions if known == name]
        return self.definitions[name, max(versions)] if versions else None

    # Doing

    def start(self, name: str = "order", input: Json = None, **fields: Any) -> str:
        """Start an execution of a registered definition; its workflow id."""
        found = self.core.knowledge.definition(name, None)
        if found is None:
            raise LookupError(f"no definition {name} on this bench")
        self.started += 1
        event = Start(
            definition=found.definition,
            definition_hash=found.hash,
            input=encode(input or {}),
            **fields,
        )
        workflow_id = f"{name}-{self.started}"
        self.ask(workflow_id, event)
        return workflow_id

    def ask(self, workflow_id: str, event: Event) -> Any:
        """Send an event, take turns until all is quiet, and give what was answered."""
        reply = self.send(workflow_id, event)
        self.settle()
        return reply.result(0)

    def send(self, workflow_id: str, event: Event) -> "Future[Any]":
        """One turn with one event."""
        asked = Asked(event, workflow_id=workflow_id, reply=Future())
        self.core.turn([asked])
        if asked.reply is None:
            raise LookupError("an event lost its reply")
        return asked.reply

    def wanted(
        self, task_type: str, count: int = 1, wait_ms: int = 0, domain: str | None = None
    ) -> Wanted:
        """A worker's question."""
        return Wanted(task_type, domain, count, "w", self.clock.now() + wait_ms)

    def poll(self, task_type: str, count: int = 1, domain: str | None = None) -> list[Handed]:
        """What a worker gets that does not wait."""
        wanted = self.wanted(task_type, count, domain=domain)
        self.core.turn([wanted])
        self.settle()
        return wanted.reply.result(0)

    def report(
        self, handed: Handed, status: TaskStatus, output: Json = None, **fields: Any
    ) -> None:
        """Answer for a task that was handed out."""
        event = Result(seq=handed.run.seq, status=status, output=encode(output or {}), **fields)
        self.ask(handed.execution.id, event)

    def complete(self, task_type: str, output: Json = None, **fields: Any) -> Handed:
        """Poll one task and complete it."""
        handed = self._one(task_type)
        self.report(handed, TaskStatus.COMPLETED, output, **fields)
        return handed

    def fail(self, task_type: str, reason: str | None = None, for_good: bool = False) -> Handed:
        """Poll one task and fail it."""
        handed = self._one(task_type)
        status = TaskStatus.FAILED_WITH_TERMINAL_ERROR if for_good else TaskStatus.FAILED
        self.report(handed, status, reason=reason)
        return handed

    def _one(self, task_type: str) -> Handed:
        got = self.poll(task_type)
        if not got:
            raise AssertionError(f"there is no {task_type} to poll")
        return got[0]

    def answer(self, workflow_id: str, ref: str, status: TaskStatus, **fields: Any) -> None:
        """Report on the latest attempt of a reference name without polling it."""
        output = fields.pop("output", {})
        seq = self.run(workflow_id, ref).seq
        self.ask(workflow_id, Result(seq=seq, status=status, output=encode(output), **fields))

    def extend(self, handed: Handed) -> None:
        """A worker asks for more time."""
        self.ask(handed.execution.id, ExtendLease(seq=handed.run.seq))

    def advance(self, seconds: float) -> None:
        """Turn the clock on in one step."""
        self.clock.advance(int(seconds * 1000))
        self.settle()

    def settle(self) -> None:
        """Turns and script answers until nothing is due at this moment."""
        while True:
            items = self.core.due_items()
            while self.questions:
                items.append(self.answered(self.questions.pop(0)))
            if not items:
                return
            self.core.turn(items)

    def answered(self, question: Question) -> Asked:
        """What the evaluator says to a script."""
        value = self.conditions(question)
        event = Answer(seq=question.seq, asked=question.asked, value=value)
        return Asked(event, key=question.execution)

    # Looking

    def execution(self, workflow_id: str) -> Execution:
        """As it is committed, with its payloads."""
        key = self.store.key_of(workflow_id)
        loaded = None if key is None else self.store.load(key, payloads=True)
        if loaded is None:
            raise LookupError(f"no execution {workflow_id}")
        return restore(loaded.execution, loaded.runs)

    def executions(self) -> list[Execution]:
        """Every execution as it is committed, oldest first, with its payloads."""
        loaded = [self.store.load(key, payloads=True) for key in sorted(self.store.numbers())]
        return [restore(item.execution, item.runs) for item in loaded if item is not None]

    def status(self, workflow_id: str) -> ExecutionStatus:
        return self.execution(workflow_id).status

    def statuses(self, workflow_id: str) -> dict[str, str]:
        """Reference name -> status of its latest attempt."""
        return statuses(self.execution(workflow_id))

    def run(self, workflow_id: str, reference: str) -> Run:
        """The latest attempt under a reference name."""
        return latest(self.execution(workflow_id), reference)

    def attempts(self, workflow_id: str, reference: str) -> list[Run]:
        """All attempts under a reference name, oldest first."""
        runs = self.execution(workflow_id).runs.values()
        return [run for run in runs if run.reference == reference]

    def output(self, workflow_id: str, reference: str | None = None) -> Json:
        """The output of an attempt, or of the execution."""
        if reference is not None:
            view = self.view(workflow_id)
            return view.output(latest(view.execution, reference))
        return decode(self.execution(workflow_id).output)

    def view(self, workflow_id: str) -> View:
        """As rules and expressions read it."""
        return View(self.execution(workflow_id), facts_at(self.clock.now()))

    def expect(
        self, workflow_id: str, status: ExecutionStatus, **tasks: TaskStatus | str | None
    ) -> None:
        """The status of the execution, and of tasks by reference name (None: not reached)."""
        found = self.execution(workflow_id)
        seen = statuses(found)
        wanted = {ref: None if state is None else str(state) for ref, state in tasks.items()}
        assert (found.status, {ref: seen.get(ref) for ref in tasks}) == (status, wanted)

    def heard(self, what: str) -> list[dict[str, Any]]:
        """The facts of everything that was said under a name."""
        return [facts for said, facts in self.said if said == what]
