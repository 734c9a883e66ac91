"""A stage behind the REST door: a whole engine with its threads, on SQLite, its clock turned by hand."""

import threading
from typing import Any

import httpx

from engine.instruments.clock import HandClock
from engine.store.messages import outbox
from tests.api.door import Door
from tests.scenarios.language import Json, Refused

PATIENCE = 20.0
"""Seconds until an engine that does not come to rest fails the scenario."""


class RestStage:
    """What a client sees, and a clock."""

    def __init__(self, door: Door, clock: HandClock) -> None:
        self.door = door
        self.clock = clock
        self.heard = 0

    def ask(self, method: str, path: str, **how: Any) -> httpx.Response:
        response = self.door.ask(method, path, **how)
        if response.status_code >= 400:
            body = response.json()
            more = [found["message"] for found in body.get("validationErrors", [])]
            raise Refused(response.status_code, "; ".join([body["message"], *more]))
        return response

    def register(self, definition: dict[str, Json]) -> None:
        self.ask("PUT", "metadata/workflow", json=[definition])

    def register_task(self, definition: dict[str, Json]) -> None:
        self.ask("POST", "metadata/taskdefs", json=[definition])

    def register_handler(self, handler: dict[str, Json]) -> None:
        self.ask("POST", "event", json=handler)

    def start(self, request: dict[str, Json]) -> str:
        return self.ask("POST", "workflow", json=request).text

    def execution(self, workflow_id: str) -> dict[str, Json]:
        found: dict[str, Json] = self.ask("GET", f"workflow/{workflow_id}").json()
        return found

    def poll(
        self, task_type: str, worker: str, domain: str | None, count: int
    ) -> list[dict[str, Json]]:
        query = {"workerid": worker, "count": count, "timeout": 0}
        if domain:
            query["domain"] = domain
        found: list[dict[str, Json]] = self.ask(
            "GET", f"tasks/poll/batch/{task_type}", params=query
        ).json()
        return found

    def report(self, result: dict[str, Json]) -> None:
        self.ask("POST", "tasks", json=result)

    def verb(self, verb: str, workflow_id: str, **options: Json) -> None:
        place = f"workflow/{workflow_id}"
        if verb in ("pause", "resume"):
            self.ask("PUT", f"{place}/{verb}")
        elif verb == "decide":
            self.ask("PUT", f"workflow/decide/{workflow_id}")
        elif verb == "resetcallbacks":
            self.ask("POST", f"{place}/resetcallbacks")
        elif verb == "restart":
            self.ask("POST", f"{place}/restart", params={"useLatestDefinitions": options["latest"]})
        elif verb == "retry":
            query = {"resumeSubworkflowTasks": options["resume_sub"]}
            self.ask("POST", f"{place}/retry", params=query)
        elif verb == "terminate":
            query = {"reason": options["reason"]} if options["reason"] is not None else {}
            self.ask("DELETE", place, params=query)
        elif verb == "skip":
            self.ask("PUT", f"{place}/skiptask/{options['ref']}", json=options["request"])
        elif verb == "rerun":
            self.ask("POST", f"{place}/rerun", json=options["request"])
        else:
            query = {"archiveWorkflow": options["archive"]}
            self.ask("DELETE", f"{place}/remove", params=query)

    def test(self, request: dict[str, Json]) -> dict[str, Json]:
        found: dict[str, Json] = self.ask("POST", "workflow/test", json=request).json()
        return found

    def deliver(self, event: str, payload: Json) -> None:
        self.heard += 1
        self.door.engine.triggers.deliver(event, payload, f"m{self.heard:06}")

    def event_executions(self) -> list[list[str]]:
        records = sorted(
            self.door.engine.triggers.executions(),
            key=lambda record: (
                record["created"],
                record["messageId"],
                record["name"],
                record["id"],
            ),
        )
        return [[record["name"], record["status"]] for record in records]

    def count(self, name: str) -> int:
        query = {"query": f"workflowType = '{name}'", "size": 100}
        found: int = self.ask("GET", "workflow/search", params=query).json()["totalHits"]
        return found

    def queue_size(self, name: str) -> int:
        found: int = self.ask("GET", "tasks/queue/all").json().get(name, 0)
        return found

    def advance(self, seconds: float) -> None:
        self.clock.advance(int(seconds * 1000))
        self.settle()

    def settle(self) -> None:
        """Wait until nothing is left to do at this moment, twice in a row."""
        pause, quiet = threading.Event(), 0
        for _ in range(int(PATIENCE / 0.002)):
            quiet = quiet + 1 if self._at_rest() else 0
            if quiet == 2:
                return
            pause.wait(0.002)
        raise AssertionError("the engine does not come to rest")

    def _at_rest(self) -> bool:
        engine = self.door.engine
        waiting = engine.port.errand(lambda session: len(outbox(session)), catalogue=False)
        return not (
            waiting
            or len(engine.inbox)
            or engine.core.follow_up
            or engine.evaluation.under_way
            or engine.core.timers.next_at() <= self.clock.now()
        )
