"""A telemetry listener that counts, in the text form that Prometheus reads, under Conductor's names
where it has one.

Few series: names of workflows and task types are the only labels that grow with use.
"""

import threading
from bisect import bisect_left
from collections import Counter
from typing import Any

from engine.instruments.aliases import DURATION, EVENTS, RETRY, STEP, Labels, aliases
from engine.instruments.counted import COUNTED, HELP, NO_DOMAIN

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0)
NUMBERS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0, 10_000.0)
BOUNDS_OF = {"tasks_in_workflow": NUMBERS, "scheduler_handler_batch": NUMBERS}
"""Where seconds are not what is measured."""
MOST_SERIES = 10_000
MOST_NAMES = 500
"""Different values that a metric has for a label; whatever is new then is counted together."""
OTHER = "other"

SILENT = "responseTimeout"
"""How the reason of an attempt begins whose worker was not heard of."""


class Timing:
    """How many took how long, or were how large."""

    def __init__(self, bounds: tuple[float, ...] = BOUNDS) -> None:
        self.bounds = bounds
        self.buckets = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """One more."""
        self.buckets[bisect_left(self.bounds, value)] += 1
        self.total += value


class Metrics:
    """Everything counted since the start of the process."""

    def __init__(self, store: str = "memory") -> None:
        """`store`: which kind of place commits go to."""
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, Labels]] = Counter()
        self._timings: dict[tuple[str, Labels], Timing] = {}
        self._names: dict[tuple[str, str], set[str]] = {}
        self._timed: dict[str, tuple[str, Labels]] = {
            "group.committed": ("checkpoint_write_latency", (("store", store),)),
            "core.recovered": ("checkpoint_recovery_latency", (("cause", "start"),)),
            "schedule.served": ("scheduler_handler_seconds", ()),
        }

    def hear(self, what: str, facts: dict[str, Any]) -> None:
        """A telemetry listener."""
        if what == "task.moved":
            self._task(facts["run"], facts["was"])
        elif what.startswith("workflow."):
            self._workflow(what.removeprefix("workflow."), facts["execution"])
        elif what == "task.polled":
            self._polled(facts["task_type"], facts["domain"] or NO_DOMAIN)
        elif what in self._timed:
            self._time(*self._timed[what], facts["seconds"])
        else:
            self._rare(what, facts)

    def _rare(self, what: str, facts: dict[str, Any]) -> None:
        """What no step of an ordinary execution brings about."""
        if what in COUNTED:
            for name, labels in COUNTED[what].items():
                known = [(label, self._known(name, label, facts[fact])) for label, fact in labels]
                self._count(name, tuple(known), facts.get("amount", 1))
        elif what == "task.update_conflict":
            self._conflict(facts["execution"], facts["event"].seq)
        elif what == "schedules.fired":
            self._time("scheduler_handler_batch", (), facts["slots"])
        elif what == "event.refused" and type(facts["event"]).__name__ == "Start":
            definition = facts["event"].definition
            self._rare("start.refused", {"name": definition.name, "owner": definition.owner_app})
        else:
            self._count(EVENTS, (("what", what),))

    def _polled(self, task_type: str, domain: str) -> None:
        name = "task_poll_count_total"
        kind = ("taskType", self._known(name, "taskType", task_type))
        self._count(name, (kind, ("domain", self._known(name, "domain", domain))))

    def _known(self, metric: str, label: str, value: Any) -> str:
        """A value that comes from outside, or one word for all once there are too many."""
        text = str(value or "unknown")
        names = self._names.get((metric, label))
        if names is None:
            names = self._names.setdefault((metric, label), set())
        if text not in names:
            if len(names) >= MOST_NAMES:
                return OTHER
            names.add(text)
        return text

    def _workflow(self, what: str, execution: Any) -> None:
        definition, status = execution.definition, execution.status.value
        name = ("workflowName", self._known("workflow", "name", definition.name))
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
            self._time("tasks_in_workflow", (name, version), len(execution.runs))
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
        kind = ("taskType", self._known("task", "name", run.name))
        status = ("status", run.status.value)
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

    def _count(self, name: str, labels: Labels, number: int = 1) -> None:
        with self._lock:
            place = (name, labels)
            if place in self._counts or len(self._counts) < MOST_SERIES:
                self._counts[place] += number

    def _time(self, name: str, labels: Labels, value: float) -> None:
        with self._lock:
            place = (name, labels)
            found = self._timings.get(place)
            if found is None:
                if len(self._timings) >= MOST_SERIES:
                    return
                found = self._timings[place] = Timing(BOUNDS_OF.get(name, BOUNDS))
            found.add(value)

    def render(self, gauges: dict[str, float] | None = None) -> str:
        """All of it as text, and what the caller has measured at this moment."""
        with self._lock:
            timed = {place: sum(t.buckets) for place, t in self._timings.items()}
            counts = sorted({**self._counts, **aliases(self._counts, timed)}.items())
            timings = sorted(
                (place, list(zip((*t.bounds, float("inf")), t.buckets, strict=True)), t.total)
                for place, t in self._timings.items()
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


def _histogram(
    name: str, labels: Labels, buckets: list[tuple[float, int]], total: float
) -> list[str]:
    lines, so_far = [], 0
    for bound, number in buckets:
        so_far += number
        text = "+Inf" if bound == float("inf") else f"{bound:g}"
        lines.append(f"{name}_bucket{_shown((*labels, ('le', text)))} {so_far}")
    lines.append(f"{name}_sum{_shown(labels)} {total:.6f}")
    lines.append(f"{name}_count{_shown(labels)} {so_far}")
    return lines


def series(name: str, **labels: str) -> str:
    """The name of a series as Prometheus writes it."""
    return name + _shown(tuple(labels.items()))


def _shown(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
