"""The end of an execution: is it over, with what output, what is cancelled, who is told.

Ending looks at all attempts, once.
"""

from engine.model.definitions import WorkflowDef
from engine.model.errors import InvalidInput
from engine.model.events import ChildEnded, Start
from engine.model.execution import EMPTY, Run
from engine.model.ids import child_id
from engine.model.record import Json, decode, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.listeners import tell_listeners
from engine.rules.rendering import workflow_json
from engine.tasks.caching import remember_workflow
from engine.tasks.draft import Draft, Ending
from engine.tasks.joins import Join
from engine.tasks.registry import KINDS, kind_of
from engine.tasks.snapshot import input_for

FAILURE_POINTER = "conductor.failure_workflow"
"""The output key that names the failure workflow that was started."""


def end_if_over(d: Draft) -> None:
    """Called when nothing is left to follow: complete the execution, or notice that it never can."""
    if d.status is not ExecutionStatus.RUNNING or d.changes.unsettled or d.field("rate_limited"):
        return
    if d.changes.open:
        return
    end(d, _permissive_ending(d) or Ending(ExecutionStatus.COMPLETED, None))


def give_up_waiting(d: Draft) -> bool:
    """Fail the joins of an execution in which nothing else can happen; True if there were any."""
    if d.status is not ExecutionStatus.RUNNING or d.changes.unsettled or not d.changes.open:
        return False
    if d.changes.open > _passive(d):
        return False
    waiting = []
    for reference in {**d.execution.left, **d.changes.left}:
        run = d.latest(reference)
        if run is not None and run.open:
            waiting.append(run)
    for run in waiting:
        node = d.node_of(run)
        kind = KINDS[node.task.type]
        if isinstance(kind, Join):
            kind.give_up(d, run, node)
    return bool(waiting)


def _passive(d: Draft) -> int:
    """How many open attempts wait for nothing but their neighbours: joins, and loops whose body
    is to go on."""
    count = d.execution.passive
    for seq, run in d.changes.runs.items():
        before = d.execution.runs.get(seq)
        count += run.passive - (before is not None and before.passive)
    for seq in d.changes.removed:
        before = d.execution.runs.get(seq)
        count -= before is not None and before.passive
    return count


def _permissive_ending(d: Draft) -> Ending | None:
    """What permissive failures make of an execution that has come to its end."""
    bad = [run for run in _latest(d.all_runs()) if _permissive_failure(d, run)]
    if not bad:
        return None
    text = ". ".join(
        f"Task {run.task_id} failed with status: {run.status} and reason: "
        f"'{'null' if run.reason is None else run.reason}'"
        for run in bad
    )
    return Ending(ExecutionStatus.FAILED, text, bad[0])


def _permissive_failure(d: Draft, run: Run) -> bool:
    node = d.node(run.ref)
    return node is not None and run.status.bad and node.task.permissive and not node.task.optional


def _latest(runs: list[Run]) -> list[Run]:
    return list({run.reference: run for run in runs}.values())


def end(d: Draft, ending: Ending) -> None:
    """End the execution: output, names of what failed, cancelled tasks, parent, failure workflow."""
    now = d.facts.now
    if ending.cause is not None and ending.cause.status is TaskStatus.COMPLETED:
        # A TERMINATE's: it hides no permissive failure.
        ending = _permissive_ending(d) or ending
    runs = d.all_runs()
    output = encode(output_of(d, runs)) if ending.output is None else ending.output
    complaint = d.size_complaint("output", output)
    if complaint is not None:
        ending, output = _too_large(ending, complaint), EMPTY
    broken = _schema_complaint(d, output) if ending.status is ExecutionStatus.COMPLETED else None
    if broken is not None:
        ending = Ending(ExecutionStatus.FAILED, broken, ending.cause)
    status = ending.status
    if status is ExecutionStatus.COMPLETED and ending.output is None:
        remember_workflow(d, output)
    d.ending = ending
    d.set(status=status, reason=ending.reason, ended_at=now, wake_at=0, updated_at=now)
    if ending.cause is not None and d.field("failed_task_id") is None:
        d.set(failed_task_id=ending.cause.task_id)
    _name_failures(d, runs)
    _cancel_open(d, runs, status, ending.reason)
    d.agenda.clear()
    d.acts.clear()
    for seq in list(d.changes.unsettled):
        _settle_quietly(d, seq, status)
    d.set(output=output)
    d.say(f"workflow.{status.value.lower()}")
    tell_listeners(d, "COMPLETED" if status is ExecutionStatus.COMPLETED else "TERMINATED")
    tell_listeners(d, "FINALIZED")
    tell_parent(d)


def _too_large(ending: Ending, complaint: str) -> Ending:
    """An output that cannot be kept fails what would have completed; a failure keeps its reason."""
    if ending.status is ExecutionStatus.COMPLETED:
        return Ending(ExecutionStatus.FAILED, complaint, ending.cause)
    reason = f"{ending.reason} ({complaint})" if ending.reason else complaint
    return Ending(ending.status, reason, ending.cause)


def _schema_complaint(d: Draft, output: bytes) -> str | None:
    """Why the output is not what the definition promises."""
    definition = d.execution.definition
    if definition.output_schema is None or not definition.enforce_schema:
        return None
    complaint = d.facts.schema_complaint(definition.output_schema, decode(output))
    named = definition.name
    return complaint and f"The output does not fit the outputSchema of {named}: {complaint}"


def _settle_quietly(d: Draft, seq: int, status: ExecutionStatus) -> None:
    """After a completion nothing waits any more; after a failure a retry must still find what
    has not been followed up."""
    run = d.run(seq)
    if run is not None and status is ExecutionStatus.COMPLETED:
        d.settle(run)


def _name_failures(d: Draft, runs: list[Run]) -> None:
    failed = [
        run
        for run in runs
        if run.status in (TaskStatus.FAILED, TaskStatus.FAILED_WITH_TERMINAL_ERROR)
    ]
    refs = (*d.field("failed_refs"), *(run.reference for run in failed))
    names = (*d.field("failed_names"), *(run.name for run in failed))
    d.set(failed_refs=tuple(dict.fromkeys(refs)), failed_names=tuple(dict.fromkeys(names)))


def output_of(d: Draft, runs: list[Run]) -> dict[str, Json]:
    """A TERMINATE task's output, else the resolved outputParameters, else the output of the task
    that was scheduled last."""
    for run in runs:
        if run.type == "TERMINATE" and run.status is TaskStatus.COMPLETED:
            return d.output(run)
    if d.execution.definition.output_parameters:
        filled: dict[str, Json] = d.fill(d.plan.output)
        return filled
    return d.output(runs[-1]) if runs else {}


def _cancel_open(d: Draft, runs: list[Run], status: ExecutionStatus, reason: str | None) -> None:
    text = (
        f"Parent workflow has been terminated with reason: {reason}"
        if reason
        else f"Parent workflow has been terminated with status {status}"
    )
    for run in runs:
        if not run.open:
            continue
        node = d.node(run.ref)
        if node is not None:
            kind_of(node.task.type).cancel(d, run, node, text)
        mine = d.end(run, TaskStatus.CANCELED)
        d.settle(mine)


def tell_parent(d: Draft) -> None:
    """A child's end is a letter to its parent."""
    execution = d.execution
    if execution.parent_id is None or execution.parent_task_id is None:
        return
    d.send(
        execution.parent_id,
        ChildEnded(
            task_id=execution.parent_task_id,
            child_id=execution.id,
            status=d.status,
            output=d.field("output") or EMPTY,
            reason=d.field("reason"),
            name=execution.definition.name or "",
            version=execution.definition.version,
        ),
    )


def start_failure_workflow(d: Draft) -> None:
    """Start the workflow that compensates; its id goes into the failed execution's output."""
    execution = d.execution
    name = failure_workflow_name(execution.definition, d.workflow_input())
    if name is None or d.status is ExecutionStatus.COMPLETED:
        return
    if "failedWorkflow" in d.workflow_input() and "failureStatus" in d.workflow_input():
        # One that names itself would go on for ever, each with the whole chain in its input.
        _point(
            d,
            f"Error workflow {name} failed to start.  reason: this execution is a failure workflow "
            "itself, and those are not followed by another",
        )
        return
    found = d.facts.definition(name, execution.definition.failure_workflow_version)
    if found is None:
        text = f"No such workflow defined. name={name}"
        _point(d, f"Error workflow {name} failed to start.  reason: {text}")
        return
    started = child_id(execution.id, f"failure:{d.field('line')}:{d.field('next_seq')}", 0)
    given = {
        **d.workflow_input(),
        "workflowId": execution.id,
        "reason": d.field("reason"),
        "failureStatus": d.status.value,
        "failedWorkflow": workflow_json(d, unmasked=True),
    }
    if d.field("failed_task_id") is not None:
        given["failureTaskId"] = d.field("failed_task_id")
    try:
        encoded = _with_defaults(d, found.definition, given)
    except InvalidInput as error:
        _point(d, f"Error workflow {name} failed to start.  reason: {error}")
        return
    complaint = d.size_complaint("input", encoded, started)
    if complaint is not None:
        _point(d, f"Error workflow {name} failed to start.  reason: {complaint}")
        return
    d.send(
        started,
        Start(
            definition=found.definition,
            definition_hash=found.hash,
            input=encoded,
            correlation_id=d.field("correlation_id"),
            task_to_domain=dict(execution.task_to_domain),
            isolated=execution.isolated,
        ),
    )
    _point(d, started)


def _point(d: Draft, text: str) -> None:
    """The failed execution's output names the failure workflow, or tells why there is none."""
    output: dict[str, Json] = decode(d.field("output")) or {}
    d.set(output=encode({**output, FAILURE_POINTER: text}))


def _with_defaults(d: Draft, definition: WorkflowDef, given: dict[str, Json]) -> bytes:
    """The encoded input of a failure workflow, completed and held to its schema."""
    if definition.input_schema is not None:
        # A schema can look into the failed execution only as a plain value.
        given = decode(encode(given))
    return encode(input_for(definition, given, d.facts.schema_complaint))


def failure_workflow_name(definition: WorkflowDef, given: dict[str, Json]) -> str | None:
    """The failure workflow's name; `$workflow.input.x` and `${workflow.input.x}` name an input."""
    name = (definition.failure_workflow or "").strip()
    if not name.startswith("$"):
        return name or None
    steps = name.strip("${}").split(".")
    value = given.get(steps[2]) if len(steps) > 2 else None
    return str(value) if value else None
