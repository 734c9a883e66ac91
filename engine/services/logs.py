"""Logs of tasks: what workers and people wrote about an attempt."""

from typing import Any

from engine.model.ids import task_place
from engine.model.record import Json
from engine.services.port import Port
from engine.services.secrets import Secrets
from engine.store import archive, logs, reading
from engine.store.rowstore import RowStore


class Logs:
    """Reading and adding lines."""

    def __init__(self, port: Port, store: RowStore, secrets: Secrets) -> None:
        self._port = port
        self._store = store
        self._secrets = secrets

    def of(self, task_id: str) -> list[dict[str, Json]]:
        """The log of a task, oldest line first, archived or not."""
        place = task_place(task_id)
        if place is None:
            return []

        def ask(session: Any) -> list[reading.LogLine]:
            at = (place.execution, place.seq)
            return reading.task_logs(session, *at) or archive.task_logs(session, *at)

        return [shown_line(line) for line in self._store.read(ask)]

    def add(self, task_id: str, text: str) -> None:
        """Add a line. One for a task that nobody knows is dropped."""
        place = task_place(task_id)
        if place is None or self._store.payload(place.execution, place.seq, "input") is None:
            return
        line = reading.LogLine(task_id, self._port.core.clock.now(), self._secrets.text(text))
        self._port.errand(lambda s: logs.add(s, place.execution, place.seq, line), catalogue=False)


def shown_line(line: reading.LogLine) -> dict[str, Json]:
    """A line as Conductor writes it."""
    return {"log": line.line, "taskId": line.task_id, "createdTime": line.at}
