"""Which instant matters next for an attempt or an execution, and what a passed one means.

Every deadline is an exact instant in the run's row, so a timer can wait for it and nothing polls.
"""

from engine.model.definitions import TaskDef, TimeoutPolicy, WorkflowTimeoutPolicy
from engine.model.execution import Execution, Run
from engine.model.facts import Facts
from engine.model.status import ExecutionStatus, TaskStatus
from engine.tasks.draft import Draft
from engine.tasks.kind import SCRIPT
from engine.tasks.plan import Node
from engine.tasks.words import NO_RESPONSE_TIMEOUT

SECOND = 1000


def wake_at(run: Run, node: Node, facts: Facts) -> int:
    """The next instant at which a decision about an open attempt is due; 0 for none."""
    policy = node.task_def
    instants = []
    if policy.total_timeout_seconds > 0:
        instants.append(total_deadline(run, policy))
    if policy.timeout_seconds > 0:
        instants.append(task_deadline(run, policy))
    if policy.poll_timeout_seconds:
        instants.append(poll_deadline(run, policy))
    if instants and policy.timeout_policy is TimeoutPolicy.ALERT_ONLY:
        # An alert that was given changes nothing and is not given again.
        instants = [instant for instant in instants if instant > facts.now]
    instants.append(response_deadline(run, node, facts))
    if run.carrier is None and run.due_at:
        instants.append(run.due_at)
    return min((instant for instant in instants if instant), default=0)


def total_deadline(run: Run, policy: TaskDef) -> int:
    """The end of the budget that all attempts share."""
    if policy.total_timeout_seconds <= 0 or not run.first_scheduled_at:
        return 0
    return run.first_scheduled_at + policy.total_timeout_seconds * SECOND


def task_deadline(run: Run, policy: TaskDef) -> int:
    """The end of one attempt's time, counted from its first poll."""
    if policy.timeout_seconds <= 0 or not run.started_at:
        return 0
    return run.started_at + policy.timeout_seconds * SECOND


def poll_deadline(run: Run, policy: TaskDef) -> int:
    """The instant by which a worker must have taken it."""
    if run.status is not TaskStatus.SCHEDULED or not policy.poll_timeout_seconds:
        return 0
    return waits_since(run) + (policy.poll_timeout_seconds + run.callback_after) * SECOND


def waits_since(run: Run) -> int:
    """When it last became deliverable, a retry's or a first start's delay included."""
    return max(run.queued_at, run.scheduled_at + run.start_delay * SECOND)


def response_deadline(run: Run, node: Node, facts: Facts) -> int:
    """The instant by which a worker must have been heard of again."""
    seconds = node.task_def.response_timeout_seconds
    if run.status is not TaskStatus.IN_PROGRESS or seconds <= 0 or run.carrier == SCRIPT:
        return 0
    if node.task.type in NO_RESPONSE_TIMEOUT or (node.task.async_complete and run.carrier is None):
        return 0
    heard = max(run.updated_at, run.started_at)
    return heard + (seconds + run.callback_after) * SECOND + facts.limits.response_grace_ms


def pass_deadlines(d: Draft, run: Run, node: Node) -> bool:
    """Apply the deadlines that an open attempt has passed; True if it is still open."""
    now, policy = d.facts.now, node.task_def
    for deadline, text in (
        (total_deadline(run, policy), _total_text(run, policy, now)),
        (task_deadline(run, policy), _task_text(run, policy, now)),
        (poll_deadline(run, policy), _poll_text(run, policy, now)),
    ):
        if deadline and now >= deadline and not _strike(d, run, policy, text):
            return False
    deadline = response_deadline(run, node, d.facts)
    if deadline and now >= deadline:
        seconds = policy.response_timeout_seconds
        reason = (
            f"responseTimeout: {seconds} exceeded for the taskId: {run.task_id} "
            f"with Task Definition: {run.name}"
        )
        d.say("task.response_timeout")
        d.end(run, TaskStatus.TIMED_OUT, reason=reason)
        return False
    return True


def _strike(d: Draft, run: Run, policy: TaskDef, text: str) -> bool:
    """Do what the timeout policy says; True if the attempt goes on."""
    d.say("task.timeout")
    if policy.timeout_policy is TimeoutPolicy.ALERT_ONLY:
        return True
    run = d.end(run, TaskStatus.TIMED_OUT, reason=text)
    if policy.timeout_policy is TimeoutPolicy.TIME_OUT_WF:
        d.end_workflow(ExecutionStatus.TIMED_OUT, text, run)
    return False


def _task_text(run: Run, policy: TaskDef, now: int) -> str:
    return (
        f"Task timed out after {(now - run.started_at) // SECOND} seconds. Timeout configured as "
        f"{policy.timeout_seconds} seconds. Timeout policy configured to {policy.timeout_policy}"
    )


def _poll_text(run: Run, policy: TaskDef, now: int) -> str:
    waited = (now - waits_since(run)) // SECOND
    return (
        f"Task poll timed out after {waited} seconds. Poll timeout configured as "
        f"{policy.poll_timeout_seconds} seconds. "
        f"Timeout policy configured to {policy.timeout_policy}"
    )


def _total_text(run: Run, policy: TaskDef, now: int) -> str:
    return (
        f"Task {run.task_id}/{run.name} exceeded total timeout of {policy.total_timeout_seconds} "
        f"seconds (elapsed {(now - run.first_scheduled_at) // SECOND} seconds across all attempts)"
    )


def workflow_wake_at(execution: Execution, last_retried_at: int, created_at: int) -> int:
    """When the workflow timeout passes; 0 for never. An alert needs no end, so it sets no timer."""
    definition = execution.definition
    seconds = definition.timeout_seconds
    if seconds <= 0 or definition.timeout_policy is not WorkflowTimeoutPolicy.TIME_OUT_WF:
        return 0
    return (last_retried_at or created_at) + seconds * SECOND


def pass_workflow_deadline(d: Draft) -> None:
    """End a workflow whose time is over; a pause does not stop this clock."""
    base = d.field("last_retried_at") or d.field("created_at")
    deadline = workflow_wake_at(d.execution, d.field("last_retried_at"), d.field("created_at"))
    if not deadline or d.facts.now < deadline:
        return
    definition = d.execution.definition
    d.end_workflow(
        ExecutionStatus.TIMED_OUT,
        f"Workflow timed out after {(d.facts.now - base) // SECOND} seconds. Timeout configured as "
        f"{definition.timeout_seconds} seconds. "
        f"Timeout policy configured to {definition.timeout_policy}",
    )
