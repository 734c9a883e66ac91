"""An engine starts, takes up what is there, stops in order."""

import threading
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.model.errors import BadDatabase, InvalidInput, NotTaken
from engine.settings import Settings
from engine.workers.functions import Worker
from tests.engine.builders import Bench, outputs, task, workflow

SCRIPT = {"evaluatorType": "javascript", "expression": "[Math.random(), Date.now()]"}


def test_a_script_is_answered_off_the_core_thread() -> None:
    with Bench() as bench:
        bench.define(workflow("w", task("script", "INLINE", inputParameters=SCRIPT)))
        done = bench.run("w")
    assert done["status"] == "COMPLETED"
    moment = done["tasks"][0]["scheduledTime"]
    assert done["tasks"][0]["outputData"]["result"][1] == moment


def test_a_script_that_never_ends_holds_up_nobody_else() -> None:
    endless = {"evaluatorType": "javascript", "expression": "while (true) {}"}
    with Bench(evaluators=2) as bench:
        bench.define(
            workflow("hang", task("script", "INLINE", inputParameters=endless)),
            workflow("quick", task("script", "INLINE", inputParameters=SCRIPT)),
        )
        bench.define_tasks({"name": "script", "retryCount": 0})
        stuck = bench.start("hang")
        assert bench.run("quick")["status"] == "COMPLETED"
        assert bench.get(stuck)["status"] == "RUNNING"


def test_what_an_engine_left_is_taken_up_by_the_next(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'r.db'}"
    with Bench(database=url) as bench:
        bench.define(workflow("w", task("work")))
        name = bench.start("w")
    again = Bench(database=url)
    again.engine.workers.add(Worker("work", lambda: {"ok": True}))
    with again:
        assert outputs(again.ended(name), ["work"]) == [{"ok": True}]


def test_an_engine_stops_twice_and_before_it_has_started() -> None:
    engine = Engine(Settings(database="memory:"))
    engine.stop()
    engine.stop()
    assert not engine.running


def test_a_stopping_engine_starts_nothing_but_takes_reports() -> None:
    begun, release = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        release.wait(30)

    bench = Bench(grace_seconds=30.0)
    bench.engine.workers.add(Worker("work", slow))
    with bench:
        bench.define(workflow("w", task("work"), task("other")))
        bench.start("w")
        assert begun.wait(30)
        stopping = threading.Thread(target=bench.engine.stop)
        stopping.start()
        while bench.engine.running:
            stopping.join(0.01)
        with pytest.raises(NotTaken, match="stopping"):
            while True:
                bench.start("w")
        assert bench.engine.tasks.poll("other", timeout_ms=0) == []
        release.set()
        stopping.join(30)
    assert not stopping.is_alive()


def test_after_its_end_an_engine_refuses_at_once() -> None:
    with Bench() as bench:
        bench.define(workflow("w", task("work")))
    with pytest.raises(NotTaken, match="stopping"):
        bench.define(workflow("other", task("work")))


def test_a_database_in_use_is_refused_and_named(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'r.db'}"
    with Bench(database=url), pytest.raises(BadDatabase, match="in use by process"):
        Engine(Settings(database=url))


def test_a_core_that_fails_refuses_its_callers_and_says_so() -> None:
    failed = threading.Event()
    bench = Bench()
    bench.engine.on_failure = failed.set
    with bench:
        bench.engine.core.follow_up.append(None)  # type: ignore[arg-type]
        bench.engine.inbox.ring()
        assert failed.wait(30)
        assert not bench.engine.running
        with pytest.raises(NotTaken):
            bench.define(workflow("w", task("work")))


def test_registering_is_seen_by_the_next_start() -> None:
    with Bench() as bench:
        for version in (1, 2, 3):
            bench.define(workflow("w", task("noop", "NOOP"), version=version))
            assert bench.run("w")["workflowVersion"] == version


def test_a_database_that_needs_its_payload_folder_is_not_run_without(tmp_path: Path) -> None:
    how = {"database": f"sqlite:///{tmp_path / 'reprise.db'}", "workflow_payload_threshold": 100}
    with Bench(payload_folder=str(tmp_path / "payloads"), **how) as bench:
        bench.define(workflow("w", task("h", "HUMAN")))
        bench.start("w", text="x" * 200)
    for _ in range(2):
        with pytest.raises(InvalidInput, match="REPRISE_PAYLOAD_FOLDER"):
            Engine(Settings(**how))


def test_a_database_that_is_thrown_away_takes_its_payload_files_along(tmp_path: Path) -> None:
    with Bench(payload_folder=str(tmp_path), workflow_payload_threshold=100) as bench:
        bench.define(workflow("w", task("h", "HUMAN")))
        bench.start("w", text="x" * 200)
        assert len(list(tmp_path.rglob("content_*"))) == 1
    assert list(tmp_path.iterdir()) == []
