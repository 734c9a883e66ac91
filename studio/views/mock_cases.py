"""Cases of mock tests as plain JSON: made from a sample, a real execution or the definition alone,
and turned into the request that plays them. Nothing is judged here; that is `mock_run`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from studio.editor.tree import JsonObject, copied, spots, type_of
from studio.graph.outline import number

# What the engine does by itself in a test; everything else needs an answer to go on.
PLAYED_BY_ENGINE: Final = frozenset(
    {"SWITCH", "DECISION", "FORK_JOIN", "FORK_JOIN_DYNAMIC", "JOIN", "EXCLUSIVE_JOIN", "DO_WHILE"}
    | {"SUB_WORKFLOW", "TERMINATE", "SET_VARIABLE", "INLINE", "LAMBDA", "JSON_JQ_TRANSFORM"}
    | {"DYNAMIC", "NOOP"}
)
STATUSES: Final = ("COMPLETED", "FAILED", "FAILED_WITH_TERMINAL_ERROR", "IN_PROGRESS")
_READ: Final = re.compile(r"\$\{([A-Za-z_][\w-]*)\.output((?:\.[A-Za-z_][\w-]*|\[\d+\])*)")
_STEP: Final = re.compile(r"\.([A-Za-z_][\w-]*)|\[(\d+)\]")
# What a sample may expect of real workers but a mock run does not show.
_JUDGED: Final = ("status", "output_has", "failedRef")


def case_of(
    name: str,
    *,
    input_: Any = None,
    mocks: Mapping[str, Any] | None = None,
    children: Mapping[str, Any] | None = None,
    expect: Mapping[str, Any] | None = None,
    origin: str = "",
) -> JsonObject:
    """A case in the one shape in which it is kept."""
    return {
        "name": name,
        "input": copied(input_ if isinstance(input_, dict) else {}),
        "mocks": copied(dict(mocks or {})),
        "children": copied(dict(children or {})),
        "expect": copied(dict(expect or {})),
        "origin": origin,
    }


def of_sample(
    title: str,
    input_: Any,
    mocks: Mapping[str, Any],
    children: Mapping[str, Any],
    expect: Mapping[str, Any],
) -> JsonObject:
    """A way through a sample as a case, with that part of its expectations that mocks can show."""
    judged: JsonObject = {key: expect[key] for key in _JUDGED if key in expect}
    return case_of(
        title, input_=input_, mocks=mocks, children=children, expect=judged, origin="sample"
    )


def of_execution(execution: Mapping[str, Any], name: str) -> JsonObject:
    """What really happened as a case: each attempt's answer, in order, and the end it came to."""
    mocks: dict[str, list[JsonObject]] = {}
    for task in execution.get("tasks") or ():
        type_ = str((task.get("workflowTask") or {}).get("type") or task.get("taskType") or "")
        status = task.get("status")
        if type_ in PLAYED_BY_ENGINE or status not in STATUSES:
            continue
        answer = mock(str(status), task.get("outputData"), took=_took(task))
        mocks.setdefault(str(task.get("referenceTaskName")), []).append(answer)
    output = execution.get("output")
    expect: JsonObject = {"status": execution.get("status")}
    if isinstance(output, dict) and output:
        expect["output_has"] = output
    origin = f"execution {execution.get('workflowId') or ''}".strip()
    return case_of(name, input_=execution.get("input"), mocks=mocks, expect=expect, origin=origin)


def of_definition(
    definition: JsonObject, name: str, task_defs: Iterable[Mapping[str, Any]] = ()
) -> JsonObject:
    """A first case from the definition alone: every task completes, with the outputs that others
    read or that its task definition declares."""
    outputs = outputs_read(definition)
    declared = {str(known.get("name")): known.get("outputKeys") or () for known in task_defs}
    mocks: dict[str, list[JsonObject]] = {}
    children: JsonObject = {}
    for spot in spots(definition):
        if spot.ref is None:
            continue
        if type_of(spot.task) == "SUB_WORKFLOW":
            children[spot.ref] = _child(spot.task)
        if type_of(spot.task) in PLAYED_BY_ENGINE:
            continue
        output = {
            key: f"{key} of {spot.ref}" for key in declared.get(str(spot.task.get("name")), ())
        }
        output |= outputs.get(spot.ref, {})  # What is read says more than a declared key.
        mocks[spot.ref] = [mock("COMPLETED", output)]
    return case_of(
        name,
        input_=input_of(definition),
        mocks=mocks,
        children=children,
        expect={"status": "COMPLETED"},
    )


def _child(task: JsonObject) -> JsonObject:
    """The request for a child workflow; without it the child would have nobody to answer."""
    params = task.get("subWorkflowParam")
    name = params.get("name") if isinstance(params, dict) else None
    return {"name": name or "", "taskRefToMockOutput": {}}


def input_of(definition: JsonObject) -> JsonObject:
    """An input to start with: the defaults, and a word for each declared name without one."""
    template = definition.get("inputTemplate")
    given: JsonObject = copied(template) if isinstance(template, dict) else {}
    names = definition.get("inputParameters")
    for name in names if isinstance(names, list) else ():
        if isinstance(name, str):
            given.setdefault(name, f"{name} of the input")
    return given


def outputs_read(definition: JsonObject) -> dict[str, JsonObject]:
    """For each task the output that others read of it, with a stand-in for each value."""
    found: dict[str, JsonObject] = {}
    for text in _texts(definition):
        for match in _READ.finditer(text):
            ref, way = match[1], [s[1] or int(s[2]) for s in _STEP.finditer(match[2])]
            if way and isinstance(way[0], str):
                _put(found.setdefault(ref, {}), way, f"{match[2].lstrip('.')} of {ref}")
    return found


def mock(status: str, output: Any, *, took: int = 0, queued: int = 0) -> JsonObject:
    """One mocked attempt; times that are 0 are left out."""
    made: JsonObject = {"status": status, "output": output if isinstance(output, dict) else {}}
    if took:
        made["executionTime"] = took
    if queued:
        made["queueWaitTime"] = queued
    return made


def failing(case: JsonObject, ref: str, name: str) -> JsonObject:
    """The same case, but one task fails for good: the next branch to cover."""
    made: JsonObject = copied(case)
    made["name"], made["origin"] = name, ""
    made["mocks"][ref] = [mock("FAILED_WITH_TERMINAL_ERROR", {})]
    made["expect"] = {"status": "FAILED", "failedRef": ref}
    return made


def request_of(case: Mapping[str, Any], definition: JsonObject) -> JsonObject:
    """What is sent to play a case. The definition travels along, so that a draft can be played and
    nothing has to be registered."""
    version = definition.get("version")
    return {
        "name": definition.get("name") or "draft",
        "version": version if isinstance(version, int) else 1,
        "workflowDef": definition,
        "input": case.get("input") or {},
        "taskRefToMockOutput": case.get("mocks") or {},
        "subWorkflowTestRequest": case.get("children") or {},
    }


def kept_cases(document: Any) -> list[JsonObject]:
    """The cases of a suite as the desk has it; what is no case is passed over."""
    listed = document.get("cases") if isinstance(document, dict) else None
    return [
        {**case_of(str(case["name"])), **case}
        for case in (listed if isinstance(listed, list) else ())
        if isinstance(case, dict) and case.get("name")
    ]


def _took(task: Mapping[str, Any]) -> int:
    start, end = number(task.get("startTime")), number(task.get("endTime"))
    return max(end - start, 0) if start and end else 0


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _put(output: JsonObject, way: list[str | int], value: Any) -> None:
    """Sets a value behind a way; a list on the way gets its first item only."""
    inner: Any = output
    for at, step in enumerate(way):
        last = at == len(way) - 1
        following: Any = value if last else [] if isinstance(way[at + 1], int) else {}
        if isinstance(inner, dict) and isinstance(step, str):
            if not isinstance(inner.get(step), dict | list):
                inner[step] = following
            inner = inner[step]
        elif isinstance(inner, list) and isinstance(step, int):
            if not inner:
                inner.append(following)
            inner = inner[0]
        else:
            return
