"""Definitions and what hangs on them: cold writes as errands, cold reads, one change number.

Every function takes the session it works in: `store.errand` gives one that may write,
`store.read` one that reads. Documents are kept as they were sent, unknown fields included.
"""

from collections.abc import Iterable, Sequence

from sqlmodel import Session, col, delete, func, select

from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.errors import Conflict
from engine.model.record import decode
from engine.store.tables import (
    House,
    Idempotency,
    Tag,
    TaskDefinition,
    WorkerSeen,
    WorkflowDefinition,
)

_CHANGES = "catalogue_changes"


def change_number(session: Session) -> int:
    """Grows with every change of the catalogue, so that a cache knows when it is stale."""
    found = session.get(House, _CHANGES)
    return 0 if found is None else found.value


def note_change(session: Session) -> None:
    """The catalogue is about to change."""
    found = session.get(House, _CHANGES) or House(name=_CHANGES, value=0)
    found.value += 1
    session.add(found)


# Workflow definitions


def put_workflow(
    session: Session, definition: WorkflowDef, now: int, overwrite: bool = True
) -> WorkflowDef:
    """Register a definition; the moment of its first registration is kept."""
    name, version = definition.name or "", definition.version
    row = session.get(WorkflowDefinition, (name, version))
    if row is not None and not overwrite:
        raise Conflict(f"Workflow with {name}.{version} already exists!")
    if row is None:
        row = WorkflowDefinition(name=name, version=version, created_at=now, updated_at=0, body=b"")
    else:
        row.updated_at = now
    kept = definition.but(create_time=row.created_at, update_time=row.updated_at)
    row.body = kept.json_bytes()
    session.add(row)
    note_change(session)
    return kept


def workflow(session: Session, name: str, version: int | None = None) -> WorkflowDef | None:
    """A definition by name and version; without a version the highest."""
    asked = select(WorkflowDefinition).where(WorkflowDefinition.name == name)
    if version is not None:
        asked = asked.where(WorkflowDefinition.version == version)
    row = session.exec(asked.order_by(col(WorkflowDefinition.version).desc())).first()
    return None if row is None else _workflow(row)


def workflows(session: Session, name: str | None = None) -> list[WorkflowDef]:
    """All versions of all definitions, or of one, by name and version."""
    asked = select(WorkflowDefinition)
    if name is not None:
        asked = asked.where(WorkflowDefinition.name == name)
    order = (col(WorkflowDefinition.name), col(WorkflowDefinition.version))
    return [_workflow(row) for row in session.exec(asked.order_by(*order))]


def latest_workflows(session: Session) -> list[WorkflowDef]:
    """The highest version of each name."""
    highest = (
        select(WorkflowDefinition.name, func.max(WorkflowDefinition.version).label("version"))
        .group_by(WorkflowDefinition.name)
        .subquery()
    )
    asked = (
        select(WorkflowDefinition)
        .join(
            highest,
            (col(WorkflowDefinition.name) == highest.c.name)
            & (col(WorkflowDefinition.version) == highest.c.version),
        )
        .order_by(col(WorkflowDefinition.name))
    )
    return [_workflow(row) for row in session.exec(asked)]


def workflow_names(session: Session) -> dict[str, list[int]]:
    """The versions of each name, without reading a document."""
    asked = select(WorkflowDefinition.name, WorkflowDefinition.version).order_by(
        col(WorkflowDefinition.name), col(WorkflowDefinition.version)
    )
    found: dict[str, list[int]] = {}
    for name, version in session.exec(asked):
        found.setdefault(name, []).append(version)
    return found


def remove_workflow(session: Session, name: str, version: int) -> bool:
    """Take a definition out; executions go on by their snapshots."""
    return _remove(session, session.get(WorkflowDefinition, (name, version)))


def _workflow(row: WorkflowDefinition) -> WorkflowDef:
    return WorkflowDef.read(decode(row.body))


# Task definitions


def put_task(session: Session, definition: TaskDef, now: int) -> TaskDef:
    """Register a task definition in place of the one of that name."""
    name = definition.name or ""
    row = session.get(TaskDefinition, name)
    if row is None:
        row = TaskDefinition(name=name, created_at=now, updated_at=0, body=b"")
    else:
        row.updated_at = now
    kept = definition.but(create_time=row.created_at, update_time=row.updated_at)
    row.body = kept.json_bytes()
    session.add(row)
    note_change(session)
    return kept


def task(session: Session, name: str) -> TaskDef | None:
    """A task definition by name."""
    row = session.get(TaskDefinition, name)
    return None if row is None else TaskDef.read(decode(row.body))


def tasks(session: Session) -> list[TaskDef]:
    """All task definitions by name."""
    asked = select(TaskDefinition).order_by(col(TaskDefinition.name))
    return [TaskDef.read(decode(row.body)) for row in session.exec(asked)]


def remove_task(session: Session, name: str) -> bool:
    """Take a task definition out."""
    return _remove(session, session.get(TaskDefinition, name))


def _remove(session: Session, row: WorkflowDefinition | TaskDefinition | None) -> bool:
    if row is None:
        return False
    session.delete(row)
    note_change(session)
    return True


# Tags


def put_tags(session: Session, kind: str, name: str, tags: dict[str, str]) -> None:
    """The labels of a thing (`workflow`, `task`, `schedule`), in place of those it had."""
    session.exec(delete(Tag).where(col(Tag.kind) == kind, col(Tag.name) == name))
    session.add_all(Tag(kind=kind, name=name, key=key, value=value) for key, value in tags.items())
    note_change(session)


def tags(session: Session, kind: str, name: str) -> dict[str, str]:
    """The labels of a thing."""
    asked = select(Tag).where(Tag.kind == kind, Tag.name == name).order_by(col(Tag.key))
    return {row.key: row.value for row in session.exec(asked)}


def all_tags(session: Session) -> list[tuple[str, str]]:
    """Every label that something bears, sorted."""
    asked = select(Tag.key, Tag.value).distinct().order_by(col(Tag.key), col(Tag.value))
    return [(key, value) for key, value in session.exec(asked)]


# Idempotency keys (an execution takes its key when it is created)


def started_with(session: Session, workflow_name: str, key: str) -> str | None:
    """The workflow id that an idempotency key has started."""
    row = session.get(Idempotency, (workflow_name, key))
    return None if row is None else row.workflow_id


def release_key(session: Session, workflow_name: str, key: str, workflow_id: str) -> bool:
    """Let a new execution take over a key, if this execution still holds it."""
    row = session.get(Idempotency, (workflow_name, key))
    if row is None or row.workflow_id != workflow_id:
        return False
    session.delete(row)
    return True


# Workers


def note_workers(session: Session, seen: Iterable[tuple[str, str | None, str, int]]) -> None:
    """Who asked a queue for tasks, when: (queue, domain, worker, at). Later is kept."""
    for queue, domain, worker, at in seen:
        place = (queue, domain or "", worker)
        row = session.get(WorkerSeen, place)
        if row is None:
            row = WorkerSeen(queue=queue, domain=domain or "", worker=worker, at=at)
        row.at = max(row.at, at)
        session.add(row)


def forget_workers(session: Session, before: int) -> None:
    """Drop workers that were last seen before an instant."""
    session.exec(delete(WorkerSeen).where(col(WorkerSeen.at) < before))


def put_tasks(session: Session, definitions: Sequence[TaskDef], now: int) -> list[TaskDef]:
    """Register several task definitions at once."""
    return [put_task(session, definition, now) for definition in definitions]
