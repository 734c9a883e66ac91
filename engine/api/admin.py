"""Health, version, /admin, /queue, /environment, /secrets: what operators and probes ask."""

from typing import Any

from engine.api.answers import Text
from engine.api.wire import Call, Route
from engine.model.errors import EngineError, InvalidInput, NotFound
from engine.model.record import Json
from engine.model.status import TaskStatus
from engine.services.house import House, secret_names, settings_shown

CONDUCTOR_VERSION = "3.32.1"
"""The version of Conductor whose API this is."""

HEALTHY: dict[str, Json] = {"healthResults": [], "suppressedHealthResults": [], "healthy": True}


class Admin:
    """Answers about the engine as a whole."""

    def __init__(self, house: House) -> None:
        self._house = house

    def routes(self) -> list[Route]:
        """Below /api."""
        return [
            Route("GET", "/health", self.health),
            Route("GET", "/version", self.version, gives="text"),
            Route("GET", "/admin/config", self.config),
            Route("GET", "/admin/task/{type}", self.pending, ("start:int", "count:int")),
            Route("POST", "/admin/sweep/requeue/{id}", self.sweep, gives="text"),
            Route("POST", "/admin/consistency/verifyAndRepair/{id}", self.repair, gives="text"),
            Route("GET", "/admin/queues", self.queues, ("verbose:bool",)),
            Route("GET", "/queue/size", self.event_queue_sizes),
            Route("GET", "/queue/", self.event_queues),
            Route(
                "POST",
                "/queue/update/{id}/task/{taskId}/{status}",
                self.update_by_id,
                (),
                "map",
                "none",
            ),
            Route(
                "POST", "/queue/update/{id}/{ref}/{status}", self.update_by_ref, (), "map", "none"
            ),
            Route("GET", "/environment", self.environment),
            Route("GET", "/environment/{key}", self.variable, gives="text"),
            Route("GET", "/secrets", self.secrets),
            Route("POST", "/secrets", self.secrets),
            Route("GET", "/secrets/{key}/exists", self.secret_exists),
        ]

    def health(self, call: Call) -> dict[str, Json]:
        """Can the engine take events and read its store?"""
        try:
            self._house.queues.sizes()
        except EngineError as error:
            return {**HEALTHY, "healthy": False, "errorMessage": error.message}
        return HEALTHY

    def version(self, call: Call) -> Text:
        """The version of Conductor whose API this is."""
        return Text(CONDUCTOR_VERSION)

    def config(self, call: Call) -> dict[str, Json]:
        """The engine's own settings; no address with a password in it, no variables."""
        shown: dict[str, Json] = settings_shown(self._house.engine)
        return shown

    def pending(self, call: Call) -> list[dict[str, Json]]:
        """Open tasks of a type, the newest first."""
        places = self._house.queues.open_attempts(
            call.path["type"], call.number("start"), call.number("count", 100)
        )
        return self._house.searches.tasks_at(places)

    def sweep(self, call: Call) -> Text:
        """Look at an execution again; no queue of executions is needed for that here."""
        workflow_id = call.path["id"]
        self._house.executions.decide(workflow_id, call.person)
        return Text(f"true.{workflow_id}")

    def repair(self, call: Call) -> Text:
        """Look at an execution again; whether anything had been left undone. Queue and timers are
        read from its rows, so they cannot disagree with it."""
        workflow_id = call.path["id"]
        before = self._house.executions.stand(workflow_id)
        self._house.executions.decide(workflow_id, call.person)
        return Text(str(self._house.executions.stand(workflow_id) != before).lower())

    def queues(self, call: Call) -> dict[str, Json]:
        """The event queues that active handlers read; `verbose`: how many messages wait in each."""
        queues = self._house.queues.event_queues()
        if not call.flag("verbose"):
            return {**queues}
        sizes = self._house.queues.event_queue_sizes()
        return {event: {name: sizes.get(event, 0)} for event, name in queues.items()}

    def event_queue_sizes(self, call: Call) -> dict[str, int]:
        """How many messages wait in each event queue that has any."""
        return self._house.queues.event_queue_sizes()

    def event_queues(self, call: Call) -> dict[str, Json]:
        """Queues by the status they set. There are none: an update below is taken at once, and
        does not wait in a queue."""
        return {}

    def update_by_ref(self, call: Call) -> None:
        """Report on the open task of a reference name."""
        path = call.path
        reached = self._house.tasks.update_by_ref(
            path["id"], path["ref"], path["status"], call.map(), by=call.person
        )
        if reached is None:
            raise NotFound(f"Found no running task {path['ref']} of workflow {path['id']}")

    def update_by_id(self, call: Call) -> None:
        """Report on an open task by its id."""
        path = call.path
        task = self._house.executions.task(path["taskId"])
        if task["workflowInstanceId"] != path["id"]:
            raise InvalidInput(f"Task {path['taskId']} is none of workflow {path['id']}.")
        reference = str(task["referenceTaskName"])
        reached = None
        if not TaskStatus(task["status"]).terminal:
            reached = self._house.tasks.update_by_ref(
                path["id"], reference, path["status"], call.map(), by=call.person
            )
        if reached is None:
            raise NotFound(f"Task {path['taskId']} of workflow {path['id']} is over.")

    def environment(self, call: Call) -> list[Json]:
        """The variables that expressions may read."""
        found = self._house.engine.settings.environment()
        return [{"name": name, "value": value} for name, value in sorted(found.items())]

    def variable(self, call: Call) -> Any:
        """The value of one variable; nothing if it is unknown."""
        found = self._house.engine.settings.environment().get(call.path["key"])
        return None if found is None else Text(found)

    def secret_exists(self, call: Call) -> bool:
        """Is there a secret of this name?"""
        return call.path["key"] in secret_names(self._house.engine)

    def secrets(self, call: Call) -> list[str]:
        """The names of all secrets; never a value."""
        return secret_names(self._house.engine)
