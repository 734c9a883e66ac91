"""Messages: the outbox, and what event handlers did with those they were given. Cold, by session."""

from collections import Counter
from dataclasses import dataclass

from sqlmodel import Session, col, delete, select

from engine.model.record import Json, decode, encode
from engine.store.tables import EventExecution, Outbox

EVENT = "event"
"""Topic of messages to event queues."""


def put_event_execution(session: Session, record: dict[str, Json]) -> bool:
    """Store what an action did with a message: a record of Conductor's shape, by its id, event
    and handler. Whether it is new; a known one is brought up to date."""
    place = (record["id"], record["event"], record["name"])
    row = session.get(EventExecution, place)
    fresh = row is None
    row = row or EventExecution(
        id=place[0],
        event=place[1],
        handler=place[2],
        message_id=record["messageId"],
        status="",
        created_at=record["created"],
        body=b"",
    )
    row.status, row.body = record["status"], encode(record)
    session.add(row)
    return fresh


def event_execution(session: Session, id_: str, event: str, handler: str) -> dict[str, Json] | None:
    """What an action did with a message."""
    row = session.get(EventExecution, (id_, event, handler))
    if row is None:
        return None
    found: dict[str, Json] = decode(row.body)
    return found


def event_executions(
    session: Session, event: str | None = None, limit: int = 100
) -> list[dict[str, Json]]:
    """What actions did with messages, the newest first."""
    asked = select(EventExecution).order_by(col(EventExecution.created_at).desc()).limit(limit)
    if event is not None:
        asked = asked.where(EventExecution.event == event)
    return [decode(row.body) for row in session.exec(asked)]


@dataclass(frozen=True, slots=True)
class Parcel:
    """A message to the outside that has not been delivered yet."""

    number: int
    execution: int
    topic: str
    created_at: int
    body: Json


def outbox(session: Session, after: int = 0, limit: int = 100) -> list[Parcel]:
    """Messages to the outside that wait, oldest first."""
    asked = select(Outbox).where(col(Outbox.id) > after).order_by(col(Outbox.id)).limit(limit)
    return [
        Parcel(row.id or 0, row.execution, row.topic, row.created_at, decode(row.body))
        for row in session.exec(asked)
    ]


def waiting_events(session: Session) -> dict[str, int]:
    """How many messages wait for delivery to each event queue, by its full name."""
    asked = select(Outbox.body).where(Outbox.topic == EVENT)
    return dict(Counter(str(decode(body).get("event")) for body in session.exec(asked)))


def delivered(session: Session, numbers: list[int]) -> None:
    """These messages have reached the outside."""
    session.exec(delete(Outbox).where(col(Outbox.id).in_(numbers)))
