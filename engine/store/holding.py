"""Which attempts a worker has in hand, as the rows tell it. Cold, by session."""

from sqlalchemy import text
from sqlmodel import Session, col, select

from engine.store.tables import EXECUTION_LIVE, TAKEN, ExecutionRow, TaskRow


def in_hands_of(session: Session, prefix: str) -> list[tuple[int, int]]:
    """Execution and seq of attempts that workers have taken whose ids begin like this."""
    asked = (
        select(TaskRow.execution, TaskRow.seq)
        .join(ExecutionRow, col(ExecutionRow.key) == col(TaskRow.execution))
        .where(text(f"task.{TAKEN.replace('carrier', 'task.carrier')}"))
        .where(text(f"execution.{EXECUTION_LIVE}"))
        .where(col(TaskRow.worker).startswith(prefix, autoescape=True))
        .order_by(col(TaskRow.execution), col(TaskRow.seq))
    )
    return [(execution, seq) for execution, seq in session.exec(asked)]
