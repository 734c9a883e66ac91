"""How to steer a case into a branch of a switch: which mock or input decides it, set to that case."""

import re
from typing import Any, Final

from studio.editor.tree import JsonObject, copied, spots, type_of
from studio.views.mock_cases import mock

_READS: Final = re.compile(r"\$\{([A-Za-z_][\w-]*)\.(input|output)\.([\w.-]+)\}\Z")
_ELSE: Final = "something else"


def steered(
    case: JsonObject, definition: JsonObject, ref: str, branch: str, name: str
) -> JsonObject:
    """A copy of the case that goes into `branch` of the switch `ref`, as far as that can be told: a
    switch by value over an output or an input; one by script is left to the person."""
    made: JsonObject = copied(case)
    made["name"], made["origin"] = name, ""
    made["expect"] = {"ran": {}}
    task = next((spot.task for spot in spots(definition) if spot.ref == ref), None)
    source = _source(task) if task is not None else None
    if task is None or source is None:
        return made
    cases = task.get("decisionCases")
    value = branch if isinstance(cases, dict) and branch in cases else _ELSE
    owner, side, way = source
    if owner == "workflow" and side == "input":
        _put(made["input"], way, value)
    elif side == "output":
        answers = made["mocks"].setdefault(owner, [mock("COMPLETED", {})])
        for answer in answers:
            if isinstance(answer, dict) and answer.get("status", "COMPLETED") == "COMPLETED":
                answer.setdefault("output", {})
                _put(answer["output"], way, value)
    return made


def _source(task: JsonObject) -> tuple[str, str, list[str]] | None:
    """Whose value a switch by value looks at."""
    by_value = task.get("evaluatorType", "value-param") == "value-param"
    key = task.get("expression") if type_of(task) == "SWITCH" else task.get("caseValueParam")
    inputs = task.get("inputParameters")
    template = inputs.get(key) if isinstance(inputs, dict) and isinstance(key, str) else None
    found = _READS.match(template) if isinstance(template, str) and by_value else None
    return (found[1], found[2], found[3].split(".")) if found else None


def _put(holder: Any, way: list[str], value: Any) -> None:
    for step in way[:-1]:
        if not isinstance(holder, dict):
            return
        if not isinstance(holder.get(step), dict):
            holder[step] = {}
        holder = holder[step]
    if isinstance(holder, dict):
        holder[way[-1]] = value
