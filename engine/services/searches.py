"""What a caller can ask about many executions and tasks: searches, lists, counts."""

from collections.abc import Collection, Sequence
from typing import Any

from engine.model.errors import InvalidInput
from engine.model.execution import Run
from engine.model.record import Json
from engine.rules.task_rendering import shown_output
from engine.services.committed import Committed
from engine.services.summaries import task_summary, workflow_summary
from engine.store import archive, reading, search
from engine.store.rowstore import RowStore
from engine.store.search import Found
from engine.store.search import Search as Search
from engine.tasks.rounds import is_open_loop

MOST_FOUND = 5000

Document = dict[str, Json]


class Searches:
    """Questions that are answered from the store alone."""

    def __init__(self, store: RowStore, executions: Committed) -> None:
        self._store = store
        self._executions = executions

    # Executions

    def executions(self, wanted: Search, top_level: bool = False) -> Document:
        """WorkflowSummaries."""
        _check(wanted)

        def ask(session: Any) -> Document:
            found = search.executions(session, wanted, top_level=top_level)
            return _result(found, self._summaries(session, found))

        return self._store.read(ask)

    def whole_executions(self, wanted: Search, top_level: bool = False) -> Document:
        """Workflows, without their tasks."""
        _check(wanted)
        found = self._store.read(lambda s: search.executions(s, wanted, top_level=top_level))
        return _result(found, self._whole(found.places))

    def executions_of_tasks(self, wanted: Search) -> Document:
        """WorkflowSummaries of the executions whose tasks are found."""
        _check(wanted)

        def ask(session: Any) -> Document:
            found = search.executions_of_tasks(session, wanted)
            return _result(found, self._summaries(session, found))

        return self._store.read(ask)

    def whole_executions_of_tasks(self, wanted: Search) -> Document:
        """The same as Workflows, without their tasks."""
        _check(wanted)
        found = self._store.read(lambda s: search.executions_of_tasks(s, wanted))
        return _result(found, self._whole(found.places))

    def _summaries(self, session: Any, found: Found) -> list[Document]:
        rows = reading.listed(session, found.places, payloads=True)
        return [workflow_summary(row, self._hidden(row)) for row in rows]

    def _hidden(self, row: reading.Listed) -> Collection[str]:
        return self._store.definition(row.definition_hash).masked_fields

    def _whole(self, keys: Sequence[int]) -> list[Document]:
        shown = (self._executions.shown(key, tasks=False) for key in keys)
        return [item for item in shown if item is not None]

    def running(
        self, name: str, version: int | None, since: int | None, until: int | None
    ) -> list[str]:
        """Ids of executions that have not ended."""
        return self._store.read(lambda s: reading.running(s, name, version, since, until))

    def correlated(
        self, name: str | None, correlation_id: str, ended: bool, tasks: bool
    ) -> list[Document]:
        """Workflows with a correlation id."""
        ids = self._store.read(lambda s: reading.correlated(s, correlation_id, name, ended))
        return [self._executions.get(id_, tasks) for id_ in ids]

    # Tasks

    def tasks(self, wanted: Search) -> Document:
        """TaskSummaries."""
        require_page(start=wanted.start, size=wanted.size)

        def ask(session: Any) -> tuple[Found, list[Run], dict[int, reading.Listed]]:
            found = search.tasks(session, wanted)
            runs = archive.attempts(session, found.places)
            keys = sorted({key for key, _ in found.places})
            return found, runs, {row.key: row for row in reading.listed(session, keys)}

        found, runs, rows = self._store.read(ask)
        shown = []
        for run, (key, _) in zip(runs, found.places, strict=False):
            if is_open_loop(run):
                run.output = self._rounds(key, run)
            shown.append(task_summary(run, rows[key], self._hidden(rows[key])))
        return _result(found, shown)

    def _rounds(self, key: int, run: Run) -> bytes | None:
        """An open loop's output: its record holds no rounds, they are shown all the same."""
        view = self._executions.view_of(key)
        present = None if view is None else view.execution.runs.get(run.seq)
        return run.output if view is None or present is None else shown_output(view, present)

    def whole_tasks(self, wanted: Search) -> Document:
        """Tasks."""
        require_page(start=wanted.start, size=wanted.size)
        found = self._store.read(lambda s: search.tasks(s, wanted))
        return _result(found, self.tasks_at(found.places))

    def tasks_at(self, places: Sequence[tuple[int, int]]) -> list[Document]:
        """Tasks by execution and seq; those that are gone are left out."""
        views = {key: self._executions.view_of(key) for key in {key for key, _ in places}}
        shown = (self._executions.task_in(views[key], seq) for key, seq in places)
        return [item for item in shown if item is not None]

    def tasks_of(
        self, workflow_id: str, statuses: Sequence[str], start: int, count: int
    ) -> Document:
        """Tasks of one execution, a page of them."""
        view = self._executions.view(workflow_id, payloads=False)
        runs = [run for run in view.all_runs() if not statuses or run.status.value in statuses]
        some = runs[max(0, start) :][: max(0, count)]
        shown = [self._executions.task_in(view, run.seq) for run in some]
        return {"totalHits": len(runs), "results": shown}


def wanted(
    query: str | None = None,
    *,
    classes: Sequence[str] = (),
    free_text: str | None = None,
    sort: str | None = None,
    start: int = 0,
    size: int = 100,
) -> Search:
    """What is searched for. A classifier is a condition like any other, `*` is any text; a size of -1
    is as many as an answer may hold, and what begins before the first begins there."""
    query = query or ""
    if classes:
        condition = f"classifier IN ({','.join(classes)})"
        query = f"({query}) AND {condition}" if query.strip() else condition
    return Search(
        query, free_text or "*", sort or "", max(0, start), MOST_FOUND if size == -1 else size
    )


def _check(wanted: Search) -> None:
    require_page(start=wanted.start, size=wanted.size)
    if wanted.size > MOST_FOUND:
        raise InvalidInput(
            f"Cannot return more than {MOST_FOUND} workflows. Please use pagination."
        )


def require_page(**bounds: int) -> None:
    """A page begins somewhere and holds something; 0 only counts."""
    for name, value in bounds.items():
        if value < 0:
            raise InvalidInput(f"{name} is {value}: it must be 0 or more.")


def _result(found: Found, rows: list[Any]) -> Document:
    return {"totalHits": found.total, "results": rows}
