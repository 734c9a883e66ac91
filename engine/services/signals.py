"""Executions that somebody waits for: what blocks them, and what is answered about them.

A look takes a moment and no longer; waiting between looks is the caller's business.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.instruments.telemetry import Telemetry
from engine.model.errors import InvalidInput, NotFound
from engine.model.execution import Execution, Run
from engine.model.record import Json
from engine.rules.rendering import workflow_json
from engine.rules.task_rendering import blocking_task_json
from engine.services.committed import Committed
from engine.services.tasks import Tasks, reported_status
from engine.tasks.view import View

Document = dict[str, Json]


class ReturnStrategy(StrEnum):
    """What a synchronous answer is about."""

    TARGET_WORKFLOW = "TARGET_WORKFLOW"
    BLOCKING_WORKFLOW = "BLOCKING_WORKFLOW"
    BLOCKING_TASK = "BLOCKING_TASK"
    BLOCKING_TASK_INPUT = "BLOCKING_TASK_INPUT"


def return_strategy(text: str | None) -> ReturnStrategy:
    """The strategy of a name."""
    try:
        return ReturnStrategy(text or ReturnStrategy.TARGET_WORKFLOW)
    except ValueError:
        allowed = ", ".join(ReturnStrategy)
        raise InvalidInput(f"returnStrategy is {text!r}: use one of {allowed}.") from None


@dataclass(frozen=True, slots=True)
class Blocked:
    """An open WAIT, and the execution it is in."""

    view: View
    run: Run


@dataclass(frozen=True, slots=True)
class Stand:
    """How an execution stands at one moment."""

    target: View
    blocked: Blocked | None
    involved: frozenset[str]
    """Its id, and those of the running children that were looked at."""

    def waits_for_nothing_but_a_signal(self) -> bool:
        """Nothing goes on by itself: it is over, or at a WAIT without an end."""
        if self.target.status.terminal:
            return True
        return self.blocked is not None and not self.blocked.run.due_at

    def has_ended(self, refs: Sequence[str]) -> bool:
        """Is one of these tasks over?"""
        return any(
            run.status.terminal and (run.reference in refs or run.ref in refs)
            for run in self.target.execution.runs.values()
        )


class Signals:
    """Looking, signalling, and being told when to look again."""

    def __init__(self, telemetry: Telemetry, executions: Committed, tasks: Tasks) -> None:
        self._executions = executions
        self._tasks = tasks
        self._lock = threading.Lock()
        self._watched: dict[str, set[Callable[[], None]]] = {}
        telemetry.listen(self._hear)

    # Looking

    def look(self, workflow_id: str) -> Stand:
        """How an execution stands. Open WAITs are found in task order, then inside its running
        children."""
        view = self._executions.view(workflow_id, payloads=False)
        involved: set[str] = set()
        return Stand(view, self._blocked_in(view, involved), frozenset(involved))

    def _blocked_in(self, view: View, involved: set[str]) -> Blocked | None:
        involved.add(view.execution.id)
        open_runs = [run for run in view.all_runs() if run.open]
        for run in open_runs:
            if run.type == "WAIT":
                return Blocked(view, run)
        for run in open_runs:
            if run.child_id is not None and run.child_id not in involved:
                found = self._blocked_in_child(run.child_id, involved)
                if found is not None:
                    return found
        return None

    def _blocked_in_child(self, child_id: str, involved: set[str]) -> Blocked | None:
        involved.add(child_id)
        try:
            child = self._executions.view(child_id, payloads=False)
        except NotFound:
            return None
        return None if child.status.terminal else self._blocked_in(child, involved)

    # Signalling

    def signal(
        self, workflow_id: str, status: str, output: Document, by: str | None = None
    ) -> bool:
        """Report on the WAIT that blocks an execution; False if none does."""
        reported_status(status)
        blocked = self.look(workflow_id).blocked
        if blocked is None:
            return False
        owner = blocked.view.execution.id
        self._tasks.update_by_ref(owner, blocked.run.reference, status, output, by=by)
        return True

    # Being told

    def watch(self, ids: frozenset[str], wake: Callable[[], None]) -> None:
        """Call `wake`, from any thread, whenever something moves in one of these executions."""
        with self._lock:
            for workflow_id in ids:
                self._watched.setdefault(workflow_id, set()).add(wake)

    def unwatch(self, wake: Callable[[], None]) -> None:
        """No more."""
        with self._lock:
            for workflow_id in [id_ for id_, who in self._watched.items() if wake in who]:
                self._watched[workflow_id].discard(wake)
                if not self._watched[workflow_id]:
                    del self._watched[workflow_id]

    def _hear(self, what: str, facts: dict[str, Any]) -> None:
        if not self._watched:
            return
        execution = facts.get("execution")
        if not isinstance(execution, Execution):
            return
        with self._lock:
            waiting = list(self._watched.get(execution.id, ()))
        for wake in waiting:
            wake()

    # Answering

    def answer(
        self, stand: Stand, strategy: ReturnStrategy, request_id: str | None, timed_out: bool
    ) -> Document:
        """Conductor's SignalResponse. Where nothing blocks, the target itself is shown."""
        blocked = stand.blocked
        target = stand.target.execution
        if strategy is not ReturnStrategy.TARGET_WORKFLOW and blocked is None:
            strategy = ReturnStrategy.TARGET_WORKFLOW
        head: Document = {
            "responseType": strategy.value,
            "targetWorkflowId": target.id,
            "targetWorkflowStatus": target.status.value,
            "signalTimeout": timed_out,
        }
        if request_id is not None:
            head["requestId"] = request_id
        if blocked is None or strategy is ReturnStrategy.TARGET_WORKFLOW:
            return {**head, **self._workflow_part(target.id)}
        if strategy is ReturnStrategy.BLOCKING_WORKFLOW:
            return {**head, **self._workflow_part(blocked.view.execution.id)}
        return {**head, **blocking_task_json(blocked.view, blocked.run)}

    def _workflow_part(self, workflow_id: str) -> Document:
        shown = workflow_json(self._executions.view(workflow_id))
        names = (
            "workflowId",
            "correlationId",
            "input",
            "output",
            "priority",
            "variables",
            "tasks",
            "createdBy",
            "createTime",
            "status",
            "updateTime",
            "reasonForIncompletion",
        )
        return {name: shown[name] for name in names if name in shown}
