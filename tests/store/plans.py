"""How SQLite goes about a question, so that a test can see whether it reads more than it has to."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import event

from engine.store.database import open_sqlite
from engine.store.rowstore import RowStore


def plans(path: Path, ask: Callable[[RowStore], object]) -> list[str]:
    """What SQLite does for every statement of a search."""
    store = open_sqlite(path)
    seen: list[tuple[str, Any]] = []

    @event.listens_for(store._reading, "before_cursor_execute")
    def note(connection: Any, cursor: Any, statement: str, params: Any, *more: Any) -> None:
        seen.append((statement, params))

    ask(store)
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        return [
            row[-1]
            for statement, params in seen
            for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", params)
        ]
