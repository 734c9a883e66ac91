"""The step language of the scenarios: shorthands expanded, expectations checked.

A scenario is data (tests/data/scenarios.jsonl). Its steps are played on a `Stage`, of which there
are several: an engine in memory, on SQLite, on PostgreSQL, over REST.
"""

import re
from collections.abc import Callable
from typing import Any

Json = Any


class Mismatch(AssertionError):
    """An expectation did not come true."""


class Refused(Exception):
    """The engine refused a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


def full_task(task: dict[str, Json]) -> dict[str, Json]:
    """A task with its shorthands (`ref`, `in`) expanded into Conductor's field names."""
    names = {"ref": "taskReferenceName", "in": "inputParameters"}
    full = {names.get(key, key): value for key, value in task.items()}
    full.setdefault("name", full.get("taskReferenceName"))
    full.setdefault("type", "SIMPLE")
    for key in ("defaultCase", "loopOver"):
        if key in full:
            full[key] = [full_task(inner) for inner in full[key]]
    if "decisionCases" in full:
        cases = full["decisionCases"].items()
        full["decisionCases"] = {case: [full_task(t) for t in tasks] for case, tasks in cases}
    if "forkTasks" in full:
        full["forkTasks"] = [[full_task(t) for t in branch] for branch in full["forkTasks"]]
    param = full.get("subWorkflowParam") or {}
    if isinstance(param.get("workflowDefinition"), dict):
        inner = full_definition(param["workflowDefinition"])
        full["subWorkflowParam"] = {**param, "workflowDefinition": inner}
    return full


def full_definition(definition: dict[str, Json]) -> dict[str, Json]:
    """A definition with its shorthands expanded."""
    tasks = [full_task(task) for task in definition.get("tasks", [])]
    return {"version": 1, "schemaVersion": 2, **definition, "tasks": tasks}


def plain(value: Json) -> Json:
    """Numbers compare by value; null members of maps count as absent."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def require_subset(wanted: Json, found: Json, where: str) -> None:
    """Every wanted key is there with the wanted value, at any depth of maps."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key, value in wanted.items():
            if key not in found and value is not None:
                raise Mismatch(f"{where}.{key} is missing; there is {sorted(found)}")
            require_subset(value, found.get(key), f"{where}.{key}")
    elif plain(wanted) != plain(found):
        raise Mismatch(f"{where}: wanted {wanted!r}, found {found!r}")


_ID = re.compile(r"\{id:(?:(\w+)/)?(@?\w+)(?:#(\d+))?\}")


def with_ids(value: Json, alias: str, find: Callable[[str, str, int | None], str]) -> Json:
    """`{id:ref}`, `{id:ref#n}`, `{id:alias/ref}` and `{id:@alias}` replaced by what they name."""
    if isinstance(value, dict):
        return {key: with_ids(item, alias, find) for key, item in value.items()}
    if isinstance(value, list):
        return [with_ids(item, alias, find) for item in value]
    if not isinstance(value, str):
        return value

    def one(match: "re.Match[str]") -> str:
        index = match.group(3)
        return find(match.group(1) or alias, match.group(2), int(index) if index else None)

    return _ID.sub(one, value)


def describe(execution: dict[str, Json]) -> str:
    """An execution in a line, for messages."""
    tasks = ", ".join(
        f"{task['referenceTaskName']} {task['status']}"
        + (f" retry={task['retryCount']}" if task.get("retryCount") else "")
        for task in execution["tasks"]
    )
    reason = execution.get("reasonForIncompletion")
    return f"{execution['status']}: {tasks}" + (f" :: {reason}" if reason else "")


def check_task(wanted: str, task: dict[str, Json], tasks: list[dict[str, Json]]) -> None:
    """`ref STATUS [k=v ...]` against a task."""
    ref, status, *pairs = wanted.split()
    if (ref, status) != (task["referenceTaskName"], task["status"]):
        raise Mismatch(f"wanted task {wanted!r}")
    shown = {
        "type": task.get("taskType"),
        "retry": task.get("retryCount", 0),
        "it": task.get("iteration", 0),
        "poll": task.get("pollCount", 0),
        "seq": task.get("seq"),
        "cb": task.get("callbackAfterSeconds", 0),
        "of": next(
            (i for i, other in enumerate(tasks) if other["taskId"] == task.get("retriedTaskId")),
            None,
        ),
        "retried": str(bool(task.get("retried"))).lower(),
        "executed": str(bool(task.get("executed"))).lower(),
        "domain": task.get("domain"),
        "prio": task.get("workflowPriority", 0),
    }
    for pair in pairs:
        key, value = pair.split("=")
        if str(shown[key]) != value:
            raise Mismatch(f"task {ref}: {key} is {shown[key]}, wanted {value}")
