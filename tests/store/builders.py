"""Executions, attempts and groups for the tests of the stores."""

from typing import Any

from engine.model.definitions import WorkflowDef
from engine.model.execution import Changes, Execution, Run
from engine.model.ids import content_hash, task_id
from engine.model.status import TaskStatus
from engine.store.contract import Group, LedgerLine, Store, Written


def a_definition(name: str = "order", version: int = 1) -> WorkflowDef:
    task = {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE"}
    return WorkflowDef.read({"name": name, "version": version, "tasks": [task]})


def an_execution(store: Store, definition: WorkflowDef | None = None, **fields: Any) -> Execution:
    key = store.next_key()
    definition = definition or a_definition()
    fields = {"id": f"workflow-{key}", "created_at": key, **fields}
    return Execution(
        key=key,
        definition=definition,
        definition_hash=content_hash(definition.json_bytes()),
        **fields,
    )


def a_run(execution: Execution, seq: int = 1, **fields: Any) -> Run:
    given: dict[str, Any] = {
        "ref": "charge",
        "reference": "charge",
        "type": "SIMPLE",
        "name": "charge",
        "status": TaskStatus.SCHEDULED,
        "carrier": "charge",
    }
    return Run(seq=seq, task_id=task_id(execution.key, seq), **{**given, **fields})


def a_line(number: int = 1, **fields: Any) -> LedgerLine:
    given: dict[str, Any] = {
        "at": 1_000 + number, "cause": "Start", "by": None, "why": None, "body": b"{}",
    }  # fmt: skip
    return LedgerLine(line=number, **{**given, **fields})


def created(execution: Execution, *runs: Run, line: LedgerLine | None = None) -> Written:
    changes = Changes(runs={run.seq: run for run in runs})
    return Written(execution, changes, created=True, ledger=line)


def changed(execution: Execution, *runs: Run, **fields: Any) -> Written:
    """What an event did; the execution itself is changed along, as the core does it."""
    changes = Changes(runs={run.seq: run for run in runs}, fields=fields)
    for name, value in fields.items():
        setattr(execution, name, value)
    return Written(execution, changes)


def started(store: Store, *runs: dict[str, Any], **fields: Any) -> Execution:
    """A stored execution with an attempt for each set of fields."""
    execution = an_execution(store, **fields)
    made = [a_run(execution, seq, **given) for seq, given in enumerate(runs, 1)]
    store.commit(Group([created(execution, *made)]))
    return execution
