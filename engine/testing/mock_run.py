"""Plays a definition on mocks: on a core of its own, a store in memory and a clock turned by hand.

Nothing of it reaches the outside, and no time passes for real. A test goes on as long as mocks,
scripts or waits with an end can move it; it stops, and says where, at whatever is left open.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.core.knowledge import Knowledge, ReadDefinition, ReadTaskDef
from engine.model.definitions import SchemaDef
from engine.model.errors import InvalidInput
from engine.model.events import Start
from engine.model.execution import Execution, Run
from engine.model.facts import Facts, Limits, no_complaint
from engine.model.ids import execution_id
from engine.model.record import Json, decode, encode
from engine.model.requests import WorkflowTestRequest
from engine.rules.rendering import workflow_json
from engine.rules.starts import Sound, definition_for, require_startable
from engine.tasks.restoring import restore
from engine.tasks.snapshot import input_for
from engine.tasks.view import View
from engine.testing.mocks import Mocks
from engine.testing.report import Report, Stop, report_of
from engine.testing.table import ROOT, Evaluate, Table

SchemaComplaint = Callable[[SchemaDef, Json], str | None]
"""Why a value does not fit a schema."""

MOST_STEPS = 20_000
"""Turns and scripts a test may take before it counts as one that never ends."""

MOST_ROUNDS = 500
"""A test that goes round a loop more often than this is a mistake, whatever the limits allow: a loop
keeps all its rounds, so that its cost grows with their square."""

BEGINNING = 1_700_000_000_000
"""When a test begins, unless it is told else: an instant in November 2023."""


@dataclass(frozen=True, slots=True)
class MockRun:
    """What a test came to."""

    workflow: dict[str, Json]
    """The execution with all its tasks, as the API shows one."""
    report: Report
    children: dict[str, dict[str, Json]]
    """Its sub-workflows, at any depth, by workflow id."""


def play(
    request: WorkflowTestRequest,
    task_def: ReadTaskDef,
    definition: ReadDefinition,
    evaluate: Evaluate,
    *,
    now: int = BEGINNING,
    limits: Limits = Limits(),
    most_steps: int = MOST_STEPS,
    environment: dict[str, str] | None = None,
    schema_complaint: SchemaComplaint | None = None,
    sound: Sound | None = None,
    randomness: Callable[[int], bytes] = os.urandom,
) -> MockRun:
    """Play a request. The catalogue (`task_def`, `definition`) is only read; `evaluate` runs the
    scripts, `schema_complaint` holds input and output to their schemas where it is given, `sound`
    refuses a definition that could not be registered.

    InvalidInput: the request or its mocks cannot be played, or the test never comes to rest.
    """
    mocks = Mocks(request)
    table = Table(evaluate, now, most_steps)
    knowledge = Knowledge(
        task_def,
        definition,
        limits=replace(limits, loop_iterations=min(limits.loop_iterations, MOST_ROUNDS)),
        environment=environment,
        jitter=False,
        schema_complaint=schema_complaint,
        held=table.held,
    )
    table.sit_down(knowledge)
    start = _start(request, knowledge, schema_complaint, sound)
    table.play(start, execution_id(now, randomness(10)), mocks)
    return _outcome(table)


def _start(
    request: WorkflowTestRequest,
    knowledge: Knowledge,
    complain: SchemaComplaint | None,
    sound: Sound | None,
) -> Start:
    """The event that begins the test."""
    require_startable(request)
    if request.external_input_payload_storage_path:
        raise InvalidInput(
            "externalInputPayloadStoragePath names a file: a mock test takes its input inline, in "
            "`input`."
        )
    found = definition_for(request, knowledge, sound)
    given = input_for(found.definition, request.input or {}, complain or no_complaint)
    return Start(
        definition=found.definition,
        definition_hash=found.hash,
        input=encode(given),
        correlation_id=request.correlation_id,
        priority=request.priority,
        task_to_domain=dict(request.task_to_domain or {}),
        created_by=request.created_by,
        isolated=True,
    )


def _outcome(table: Table) -> MockRun:
    """Everything the store has, and the report."""
    views = {key: _view(table, key) for key in table.store.numbers()}
    return MockRun(
        workflow=_plain(views[ROOT]),
        report=_report(table, views[ROOT], views, ""),
        children={
            view.execution.id: _plain(view)
            for view in views.values()
            if view.execution.parent_id is not None
        },
    )


def _view(table: Table, key: int) -> View:
    loaded = table.store.load(key, payloads=True)
    if loaded is None:
        raise LookupError(f"execution {key} is gone")
    return View(restore(loaded.execution, loaded.runs), Facts(now=table.clock.now()))


def _report(table: Table, view: View, views: dict[int, View], path: str) -> Report:
    execution = view.execution
    children = {}
    stops = _stops(table, execution, path)
    for below in views.values():
        run = _task_of(below.execution, execution)
        if run is not None:
            child = _report(table, below, views, f"{path}{run.reference}/")
            children[run.reference] = child
            stops += child.stops
    unused = table.mocks_of(execution).unused()
    return report_of(execution, table.clock.now(), unused, stops, children)


def _task_of(child: Execution, parent: Execution) -> Run | None:
    """The SUB_WORKFLOW attempt of the parent that has started the child."""
    if child.parent_id != parent.id:
        return None
    runs = parent.runs.values()
    return next((run for run in runs if run.task_id == child.parent_task_id), None)


def _stops(table: Table, execution: Execution, path: str) -> list[Stop]:
    if execution.status.terminal:
        return []
    stops = [
        Stop(path + run.reference, run.type, table.blocked[execution.key, run.seq])
        for run in execution.runs.values()
        if (execution.key, run.seq) in table.blocked
    ]
    if execution.stuck:
        stops.append(Stop(path.rstrip("/"), "WORKFLOW", execution.stuck))
    return stops


def _plain(view: View) -> dict[str, Json]:
    """An execution as JSON without spliced bytes."""
    shown: dict[str, Json] = decode(encode(workflow_json(view)))
    return shown
