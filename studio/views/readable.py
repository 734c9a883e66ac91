"""The values that a task can read: from the input, from variables, from tasks that run before it.

Says for each whether it is sure to be there, and what it was in a run that is known. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from studio.editor.tree import JsonObject, spots, type_of
from studio.graph.picture import Layout
from studio.graph.structure import Flow
from studio.views.mock_cases import outputs_read

# What the engine itself puts out for a type.
_OUTPUTS: Final[dict[str, tuple[str, ...]]] = {
    "HTTP": ("response.body", "response.statusCode", "response.headers"),
    "INLINE": ("result",),
    "LAMBDA": ("result",),
    "JSON_JQ_TRANSFORM": ("result", "resultList"),
    "SWITCH": ("evaluationResult",),
    "DO_WHILE": ("iteration",),
    "SUB_WORKFLOW": ("subWorkflowId",),
    "START_WORKFLOW": ("workflowId",),
}
_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class Value:
    """Something a placeholder can name. `sample` is None when no run is known to have had it."""

    expression: str
    sample: Any = None
    sure: bool = True


def values_for(
    definition: JsonObject,
    ref: str,
    layout: Layout,
    *,
    task_defs: Iterable[Mapping[str, Any]] = (),
    outputs: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
) -> list[Value]:
    """What the task `ref` can read, the nearest task first, then the input. `outputs` and `inputs`
    are those of a run that is known."""
    keys = _output_keys(definition, task_defs, outputs or {})
    found: list[Value] = []
    for other, sure in _before(layout, ref):
        if len(found) >= _MOST:
            break
        for key in keys.get(other, ()):
            sample = _at((outputs or {}).get(other), key)
            found.append(Value(f"${{{other}.output.{key}}}", sample, sure))
    for key, sample in _inputs(definition, inputs or {}).items():
        found.append(Value(f"${{workflow.input.{key}}}", sample))
    for name in _variables(definition):
        found.append(Value(f"${{workflow.variables.{name}}}"))
    found.append(Value("${workflow.workflowId}"))
    return found


def _before(layout: Layout, ref: str) -> Iterator[tuple[str, bool]]:
    """The tasks that can have run when this one starts, the nearest first, and whether they must."""
    node = next((node for node in layout.nodes if node.ref == ref), None)
    if node is None:
        return
    sure = set(Flow(layout).dominators(node.id))
    leading = _leading_to(layout, node.id)
    for other in reversed(layout.nodes):
        if other.ref and other.id != node.id and (other.id in sure or other.id in leading):
            yield other.ref, other.id in sure


def _leading_to(layout: Layout, id_: str) -> set[str]:
    """All from which the lines lead to a node; a loop on the way brings what is inside it."""
    into: dict[str, list[str]] = {}
    for edge in layout.edges:
        into.setdefault(edge.target, []).append(edge.source)
    for node in layout.nodes:
        if node.parent and layout.by_id[node.parent].kind == "loop":
            into.setdefault(node.parent, []).append(node.id)
    found: set[str] = set()
    waiting = [id_]
    while waiting:
        for source in into.get(waiting.pop(), ()):
            if source not in found:
                found.add(source)
                waiting.append(source)
    return found


def _output_keys(
    definition: JsonObject, task_defs: Iterable[Mapping[str, Any]], outputs: Mapping[str, Any]
) -> dict[str, list[str]]:
    declared = {str(known.get("name")): known.get("outputKeys") or () for known in task_defs}
    read = outputs_read(definition)
    found: dict[str, list[str]] = {}
    for spot in spots(definition):
        if spot.ref is None:
            continue
        real = outputs.get(spot.ref)
        keys = [
            *(declared.get(str(spot.task.get("name")), ())),
            *(_OUTPUTS.get(type_of(spot.task), ())),
            *_ways(read.get(spot.ref, {})),
            *(real if isinstance(real, dict) else ()),
        ]
        found[spot.ref] = [str(key) for key in dict.fromkeys(keys)]
    return found


def _ways(shape: Mapping[str, Any]) -> Iterator[str]:
    """The ways into a stand-in output that others read."""
    for key, inner in shape.items():
        if isinstance(inner, dict) and inner:
            yield from (f"{key}.{way}" for way in _ways(inner))
        else:
            yield key


def _at(value: Any, way: str) -> Any:
    for step in way.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _inputs(definition: JsonObject, inputs: Mapping[str, Any]) -> dict[str, Any]:
    template = definition.get("inputTemplate")
    names = definition.get("inputParameters")
    found = {name: None for name in names or () if isinstance(name, str)} if names else {}
    found |= template if isinstance(template, dict) else {}
    return {**found, **inputs}


def _variables(definition: JsonObject) -> list[str]:
    held = definition.get("variables")
    names = list(held) if isinstance(held, dict) else []
    for spot in spots(definition):
        given = spot.task.get("inputParameters")
        if type_of(spot.task) == "SET_VARIABLE" and isinstance(given, dict):
            names += given
    return list(dict.fromkeys(names))
