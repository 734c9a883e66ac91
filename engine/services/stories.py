"""What our own additions tell about executions: outlines without payloads, single tasks with all
their attempts, the ledger, previews, and counts over everything."""

from collections.abc import Callable, Collection

from engine.model.errors import InvalidInput, NotFound
from engine.model.events import (
    Event,
    Pause,
    Rerun,
    Restart,
    Resume,
    Retry,
    Skip,
    Terminate,
)
from engine.model.execution import Execution, Run
from engine.model.record import Json, decode, present
from engine.rules.diagnosis import diagnose
from engine.rules.preview import preview
from engine.rules.starts import restart_by_newest
from engine.rules.task_rendering import outline_entry, task_json
from engine.rules.wait_words import Place
from engine.services.archive_shelf import ArchiveShelf
from engine.services.committed import Committed
from engine.services.logs import Logs
from engine.services.port import Port
from engine.services.searches import wanted
from engine.services.summaries import workflow_summary
from engine.store import ledger, reading, search
from engine.store.contract import LedgerLine
from engine.store.rowstore import RowStore
from engine.tasks.view import View

Document = dict[str, Json]

DAY_MS = 24 * 60 * 60 * 1000
FAILURES_SHOWN = 20
WAITING_SHOWN = 10
MOST_LINES = 1000


class Stories:
    """Reading what happened, and asking what would."""

    def __init__(
        self,
        port: Port,
        store: RowStore,
        executions: Committed,
        logs: Logs,
        own: Callable[[], Collection[Place]],
    ) -> None:
        self._port = port
        self._store = store
        self._executions = executions
        self._logs = logs
        self._own = own
        self._archive = ArchiveShelf(port, store)

    # One execution, among the living or in the archive

    def outline(self, workflow_id: str, since: int | None = None) -> Document:
        """An execution and its attempts, no payload shown. With `since`, a ledger line: only what
        may have changed after it, which is what the later lines name and all that is open."""
        view = self._executions.view(workflow_id, payloads=False)
        execution, runs = view.execution, list(view.execution.runs.values())
        if since is not None:
            touched = self._touched(workflow_id, since)
            runs = [run for run in runs if run.seq in touched or run.open]
        optional = {
            "correlationId": execution.correlation_id,
            "parentWorkflowId": execution.parent_id,
            "parentWorkflowTaskId": execution.parent_task_id,
            "createdBy": execution.created_by,
            "reasonForIncompletion": execution.reason,
            "stuck": execution.stuck,
            "reRunFromWorkflowId": execution.rerun_from,
        }
        return {
            "workflowId": execution.id,
            "workflowName": execution.definition.name,
            "workflowVersion": execution.definition.version,
            "status": execution.status.value,
            "startTime": execution.created_at,
            "updateTime": execution.updated_at,
            "endTime": execution.ended_at,
            "priority": execution.priority,
            "definitionHash": execution.definition_hash,
            "line": execution.line,
            "tasks": [outline_entry(run) for run in runs],
            **present(optional),
        }

    def _touched(self, workflow_id: str, since: int) -> set[int]:
        return {
            int(seq)
            for line in self._lines(workflow_id, since, MOST_LINES)
            for seq in decode(line.body).get("runs", ())
        }

    def task(self, workflow_id: str, seq: int) -> Document:
        """One attempt with its payloads and log, and all attempts at the same task."""
        view = self._executions.view(workflow_id, payloads=False)
        earlier = self._before(workflow_id)
        run = view.execution.runs.get(seq) or next((r for r in earlier if r.seq == seq), None)
        if run is None:
            raise NotFound(f"Workflow {workflow_id} has no task with seq {seq}.")
        others = [other for other in view.all_runs() if other.seq != seq]
        return {
            **task_json(view, run, whole=True),
            "logs": self._logs.of(run.task_id),
            "attempts": _same(view, run, others),
            "before": _same(view, run, [other for other in earlier if other is not run]),
        }

    def before(self, workflow_id: str) -> Document:
        """Attempts as they were before a recovery reopened them in place or took them out, oldest
        first, no payload shown; `task` shows one of them whole."""
        self._executions.view(workflow_id, payloads=False)
        return {
            "workflowId": workflow_id,
            "tasks": [outline_entry(run) for run in self._before(workflow_id)],
        }

    def _before(self, workflow_id: str) -> list[Run]:
        """Attempts as they were before they were reopened in place or removed."""
        key = self._store.key_of(workflow_id)
        if key is not None:
            return self._store.read(lambda session: reading.before(session, key))
        found = self._archive.find(workflow_id)
        return [] if found is None else found.before

    def _lines(self, workflow_id: str, after: int, limit: int) -> list[LedgerLine]:
        key = self._store.key_of(workflow_id)
        if key is not None:
            return self._store.read(lambda session: ledger.story(session, key, after, limit))
        found = self._archive.find(workflow_id)
        if found is None:
            raise NotFound(f"No such workflow found by id: {workflow_id}")
        return [line for line in found.lines if line.line > after][:limit]

    def ledger(self, workflow_id: str, after: int, limit: int) -> Document:
        """What happened to an execution, oldest first."""
        most = min(max(1, limit), MOST_LINES)
        lines = self._lines(workflow_id, after, most)
        shown = []
        for line in lines:
            told = present({"by": line.by, "why": line.why})
            head: Document = {"line": line.line, "at": line.at, "cause": line.cause, **told}
            shown.append({**head, **decode(line.body), "chain": line.chain})
        return {"workflowId": workflow_id, "lines": shown, "more": len(lines) == most}

    def diagnosis(self, workflow_id: str) -> Document:
        """Why an execution stopped or what it waits for, in sentences."""
        execution = self._executions.view(workflow_id, payloads=False).execution
        found = diagnose(execution, self._port.core.clock.now(), self._child, self._own())
        return {"workflowId": workflow_id, **found.json_value()}

    def _child(self, workflow_id: str) -> Execution | None:
        """A sub-workflow; None when it has been removed."""
        try:
            return self._executions.view(workflow_id, payloads=False).execution
        except NotFound:
            return None

    def preview(self, workflow_id: str, asked: Document) -> Document:
        """What a verb would do; nothing happens."""
        view = self._executions.view(workflow_id, payloads=False)
        event = self._event(view, asked)
        knowledge = self._port.core.knowledge
        now = self._port.core.clock.now()
        facts = knowledge.facts(now, view.facts.payload, view.facts.outputs)
        found = preview(view.execution, event, facts)
        return {"workflowId": workflow_id, "action": asked.get("action"), **found.json_value()}

    def _event(self, view: View, asked: Document) -> Event:
        action = asked.get("action")
        if action == "retry":
            return Retry(resume_subworkflow_tasks=bool(asked.get("resumeSubworkflowTasks")))
        if action == "rerun":
            return Rerun(task_id=asked.get("taskId") or None)
        if action == "restart":
            if not asked.get("useLatestDefinitions"):
                return Restart()
            return restart_by_newest(view.execution, self._port.core.knowledge)
        if action == "skip":
            return Skip(ref=str(asked.get("ref") or ""))
        plain = {"pause": Pause(), "resume": Resume(), "terminate": Terminate()}
        if action not in plain:
            raise InvalidInput(
                f"action is {action!r}: use one of retry, rerun, restart, pause, resume, skip, "
                "terminate."
            )
        return plain[action]

    # Everything

    def overview(self) -> Document:
        """Counts by status and workflow, what has waited longest, what failed in the last day."""
        now = self._port.core.clock.now()
        by_status: dict[str, int] = {}
        by_name: dict[str, dict[str, int]] = {}
        for (name, status), count in self._store.read(reading.counts).items():
            by_status[status] = by_status.get(status, 0) + count
            by_name.setdefault(name, {})[status] = count
        query = f"status IN (FAILED,TIMED_OUT,TERMINATED) AND endTime > {now - DAY_MS}"
        asked = wanted(query, sort="endTime:DESC", size=FAILURES_SHOWN)
        failed = self._store.read(lambda s: search.executions(s, asked))
        rows = self._store.read(lambda s: reading.listed(s, failed.places, payloads=False))
        waiting = self._store.read(lambda s: reading.oldest_waiting(s, WAITING_SHOWN))
        return {
            "at": now,
            "total": sum(by_status.values()),
            "byStatus": by_status,
            "byWorkflow": [
                {"name": name, "byStatus": found, "total": sum(found.values())}
                for name, found in sorted(by_name.items())
            ],
            "failedLastDay": {
                "total": failed.total,
                "results": [workflow_summary(row) for row in rows],
            },
            "oldestWaiting": [
                {"workflowId": workflow_id, **outline_entry(run)} for workflow_id, run in waiting
            ],
        }


def _same(view: View, run: Run, others: list[Run]) -> list[Document]:
    """Those of some attempts that are at the same task, as the API shows them."""
    return [task_json(view, other) for other in others if other.reference == run.reference]
