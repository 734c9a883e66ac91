"""The studio from a notebook: register, start, wait, look, recover, mock; pictures come out by themselves.

    studio = Studio()                        an engine inside this process, thrown away at its end
    studio = Studio("sqlite:///runs.db")     the same, kept in a file
    studio = Studio(server="http://...")     any server that speaks Conductor's API, ours included

Everything is asked over the same client as the pages ask; nothing here knows an engine's inside.
"""

import getpass
import os
from collections.abc import Callable, Iterable, Mapping
from threading import Event
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import pandas as pd

from engine.api.app import create_app
from engine.engine import Engine
from engine.settings import settings_from
from studio.client.client import Actor, Client
from studio.client.transport import in_process, over_network
from studio.editor.tree import JsonObject
from studio.graph import layout, progress, svg
from studio.graph.outline import forked_children
from studio.notebook_shows import Card, Execution, MockRun, Picture, card_of, execution_of
from studio.polling import Poller
from studio.views import mock_cases, mock_run, wording
from studio.views.execution import view_of

__all__ = ["Card", "Execution", "MockRun", "Picture", "Studio", "TimedOut"]

Function = TypeVar("Function", bound=Callable[..., Any])

_FIRST_PAUSE: Final = 0.02
_LONGEST_PAUSE: Final = 1.0
_COLUMNS: Final = ("workflowId", "name", "version", "status", "started", "ended", "took", "reason")


class TimedOut(Exception):
    """The execution has not ended in the time that was given; it goes on."""


class Studio:
    """One connection. A context manager; `close` ends an engine that was begun here."""

    def __init__(
        self,
        database: str = "memory:",
        *,
        server: str | None = None,
        token: str | None = None,
        person: str | None = None,
    ) -> None:
        self._engine: Engine | None = None
        self._pollers: list[Poller] = []
        if server is None:
            self._engine = Engine(settings_from({}, database=database)).start()
            self.client = Client(in_process(create_app(self._engine)), name="this notebook")
        else:
            self.client = Client(over_network(server, token))
        self._person = person or os.environ.get("REPRISE_PERSON") or getpass.getuser()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Studio on {self.client.name}"

    def close(self) -> None:
        """Ends workers and, if it was begun here, the engine."""
        for poller in self._pollers:
            poller.stop()
        self.client.close()
        if self._engine is not None:
            self._engine.stop()

    # Definitions and workers

    def register(
        self, definition: Mapping[str, Any], task_defs: Iterable[Mapping[str, Any]] = ()
    ) -> Picture:
        """Registers a definition and the task definitions it needs; its picture."""
        for task_def in task_defs:
            self.client.save_task_def(task_def, self._actor())
        self.client.save_definition(definition, self._actor())
        return self.picture(definition)

    def worker(self, task_name: str) -> Callable[[Function], Function]:
        """Declares the function that carries out a task; it stays callable as it is."""

        def employ(function: Function) -> Function:
            self.employ({task_name: function})
            return function

        return employ

    def employ(self, workers: Mapping[str, Callable[..., Any]]) -> None:
        """Several workers at once: task name -> function. With a server elsewhere the functions run
        here and poll for their work."""
        if self._engine is not None:
            self._engine.employ(workers)
            return
        for name, function in workers.items():
            self._pollers.append(Poller(self.client, name, function).start())

    # Executions

    def start(
        self,
        name: str,
        input: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        correlation_id: str | None = None,
    ) -> str:
        """Starts an execution; its id."""
        request: JsonObject = {"name": name, "input": dict(input or {})}
        if version is not None:
            request["version"] = version
        if correlation_id is not None:
            request["correlationId"] = correlation_id
        return self.client.start(request, self._actor())

    def wait(self, id_: str, timeout: float = 60.0) -> Execution:
        """Waits until an execution has ended. TimedOut when it has not."""
        pause, waited = _FIRST_PAUSE, 0.0
        while True:
            found = self.client.execution(id_, tasks=False)
            if found.get("status") not in ("RUNNING", "PAUSED"):
                return self.execution(id_)
            if waited >= timeout:
                raise TimedOut(
                    f"{id_} is {found.get('status')} after {timeout:g} s. Look at "
                    f"`studio.graph({id_!r})`, answer what waits, or wait longer."
                )
            Event().wait(pause)
            waited, pause = waited + pause, min(pause * 1.5, _LONGEST_PAUSE)

    def run(
        self,
        name: str,
        input: Mapping[str, Any] | None = None,
        *,
        timeout: float = 60.0,
        **given: Any,
    ) -> Execution:
        """Starts an execution and waits for its end."""
        return self.wait(self.start(name, input, **given), timeout)

    def execution(self, id_: str) -> Execution:
        """An execution as it stands."""
        return execution_of(self.client.execution(str(id_)))

    def executions(self, query: str = "", *, size: int = 100) -> pd.DataFrame:
        """The newest executions as a table, one row each; `query` in Conductor's words."""
        rows = []
        for row in self.client.search(query, size=size).rows:
            start, end = wording.millis(row.get("startTime")), wording.millis(row.get("endTime"))
            rows.append(
                {
                    "workflowId": row.get("workflowId"),
                    "name": row.get("workflowType"),
                    "version": row.get("version"),
                    "status": row.get("status"),
                    "started": pd.to_datetime(start or None, unit="ms", utc=True),
                    "ended": pd.to_datetime(end or None, unit="ms", utc=True),
                    "took": pd.to_timedelta(end - start if start and end else None, unit="ms"),
                    "reason": row.get("reasonForIncompletion") or "",
                }
            )
        return pd.DataFrame(rows, columns=list(_COLUMNS))

    # Pictures

    def picture(self, definition: Mapping[str, Any] | str) -> Picture:
        """A definition as a picture: given as JSON, or by the name it is registered under."""
        found = self.client.definition(definition) if isinstance(definition, str) else definition
        return Picture(svg.render(layout.place(found), title=str(found.get("name") or "")))

    def graph(self, id_: str) -> Picture:
        """An execution as a picture, as far as it has come."""
        return self.execution(id_).graph

    def failure(self, id_: str) -> Card:
        """Why an execution failed: the root task, its reason, and what to do next."""
        execution = self.client.execution(str(id_))
        return card_of(view_of(execution))

    # Recovery

    def retry(self, id_: str, why: str) -> None:
        """Runs again what failed. Wait for the execution to know whether that helped."""
        self.client.retry(str(id_), self._actor(why))

    def rerun(
        self,
        id_: str,
        why: str,
        *,
        from_ref: str | None = None,
        task_input: JsonObject | None = None,
        workflow_input: JsonObject | None = None,
    ) -> None:
        """Runs a task and all after it again, from the beginning without `from_ref`; with other input
        if some is given."""
        self.client.rerun(
            str(id_),
            self._actor(why),
            task_id=self.execution(id_).task_id(from_ref) if from_ref else None,
            task_input=task_input,
            workflow_input=workflow_input,
        )

    def complete(self, id_: str, ref: str, output: Mapping[str, Any] | None = None) -> None:
        """Answers a task that waits for a person or a signal."""
        self.client.report(str(id_), ref, "COMPLETED", dict(output or {}), self._actor())

    # Mock tests

    def mock(
        self,
        definition: Mapping[str, Any] | str,
        mocks: Mapping[str, Any] | None = None,
        input: Mapping[str, Any] | None = None,
        *,
        expect: Mapping[str, Any] | None = None,
        children: Mapping[str, Any] | None = None,
    ) -> MockRun:
        """Plays a definition on made-up answers; without `mocks` every task completes. `expect` is
        judged as on the page: `status`, `failedRef`, `output_has`, `ran`, `inputs`."""
        found = self.client.definition(definition) if isinstance(definition, str) else definition
        whole = dict(found)
        case = mock_cases.of_definition(whole, "notebook")
        if mocks is not None:
            case["mocks"] = {ref: _answers(given) for ref, given in mocks.items()}
            case["expect"] = {}
        if input is not None:
            case["input"] = dict(input)
        case["children"] = dict(children or case["children"])
        case["expect"] = dict(expect if expect is not None else case["expect"])
        answer = self.client.test(mock_cases.request_of(case, whole))
        report = mock_run.report_of(answer, case)
        drawing = layout.place(whole, forked=forked_children(report.outline))
        shown = progress.of_execution(drawing, report.outline)
        checks = mock_run.checks_of(case["expect"], report, whole)
        return MockRun(report, checks, Picture(svg.render(drawing, shown)))

    def _actor(self, why: str = "") -> Actor:
        return Actor(self._person, why)


def _answers(given: Any) -> list[JsonObject]:
    """A mock may be a list of answers, one answer, or the output alone."""
    if isinstance(given, list):
        return [_answer(each) for each in given]
    return [_answer(given)]


def _answer(given: Any) -> JsonObject:
    if isinstance(given, dict) and ("status" in given or "output" in given):
        return given
    return mock_cases.mock("COMPLETED", given)
