"""The execution outline: one plain dict a run, without payloads; and how to get it from Conductor.

Keys: seq, taskId, ref (without a loop suffix), iteration, type, name, status, retryCount, retried,
scheduledTime, startTime, endTime, subWorkflowId, reason, forkRef, case. All but ref and status may
be absent. Nothing here knows positions or colours.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from studio.graph.blocks import Child

OutlineEntry = Mapping[str, Any]

DONE: Final = frozenset({"COMPLETED", "COMPLETED_WITH_ERRORS", "SKIPPED"})
OPEN: Final = frozenset({"SCHEDULED", "IN_PROGRESS"})
_LOOP_SUFFIX: Final = re.compile(r"__\d+$")


def outline_of(execution: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The outline of an execution as Conductor gives it, `tasks` and all."""
    tasks = execution.get("tasks")
    rows = [task for task in tasks if isinstance(task, Mapping)] if isinstance(tasks, list) else []
    fork_of: dict[str, str] = {}
    for task in rows:
        fork_of.update(_forked_by(task))
    return [_entry(task, fork_of) for task in rows]


def _entry(task: Mapping[str, Any], fork_of: Mapping[str, str]) -> dict[str, Any]:
    full_ref = str(task.get("referenceTaskName") or "")
    iteration = number(task.get("iteration"))
    ref = base_ref(full_ref, iteration)
    own = task.get("workflowTask")
    type_ = own.get("type") if isinstance(own, Mapping) else None
    entry = {
        "seq": number(task.get("seq")),
        "taskId": task.get("taskId"),
        "ref": ref,
        "iteration": iteration,
        "type": type_ or task.get("taskType"),
        "name": task.get("taskDefName"),
        "status": str(task.get("status") or ""),
        "retryCount": number(task.get("retryCount")),
        "retried": bool(task.get("retried")),
        "subWorkflowId": task.get("subWorkflowId"),
        "reason": task.get("reasonForIncompletion"),
        "forkRef": fork_of.get(full_ref),
        "case": _case(task),
    }
    for key in ("scheduledTime", "startTime", "endTime"):
        entry[key] = number(task.get(key))
    return entry


def base_ref(ref: str, iteration: int) -> str:
    """A reference name without the `__3` that Conductor appends inside a loop."""
    return _LOOP_SUFFIX.sub("", ref) if iteration else ref


def _forked_by(task: Mapping[str, Any]) -> dict[str, str]:
    """Child -> dynamic fork. A static fork lists its children too, so its type has to tell."""
    own, data = task.get("workflowTask"), task.get("inputData")
    type_ = own.get("type") if isinstance(own, Mapping) else None
    if not isinstance(data, Mapping) or type_ == "FORK_JOIN":
        return {}
    children = data.get("forkedTasks")
    if not isinstance(children, list) or ("forkedTaskDefs" not in data and not type_):
        return {}
    ref = base_ref(str(task.get("referenceTaskName")), number(task.get("iteration")))
    return {str(child): ref for child in children}


def _case(task: Mapping[str, Any]) -> str | None:
    """Which case a SWITCH or DECISION chose."""
    output = task.get("outputData")
    if not isinstance(output, Mapping):
        return None
    chosen = output.get("selectedCase")
    if chosen is None:
        listed = output.get("evaluationResult", output.get("caseOutput"))
        chosen = listed[0] if isinstance(listed, list) and len(listed) == 1 else None
    return None if chosen is None else str(chosen)


def forked_children(outline: Iterable[OutlineEntry]) -> dict[str, list[Child]]:
    """What each dynamic fork has made, in the order of its making; for `layout.place`."""
    found: dict[str, dict[str, Child]] = {}
    for entry in outline:
        fork = entry.get("forkRef")
        if fork:
            ref = str(entry.get("ref") or "")
            child = Child(ref, str(entry.get("type") or "SIMPLE"), str(entry.get("name") or ""))
            found.setdefault(str(fork), {}).setdefault(ref, child)
    return {fork: list(children.values()) for fork, children in found.items()}


def number(value: object) -> int:
    """A whole number, or 0 for anything else: an outline may come from a foreign server."""
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, float) and value == value else 0


def age(entry: OutlineEntry) -> tuple[int, int, int]:
    """Orders the runs of one task, the newest last."""
    return number(entry.get("iteration")), number(entry.get("retryCount")), number(entry.get("seq"))


def took_ms(entry: OutlineEntry, now_ms: int | None) -> int | None:
    """How long a run took, or has taken so far; None when it cannot be known."""
    start, end = number(entry.get("startTime")), number(entry.get("endTime"))
    if not start:
        return None
    if not end:
        end = now_ms or 0 if entry.get("status") in OPEN else 0
    return max(end - start, 0) if end else None
