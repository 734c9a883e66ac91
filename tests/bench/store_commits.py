"""How much of raw SQLite's step transactions the store reaches: python -m tests.bench.store_commits

A step finishes a task, places the next one and touches the execution; the store writes a ledger
line besides. Raw and store take turns, so that a busy machine slows both.
"""

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from engine.model.execution import Changes, Execution
from engine.model.status import TaskStatus
from engine.store.contract import Group, Store, Written
from engine.store.database import open_sqlite
from tests.store.builders import a_line, a_run, an_execution, created

ROUNDS = 5
STEPS = 600
PAYLOAD = b'{"text":"' + b"x" * 150 + b'"}'

Prepare = Callable[[list[int], int], Callable[[], None]]
"""Make ready one step of each of these executions (which, number of the step); what it gives
stores them, and only that is timed."""


def raw(path: Path) -> tuple[sqlite3.Connection, Prepare]:
    """The least that a step needs: three statements, two indexes."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(
        """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
        CREATE TABLE execution (id INTEGER PRIMARY KEY, next INTEGER);
        CREATE TABLE task (execution INTEGER, seq INTEGER, name TEXT, status TEXT, due INTEGER,
                           input BLOB, output BLOB, PRIMARY KEY (execution, seq));
        CREATE INDEX open ON task (name, due) WHERE status = 'SCHEDULED';
        """
    )

    def prepare(which: list[int], step: int) -> Callable[[], None]:
        ended = [(PAYLOAD, key, step) for key in which]
        placed = [(key, step + 1, PAYLOAD) for key in which]
        touched = [(key, step + 2) for key in which]

        def commit() -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "UPDATE task SET status = 'COMPLETED', output = ? WHERE execution = ? AND seq = ?",
                ended,
            )
            connection.executemany(
                "INSERT INTO task VALUES (?, ?, 'charge', 'SCHEDULED', 0, ?, NULL)", placed
            )
            connection.executemany(
                "INSERT INTO execution VALUES (?, ?) ON CONFLICT DO UPDATE SET next = excluded.next",
                touched,
            )
            connection.execute("COMMIT")

        return commit

    return connection, prepare


def ours(store: Store) -> Prepare:
    """The same step as the engine stores it."""
    executions: dict[int, Execution] = {}

    def first(number: int) -> Written:
        execution = executions[number] = an_execution(store)
        run = a_run(execution, 1, input=PAYLOAD)
        return created(execution, run, line=a_line(1))

    def following(number: int, step: int) -> Written:
        execution = executions[number]
        done = a_run(
            execution, step, status=TaskStatus.COMPLETED, carrier=None, executed=True,
            input=None, output=PAYLOAD,
        )  # fmt: skip
        then = a_run(execution, step + 1, input=PAYLOAD)
        changes = Changes(runs={step: done, step + 1: then}, fields={"next_seq": step + 2})
        return Written(execution, changes, ledger=a_line(step + 1))

    def prepare(which: list[int], step: int) -> Callable[[], None]:
        written = [following(number, step) if step else first(number) for number in which]
        return lambda: store.commit(Group(written))

    return prepare


def rate(prepare: Prepare, begin: int, together: int) -> float:
    """Steps a second with so many executions in one group."""
    which = list(range(begin, begin + together))
    prepare(which, 0)()
    steps = max(STEPS // together, 5)
    groups = [prepare(which, step) for step in range(1, steps + 1)]
    started = time.perf_counter()
    for commit in groups:
        commit()
    return together * steps / (time.perf_counter() - started)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        connection, raw_steps = raw(Path(folder) / "raw.db")
        store = open_sqlite(Path(folder) / "reprise.db")
        our_steps = ours(store)
        begin = 1
        print(f"{'in a group':>10} {'raw steps/s':>12} {'ours':>8} {'ratio':>6}")
        for together in (1, 10, 100, 500):
            pairs = []
            for _ in range(ROUNDS):
                pairs.append((rate(raw_steps, begin, together), rate(our_steps, begin, together)))
                begin += together
            plain, full = (statistics.median(column) for column in zip(*pairs, strict=True))
            ratio = statistics.median(full / plain for plain, full in pairs)
            print(f"{together:>10} {plain:>12.0f} {full:>8.0f} {ratio:>6.2f}")
        store.close()
        connection.close()


if __name__ == "__main__":
    main()
