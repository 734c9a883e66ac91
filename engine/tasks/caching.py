"""cacheConfig: an output that is left under a key, and taken by later runs while it is fresh. Of a
task it saves the call, of a workflow all its tasks."""

from collections.abc import Mapping

from engine.expressions.roots import MISSING, MappingRoot, Missing, Root
from engine.expressions.templates import compile_template
from engine.model.execution import Run
from engine.model.record import Json
from engine.tasks.draft import Draft
from engine.tasks.plan import Node
from engine.tasks.view import Scope, View


def cache_key(view: View, run: Run, node: Node) -> str | None:
    """What the task's cacheConfig names; None without one. Its placeholders may be names of the
    task's own inputs: `${orderId}`."""
    config = node.task.cache_config or {}
    if _seconds(config) <= 0:
        return None
    own = _OwnInputFirst(view, run.task_id, view.input(run))
    return _filled(config, own)


def _filled(config: Mapping[str, Json], root: Root) -> str | None:
    """The key; None where nothing tells one run from the other."""
    if not config.get("key"):
        return None
    value = compile_template(config["key"]).fill(root)
    return None if value is None else str(value)


class _OwnInputFirst(Scope):
    """A task's inputs by their names, then everything else of the execution."""

    __slots__ = ("_own",)

    def __init__(self, view: View, own_id: str, given: dict[str, Json]) -> None:
        super().__init__(view, own_id)
        self._own = MappingRoot(given)

    def field(self, name: str, field: str, only: str | None = None) -> Json | Missing:
        found = self._own.field(name, field, only)
        return super().field(name, field, only) if found is MISSING else found

    def get(self, name: str) -> Json | Missing:
        found = self._own.get(name)
        return super().get(name) if found is MISSING else found


def cached_output(d: Draft, run: Run, node: Node) -> bytes | None:
    """The output that an earlier run of this task has left under the same cache key."""
    key = cache_key(d, run, node)
    return None if key is None else d.facts.cached(run.name, key)


def remember_output(d: Draft, run: Run, node: Node) -> None:
    """Leave a completed output under the task's cache key."""
    key = cache_key(d, run, node)
    if key is not None and run.output is not None and not d.execution.isolated:
        kept_ms = _seconds(node.task.cache_config or {}) * 1000
        d.changes.cached.append((run.name, key, kept_ms, run.output))


def recall_workflow(d: Draft) -> bytes | None:
    """The output that an earlier execution of this definition has left for the same input."""
    key = _workflow_key(d)
    return None if key is None else d.facts.cached(_shelf(d), key)


def remember_workflow(d: Draft, output: bytes) -> None:
    """Leave the output of a completed execution under its cache key."""
    key = _workflow_key(d)
    if key is not None:
        kept_ms = _seconds(d.execution.definition.cache_config or {}) * 1000
        d.changes.cached.append((_shelf(d), key, kept_ms, output))


def _workflow_key(d: Draft) -> str | None:
    config = d.execution.definition.cache_config or {}
    if _seconds(config) <= 0 or d.execution.isolated:
        return None
    return _filled(config, Scope(d, None))


def _seconds(config: Mapping[str, Json]) -> int:
    """How long an output is kept; 0 where that is no number."""
    try:
        return int(config.get("ttlInSecond") or 0)
    except (TypeError, ValueError):
        return 0


def _shelf(d: Draft) -> str:
    """No task's name has a blank at its beginning and end."""
    definition = d.execution.definition
    return f" {definition.name} {definition.version} "
