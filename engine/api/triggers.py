"""/event and /scheduler: what starts things by itself."""

from typing import Any

from engine.api.wire import Call, Route
from engine.model.errors import InvalidInput
from engine.model.record import Json
from engine.services.house import House

_PAGE = ("start:int", "size:int", "sort", "freeText")


class TriggerRoutes:
    """Answers about event handlers and schedules."""

    def __init__(self, house: House) -> None:
        self._triggers = house.triggers
        self._schedules = house.schedules
        self._clock = house.clock

    def routes(self) -> list[Route]:
        """Fixed words first, then what is variable."""
        one = "/scheduler/schedules/{name}"
        return [
            Route("POST", "/event", self.add_handler, (), "EventHandler", "none"),
            Route("PUT", "/event", self.update_handler, (), "EventHandler", "none"),
            Route("GET", "/event", self.handlers),
            Route("GET", "/event/{event}", self.handlers_of, ("activeOnly:bool",)),
            Route("DELETE", "/event/{name}", self.remove_handler, gives="none"),
            Route("GET", "/ext/events", self.event_executions, ("event", "size:int")),
            Route("POST", "/scheduler/schedules", self.save, (), "WorkflowSchedule"),
            Route("GET", "/scheduler/schedules", self.all, ("workflowName",)),
            Route("GET", "/scheduler/schedules/search", self.search, _SCHEDULES),
            Route("GET", one, self.get),
            Route("DELETE", one, self.remove, gives="none"),
            Route("PUT", f"{one}/pause", self.pause, ("reason",), gives="none"),
            Route("GET", f"{one}/pause", self.pause, ("reason",), gives="none", changes=True),
            Route("PUT", f"{one}/resume", self.resume, gives="none"),
            Route("GET", f"{one}/resume", self.resume, gives="none", changes=True),
            Route("GET", "/scheduler/nextFewSchedules", self.next_few, _NEXT),
            Route("GET", "/scheduler/search/executions", self.firings, (*_PAGE, "query")),
            Route("GET", "/scheduler/admin/requeue", self.requeue),
            Route("GET", "/scheduler/admin/pause", self.rest, changes=True),
            Route("GET", "/scheduler/admin/resume", self.go_on, changes=True),
            Route("PUT", "/scheduler/bulk/pause", self.pause_many, (), "list"),
            Route("PUT", "/scheduler/bulk/resume", self.resume_many, (), "list"),
        ]

    # Event handlers

    def add_handler(self, call: Call) -> None:
        """Register a new event handler."""
        self._triggers.add(call.map())

    def update_handler(self, call: Call) -> None:
        """Replace an event handler."""
        self._triggers.update(call.map())

    def handlers(self, call: Call) -> list[Any]:
        """All event handlers."""
        return self._triggers.handlers()

    def handlers_of(self, call: Call) -> list[Any]:
        """The event handlers of an event."""
        active = call.flag("activeOnly", True)
        return self._triggers.handlers(call.path["event"], active_only=active)

    def remove_handler(self, call: Call) -> None:
        """Take an event handler out."""
        self._triggers.remove(call.path["name"])

    def event_executions(self, call: Call) -> list[Any]:
        """What handlers did with messages, the newest first."""
        size = min(max(call.number("size", 100), 0), 1000)
        return self._triggers.executions(call.text("event"), size)

    # Schedules

    def save(self, call: Call) -> dict[str, Json]:
        """Create a schedule, or replace the one of that name."""
        return self._schedules.save(call.map(), call.person)

    def all(self, call: Call) -> list[Any]:
        """All schedules, or those that start a workflow."""
        return self._schedules.all(call.text("workflowName"))

    def search(self, call: Call) -> dict[str, Json]:
        """Find schedules."""
        return self._schedules.search(
            workflow_name=call.text("workflowName"),
            name=call.text("scheduleName"),
            paused=call.flag("paused") if call.text("paused") else None,
            free_text=call.text("freeText") or "*",
            start=max(0, call.number("start")),
            size=max(0, call.number("size", 100)),
            sort=call.text("sort"),
        )

    def get(self, call: Call) -> dict[str, Json]:
        """A schedule."""
        return self._schedules.get(call.path["name"])

    def remove(self, call: Call) -> None:
        """Take a schedule out, if there is one."""
        self._schedules.remove(call.path["name"])

    def pause(self, call: Call) -> None:
        """Let a schedule rest. Older clients ask for it with GET."""
        self._schedules.pause(call.path["name"], call.reason, call.person)

    def resume(self, call: Call) -> None:
        """Let a schedule go on. Older clients ask for it with GET."""
        self._schedules.resume(call.path["name"], call.person)

    def next_few(self, call: Call) -> list[int]:
        """When an expression would fire."""
        return self._schedules.next_few(
            call.need("cronExpression"),
            self._clock.now(),
            start=call.optional_number("scheduleStartTime"),
            end=call.optional_number("scheduleEndTime"),
            limit=call.number("limit", 5),
            zone=call.text("zoneId") or "UTC",
        )

    def firings(self, call: Call) -> dict[str, Json]:
        """What became of the slots of schedules."""
        return self._schedules.search_firings(
            call.text("query") or "",
            call.text("freeText") or "*",
            max(0, call.number("start")),
            max(0, call.number("size", 100)),
            call.text("sort"),
        )

    def requeue(self, call: Call) -> dict[str, Json]:
        """There is no queue of schedules that could have lost one."""
        return {"sampleIds": [], "recordIds.size": 0}

    def rest(self, call: Call) -> dict[str, Json]:
        """Let the whole scheduler rest, until it goes on or the engine is started anew."""
        self._schedules.paused = True
        return {"status": "done"}

    def go_on(self, call: Call) -> dict[str, Json]:
        """Let the whole scheduler go on."""
        self._schedules.paused = False
        return {"status": "done"}

    def pause_many(self, call: Call) -> dict[str, Json]:
        """Let schedules rest."""
        return self._schedules.pause_many(_names(call))

    def resume_many(self, call: Call) -> dict[str, Json]:
        """Let schedules go on."""
        return self._schedules.resume_many(_names(call))


_SCHEDULES = (*_PAGE, "workflowName", "scheduleName", "paused:bool")
_NEXT = ("cronExpression", "scheduleStartTime:int", "scheduleEndTime:int", "limit:int", "zoneId")


def _names(call: Call) -> list[str]:
    found = call.ids()
    if not found:
        raise InvalidInput("The list of names is empty: send at least one.")
    return found
