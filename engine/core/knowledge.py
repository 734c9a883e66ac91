"""What decisions may know besides the execution: the catalogue as of now, and who polled lately."""

import random
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from typing import Any

from engine.core.admission import Families
from engine.model.definitions import SchemaDef, TaskDef, WorkflowDef
from engine.model.errors import Conflict
from engine.model.events import Start
from engine.model.execution import Execution, Run
from engine.model.facts import (
    Facts,
    Holder,
    Limits,
    Snapshot,
    no_complaint,
    no_file,
    no_jitter,
    no_outputs,
    nothing_held,
)
from engine.model.record import Json
from engine.tasks.children import too_many_text
from engine.tasks.snapshot import snapshot

ReadTaskDef = Callable[[str], TaskDef | None]
ReadDefinition = Callable[[str, int | None], WorkflowDef | None]

CACHED_OUTPUTS = 10_000
"""Outputs kept for tasks with a cacheConfig."""

_FACTS = tuple(item.name for item in fields(Facts))
_NOW, _PAYLOAD, _OUTPUTS = (_FACTS.index(name) for name in ("now", "payload", "outputs"))
_HOLDER, _REFUSAL = _FACTS.index("holder"), _FACTS.index("refusal")

POLLED_LATELY_MS = 10_000
"""A domain counts as active when one of its workers polled this recently."""


class Knowledge:
    """Caches the catalogue until it is told of a change; builds Facts."""

    def __init__(
        self,
        read_task_def: ReadTaskDef,
        read_definition: ReadDefinition,
        *,
        limits: Limits | None = None,
        environment: dict[str, str] | None = None,
        sinks: frozenset[str] = frozenset({"conductor"}),
        jitter: bool = True,
        schema_complaint: Callable[[SchemaDef, Json], str | None] | None = None,
        tells_tasks: bool = False,
        named: Callable[[str, str], bytes] = no_file,
        held: Callable[[Execution, Run], bool] = nothing_held,
    ) -> None:
        self.tells_tasks = tells_tasks
        self._read_task_def = read_task_def
        self._read_definition = read_definition
        self._task_defs: dict[str, TaskDef | None] = {}
        self._snapshots: dict[tuple[str, int | None], Snapshot | None] = {}
        self._building = threading.RLock()
        self._half_built: dict[tuple[str, int | None], Snapshot] = {}
        self._polls: dict[tuple[str, str], int] = {}
        self.families = Families()
        self._now = 0
        self._cache: OrderedDict[tuple[str, str], tuple[int, bytes]] = OrderedDict()
        self._facts = Facts(
            now=0,
            task_def=self.task_def,
            definition=self.definition,
            polled=self.polled,
            jitter=seeded_jitter if jitter else no_jitter,
            schema_complaint=schema_complaint or no_complaint,
            cached=self.cached,
            started_lately=self.started_lately,
            limits=limits or Limits(),
            environment=environment or {},
            sinks=sinks,
            tells_tasks=tells_tasks,
            named=named,
            held=held,
        )
        self._values: list[Any] = [getattr(self._facts, name) for name in _FACTS]

    def learn_admission(
        self,
        holder: Callable[[str, str], Holder | None],
        refusal: Callable[[Start], str | None],
    ) -> None:
        """Where decisions look up idempotency keys and rate limits from now on."""
        self._values[_HOLDER], self._values[_REFUSAL] = holder, refusal

    @property
    def limits(self) -> Limits:
        """Sizes above which something fails with a reason."""
        return self._facts.limits

    def facts(
        self,
        now: int,
        payload: Callable[[int, str], bytes | None],
        outputs: Callable[[Collection[int]], Mapping[int, bytes]] = no_outputs,
    ) -> Facts:
        """Facts for one decision."""
        self._now = now
        # Built by position: `dataclasses.replace` takes longer than a small decision.
        values = self._values.copy()
        values[_NOW], values[_PAYLOAD], values[_OUTPUTS] = now, payload, outputs
        return Facts(*values)

    def task_def(self, name: str) -> TaskDef | None:
        """The registered definition of a task name."""
        known = self._task_defs
        if name not in known:
            known[name] = self._read_task_def(name)
        return known[name]

    def definition(self, name: str, version: int | None) -> Snapshot | None:
        """A registered workflow definition, ready to run by."""
        key = (name, version)
        known = self._snapshots
        if key not in known:
            with self._building:
                return self._build(key, known)
        return known[key]

    def known(self, name: str, version: int | None) -> Snapshot | None:
        """The same if it is at hand."""
        return self._snapshots.get((name, version))

    def _build(
        self, key: tuple[str, int | None], known: dict[tuple[str, int | None], Snapshot | None]
    ) -> Snapshot | None:
        if self._half_built.get(key) is not None:
            # A workflow that runs itself as a child meets this placeholder, not itself again.
            return self._half_built[key]
        found = self._read_definition(*key)
        if found is None:
            return None
        self._half_built[key] = Snapshot(found, "")
        try:
            known[key] = snapshot(found, self._facts)
        finally:
            del self._half_built[key]
        return known[key]

    def cached(self, task_name: str, key: str) -> bytes | None:
        """An output remembered under a task's cache key, while it is fresh."""
        found = self._cache.get((task_name, key))
        return found[1] if found is not None and found[0] > self._now else None

    def remember(self, task_name: str, key: str, kept_ms: int, output: bytes) -> None:
        """Keep an output for later runs; the oldest make room. Losing one only costs a call."""
        self._cache[task_name, key] = (self._now + kept_ms, output)
        self._cache.move_to_end((task_name, key))
        while len(self._cache) > CACHED_OUTPUTS:
            self._cache.popitem(last=False)

    def changed(self) -> None:
        """The catalogue has changed: forget what was read of it. A reader that is under way fills
        the dictionary it began with, which nobody looks into any more."""
        self._task_defs = {}
        self._snapshots = {}

    def started_lately(self, execution_id: str) -> int:
        """How many executions the family of this one has started within a day."""
        return self.families.started(execution_id, self._now)

    def admit(self, event: Start, execution_id: str, now: int) -> None:
        """Let in what a message starts. Those that an execution starts itself are counted, and
        refused, where it does so. Conflict: its family has started too many lately."""
        if event.event is None:
            return
        limit = self.limits.descendants
        if self.families.started(execution_id, now) >= limit:
            raise Conflict(too_many_text(event.definition.name, limit))
        self.families.grow(execution_id, now)

    def seen(self, carrier: str, domain: str | None, now: int) -> None:
        """A worker has asked for this type in this domain."""
        self._polls[carrier, domain or ""] = now

    def polled(self, task_type: str, domain: str) -> bool:
        """Did a worker of this domain ask for this type lately?"""
        last = self._polls.get((task_type, domain))
        return last is not None and self._now - last <= POLLED_LATELY_MS


def seeded_jitter(task_id: str, limit_ms: int) -> int:
    """The same task id always gives the same number from 0 to the limit."""
    return random.Random(task_id).randint(0, limit_ms)
