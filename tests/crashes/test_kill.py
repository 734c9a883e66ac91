"""An engine that is killed again and again loses nothing and repeats nothing that was stored."""

import os
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

from engine.store.database import open_sqlite
from engine.store.upkeep import verify
from tests.crashes.life import NAME
from tests.engine.builders import Bench, tasks_of

EXECUTIONS = 120
KILLS = 5
DOTS_BEFORE_A_KILL = (20, 120)
RUNS_OF_A_JOURNEY = {"first": 1, "left": 1, "right": 1, "again": 2, "last": 1}
HOUSE = Path(__file__).parents[2]


def live(folder: Path, life: str) -> "subprocess.Popen[bytes]":
    with (folder / "errors").open("ab") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.crashes.life", str(folder), life, str(EXECUTIONS)],
            cwd=HOUSE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )


def watch(process: "subprocess.Popen[bytes]", dots: int) -> bytes:
    """What it writes, up to so many runs of workers or its end."""
    assert process.stdout is not None
    seen = b""
    while len(seen) < dots:
        piece = os.read(process.stdout.fileno(), dots - len(seen))
        if not piece:
            break
        seen += piece
    return seen


def completed(folder: Path) -> set[str]:
    """The tasks that are stored as completed."""
    with closing(sqlite3.connect(folder / "r.db")) as connection:
        rows = connection.execute("SELECT task_id FROM task WHERE status = 'COMPLETED'")
        return {row[0] for row in rows}


def trail(folder: Path, life: str) -> list[str]:
    """The tasks whose worker ran in a life."""
    place = folder / f"life-{life}"
    return place.read_text().split() if place.exists() else []


def test_killed_at_random_moments_everything_completes_and_nothing_stored_runs_again(
    tmp_path: Path,
) -> None:
    """DUR-01."""
    moments = random.Random(20_240_607)
    stored: set[str] = set()
    for kill in range(KILLS):
        process = live(tmp_path, str(kill))
        with process:
            watch(process, moments.randint(*DOTS_BEFORE_A_KILL))
            process.kill()
        assert not stored & set(trail(tmp_path, str(kill)))
        stored = completed(tmp_path)
    with live(tmp_path, "last") as process:
        assert watch(process, 10**6).endswith(b"!"), (tmp_path / "errors").read_text()
        assert process.wait(60) == 0
    assert not stored & set(trail(tmp_path, "last"))

    store = open_sqlite(tmp_path / "r.db")
    assert verify(store) == []
    store.close()
    acknowledged = set((tmp_path / "started").read_text().split())
    assert len(acknowledged) == EXECUTIONS
    ran = Counter(
        run for life in (*map(str, range(KILLS)), "last") for run in trail(tmp_path, life)
    )
    check(tmp_path, acknowledged, set(ran))


def check(folder: Path, acknowledged: set[str], ran: set[str]) -> None:
    """Each journey is whole: every task once, each of them run by a worker, the sum right."""
    with Bench(database=f"sqlite:///{folder / 'r.db'}") as bench:
        numbers = []
        for name in acknowledged:
            found = bench.get(name)
            assert (found["workflowName"], found["status"]) == (NAME, "COMPLETED")
            child = bench.get(tasks_of(found)["child"]["subWorkflowId"])
            tasks = [*found["tasks"], *child["tasks"]]
            runs = Counter(t["taskDefName"] for t in tasks if t["taskDefName"] in RUNS_OF_A_JOURNEY)
            assert runs == RUNS_OF_A_JOURNEY
            assert {t["taskId"] for t in tasks if t["taskDefName"] in RUNS_OF_A_JOURNEY} <= ran
            assert found["output"]["n"] == found["input"]["n"] + 3
            numbers.append(found["input"]["n"])
    assert sorted(numbers) == list(range(EXECUTIONS))
