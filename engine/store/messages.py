"""Messages: event queues, what handlers did with them, and the outbox. Cold, by session."""

from dataclasses import dataclass

from sqlmodel import Session, col, delete, func, select

from engine.model.record import Json, decode, encode
from engine.store.tables import EventExecution, Outbox, QueueMessage


@dataclass(frozen=True, slots=True)
class Message:
    """A message in an event queue."""

    number: int
    queue: str
    id: str
    body: bytes
    tries: int


def publish(session: Session, queue: str, message_id: str, body: bytes, now: int) -> bool:
    """Put a message into a queue, once for each message id; whether it is new."""
    known = select(QueueMessage.id).where(
        QueueMessage.queue == queue, QueueMessage.message_id == message_id
    )
    if session.exec(known).first() is not None:
        return False
    session.add(QueueMessage(queue=queue, message_id=message_id, deliver_at=now, body=body))
    return True


def receive(
    session: Session, queue: str, now: int, hidden_ms: int, limit: int = 10
) -> list[Message]:
    """Take due messages, oldest first; one that is not acknowledged comes again later."""
    asked = (
        select(QueueMessage)
        .where(QueueMessage.queue == queue, QueueMessage.deliver_at <= now)
        .order_by(col(QueueMessage.deliver_at), col(QueueMessage.id))
        .limit(limit)
    )
    taken = []
    for row in session.exec(asked).all():
        row.deliver_at, row.tries = now + hidden_ms, row.tries + 1
        session.add(row)
        taken.append(Message(row.id or 0, row.queue, row.message_id, row.body, row.tries))
    return taken


def acknowledge(session: Session, message: Message) -> None:
    """The message has been dealt with."""
    session.exec(delete(QueueMessage).where(col(QueueMessage.id) == message.number))


def queue_sizes(session: Session) -> dict[str, int]:
    """How many messages wait in each event queue."""
    asked = select(QueueMessage.queue, func.count()).group_by(QueueMessage.queue)
    return {queue: n for queue, n in session.exec(asked)}


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


def delivered(session: Session, numbers: list[int]) -> None:
    """These messages have reached the outside."""
    session.exec(delete(Outbox).where(col(Outbox.id).in_(numbers)))
