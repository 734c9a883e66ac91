"""What came of a mock run: what ran, what stopped it, which mocks were left over, and how it differs
from what was expected; and what a whole suite has covered. Works on the execution that any server
returns. No widgets, no requests.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from studio.editor.tree import JsonObject, spots, type_of
from studio.graph import progress
from studio.graph.outline import DONE, OPEN, base_ref, forked_children, outline_of
from studio.graph.overlay import Overlay, of_coverage
from studio.graph.picture import Layout
from studio.views.compare import code, value_words
from studio.views.mock_cases import PLAYED_BY_ENGINE

_ENDED: Final = frozenset({"COMPLETED", "FAILED", "TIMED_OUT", "TERMINATED"})
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Left:
    """Mocks that nobody asked for."""

    key: str
    given: int
    used: int


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation, met or not. `text` and `why` are Markdown."""

    met: bool
    text: str
    expected: Any = None
    actual: Any = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One played case. `stopped` says in a sentence why it did not come to an end."""

    status: str
    output: Any
    reason: str
    failed_ref: str
    failed_reason: str
    ran: Mapping[str, int]
    outline: tuple[Mapping[str, Any], ...]
    waiting: tuple[str, ...]
    left: tuple[Left, ...]
    took_ms: int
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]

    @property
    def ended(self) -> bool:
        return self.status in _ENDED

    @property
    def stopped(self) -> str:
        if self.waiting:
            names = ", ".join(map(code, self.waiting))
            return f"Stopped at {names}: no mock is left for {'it' if len(self.waiting) == 1 else 'them'}."
        if self.failed_ref:
            said = f": {self.failed_reason}" if self.failed_reason else "."
            return f"{code(self.failed_ref)} ended the run{said}"
        return self.reason if self.status != "COMPLETED" else ""


def report_of(execution: Mapping[str, Any], case: Mapping[str, Any]) -> Report:
    """Reads the execution that a server gives back for a played case."""
    outline = outline_of(execution)
    rows = [task for task in execution.get("tasks") or () if isinstance(task, dict)]
    ran = Counter(str(entry["ref"]) for entry in outline if entry["status"] != "SCHEDULED")
    waiting = [
        str(task.get("referenceTaskName"))
        for task in rows
        if task.get("status") in OPEN and _type(task) not in PLAYED_BY_ENGINE
    ]
    status = str(execution.get("status") or "")
    failed = _failed_ref(execution, rows) if status in ("FAILED", "TIMED_OUT", "TERMINATED") else ""
    return Report(
        status=status,
        output=execution.get("output"),
        reason=str(execution.get("reasonForIncompletion") or ""),
        failed_ref=failed,
        failed_reason=_own_reason(rows, failed),
        ran=dict(ran),
        outline=tuple(outline),
        waiting=tuple(dict.fromkeys(waiting)) if status not in _ENDED else (),
        left=tuple(_left(case.get("mocks") or {}, rows)),
        took_ms=_took(execution, rows),
        inputs={str(task.get("referenceTaskName")): task.get("inputData") for task in rows},
        outputs={str(task.get("referenceTaskName")): task.get("outputData") for task in rows},
    )


def _type(task: Mapping[str, Any]) -> str:
    own = task.get("workflowTask")
    return str((own.get("type") if isinstance(own, dict) else None) or task.get("taskType") or "")


def _failed_ref(execution: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """The task that ended the run: a failed one, or a TERMINATE; containers only fail along."""
    named = execution.get("failedReferenceTaskNames")
    bad = [task for task in rows if task.get("status") not in DONE | OPEN | {"CANCELED", ""}]
    inner = [task for task in bad if _type(task) not in ("DO_WHILE", "JOIN", "EXCLUSIVE_JOIN")]
    found = [
        str(task.get("referenceTaskName")) for task in (inner or bad) if not task.get("retried")
    ]
    found += [str(t.get("referenceTaskName")) for t in rows if _type(t) == "TERMINATE"]
    found += [str(ref) for ref in named] if isinstance(named, list) else []
    return found[0] if found else ""


def _own_reason(rows: Sequence[Mapping[str, Any]], ref: str) -> str:
    """What the task itself said; the execution's reason only wraps it."""
    said = [str(row.get("reasonForIncompletion") or "") for row in rows if _full_ref(row) == ref]
    return said[-1] if said else ""


def _full_ref(row: Mapping[str, Any]) -> str:
    return str(row.get("referenceTaskName") or "")


def _left(mocks: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Iterable[Left]:
    """A key for one iteration is used by it alone, a plain one by every iteration without its own."""
    for key, answers in mocks.items():
        given = len(answers) if isinstance(answers, list) else 0
        used = sum(task.get("status") not in OPEN and _key_for(task, mocks) == key for task in rows)
        if given > used:
            yield Left(key, given, used)


def _key_for(task: Mapping[str, Any], mocks: Mapping[str, Any]) -> str:
    full = str(task.get("referenceTaskName") or "")
    iteration = task.get("iteration")
    plain = base_ref(full, iteration if isinstance(iteration, int) else 0)
    return full if full in mocks else plain


def _took(execution: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> int:
    """The time on the run's own clock, which a test may have turned."""
    starts = [t for t in (execution.get("createTime"), execution.get("startTime")) if t]
    ends = [t for t in (execution.get("endTime"), *(row.get("endTime") for row in rows)) if t]
    return max(int(max(ends)) - int(min(starts)), 0) if starts and ends else 0


def checks_of(
    expect: Mapping[str, Any], report: Report, definition: JsonObject
) -> tuple[Check, ...]:
    """Every expectation of a case against what happened; no mock left over is one of them."""
    found: list[Check] = []
    wanted = expect.get("status")
    if wanted:
        text, same = f"Status is {code(wanted)}", wanted == report.status
        found.append(Check(same, text, wanted, report.status, "" if same else report.stopped))
    if expect.get("failedRef"):
        ref = expect["failedRef"]
        met = base_ref(report.failed_ref, 1) == ref or report.failed_ref == ref
        found.append(Check(met, f"{code(ref)} ends the run", ref, report.failed_ref or None))
    for key, value in _map(expect.get("output_has")).items():
        found.append(_output_check(key, value, report, definition))
    for ref, times in _map(expect.get("ran")).items():
        count = report.ran.get(ref, 0)
        found.append(Check(count == times, f"{code(ref)} ran {_times(times)}", times, count))
    for ref, inputs in _map(expect.get("inputs")).items():
        for key, value in _map(inputs).items():
            actual = _map(report.inputs.get(ref)).get(key)
            text = f"{code(ref)} is given {code(key)}"
            found.append(Check(actual == value, text, value, actual))
    reason = expect.get("reason_has")
    if reason:
        met = str(reason) in report.reason
        found.append(Check(met, f"The reason says {code(reason)}", reason, report.reason))
    if report.left:
        names = ", ".join(f"{code(left.key)} ({left.given - left.used})" for left in report.left)
        found.append(Check(False, "Every mock is used", why=f"Nobody asked for {names}."))
    return tuple(found)


def _output_check(key: str, value: Any, report: Report, definition: JsonObject) -> Check:
    outputs = _map(report.output)
    actual = outputs.get(key, _ABSENT)
    met = actual is not _ABSENT and _same(actual, value)
    source = _map(definition.get("outputParameters")).get(key)
    why = "" if met or source is None else f"{code(key)} reads {value_words(source)}."
    text = f"Output {code(key)} is {value_words(value)}"
    return Check(met, text, value, None if actual is _ABSENT else actual, why)


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _times(count: Any) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _map(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def accepted(report: Report, *, paths: bool = True) -> JsonObject:
    """What happened, as what is expected from now on."""
    expect: JsonObject = {"status": report.status}
    if report.failed_ref:
        expect["failedRef"] = base_ref(report.failed_ref, 1)
    if _map(report.output):
        expect["output_has"] = dict(_map(report.output))
    if paths:
        expect["ran"] = dict(report.ran)
    return expect


def pruned(case: JsonObject, report: Report) -> JsonObject:
    """The case without the answers that nobody asked for."""
    mocks = dict(case.get("mocks") or {})
    for left in report.left:
        kept = mocks[left.key][: left.used]
        mocks = (
            {**mocks, left.key: kept} if kept else {k: v for k, v in mocks.items() if k != left.key}
        )
    return {**case, "mocks": mocks}


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that no case has gone through. `case` is the branch, `ref` the task."""

    ref: str
    case: str
    text: str


@dataclass(frozen=True, slots=True)
class Coverage:
    overlay: Overlay
    branches: int
    branches_covered: int
    tasks: int
    tasks_covered: int
    gaps: tuple[Gap, ...]


def overlay_of(layout: Layout, report: Report) -> Overlay:
    """One case over the picture."""
    return progress.of_execution(layout, report.outline)


def children_of(reports: Iterable[Report]) -> Any:
    """What dynamic forks made in any of the cases, for the layout."""
    return forked_children(entry for report in reports for entry in report.outline)


def coverage_of(layout: Layout, definition: JsonObject, reports: Sequence[Report]) -> Coverage:
    """What a suite has gone through, and what it has not."""
    nodes: Counter[str] = Counter()
    edges: Counter[str] = Counter()
    for report in reports:
        shown = progress.of_execution(layout, report.outline)
        nodes.update(id_ for id_, state in shown.nodes.items() if state.status)
        edges.update(id_ for id_, kind in shown.edges.items() if kind == "taken")
    branches = [edge for edge in layout.edges if edge.case]
    tasks = [node for node in layout.nodes if node.path]
    gaps = [
        Gap(
            layout.by_id[edge.source].ref,
            edge.case,
            f"{code(layout.by_id[edge.source].ref)} = {code(edge.case)}",
        )
        for edge in branches
        if not edges[edge.id]
    ]
    gaps += _never_failed(definition, reports)
    return Coverage(
        overlay=of_coverage(layout, nodes, edges),
        branches=len(branches),
        branches_covered=sum(bool(edges[edge.id]) for edge in branches),
        tasks=len(tasks),
        tasks_covered=sum(bool(nodes[node.id]) for node in tasks),
        gaps=tuple(gaps),
    )


def _never_failed(definition: JsonObject, reports: Sequence[Report]) -> list[Gap]:
    failed = {
        str(entry["ref"])
        for report in reports
        for entry in report.outline
        if entry["status"] not in DONE | OPEN | {"CANCELED"}
    }
    return [
        Gap(spot.ref, "", f"{code(spot.ref)} fails for good")
        for spot in spots(definition)
        if spot.ref and type_of(spot.task) not in PLAYED_BY_ENGINE and spot.ref not in failed
    ]
