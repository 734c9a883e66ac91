"""Python functions carry out tasks of a real engine."""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from engine.model.ids import task_place
from engine.model.requests import StartWorkflowRequest
from engine.store.reading import task_logs
from engine.workers.functions import Worker, current_task, worker
from tests.engine.builders import Bench, outputs, task, tasks_of, workflow
from tests.workers.callables import hang, process_id

ONCE = {"retryCount": 0, "retryDelaySeconds": 0}


@pytest.fixture(params=["memory", "sqlite"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'r.db'}"
    return Bench(database=url, worker_threads=4, grace_seconds=5.0)


@worker("double")
def double(n: int) -> dict[str, int]:
    return {"n": 2 * n}


@worker("later")
async def later(n: int) -> int:
    await asyncio.sleep(0)
    return n + 1


def test_functions_and_coroutines_carry_out_a_workflow(bench: Bench) -> None:
    bench.engine.workers.add_all([double, later])
    with bench:
        bench.define(
            workflow(
                "sum",
                task("double", inputParameters={"n": "${workflow.input.n}"}),
                task("later", inputParameters={"n": "${double.output.n}"}),
            )
        )
        done = bench.run("sum", n=4)
    assert done["status"] == "COMPLETED"
    assert outputs(done, ["double", "later"]) == [{"n": 8}, {"result": 9}]


def test_two_hundred_parallel_branches_are_joined(bench: Bench) -> None:
    bench.engine.workers.add(Worker("step", lambda: None))
    refs = [f"b{number}" for number in range(200)]
    branches = [[{"name": "step", "taskReferenceName": ref, "type": "SIMPLE"}] for ref in refs]
    with bench:
        bench.define(
            workflow(
                "fan",
                task("fork", "FORK_JOIN", forkTasks=branches),
                task("join", "JOIN", joinOn=refs),
            )
        )
        assert bench.run("fan")["status"] == "COMPLETED"


def test_a_worker_of_a_domain_gets_the_tasks_of_that_domain_alone() -> None:
    seen: list[str] = []
    bench = Bench()
    bench.engine.workers.add(Worker("where", lambda: seen.append("eu"), domain="eu"))
    bench.engine.workers.add(Worker("where", lambda: seen.append("none")))
    with bench:
        bench.define(workflow("w", task("where")))
        request = StartWorkflowRequest(name="w", task_to_domain={"where": "eu"})
        bench.ended(bench.engine.executions.start(request))
        bench.run("w")
    assert seen == ["eu", "none"]


def test_a_failed_function_is_tried_again_by_its_task_definition() -> None:
    calls: list[int] = []

    def flaky() -> str:
        calls.append(current_task().attempt)
        if len(calls) < 3:
            raise ConnectionError("not yet")
        return "there"

    bench = Bench()
    bench.engine.workers.add(Worker("flaky", flaky))
    with bench:
        bench.define_tasks({"name": "flaky", "retryCount": 3, "retryDelaySeconds": 0})
        bench.define(workflow("w", task("flaky")))
        done = bench.run("w")
    assert done["status"] == "COMPLETED"
    assert calls == [0, 1, 2]


def test_the_trace_of_a_failure_is_in_the_task_log() -> None:
    def broken() -> None:
        raise KeyError("amount")

    bench = Bench()
    bench.engine.workers.add(Worker("broken", broken))
    with bench:
        bench.define_tasks({"name": "broken", **ONCE})
        bench.define(workflow("w", task("broken")))
        done = bench.run("w")
        failed = tasks_of(done)["broken"]
        place = task_place(failed["taskId"])
        assert place is not None
        lines = [line.line for line in bench.engine.store.read(lambda s: task_logs(s, *place))]
    assert failed["reasonForIncompletion"] == "KeyError: 'amount'"
    assert any("raise KeyError" in line for line in lines)


def test_a_result_of_five_megabytes_is_stored() -> None:
    bench = Bench()
    bench.engine.workers.add(Worker("large", lambda: {"text": "x" * 5 * 1024 * 1024}))
    with bench:
        bench.define(workflow("w", task("large")))
        done = bench.run("w")
    assert len(tasks_of(done)["large"]["outputData"]["text"]) == 5 * 1024 * 1024


def test_a_result_above_the_limit_fails_and_says_so() -> None:
    bench = Bench()
    bench.engine.workers.add(Worker("huge", lambda: {"text": "x" * 11 * 1024 * 1024}))
    with bench:
        bench.define_tasks({"name": "huge", **ONCE})
        bench.define(workflow("w", task("huge")))
        done = bench.run("w")
    assert "greater than the permissible limit" in tasks_of(done)["huge"]["reasonForIncompletion"]


def test_a_lease_is_extended_while_a_function_works_longer_than_its_response_timeout() -> None:
    bench, leases = Bench(), threading.Semaphore(0)
    go_on = threading.Event()
    bench.engine.workers.add(Worker("slow", lambda: go_on.wait(30)))

    def heard(what: str, facts: dict[str, Any]) -> None:
        run = facts.get("run")
        was = facts.get("was")
        if what != "task.moved" or was is None:
            return
        if was.status == run.status == "IN_PROGRESS" and run.updated_at > was.updated_at:
            leases.release()

    bench.engine.telemetry.listen(heard)
    with bench:
        bench.define_tasks({"name": "slow", "responseTimeoutSeconds": 1, **ONCE})
        bench.define(workflow("w", task("slow")))
        name = bench.start("w")
        # Each extension comes a third of the timeout after the one before: four are more than all.
        for _ in range(4):
            assert leases.acquire(timeout=20)
        go_on.set()
        assert bench.ended(name)["status"] == "COMPLETED"


def test_a_process_is_killed_when_its_task_is_cancelled(tmp_path: Path) -> None:
    bench, place = Bench(), tmp_path / "pid"
    os.mkfifo(place)
    bench.engine.workers.add(Worker("hang", hang, process=True))
    with bench:
        bench.define(workflow("w", task("hang", inputParameters={"place": str(place)})))
        name = bench.start("w")
        pid = int(place.read_text())
        bench.engine.executions.terminate(name, "enough")
        bench.until(lambda: not _alive(pid))
    assert not _alive(pid)


def test_a_process_carries_out_one_task_after_another() -> None:
    bench = Bench(worker_threads=1)
    bench.engine.workers.add(Worker("where", process_id, process=True))
    with bench:
        bench.define(workflow("w", task("where")))
        first, second = (bench.run("w") for _ in range(2))
    pids = [tasks_of(found)["where"]["outputData"]["result"] for found in (first, second)]
    assert pids[0] == pids[1] != os.getpid()


def test_a_function_that_no_module_holds_cannot_have_a_process() -> None:
    bench = Bench()
    with bench, pytest.raises(TypeError, match="top of a module"):
        bench.engine.workers.add(Worker("local", lambda: None, process=True))


def test_work_that_does_not_end_in_its_grace_is_handed_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'r.db'}"
    begun, release = threading.Event(), threading.Event()

    def stuck() -> None:
        begun.set()
        release.wait(30)

    first = Bench(database=url, grace_seconds=0.2)
    first.engine.workers.add(Worker("work", stuck))
    with first:
        first.define(workflow("w", task("work")))
        name = first.start("w")
        assert begun.wait(30)
    release.set()
    second = Bench(database=url)
    second.engine.workers.add(Worker("work", lambda: {"by": "second"}))
    with second:
        done = second.ended(name)
    assert outputs(done, ["work"]) == [{"by": "second"}]


def test_stopping_waits_for_work_that_ends_in_its_grace(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'r.db'}"
    begun, release = threading.Event(), threading.Event()

    def slow() -> dict[str, bool]:
        begun.set()
        release.wait(30)
        return {"finished": True}

    bench = Bench(database=url, grace_seconds=30.0)
    bench.engine.workers.add(Worker("work", slow))
    with bench:
        bench.define(workflow("w", task("work")))
        name = bench.start("w")
        assert begun.wait(30)
        stopping = threading.Thread(target=bench.engine.stop)
        stopping.start()
        release.set()
        stopping.join(30)
    again = Bench(database=url)
    with again:
        done = again.get(name)
    assert done["status"] == "COMPLETED"
    assert outputs(done, ["work"]) == [{"finished": True}]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
