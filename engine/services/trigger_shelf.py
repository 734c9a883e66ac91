"""Where event handlers, schedules and what became of them are kept: in the store, or in memory."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from engine.model.errors import Conflict
from engine.model.record import Json
from engine.services.port import Port
from engine.store import messages, triggers
from engine.store.rowstore import RowStore
from engine.store.triggers import StoredSchedule

Document = dict[str, Json]


class TriggerShelf(Protocol):
    """Documents by name; every call is a transaction of its own."""

    def put_handler(self, document: Document, overwrite: bool = True) -> None:
        """Conflict: there is one of that name, and it is not to be replaced."""
        ...

    def handler(self, name: str) -> Document | None: ...
    def handlers(self, event: str | None = None, active_only: bool = False) -> list[Document]:
        """By name."""
        ...

    def remove_handler(self, name: str) -> bool: ...

    def put_event_execution(self, record: Document) -> None: ...
    def event_execution(self, id_: str, event: str, handler: str) -> Document | None: ...
    def event_executions(self, event: str | None = None, limit: int = 100) -> list[Document]:
        """Newest first."""
        ...

    def put_schedule(self, schedule: StoredSchedule) -> None: ...
    def schedule(self, name: str) -> StoredSchedule | None: ...
    def schedules(self, workflow_name: str | None = None) -> list[StoredSchedule]:
        """By name."""
        ...

    def remove_schedule(self, name: str) -> bool: ...
    def due_schedules(self, until: int, limit: int = 100) -> list[StoredSchedule]:
        """Not paused, and with a slot that has come; earliest first."""
        ...

    def served(self, name: str, slot: int, next_run_at: int, record: Document, keep: int) -> bool:
        """In one step: store what became of a slot, and go on to the next one, unless the schedule
        has been changed meanwhile. Of the records, so many are kept."""
        ...

    def firings(self, schedule_name: str | None = None, limit: int = 1000) -> list[Document]:
        """Newest first."""
        ...


class StoredShelf:
    """In the database; what writes goes through the core."""

    def __init__(self, port: Port, store: RowStore) -> None:
        self._port = port
        self._store = store

    def _write(self, work: Callable[[Any], Any]) -> Any:
        return self._port.errand(work, catalogue=False)

    def put_handler(self, document: Document, overwrite: bool = True) -> None:
        self._write(lambda session: triggers.put_handler(session, document, overwrite))

    def handler(self, name: str) -> Document | None:
        return self._store.read(lambda session: triggers.handler(session, name))

    def handlers(self, event: str | None = None, active_only: bool = False) -> list[Document]:
        return self._store.read(lambda session: triggers.handlers(session, event, active_only))

    def remove_handler(self, name: str) -> bool:
        return bool(self._write(lambda session: triggers.remove_handler(session, name)))

    def put_event_execution(self, record: Document) -> None:
        self._write(lambda session: messages.put_event_execution(session, record))

    def event_execution(self, id_: str, event: str, handler: str) -> Document | None:
        return self._store.read(
            lambda session: messages.event_execution(session, id_, event, handler)
        )

    def event_executions(self, event: str | None = None, limit: int = 100) -> list[Document]:
        return self._store.read(lambda session: messages.event_executions(session, event, limit))

    def put_schedule(self, schedule: StoredSchedule) -> None:
        self._write(lambda session: triggers.put_schedule(session, schedule))

    def schedule(self, name: str) -> StoredSchedule | None:
        return self._store.read(lambda session: triggers.schedule(session, name))

    def schedules(self, workflow_name: str | None = None) -> list[StoredSchedule]:
        return self._store.read(lambda session: triggers.schedules(session, workflow_name))

    def remove_schedule(self, name: str) -> bool:
        return bool(self._write(lambda session: triggers.remove_schedule(session, name)))

    def due_schedules(self, until: int, limit: int = 100) -> list[StoredSchedule]:
        return self._store.read(lambda session: triggers.due_schedules(session, until, limit))

    def served(self, name: str, slot: int, next_run_at: int, record: Document, keep: int) -> bool:
        def work(session: Any) -> bool:
            triggers.put_firing(session, record)
            session.flush()
            triggers.prune_firings(session, name, keep)
            found = triggers.schedule(session, name)
            if found is None or found.next_run_at != slot:
                return False
            moved = replace(found, next_run_at=next_run_at, last_run_at=slot)
            triggers.put_schedule(session, moved)
            return True

        return bool(self._write(work))

    def firings(self, schedule_name: str | None = None, limit: int = 1000) -> list[Document]:
        return self._store.read(lambda session: triggers.firings(session, schedule_name, limit))


class MemoryShelf:
    """In dictionaries, for an engine without a database."""

    def __init__(self) -> None:
        self._handlers: dict[str, Document] = {}
        self._executions: dict[tuple[str, str, str], Document] = {}
        self._schedules: dict[str, StoredSchedule] = {}
        self._firings: dict[str, Document] = {}

    def put_handler(self, document: Document, overwrite: bool = True) -> None:
        name = document["name"]
        if name in self._handlers and not overwrite:
            raise Conflict(f"Event handler with name {name} already exists!")
        self._handlers[name] = document

    def handler(self, name: str) -> Document | None:
        return self._handlers.get(name)

    def handlers(self, event: str | None = None, active_only: bool = False) -> list[Document]:
        return [
            document
            for _, document in sorted(self._handlers.items())
            if event in (None, document["event"]) and (document.get("active") or not active_only)
        ]

    def remove_handler(self, name: str) -> bool:
        return self._handlers.pop(name, None) is not None

    def put_event_execution(self, record: Document) -> None:
        self._executions[record["id"], record["event"], record["name"]] = dict(record)

    def event_execution(self, id_: str, event: str, handler: str) -> Document | None:
        return self._executions.get((id_, event, handler))

    def event_executions(self, event: str | None = None, limit: int = 100) -> list[Document]:
        found = [item for item in self._executions.values() if event in (None, item["event"])]
        return found[::-1][:limit]

    def put_schedule(self, schedule: StoredSchedule) -> None:
        self._schedules[schedule.name] = schedule

    def schedule(self, name: str) -> StoredSchedule | None:
        return self._schedules.get(name)

    def schedules(self, workflow_name: str | None = None) -> list[StoredSchedule]:
        return [
            schedule
            for _, schedule in sorted(self._schedules.items())
            if workflow_name in (None, schedule.document["startWorkflowRequest"].get("name"))
        ]

    def remove_schedule(self, name: str) -> bool:
        return self._schedules.pop(name, None) is not None

    def due_schedules(self, until: int, limit: int = 100) -> list[StoredSchedule]:
        due = [
            schedule
            for schedule in self._schedules.values()
            if 0 < schedule.next_run_at <= until and not schedule.document.get("paused")
        ]
        return sorted(due, key=lambda schedule: (schedule.next_run_at, schedule.name))[:limit]

    def served(self, name: str, slot: int, next_run_at: int, record: Document, keep: int) -> bool:
        self._firings[record["executionId"]] = record
        for old in self.firings(name)[keep:]:
            del self._firings[old["executionId"]]
        found = self._schedules.get(name)
        if found is None or found.next_run_at != slot:
            return False
        self._schedules[name] = replace(found, next_run_at=next_run_at, last_run_at=slot)
        return True

    def firings(self, schedule_name: str | None = None, limit: int = 1000) -> list[Document]:
        found = [
            record
            for record in self._firings.values()
            if schedule_name in (None, record["scheduleName"])
        ]
        return sorted(found, key=lambda record: -record["scheduledTime"])[:limit]
