"""The REST door in this process: an engine that is thrown away, and a client that asks it."""

import asyncio
import threading
from types import TracebackType
from typing import Any

import httpx

from engine.api.app import create_app
from engine.engine import Engine
from engine.instruments.clock import Clock
from engine.settings import Settings

Json = Any


class Door:
    """An engine behind its API, on one loop. Requests go straight into the app, over no network."""

    def __init__(self, clock: Clock | None = None, **settings: Any) -> None:
        plain = {"database": "memory:", "evaluators": 1, "http_worker": False, **settings}
        self.engine = Engine(Settings(**plain), clock=clock)
        self.app = create_app(self.engine)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "Door":
        self._thread.start()
        self.engine.start(self._loop)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.engine.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Any) -> Any:
        """A coroutine on the loop that the app runs on."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def ask(self, method: str, path: str, **how: Any) -> httpx.Response:
        """One request; paths without a leading `/` are below /api."""
        if not how.get("params"):
            # An empty map would make httpx drop the query of the path.
            how.pop("params", None)
        place = path if path.startswith("/") else f"/api/{path}"
        return self.run(self.asked(method, place, how))

    async def asked(self, method: str, place: str, how: dict[str, Any]) -> httpx.Response:
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://engine") as client:
            return await client.request(method, place, **how)

    def get(self, path: str, **query: Any) -> Json:
        """The JSON of a GET that succeeds."""
        return self.good(self.ask("GET", path, params=query)).json()

    def post(self, path: str, body: Json = None, **query: Any) -> httpx.Response:
        """A POST that succeeds."""
        return self.good(self.ask("POST", path, json=body, params=query))

    def put(self, path: str, body: Json = None, **query: Any) -> httpx.Response:
        """A PUT that succeeds."""
        return self.good(self.ask("PUT", path, json=body, params=query))

    def delete(self, path: str, body: Json = None, **query: Any) -> httpx.Response:
        """A DELETE that succeeds."""
        return self.good(self.ask("DELETE", path, json=body, params=query))

    def refused(self, status: int, method: str, path: str, **how: Any) -> str:
        """The message of a request that is refused with this status."""
        answer = self.ask(method, path, **how)
        assert answer.status_code == status, (answer.status_code, answer.text)
        document = answer.json()
        assert document["status"] == status
        found = [document["message"]]
        found += [item["message"] for item in document.get("validationErrors", [])]
        return "; ".join(found)

    @staticmethod
    def good(answer: httpx.Response) -> httpx.Response:
        """The answer, which must not be an error."""
        assert answer.status_code < 300, (answer.status_code, answer.text)
        return answer

    # Stories that many tests begin with

    def define(self, name: str, *tasks: Json, **more: Json) -> str:
        """Register a definition; without tasks it has one SIMPLE task `one`, of a type of its own."""
        listed = list(tasks) or [simple("one", f"{name}_task")]
        self.put("metadata/workflow", [{"name": name, "version": 1, "tasks": listed, **more}])
        return name

    def start(self, name: str, **request: Json) -> str:
        """Start an execution; its id."""
        return self.post("workflow", {"name": name, **request}).text

    def poll(self, kind: str, **query: Any) -> Json:
        """A task that is there."""
        found = self.get(f"tasks/poll/batch/{kind}", **{"workerid": "me", **query})
        assert len(found) == 1, found
        return found[0]

    def report(self, task: Json, status: str = "COMPLETED", **more: Json) -> httpx.Response:
        """Report on a polled task."""
        return self.post("tasks", report_of(task, status, **more))

    def execution(self, workflow_id: str) -> Json:
        """An execution."""
        return self.get(f"workflow/{workflow_id}")

    def statuses(self, workflow_id: str) -> list[str]:
        """Its tasks, as `ref STATUS`."""
        tasks = self.execution(workflow_id)["tasks"]
        return [f"{task['referenceTaskName']} {task['status']}" for task in tasks]

    def ended(self, name: str, status: str = "FAILED", **more: Json) -> str:
        """An execution of a one-task definition that has ended so."""
        workflow_id = self.start(name, **more)
        if status == "TERMINATED":
            self.delete(f"workflow/{workflow_id}")
            return workflow_id
        task = self.poll(f"{name}_task")
        assert task["workflowInstanceId"] == workflow_id
        final = "FAILED_WITH_TERMINAL_ERROR" if status == "FAILED" else status
        self.report(task, final, reasonForIncompletion="broken" if status == "FAILED" else None)
        assert self.execution(workflow_id)["status"] == status
        return workflow_id


def simple(ref: str, name: str, **more: Json) -> Json:
    """A task for a worker."""
    return {"name": name, "taskReferenceName": ref, "type": "SIMPLE", **more}


def wait(ref: str, **more: Json) -> Json:
    """A task that waits to be told."""
    return {"name": ref, "taskReferenceName": ref, "type": "WAIT", **more}


def report_of(task: Json, status: str = "COMPLETED", **more: Json) -> Json:
    """What a worker sends about a task."""
    return {
        "workflowInstanceId": task["workflowInstanceId"],
        "taskId": task["taskId"],
        "status": status,
        **more,
    }
