"""What starts things: event handlers, schedules and the slots they fired. Cold, by session."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlmodel import Session, col, delete, select

from engine.model.errors import Conflict
from engine.model.record import Json, decode, encode
from engine.store.catalogue import note_change
from engine.store.tables import EventHandler, Firing, Schedule

Document = dict[str, Json]


def put_handler(session: Session, handler: Document, overwrite: bool = True) -> None:
    """Register an event handler under its name."""
    row = session.get(EventHandler, handler["name"])
    if row is not None and not overwrite:
        raise Conflict(f"Event handler with name {handler['name']} already exists!")
    row = row or EventHandler(name=handler["name"], event="", active=False, body=b"")
    row.event, row.active = handler["event"], bool(handler.get("active"))
    row.body = encode(handler)
    session.add(row)
    note_change(session)


def handler(session: Session, name: str) -> Document | None:
    """An event handler by name."""
    row = session.get(EventHandler, name)
    return None if row is None else _document(row.body)


def handlers(
    session: Session, event: str | None = None, active_only: bool = False
) -> list[Document]:
    """Event handlers by name: all, or those of an event."""
    asked = select(EventHandler).order_by(col(EventHandler.name))
    if event is not None:
        asked = asked.where(EventHandler.event == event)
    if active_only:
        asked = asked.where(col(EventHandler.active).is_(True))
    return [_document(row.body) for row in session.exec(asked)]


def remove_handler(session: Session, name: str) -> bool:
    """Take an event handler out."""
    return _removed(session, session.get(EventHandler, name))


@dataclass(frozen=True, slots=True)
class StoredSchedule:
    """A schedule's document, and where it stands."""

    document: Document
    next_run_at: int = 0
    """0 for never."""
    last_run_at: int = 0
    """The slot that was last served, as it was planned."""

    @property
    def name(self) -> str:
        """What it is called."""
        name: str = self.document["name"]
        return name


def put_schedule(session: Session, schedule: StoredSchedule) -> None:
    """Store a schedule under its name."""
    document = schedule.document
    request = document.get("startWorkflowRequest") or {}
    row = session.get(Schedule, schedule.name) or Schedule(
        name=schedule.name, workflow_name="", paused=False, body=b""
    )
    row.workflow_name = request.get("name") or ""
    row.paused = bool(document.get("paused"))
    row.next_run_at, row.last_run_at = schedule.next_run_at, schedule.last_run_at
    row.body = encode(document)
    session.add(row)
    note_change(session)


def schedule(session: Session, name: str) -> StoredSchedule | None:
    """A schedule by name."""
    row = session.get(Schedule, name)
    return None if row is None else _schedule(row)


def schedules(session: Session, workflow_name: str | None = None) -> list[StoredSchedule]:
    """Schedules by name: all, or those that start a workflow."""
    asked = select(Schedule).order_by(col(Schedule.name))
    if workflow_name is not None:
        asked = asked.where(Schedule.workflow_name == workflow_name)
    return [_schedule(row) for row in session.exec(asked)]


def due_schedules(session: Session, until: int, limit: int = 100) -> list[StoredSchedule]:
    """Schedules that are not paused and whose next slot has come, earliest first."""
    asked = (
        select(Schedule)
        .where(Schedule.next_run_at > 0, Schedule.next_run_at <= until)
        .where(col(Schedule.paused).is_(False))
        .order_by(col(Schedule.next_run_at), col(Schedule.name))
        .limit(limit)
    )
    return [_schedule(row) for row in session.exec(asked)]


def remove_schedule(session: Session, name: str) -> bool:
    """Take a schedule out; its history stays."""
    return _removed(session, session.get(Schedule, name))


def _schedule(row: Schedule) -> StoredSchedule:
    return StoredSchedule(_document(row.body), row.next_run_at, row.last_run_at)


def put_firing(session: Session, record: Document) -> None:
    """Store what became of a slot: a record of Conductor's shape, by its `executionId`."""
    row = session.get(Firing, record["executionId"])
    if row is None:
        row = Firing(
            id=record["executionId"],
            schedule_name=record["scheduleName"],
            scheduled_at=record["scheduledTime"],
            executed_at=0,
            workflow_name="",
            state="",
            body=b"",
        )
    row.executed_at = record.get("executionTime") or 0
    row.workflow_name = record.get("workflowName") or ""
    row.workflow_id, row.state = record.get("workflowId"), record["state"]
    row.body = encode(record)
    session.add(row)


def firings(
    session: Session, schedule_name: str | None = None, limit: int = 1000
) -> list[Document]:
    """What became of slots, the newest first."""
    asked = select(Firing).order_by(col(Firing.scheduled_at).desc(), col(Firing.id)).limit(limit)
    if schedule_name is not None:
        asked = asked.where(Firing.schedule_name == schedule_name)
    return [_document(row.body) for row in session.exec(asked)]


def prune_firings(session: Session, schedule_name: str, keep: int) -> int:
    """Drop all but the newest records of a schedule; how many went."""
    old = list(_beyond(session, schedule_name, keep))
    if old:
        session.exec(delete(Firing).where(col(Firing.id).in_(old)))
    return len(old)


def _beyond(session: Session, schedule_name: str, keep: int) -> Iterator[str]:
    asked = (
        select(Firing.id)
        .where(Firing.schedule_name == schedule_name)
        .order_by(col(Firing.scheduled_at).desc(), col(Firing.id))
        .offset(keep)
        .limit(1000)
    )
    yield from session.exec(asked)


def _removed(session: Session, row: EventHandler | Schedule | None) -> bool:
    if row is None:
        return False
    session.delete(row)
    note_change(session)
    return True


def _document(body: bytes) -> Document:
    found: Document = decode(body)
    return found
