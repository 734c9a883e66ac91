"""Chores come up in their time, wait for a quiet core, and survive their own failures."""

import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.core.inbox import Inbox
from engine.instruments.telemetry import Telemetry
from engine.services.sightings import Sightings
from engine.store import reading, search, words
from engine.workers.housekeeping import Chores, Housekeeping
from tests.engine.builders import Bench, task, workflow

LONG = 3600.0


def test_a_chore_with_more_to_do_goes_on_at_once() -> None:
    pieces, done = [3, 2, 1, 0], threading.Event()
    keeper = Housekeeping(Inbox(), Telemetry())

    def work() -> bool:
        left = pieces.pop(0)
        if not left:
            done.set()
        return left > 0

    keeper.add("pieces", LONG, work)
    keeper.start()
    assert done.wait(30)
    keeper.stop()
    assert pieces == []


def test_a_chore_that_fails_is_told_of_and_others_go_on() -> None:
    told: list[dict[str, Any]] = []
    telemetry, done = Telemetry(), threading.Event()
    telemetry.listen(lambda what, facts: told.append({"what": what, **facts}))
    keeper = Housekeeping(Inbox(), telemetry)

    def broken() -> bool:
        raise ValueError("no such shelf")

    def fine() -> bool:
        done.set()
        return False

    keeper.add("broken", LONG, broken)
    keeper.add("fine", LONG, fine)
    keeper.start()
    assert done.wait(30)
    keeper.stop()
    assert told[0]["what"] == "chore.failed"
    assert (told[0]["chore"], told[0]["error"]) == ("broken", "no such shelf")


def chores(bench: Bench, retention_days: float | None = None) -> Chores:
    engine = bench.engine
    return Chores(
        engine.housekeeping, engine.store, engine.clock, engine.tasks.sightings, retention_days
    )


def test_executions_are_found_by_their_words_once_they_are_taken_up() -> None:
    with Bench() as bench:
        bench.define(workflow("w", task("n", "NOOP")))
        bench.run("w", note="wandering albatross")
        while chores(bench).index():
            pass
        wanted = search.Search(free_text="albatross")
        assert bench.engine.store.read(lambda s: search.executions(s, wanted)).total == 1
        assert not bench.engine.store.read(words.has_unindexed)


def test_workers_that_polled_are_written_down() -> None:
    sightings = Sightings()
    with Bench() as bench:
        sightings.note("ship", None, "w-1", bench.engine.clock.now())
        # The engine's own chore has what it has seen itself, perhaps at this very moment.
        replace(chores(bench), sightings=sightings).note_workers()
        seen = bench.engine.store.read(lambda session: reading.workers(session, "ship"))
    assert [item.worker for item in seen] == ["w-1"]


def test_ended_executions_go_when_they_have_been_kept_long_enough() -> None:
    with Bench() as bench:
        bench.define(workflow("w", task("n", "NOOP")), workflow("open", task("h", "HUMAN")))
        ended, running = bench.run("w")["workflowId"], bench.start("open")
        chores(bench, retention_days=1.0).take_away()
        assert bench.engine.store.key_of(ended) is not None
        chores(bench, retention_days=-1.0).take_away()
        assert bench.engine.store.key_of(ended) is None
        assert bench.engine.store.key_of(running) is not None


def test_payload_files_that_nobody_refers_to_go_after_their_grace(tmp_path: Path) -> None:
    with Bench(payload_folder=str(tmp_path), workflow_payload_threshold=100) as bench:
        bench.define(workflow("w", task("h", "HUMAN")))
        bench.start("w", text="x" * 200)
        folder = bench.engine.store.folder
        assert folder is not None
        [used] = os.listdir(folder.place)
        names = [used, f"task_output_{'1' * 32}.json", f"task_output_{'2' * 32}.json"]
        hours_ago = bench.engine.clock.now() / 1000 - 25 * 3600
        for name in names:
            folder.keep(name, b"{}")
        for name in names[:2]:
            os.utime(folder.place / name, (hours_ago, hours_ago))

        chores(bench).sweep_files()

        assert sorted(os.listdir(folder.place)) == sorted([used, names[2]])


def test_what_retention_takes_away_takes_its_payload_files_along(tmp_path: Path) -> None:
    with Bench(payload_folder=str(tmp_path), workflow_payload_threshold=100) as bench:
        bench.define(workflow("w", task("n", "NOOP")))
        bench.run("w", text="x" * 200)
        folder = bench.engine.store.folder
        assert folder is not None
        assert len(os.listdir(folder.place)) == 1
        chores(bench, retention_days=-1.0).take_away()
        assert os.listdir(folder.place) == []
