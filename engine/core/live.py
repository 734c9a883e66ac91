"""Executions in memory: found by number or workflow id, loaded when needed, let go when they wait.

Everything here is committed (or is about to be, in this turn), so letting go never loses anything.
"""

from collections import OrderedDict

from engine.model.execution import Execution
from engine.store.contract import Store
from engine.tasks.restoring import restore

KEPT = 4096
"""Executions kept in memory at most, between turns."""


class Live:
    """The executions that are worked on."""

    def __init__(self, store: Store, kept: int = KEPT) -> None:
        self._store = store
        self._kept = kept
        self._found: OrderedDict[int, Execution] = OrderedDict()
        self._ids: dict[str, int] = {}

    def get(self, key: int) -> Execution | None:
        """By number."""
        found = self._found.get(key)
        if found is not None:
            self._found.move_to_end(key)
            return found
        loaded = self._store.load(key)
        if loaded is None:
            return None
        found = restore(loaded.execution, loaded.runs)
        self.add(found)
        return found

    def find(self, workflow_id: str) -> Execution | None:
        """By workflow id."""
        key = self._ids.get(workflow_id)
        if key is None:
            key = self._store.key_of(workflow_id)
        return None if key is None else self.get(key)

    def add(self, execution: Execution) -> None:
        """A new or freshly loaded execution."""
        self._found[execution.key] = execution
        self._ids[execution.id] = execution.key

    def let_go(self, key: int) -> None:
        """Forget an execution; the store has it."""
        found = self._found.pop(key, None)
        if found is not None:
            self._ids.pop(found.id, None)

    def let_go_if_idle(self, execution: Execution) -> None:
        """Forget an execution that has ended, or in which nothing is being carried out."""
        if execution.status.terminal or execution.carried == 0:
            self.let_go(execution.key)

    def trim(self) -> None:
        """Forget the longest unused beyond the limit."""
        while len(self._found) > self._kept:
            self.let_go(next(iter(self._found)))

    def __len__(self) -> int:
        return len(self._found)
