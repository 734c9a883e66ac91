"""A failed attempt and the one after it: is there to be another, and after what delay."""

from engine.model.definitions import RetryLogic, TaskDef
from engine.model.execution import Run
from engine.model.status import ExecutionStatus, TaskStatus
from engine.tasks.draft import Again, Draft
from engine.tasks.plan import Node
from engine.tasks.words import AI, NEVER_RETRIED

LONGEST_DELAY_SECONDS = 2147483647


def next_attempt(d: Draft, run: Run, node: Node) -> Again | None:
    """Whether a failed attempt is to be replaced, and when. A used-up total timeout ends the
    workflow, whatever else the task says."""
    policy = policy_of(node)
    allowed = node.task.retry_count if node.task.retry_count is not None else policy.retry_count
    if not run.status.retriable or run.type in NEVER_RETRIED or node.task.type in NEVER_RETRIED:
        return None
    if allowed <= run.attempt:
        return None
    total = policy.total_timeout_seconds
    elapsed = (d.facts.now - run.first_scheduled_at) // 1000
    if total > 0 and run.first_scheduled_at and elapsed >= total:
        timed_out = run.status is TaskStatus.TIMED_OUT
        d.end_workflow(
            ExecutionStatus.TIMED_OUT if timed_out else ExecutionStatus.FAILED,
            f"Task {run.task_id}/{run.name} exceeded total timeout of {total} seconds (elapsed "
            f"{elapsed} seconds across all attempts). No further retries will be attempted.",
            run,
        )
        return None
    seconds = delay_seconds(policy, run.attempt)
    jitter = policy.backoff_jitter_ms
    extra = d.facts.jitter(run.task_id, jitter) if jitter > 0 else 0
    return Again(run, seconds * 1000 + extra, seconds)


def policy_of(node: Node) -> TaskDef:
    """The policy that applies; AI types always have retries."""
    policy = node.task_def
    if node.task.type in AI and policy.retry_count < 1:
        return policy.but(
            retry_count=3, retry_delay_seconds=2, retry_logic=RetryLogic.LINEAR_BACKOFF
        )
    return policy


def delay_seconds(policy: TaskDef, attempt: int) -> int:
    """Seconds to wait after the failure of an attempt (0: the first)."""
    delay = policy.retry_delay_seconds
    if policy.retry_logic is RetryLogic.LINEAR_BACKOFF:
        delay = delay * policy.backoff_scale_factor * (attempt + 1)
    elif policy.retry_logic is RetryLogic.EXPONENTIAL_BACKOFF:
        delay = delay * 2 ** min(attempt, 64)
    delay = min(delay, LONGEST_DELAY_SECONDS)
    if policy.max_retry_delay_seconds > 0:
        delay = min(delay, policy.max_retry_delay_seconds)
    return delay
