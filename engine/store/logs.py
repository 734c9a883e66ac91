"""Lines that somebody adds to a task's log from outside. Cold, by session."""

from sqlmodel import Session

from engine.store.reading import LogLine
from engine.store.tables import TaskLogRow


def add(session: Session, key: int, seq: int, line: LogLine) -> None:
    """One more line."""
    row = TaskLogRow(execution=key, seq=seq, task_id=line.task_id, at=line.at, line=line.line)
    session.add(row)
