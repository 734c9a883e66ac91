"""A telemetry listener that counts, in the text form that Prometheus reads, under Conductor's names
where it has one.

Few series: names of workflows and task types are the only labels that grow with use.
"""

import threading
from bisect import bisect_left
from collections import Counter
from typing import Any

from engine.instruments.aliases import DURATION, RETRY, STEP, Labels, aliases

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0)
MOST_SERIES = 10_000

_TIMED = {
    "group.committed": ("checkpoint_write_latency", ()),
    "core.recovered": ("checkpoint_recovery_latency", (("cause", "start"),)),
}

SILENT = "responseTimeout"
"""How the reason of an attempt begins whose worker was not heard of."""

HELP = {
    "activity_execution_total": "Attempts that reached outside the engine, by outcome.",
    "activity_retry_total": "Those of them that were not the first.",
    "checkpoint_recovery_latency": "Seconds to take up what the database holds.",
    "checkpoint_recovery_total": "How often that was done.",
    "checkpoint_write_latency": "Seconds of a commit, which may hold many steps.",
    "checkpoint_write_total": "Commits.",
    "reprise_workflow_total": "What happened to workflows, by name.",
    "reprise_task_total": "Tasks that ended, by type and status.",
    "reprise_event_total": "Other things that happened in the engine.",
    "step_execution_total": "Attempts that ended, by outcome.",
    "step_failure_total": "Attempts that failed or timed out.",
    "step_retry_total": "Attempts that ended and were not the first.",
    "task_execution_seconds": "From taken by a worker to its end.",
    "task_poll_total": "How often workers asked.",
    "task_queue_wait_seconds": "From scheduled to taken by a worker.",
    "task_response_timeout_total": "Attempts whose worker was not heard of in time.",
    "task_timeout_total": "Attempts that took too long otherwise.",
    "task_update_conflict_total": "Reports that came too late, by the task's status.",
    "workflow_completed_total": "Workflows that completed.",
    "workflow_duration_seconds": "From start to end, however they ended.",
    "workflow_execution_seconds": "From start to end, of workflows that completed.",
    "workflow_failed_total": "Workflows that ended otherwise than completed.",
    "workflow_failure_total": "Workflows that ended otherwise than completed, by status.",
    "workflow_start_success_total": "Workflows that were started.",
}


class Timing:
    """How many took how long."""

    def __init__(self) -> None:
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """One more."""
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


class Metrics:
    """Everything counted since the start of the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, Labels]] = Counter()
        self._timings: dict[tuple[str, Labels], Timing] = {}

    def hear(self, what: str, facts: dict[str, Any]) -> None:
        """A telemetry listener."""
        if what == "task.moved":
            self._task(facts["run"], facts["was"])
        elif what.startswith("workflow."):
            self._workflow(what.removeprefix("workflow."), facts["execution"])
        elif what == "task.polled":
            self._count("task_poll_total", (("taskType", facts["task_type"]),))
        elif what in _TIMED:
            self._time(*_TIMED[what], facts["seconds"])
        elif what == "task.update_conflict":
            self._conflict(facts["execution"], facts["event"].seq)
        else:
            self._count("reprise_event_total", (("what", what),))

    def _workflow(self, what: str, execution: Any) -> None:
        definition, status = execution.definition, execution.status.value
        name = ("workflowName", str(definition.name))
        owner = ("ownerApp", definition.owner_app or "unknown")
        self._count("reprise_workflow_total", (("workflow", name[1]), ("what", what)))
        if what == "started":
            version = ("version", str(definition.version))
            self._count("workflow_start_success_total", (name, version, owner))
        elif what == status.lower() and execution.status.terminal:
            took = max(0, execution.ended_at - execution.created_at) / 1000
            version = ("version", str(definition.version))
            ended = (("workflow", name[1]), version, ("status", status))
            self._time(DURATION, ended, took)
            if what == "completed":
                self._time("workflow_execution_seconds", (name, owner), took)
            else:
                self._count("workflow_failure_total", (name, ("status", status), owner))

    def _conflict(self, execution: Any, seq: int) -> None:
        run = execution.runs.get(seq)
        labels = [("workflowName", str(execution.definition.name))]
        if run is not None:
            labels += [("taskType", str(run.name)), ("taskStatus", run.status.value)]
        self._count("task_update_conflict_total", tuple(labels))

    def _task(self, run: Any, was: Any) -> None:
        if not run.ended_at or (was is not None and was.ended_at):
            return
        kind, status = ("taskType", str(run.name)), ("status", run.status.value)
        step = (("task_type", str(run.type)), ("task_name", kind[1]), ("outcome", status[1]))
        self._count(STEP, step)
        if run.attempt:
            self._count(RETRY, step)
        if status[1] == "TIMED_OUT":
            silent = (run.reason or "").startswith(SILENT)
            self._count("task_response_timeout_total" if silent else "task_timeout_total", (kind,))
        if run.started_at:
            waited = max(0, run.started_at - run.queued_at) / 1000
            self._time("task_queue_wait_seconds", (kind,), waited)
            took = max(0, run.ended_at - run.started_at) / 1000
            # One attempt alone: the time of all attempts together is another thing.
            one = ("includeRetries", "false")
            self._time("task_execution_seconds", (kind, one, status), took)

    def _count(self, name: str, labels: Labels) -> None:
        with self._lock:
            place = (name, labels)
            if place in self._counts or len(self._counts) < MOST_SERIES:
                self._counts[place] += 1

    def _time(self, name: str, labels: Labels, seconds: float) -> None:
        with self._lock:
            place = (name, labels)
            found = self._timings.get(place)
            if found is None:
                if len(self._timings) >= MOST_SERIES:
                    return
                found = self._timings[place] = Timing()
            found.add(seconds)

    def render(self, gauges: dict[str, float] | None = None) -> str:
        """All of it as text, and what the caller has measured at this moment."""
        with self._lock:
            timed = {place: sum(t.buckets) for place, t in self._timings.items()}
            counts = sorted({**self._counts, **aliases(self._counts, timed)}.items())
            timings = sorted(
                (place, list(t.buckets), t.total) for place, t in self._timings.items()
            )
        lines: list[str] = []
        last = ""
        for (name, labels), value in counts:
            if name != last:
                self._begin(lines, name, "counter")
                last = name
            lines.append(f"{name}{_shown(labels)} {value}")
        for (name, labels), buckets, total in timings:
            if name != last:
                self._begin(lines, name, "histogram")
                last = name
            lines += _histogram(name, labels, buckets, total)
        for name, number in sorted((gauges or {}).items()):
            self._begin(lines, name.partition("{")[0], "gauge")
            lines.append(f"{name} {number:g}")
        return "\n".join(lines) + "\n"

    @staticmethod
    def _begin(lines: list[str], name: str, kind: str) -> None:
        if name in HELP:
            lines.append(f"# HELP {name} {HELP[name]}")
        heading = f"# TYPE {name} {kind}"
        if heading not in lines:
            lines.append(heading)


def _histogram(name: str, labels: Labels, buckets: list[int], total: float) -> list[str]:
    lines, so_far = [], 0
    for bound, number in zip((*BOUNDS, float("inf")), buckets, strict=True):
        so_far += number
        text = "+Inf" if bound == float("inf") else f"{bound:g}"
        lines.append(f"{name}_bucket{_shown((*labels, ('le', text)))} {so_far}")
    lines.append(f"{name}_sum{_shown(labels)} {total:.6f}")
    lines.append(f"{name}_count{_shown(labels)} {so_far}")
    return lines


def _shown(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
