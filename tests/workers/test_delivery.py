"""Messages to the outside: each at least once, again for those who did not take it."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from engine.store.messages import outbox
from engine.store.reading import counts
from tests.engine.builders import Bench, task, tasks_of, workflow
from tests.workers.web import Reply, Seen, web

TOLD = {"workflowStatusListenerEnabled": True}


def define(bench: Bench) -> None:
    bench.define(workflow("w", task("n", "NOOP"), **TOLD))


def waiting(bench: Bench) -> list[Any]:
    return bench.engine.store.read(outbox)


def bodies(seen: list[Seen]) -> list[Any]:
    return [orjson.loads(request.body) for request in seen]


def test_a_listener_is_told_of_executions_that_ask_for_it() -> None:
    with web(lambda seen: Reply()) as server, Bench(workflow_listener=server.url) as bench:
        define(bench)
        name = bench.start("w")
        bench.until(lambda: bench.get(name)["status"] == "COMPLETED" and not waiting(bench))
        told = bodies(server.seen)
    assert {item["workflowId"] for item in told} == {name}
    assert told[-1]["status"] == "COMPLETED"


def test_an_execution_that_asks_for_a_listener_ends_with_a_word_that_it_is_over() -> None:
    with web(lambda seen: Reply()) as server, Bench(workflow_listener=server.url) as bench:
        define(bench)
        bench.run("w")
        bench.until(lambda: not waiting(bench))
        told = bodies(server.seen)
    assert [item["event"] for item in told] == ["STARTED", "COMPLETED", "FINALIZED"]
    assert told[1]["endTime"] >= told[0]["startTime"] > 0


def test_a_task_listener_is_told_of_each_status_of_tasks_that_do_not_forbid_it() -> None:
    with web(lambda seen: Reply()) as server, Bench(task_listener=server.url) as bench:
        bench.define_tasks({"name": "quiet", "taskStatusListenerEnabled": False})
        bench.define(workflow("w", task("n", "NOOP"), task("quiet", "NOOP"), task("work")))
        bench.engine.employ({"work": lambda: {}})
        done = bench.run("w")
        bench.until(lambda: not waiting(bench))
        told = bodies(server.seen)
    assert [(item["referenceTaskName"], item["status"]) for item in told] == [
        ("n", "COMPLETED"),
        ("work", "SCHEDULED"),
        ("work", "IN_PROGRESS"),
        ("work", "COMPLETED"),
    ]
    assert {item["workflowId"] for item in told} == {done["workflowId"]}
    assert told[-1]["taskId"] == tasks_of(done)["work"]["taskId"]


@pytest.mark.parametrize(
    ("answer", "series"),
    [
        (
            Reply(),
            'webhook_publish_success_total{notificationType="WORKFLOW",name="w",status="COMPLETED"}',
        ),
        (
            Reply(500),
            'webhook_publish_failure_total{notificationType="WORKFLOW",name="w",errorType="Undelivered"}',
        ),
    ],
)
def test_what_a_listener_takes_or_refuses_is_counted(answer: Reply, series: str) -> None:
    with web(lambda seen: answer) as server, Bench(workflow_listener=server.url) as bench:
        define(bench)
        bench.start("w")
        bench.until(lambda: series in bench.engine.metrics.render())


def test_an_execution_that_asks_for_a_listener_is_archived_when_it_has_ended() -> None:
    """ARC-01. Others stay, and so does what has not ended."""
    with Bench(archive_listener=True) as bench:
        bench.define(
            workflow("w", task("n", "NOOP"), **TOLD),
            workflow("bad", task("t", "TERMINATE", terminationStatus="FAILED"), **TOLD),
            workflow("open", task("g", "WAIT"), **TOLD),
            workflow("plain", task("n", "NOOP")),
        )
        store = bench.engine.store
        names = [bench.start(name) for name in ("plain", "open", "w", "bad")]
        bench.until(lambda: not waiting(bench) and store.key_of(names[3]) is None)
        assert [store.key_of(name) is None for name in names] == [False, False, True, True]
        assert [bench.get(name)["status"] for name in names] == [
            "COMPLETED",
            "RUNNING",
            "COMPLETED",
            "FAILED",
        ]
        assert store.read(counts)["w", "COMPLETED"] == 1


def test_a_listener_that_does_not_answer_keeps_nothing_from_the_archive() -> None:
    with (
        web(lambda seen: Reply(503)) as deaf,
        Bench(workflow_listener=deaf.url, archive_listener=True) as bench,
    ):
        define(bench)
        name = bench.start("w")
        bench.until(lambda: bench.engine.store.key_of(name) is None)
        assert waiting(bench)


def test_a_message_that_was_not_taken_is_offered_again() -> None:
    def answer(seen: Seen) -> Reply:
        return Reply(500 if len(server.seen) == 1 else 200)

    with web(answer) as server, Bench(workflow_listener=server.url) as bench:
        define(bench)
        bench.start("w")
        bench.until(lambda: server.seen and not waiting(bench))
        numbers = [request.headers["X-Message-Id"] for request in server.seen]
    assert numbers[0] == numbers[1]


def test_what_could_not_be_delivered_is_kept_for_the_next_engine(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'r.db'}"
    with (
        web(lambda seen: Reply(503)) as deaf,
        Bench(database=url, workflow_listener=deaf.url) as bench,
    ):
        define(bench)
        name = bench.run("w")["workflowId"]
        bench.until(lambda: deaf.seen)
        assert waiting(bench)
    with (
        web(lambda seen: Reply()) as server,
        Bench(database=url, workflow_listener=server.url) as bench,
    ):
        bench.until(lambda: not waiting(bench))
        assert {item["workflowId"] for item in bodies(server.seen)} == {name}


def test_where_nobody_listens_nothing_is_kept() -> None:
    with Bench() as bench:
        define(bench)
        bench.run("w")
        bench.until(lambda: not waiting(bench))


def test_an_event_task_reaches_the_handlers_of_its_queue() -> None:
    handler = {
        "name": "on_order",
        "event": "conductor:source:orders",
        "active": True,
        "actions": [
            {
                "action": "start_workflow",
                "start_workflow": {"name": "target", "input": {"order": "${order}"}},
            }
        ],
    }
    with Bench() as bench:
        bench.define(
            workflow("target", task("n", "NOOP")),
            workflow(
                "source",
                task("e", "EVENT", sink="conductor:orders", inputParameters={"order": 7}),
            ),
        )
        bench.engine.triggers.add(handler)
        bench.run("source")
        bench.until(lambda: bench.engine.store.read(counts).get(("target", "COMPLETED")))


def test_a_schedule_starts_its_workflow() -> None:
    with Bench() as bench:
        bench.define(workflow("target", task("n", "NOOP")))
        bench.engine.schedules.save(
            {
                "name": "often",
                "cronExpression": "* * * * * *",
                "startWorkflowRequest": {"name": "target", "version": 1},
            }
        )
        bench.until(lambda: bench.engine.store.read(counts).get(("target", "COMPLETED")))
