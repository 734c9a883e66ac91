"""The same counts under the names that others know them by, made when they are read: counting once
is enough. What counts is `metrics.py`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

Labels = tuple[tuple[str, str], ...]
Counts = Mapping[tuple[str, Labels], int]

STEP = "step_execution_total"
RETRY = "step_retry_total"
DURATION = "workflow_duration_seconds"
EVENTS = "reprise_event_total"

_FAULTS = frozenset(
    {
        "chore.failed", "core.failed", "event.poisoned", "question.poisoned", "request.failed",
        "row.refused", "store.failed",
    }
)  # fmt: skip
"""Faults of the engine or of what it stands on."""

_NO_FAILURE = frozenset({"COMPLETED", "COMPLETED_WITH_ERRORS", "SKIPPED", "CANCELED"})

_WITHIN = frozenset(
    {
        "DECISION", "DO_WHILE", "DYNAMIC", "EXCLUSIVE_JOIN", "FORK", "FORK_JOIN",
        "FORK_JOIN_DYNAMIC", "HUMAN", "INLINE", "JOIN", "JSON_JQ_TRANSFORM", "LAMBDA", "NOOP",
        "PULL_WORKFLOW_MESSAGES", "SET_VARIABLE", "START_WORKFLOW", "SUB_WORKFLOW", "SWITCH",
        "TERMINATE", "USER_DEFINED", "WAIT", "YIELD",
    }
)  # fmt: skip
"""Types that the engine carries out by itself; all others reach something outside."""


def aliases(counts: Counts, timed: Counts) -> dict[tuple[str, Labels], int]:
    """Further counters, made of those that were counted and of how many were timed."""
    found: Counter[tuple[str, Labels]] = Counter()
    for (name, labels), number in counts.items():
        for place in _of_count(name, labels):
            found[place] += number
    for (name, labels), number in timed.items():
        if name == DURATION:
            ended = "completed" if labels[-1] == ("status", "COMPLETED") else "failed"
            found[f"workflow_{ended}_total", labels] += number
        elif name.startswith("checkpoint_"):
            found[name.replace("_latency", "_total"), labels] += number
    return found


def _of_count(name: str, labels: Labels) -> Iterator[tuple[str, Labels]]:
    if name == STEP:
        kind, outcome = labels[0][1], labels[-1][1]
        yield "reprise_task_total", (("type", kind), ("status", outcome))
        if outcome not in _NO_FAILURE:
            yield "step_failure_total", labels
        if kind not in _WITHIN:
            yield "activity_execution_total", labels
    elif name == RETRY and labels[0][1] not in _WITHIN:
        yield "activity_retry_total", labels
    elif name == "task_poll_count_total":
        yield "task_poll_total", labels[:1]
    elif name == EVENTS and labels[0][1] in _FAULTS:
        room, _, deed = labels[0][1].partition(".")
        yield "workflow_server_error_total", (("class", room), ("methodName", deed))
    elif name == "workflow_start_success_total":
        workflow, version, _ = labels
        yield "workflow_started_total", (("workflow", workflow[1]), version)
