"""Polling: what a worker is given, how long it waits, and what happens when it has gone."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from engine.api.wire import UNSENT
from tests.api.door import Door, report_of, simple


def test_a_single_poll_is_given_a_task_or_nothing(door: Door) -> None:
    workflow_id = door.start(door.define("single"), input={"a": 1})
    task = door.ask("GET", "tasks/poll/single_task?workerid=me").json()
    assert task["workflowInstanceId"] == workflow_id
    assert (task["status"], task["pollCount"], task["workerId"]) == ("IN_PROGRESS", 1, "me")
    empty = door.ask("GET", "tasks/poll/single_task?workerid=me")
    assert (empty.status_code, empty.content) == (204, b"")


def test_a_batch_poll_without_work_is_an_empty_list(door: Door) -> None:
    for query in ("", "?count=0", "?count=-1", "?timeout=0", "?timeout=-5", "?count=&timeout="):
        answer = door.ask("GET", f"tasks/poll/batch/nothing{query}")
        assert (answer.status_code, answer.json()) == (200, [])


def test_a_batch_poll_is_given_up_to_as_many_as_it_asks_for(door: Door) -> None:
    door.define("batch")
    ids = {door.start("batch") for _ in range(3)}
    two = door.get("tasks/poll/batch/batch_task", count=2)
    one = door.get("tasks/poll/batch/batch_task", count=5)
    assert (len(two), len(one)) == (2, 1)
    assert {task["workflowInstanceId"] for task in two + one} == ids


def test_a_poll_that_would_wait_too_long_is_refused(door: Door) -> None:
    message = door.refused(400, "GET", "tasks/poll/batch/x?timeout=6000")
    assert message == "Long Poll Timeout value cannot be more than 5 seconds"
    assert "count is 'x'" in door.refused(400, "GET", "tasks/poll/batch/x?count=x")


def test_a_batch_poll_answers_as_soon_as_there_is_one_task(door: Door) -> None:
    door.define("soon")

    async def story() -> tuple[list[Any], float]:
        began = time.monotonic()
        path = "/api/tasks/poll/batch/soon_task"
        asked = asyncio.create_task(
            door.asked("GET", path, {"params": {"count": 9, "timeout": 5000}})
        )
        while not door.engine.core.handout.next_at():
            await asyncio.sleep(0)
        await door.asked("POST", "/api/workflow", {"json": {"name": "soon"}})
        return (await asked).json(), time.monotonic() - began

    tasks, took = door.run(story())
    assert len(tasks) == 1 and took < 4


def test_a_worker_sees_only_its_domain(door: Door) -> None:
    door.define("homes")
    blue = door.start("homes", taskToDomain={"homes_task": "blue"})
    plain = door.start("homes")
    assert door.poll("homes_task", count=9)["workflowInstanceId"] == plain
    assert door.poll("homes_task", count=9, domain="blue")["workflowInstanceId"] == blue


def test_a_type_with_odd_characters_can_be_polled(door: Door) -> None:
    door.define("oddly", simple("one", "a:b ü%"))
    door.start("oddly")
    assert door.ask("GET", "tasks/poll/a%3Ab%20%C3%BC%25").json()["taskDefName"] == "a:b ü%"


def test_who_polled_is_known_at_once_also_after_empty_polls(door: Door) -> None:
    door.get("tasks/poll/batch/seen", workerid="me", timeout=0)
    door.get("tasks/poll/batch/seen", domain="blue", timeout=0)
    first, second = door.get("tasks/queue/polldata", taskType="seen")
    assert {first.get("workerId"), second.get("workerId")} == {"me", None}
    assert "blue" in {first.get("domain"), second.get("domain")}
    assert door.get("tasks/queue/polldata", taskType="unseen") == []
    assert door.refused(400, "GET", "tasks/queue/polldata") == "TaskType cannot be null or empty."
    assert "seen" in {row["queueName"] for row in door.get("tasks/queue/polldata/all")}


class Leaving:
    """A client that closes its connection when it is told to."""

    def __init__(
        self, door: Door, method: str, path: str, query: str = "", body: bytes = b""
    ) -> None:
        self._door = door
        self._scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(b"content-type", b"application/json")],
        }
        self._scope["extensions"] = {UNSENT: {"mind": self._mind}}
        self._body: bytes | None = body
        self._minded: list[Callable[[], None]] = []
        self.gone = asyncio.Event()
        self.sent: list[Any] = []

    async def receive(self) -> Any:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    def _mind(self, unsent: Callable[[], None]) -> None:
        assert not self.sent
        self._minded.append(unsent)

    def loses(self) -> None:
        """What has been sent does not arrive."""
        for unsent in self._minded:
            unsent()

    async def asks(self) -> None:
        await self._door.app(self._scope, self.receive, self.send)


def test_a_task_claimed_for_a_client_that_has_gone_goes_to_the_next(door: Door) -> None:
    door.define("gone")
    workflow_id = door.start("gone")

    async def story() -> Leaving:
        client = Leaving(door, "GET", "/api/tasks/poll/batch/gone_task", "timeout=0")
        client.gone.set()
        await client.asks()
        return client

    assert door.run(story()).sent == []
    task = door.poll("gone_task", timeout=5000)
    assert (task["workflowInstanceId"], task["pollCount"]) == (workflow_id, 1)
    assert door.execution(workflow_id)["tasks"][0]["workerId"] == "me"


def test_a_client_that_goes_while_it_waits_is_given_nothing(door: Door) -> None:
    door.define("left")

    async def story() -> Leaving:
        client = Leaving(door, "GET", "/api/tasks/poll/batch/left_task", "timeout=5000")
        asking = asyncio.create_task(client.asks())
        while not door.engine.core.handout.next_at():
            await asyncio.sleep(0)
        client.gone.set()
        await asking
        return client

    assert door.run(story()).sent == []
    workflow_id = door.start("left")
    task = door.poll("left_task", timeout=5000)
    assert (task["workflowInstanceId"], task["pollCount"]) == (workflow_id, 1)


def test_the_next_task_of_a_report_is_not_lost_with_its_client(door: Door) -> None:
    door.define("both", simple("one", "both_task"), simple("two", "both_task"))
    workflow_id = door.start("both")
    body = Door.good(door.ask("GET", "tasks/poll/both_task")).json()

    async def story() -> Leaving:
        content = json.dumps(report_of(body)).encode()
        client = Leaving(door, "POST", "/api/tasks/update-v2", body=content)
        client.gone.set()
        await client.asks()
        return client

    assert door.run(story()).sent == []
    assert door.poll("both_task", timeout=5000)["referenceTaskName"] == "two"
    assert door.statuses(workflow_id) == ["one COMPLETED", "two IN_PROGRESS"]


@pytest.mark.parametrize("path", ["tasks/poll/batch/unsent_task", "tasks/poll/unsent_task"])
def test_a_task_in_an_answer_that_did_not_go_out_goes_to_the_next(door: Door, path: str) -> None:
    door.define("unsent")
    workflow_id = door.start("unsent")

    async def story() -> Leaving:
        client = Leaving(door, "GET", f"/api/{path}")
        await client.asks()
        client.loses()
        return client

    assert door.run(story()).sent[0]["status"] == 200
    task = door.poll("unsent_task", timeout=5000)
    assert (task["workflowInstanceId"], task["pollCount"]) == (workflow_id, 1)
    door.report(task)


def test_the_next_task_of_a_report_is_not_lost_with_an_answer_that_did_not_go_out(
    door: Door,
) -> None:
    door.define("unheard", simple("one", "unheard_task"), simple("two", "unheard_task"))
    workflow_id = door.start("unheard")
    task = door.poll("unheard_task")

    async def story() -> Leaving:
        content = json.dumps(report_of(task)).encode()
        client = Leaving(door, "POST", "/api/tasks/update-v2", body=content)
        await client.asks()
        client.loses()
        return client

    assert door.run(story()).sent[0]["status"] == 200
    assert door.poll("unheard_task", timeout=5000)["referenceTaskName"] == "two"
    assert door.statuses(workflow_id) == ["one COMPLETED", "two IN_PROGRESS"]
