"""What went wrong for people elsewhere with the database below an engine; the number is the
report's."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.model.errors import BadDatabase
from engine.settings import Settings
from tests.engine.builders import Bench, task, workflow


def test_fr_031_a_second_runner_on_one_file_is_refused_and_readers_are_not(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'r.db'}"
    with Bench(database=url, http_worker=False) as bench:
        bench.define(workflow("w", task("n", "NOOP")))
        done = bench.run("w")["workflowId"]
        with pytest.raises(BadDatabase, match="in use by process"):
            Engine(Settings(database=url))
        with closing(sqlite3.connect(f"file:{tmp_path / 'r.db'}?mode=ro", uri=True)) as reader:
            rows = reader.execute("SELECT status FROM execution WHERE id = ?", (done,)).fetchall()
        assert rows == [("COMPLETED",)]


def test_fr_032_a_file_that_another_program_locks_for_a_moment_is_waited_for(
    tmp_path: Path,
) -> None:
    file = tmp_path / "r.db"
    with Bench(database=f"sqlite:///{file}", http_worker=False) as bench:
        bench.define(workflow("w", task("one"), task("two")))
        bench.engine.employ({"one": lambda: {"x": 1}, "two": lambda: {"x": 2}})
        for _ in range(3):
            held, over = threading.Event(), threading.Event()

            def hold(held: threading.Event = held, over: threading.Event = over) -> None:
                with closing(sqlite3.connect(file, isolation_level=None)) as other:
                    other.execute("BEGIN IMMEDIATE")
                    held.set()
                    over.wait(0.7)
                    other.execute("ROLLBACK")

            holder = threading.Thread(target=hold)
            holder.start()
            assert held.wait(10)
            started = [bench.start("w") for _ in range(5)]
            for name in started:
                found = bench.ended(name)
                assert found["status"] == "COMPLETED"
                assert [one["retryCount"] for one in found["tasks"]] == [0, 0]
            holder.join()
