"""Tasks that start other executions: SUB_WORKFLOW waits for its child, START_WORKFLOW does not.

A child is started by a letter, written in the commit that places the task; its id is derived from
the task, so a letter that arrives twice meets the child that is there.
"""

from collections.abc import Sequence

from engine.model.errors import EngineError, InvalidInput
from engine.model.events import Start, Terminate
from engine.model.execution import Run
from engine.model.facts import Snapshot
from engine.model.ids import child_id, depth_of
from engine.model.record import Json, decode, encode
from engine.model.requests import IdempotencyStrategy, StartWorkflowRequest
from engine.model.status import ExecutionStatus, TaskStatus
from engine.tasks.at_once import AtOnce
from engine.tasks.draft import Again, Draft
from engine.tasks.keys import follow_holder, holder_of, strategy_of
from engine.tasks.kind import NOTHING, TaskKind, fail, give_input, hold_back, under_way
from engine.tasks.plan import Node
from engine.tasks.snapshot import inline_snapshot, input_for

DEEPEST = 100
"""Ancestors that a sub-workflow may have. Definitions that start each other in a circle would go on
for ever, faster than anybody could terminate them."""

_INPUT_PATH = "startWorkflow.externalInputPayloadStoragePath"


class SubWorkflow(TaskKind):
    """Runs another workflow as its child and ends as the child ends."""

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        param = node.task.sub_workflow_param
        if param is None:
            reason = (
                f"Task {node.task.name} is defined as sub-workflow and is missing "
                "subWorkflowParams. Please check the workflow definition"
            )
            d.end_workflow(ExecutionStatus.FAILED, reason)
            return NOTHING
        run = d.add(node, iteration, TaskStatus.SCHEDULED, again=again)
        own = run.task_id
        given: dict[str, Json] = {
            "subWorkflowName": d.fill_value(param.name, own),
            "subWorkflowVersion": d.fill_value(param.version, own),
            "subWorkflowTaskToDomain": d.fill_value(param.task_to_domain, own),
            "subWorkflowDefinition": self._described(d, param.workflow_definition, own),
            "priority": d.fill_value(param.priority, own),
            "idempotencyKey": d.fill_value(param.idempotency_key, own),
            "idempotencyStrategy": d.fill_value(param.idempotency_strategy, own),
            "workflowInput": d.fill(node.template, own),
        }
        if given["priority"] is not None and str(given["priority"]).isdigit():
            run.priority = int(given["priority"])
        run.input = encode(given)
        hold_back(run, node, again)
        if not run.due_at and d.fits(run.input):
            self.launch(d, run, node)
        return NOTHING

    def due(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        if run.child_id is None:
            self.launch(d, d.edit(run), node)
        return NOTHING

    def reopen(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        self.launch(d, d.edit(run), node)
        return NOTHING

    def launch(self, d: Draft, run: Run, node: Node) -> None:
        """Write the child's start; from here on the task waits for its end."""
        if d.facts.held(d.execution, run):
            under_way(d, run)
            return
        given = d.input(run)
        snapshot = self._snapshot(d, given)
        if isinstance(snapshot, str):
            fail(d, run, snapshot)
            return
        if self._settled_by_its_key(d, run, given, snapshot):
            return
        depth = depth_of(d.execution.id) + 1
        runaway = _too_deep(snapshot, depth) or too_many(d, snapshot)
        if runaway is not None:
            fail(d, run, runaway, for_good=True)
            return
        child = _next_child(d, run, depth)
        child_input = self._input(d, given, snapshot, child)
        if isinstance(child_input, str):
            fail(d, run, child_input)
            return
        d.send(child, self._start(d, run, given, snapshot, child_input))
        under_way(d, run)
        run.child_id = child
        run.output = encode({"subWorkflowId": child})

    @staticmethod
    def _snapshot(d: Draft, given: dict[str, Json]) -> Snapshot | str:
        """The child's definition, or why there is none."""
        inline = given.get("subWorkflowDefinition")
        try:
            return _registered(d, given) if inline is None else inline_snapshot(inline, d.facts)
        except InvalidInput as error:
            return str(error)

    @staticmethod
    def _settled_by_its_key(d: Draft, run: Run, given: dict[str, Json], snapshot: Snapshot) -> bool:
        """Is no child to be started, because of the idempotency key? Where an execution is under it
        already, the task goes by that or fails; where the strategy is none, it fails."""
        key = str(given.get("idempotencyKey") or "")
        strategy = strategy_of(d, run, given.get("idempotencyStrategy"))
        if strategy is None:
            return True
        holder = holder_of(d, snapshot.definition.name, key, strategy) if key else None
        if isinstance(holder, str):
            fail(d, run, holder)
        elif holder is not None:
            named = f"{snapshot.definition.name}.{snapshot.definition.version}/{holder.id}"
            follow_holder(d, run, holder, named)
        return holder is not None

    @staticmethod
    def _input(d: Draft, given: dict[str, Json], snapshot: Snapshot, child: str) -> bytes | str:
        """What the child begins with, encoded, or why it cannot begin with that."""
        brought = given.get("workflowInput") or given
        if given.get("subWorkflowDefinition") is not None:
            brought = {**brought, "_systemMetadata": {"dynamic": True}}
        try:
            completed = input_for(snapshot.definition, brought, d.facts.schema_complaint)
        except InvalidInput as error:
            return str(error)
        encoded = encode(completed)
        return d.size_complaint("input", encoded, child) or encoded

    @staticmethod
    def _start(
        d: Draft, run: Run, given: dict[str, Json], snapshot: Snapshot, child_input: bytes
    ) -> Start:
        """The event that begins the child."""
        execution = d.execution
        return Start(
            definition=snapshot.definition,
            definition_hash=snapshot.hash,
            input=child_input,
            correlation_id=execution.correlation_id,
            priority=run.priority if given.get("priority") is not None else 0,
            task_to_domain=given.get("subWorkflowTaskToDomain") or dict(execution.task_to_domain),
            parent_id=execution.id,
            parent_task_id=run.task_id,
            idempotency_key=str(given.get("idempotencyKey") or "") or None,
            # Whether the key is free has just been looked at.
            idempotency_strategy=IdempotencyStrategy.FAIL_ON_RUNNING,
            isolated=execution.isolated,
        )

    @staticmethod
    def _described(d: Draft, definition: Json, own_id: str) -> Json:
        """An in-line definition stays as written, its expressions are its own; a text names where
        to find one."""
        return d.fill_value(definition, own_id) if isinstance(definition, str) else definition

    def cancel(self, d: Draft, run: Run, node: Node, reason: str) -> None:
        if run.child_id is not None:
            d.send(run.child_id, Terminate(reason=reason, by_parent=True))


def _registered(d: Draft, given: dict[str, Json]) -> Snapshot | str:
    """The definition of a name and version, or why there is none."""
    name, version = given.get("subWorkflowName"), given.get("subWorkflowVersion")
    if not name:
        return "SubWorkflow name is null and no workflowDefinition supplied"
    try:
        number = int(version) or None if version not in (None, "") else None
    except (TypeError, ValueError):
        return f"subWorkflowParam.version is no number: {version!r}"
    found = d.facts.definition(str(name), number)
    if found is None:
        shown = "null" if number is None else number
        return f"No such workflow defined. name={name}, version={shown}"
    return found


def _next_child(d: Draft, run: Run, depth: int) -> str:
    """The id of the child that an attempt starts now. One that is reopened in place has had a child
    before, whose id may not come again."""
    generation = "" if run.child_id is None else f":{run.child_id}"
    return child_id(d.execution.id, run.task_id + generation, run.attempt, depth)


def _too_deep(snapshot: Snapshot, depth: int) -> str | None:
    if depth <= DEEPEST:
        return None
    return (
        f"Sub-workflows may be nested {DEEPEST} deep, and {snapshot.definition.name} would be one "
        "deeper. It is probably started by itself, directly or by one of its children: end that "
        "with a SWITCH"
    )


def too_many(d: Draft, snapshot: Snapshot) -> str | None:
    """Why an execution may start no further one; None while it may. Those that this decision
    starts are on their way as letters, and not counted yet."""
    limit = d.facts.limits.descendants
    if d.facts.started_lately(d.execution.id) + len(d.changes.letters) < limit:
        return None
    return too_many_text(snapshot.definition.name, limit)


def too_many_text(name: str | None, limit: int) -> str:
    """What is said of an execution that would be one too many."""
    return (
        f"One execution and those that it starts may start {limit} executions within a day, and "
        f"{name} would be one more. It is probably started by itself, directly or by one that it "
        "starts: end that with a SWITCH, or raise the limit of descendants in the settings"
    )


class StartWorkflow(AtOnce):
    """Starts an independent execution and completes with its id."""

    def place(
        self, d: Draft, node: Node, iteration: int, again: Again | None = None
    ) -> Sequence[str]:
        run = d.add(node, iteration, TaskStatus.SCHEDULED, again=again)
        give_input(d, run, node, again)
        hold_back(run, node, again)
        if not run.due_at:
            d.act_later(run)
        return NOTHING

    def due(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        return self.act(d, run, node)

    def act(self, d: Draft, run: Run, node: Node) -> Sequence[str]:
        if d.facts.held(d.execution, run):
            d.edit(run).due_at = 0
            return NOTHING
        asked = self._asked(d, run)
        if isinstance(asked, str):
            return fail(d, run, asked)
        request, found = asked
        complaint = too_many(d, found)
        if complaint is not None:
            return fail(d, run, complaint, for_good=True)
        key = request.idempotency_key or ""
        strategy = request.idempotency_strategy or IdempotencyStrategy.FAIL
        holder = holder_of(d, found.definition.name, key, strategy) if key else None
        if isinstance(holder, str):
            return fail(d, run, holder)
        if holder is not None:
            d.end(run, TaskStatus.COMPLETED, {"workflowId": holder.id})
            return NOTHING
        started = child_id(d.execution.id, run.task_id, run.attempt)
        try:
            start = self._start(d, request, found)
        except EngineError as error:
            return fail(d, run, str(error))
        complaint = d.size_complaint("input", start.input, started) or d.facts.refusal(start)
        if complaint is not None:
            return fail(d, run, complaint)
        d.send(started, start)
        d.end(run, TaskStatus.COMPLETED, {"workflowId": started})
        return NOTHING

    @staticmethod
    def _asked(d: Draft, run: Run) -> tuple[StartWorkflowRequest, Snapshot] | str:
        """What is to be started, or why that cannot be told."""
        described = d.input(run).get("startWorkflow")
        if described is None:
            return "Missing 'startWorkflow' in input data."
        try:
            request = StartWorkflowRequest.read(described)
            inline = request.workflow_def
            name = request.name or (inline.name if inline is not None else None)
            if not name:
                return (
                    "startWorkflow validation failed. "
                    "'name' -> Workflow name cannot be null or empty. "
                )
            found = (
                inline_snapshot(inline.json_value(), d.facts)
                if inline is not None
                else d.facts.definition(name, request.version)
            )
        except InvalidInput as error:
            return f"Error reading StartWorkflowRequest. {error}"
        if found is None:
            version = "null" if request.version is None else request.version
            return f"No such workflow defined. name={name}, version={version}"
        return request, found

    @staticmethod
    def _start(d: Draft, request: StartWorkflowRequest, found: Snapshot) -> Start:
        """The event that begins it. EngineError: its input cannot be had, or breaks its schema."""
        execution = d.execution
        path = request.external_input_payload_storage_path
        brought = decode(d.facts.named(_INPUT_PATH, path)) if path else request.input or {}
        return Start(
            definition=found.definition,
            definition_hash=found.hash,
            input=encode(input_for(found.definition, brought, d.facts.schema_complaint)),
            input_path=path or None,
            correlation_id=request.correlation_id or execution.correlation_id,
            priority=request.priority,
            task_to_domain=request.task_to_domain or dict(execution.task_to_domain),
            created_by=request.created_by,
            idempotency_key=request.idempotency_key or None,
            # Whether the key is free has just been looked at.
            idempotency_strategy=IdempotencyStrategy.FAIL_ON_RUNNING,
            isolated=execution.isolated,
        )
