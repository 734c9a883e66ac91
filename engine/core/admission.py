"""Which starts are let in: an idempotency key starts one execution, a workflow's rate limit holds
executions back until others of their key have ended, and what an execution starts in turn is
counted."""

from collections import OrderedDict
from dataclasses import replace

from engine.core.inbox import Asked
from engine.core.live import Live
from engine.expressions.roots import MappingRoot
from engine.expressions.templates import compile_template
from engine.model.errors import Conflict
from engine.model.events import Admitted, Start
from engine.model.execution import EMPTY, Execution
from engine.model.facts import Holder
from engine.model.ids import family_of
from engine.model.record import decode
from engine.model.requests import IdempotencyStrategy
from engine.model.status import ExecutionStatus
from engine.store.contract import Store
from engine.tasks.keys import key_taken_text

DAY_MS = 24 * 3600 * 1000
FAMILIES = 100_000
"""Families that are counted at a time; one that starts nothing any more makes room."""


class Families:
    """How many executions each family has started within a day. Counted in memory: after a restart
    of the engine it begins anew."""

    def __init__(self) -> None:
        self._born: OrderedDict[int, int] = OrderedDict()
        self._since = 0

    def grow(self, execution_id: str, now: int) -> None:
        """One of the family starts this execution."""
        self._turn_the_day(now)
        family = family_of(execution_id)
        self._born[family] = self._born.get(family, 0) + 1
        self._born.move_to_end(family)
        if len(self._born) > FAMILIES:
            self._born.popitem(last=False)

    def started(self, execution_id: str, now: int) -> int:
        """How many the family of this execution has started."""
        self._turn_the_day(now)
        return self._born.get(family_of(execution_id), 0)

    def _turn_the_day(self, now: int) -> None:
        if now - self._since >= DAY_MS:
            self._born.clear()
            self._since = now


class Keys:
    """Idempotency keys: unique for a workflow name."""

    def __init__(self, store: Store, live: Live) -> None:
        self._store = store
        self._live = live
        self._taken: dict[tuple[str, str], str] = {}

    def existing(self, event: Start, own_id: str) -> str | None:
        """The execution that answers this start instead of a new one, which would have `own_id`;
        None to start one.

        Raises Conflict where the strategy forbids both."""
        key = event.idempotency_key
        if not key:
            return None
        name = event.definition.name or ""
        if self._taken.get((name, key)) == own_id:
            # Whoever starts it has looked already: what had the key before has ended.
            before = self._store.started_with(name, key)
            if before is not None and before != own_id:
                self._store.free_key(name, key, before)
            return None
        holder = self.holder(name, key)
        if holder is None:
            return None
        strategy = event.idempotency_strategy
        if strategy is IdempotencyStrategy.RETURN_EXISTING:
            return holder.id
        if strategy is IdempotencyStrategy.FAIL_ON_RUNNING and holder.status.terminal:
            self._store.free_key(name, key, holder.id)
            self._taken.pop((name, key), None)
            return None
        raise Conflict(key_taken_text(name, key, holder.id))

    def holder(self, name: str, key: str) -> Holder | None:
        """Who has been started by a workflow name under a key, or is about to be in this turn."""
        promised = self._taken.get((name, key))
        known = promised or self._store.started_with(name, key)
        if known is None:
            return None
        found = self._live.find(known)
        if found is None:
            gone = ExecutionStatus.COMPLETED if promised is None else ExecutionStatus.RUNNING
            return Holder(known, gone)
        output = found.output
        if output is None:
            output = self._store.payload(found.key, 0, "output") or EMPTY
        return Holder(known, found.status, found.parent_id, output, found.reason)

    def promise(self, event: Start, workflow_id: str) -> None:
        """An execution of this id is to be started in this turn: its key is taken from now on."""
        if event.idempotency_key:
            self._taken[event.definition.name or "", event.idempotency_key] = workflow_id

    def take(self, execution: Execution) -> None:
        """A start of this turn holds its key from now on."""
        if execution.idempotency_key:
            name = execution.definition.name or ""
            self._taken[name, execution.idempotency_key] = execution.id

    def turn_over(self) -> None:
        """What this turn has started is in the store now, or never will be."""
        self._taken.clear()


class Gates:
    """Rate limits of workflows: at most so many executions of a key at work at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._inside: dict[str, set[int]] = {}
        self._waiting: dict[str, OrderedDict[int, int]] = {}
        """Executions held back, oldest first, each with the limit of its definition."""

    def fill(self) -> list[Asked]:
        """Begin with what the store has; whoever may come in."""
        for item in self._store.gated():
            if item.waiting:
                self._waiting.setdefault(item.key, OrderedDict())[item.execution] = item.limit
            else:
                self._inside.setdefault(item.key, set()).add(item.execution)
        return [asked for key in list(self._waiting) for asked in self._let_in(key)]

    def stamped(self, event: Start, heard: bool) -> Start:
        """The start with its rate limit key, held back when the key is used up.

        Raises Conflict when the policy is REJECT and the refusal is heard by somebody."""
        config = event.definition.rate_limit_config
        limit = event.definition.concurrent_executions
        if not config or limit <= 0:
            return event
        refusal = self.refusal(event) if heard else None
        if refusal is not None:
            raise Conflict(refusal)
        key = key_of(event)
        full = len(self._inside.get(key, ())) >= limit
        return replace(event, rate_limit_key=key, rate_limited=full)

    def refusal(self, event: Start) -> str | None:
        """Why a start is not even held back: its definition's policy is REJECT."""
        config = event.definition.rate_limit_config
        limit = event.definition.concurrent_executions
        if not config or limit <= 0 or config.get("policy") != "REJECT":
            return None
        key = key_of(event)
        if len(self._inside.get(key, ())) < limit:
            return None
        return (
            f"The rate limit of workflow {event.definition.name} is reached: {limit} "
            f"executions with key {key} are running."
        )

    def entered(self, execution: Execution) -> None:
        """A new execution is at work, or waits to be let in."""
        key = execution.rate_limit_key
        if key is None:
            return
        if execution.rate_limited:
            limit = execution.definition.concurrent_executions
            self._waiting.setdefault(key, OrderedDict())[execution.key] = limit
        elif not execution.status.terminal:
            self._inside.setdefault(key, set()).add(execution.key)

    def left(self, execution: Execution) -> list[Asked]:
        """An execution has ended: whoever may come in now."""
        key = execution.rate_limit_key
        if key is None:
            return []
        self.forget(execution)
        return self._let_in(key)

    def forget(self, execution: Execution) -> None:
        """An execution is neither at work nor waiting."""
        key = execution.rate_limit_key
        if key is not None:
            self._inside.get(key, set()).discard(execution.key)
            self._waiting.get(key, OrderedDict()).pop(execution.key, None)

    def _let_in(self, key: str) -> list[Asked]:
        """As many of those who wait as there is room for."""
        inside = self._inside.setdefault(key, set())
        waiting = self._waiting.get(key, OrderedDict())
        let_in = []
        while waiting and len(inside) < next(iter(waiting.values())):
            number, _ = waiting.popitem(last=False)
            inside.add(number)
            let_in.append(Asked(Admitted(), key=number))
        return let_in


def key_of(event: Start) -> str:
    """The rate limit key, its expressions read from the start."""
    config = event.definition.rate_limit_config or {}
    root = MappingRoot(
        {
            "workflow": {
                "input": decode(event.input),
                "correlationId": event.correlation_id,
                "workflowType": event.definition.name,
                "version": event.definition.version,
            }
        }
    )
    filled = compile_template(str(config.get("rateLimitKey") or "")).fill(root)
    return f"{event.definition.name}:{filled}"
