"""The searches below /workflow and /tasks, and many executions at once below /workflow/bulk."""

from collections.abc import Callable
from functools import partial

from engine.api.wire import Call, Route
from engine.model.record import Json
from engine.services.house import House
from engine.services.searches import Search, wanted

_SEARCH = ("start:int", "size:int", "sort", "freeText", "query")
_EXECUTIONS = (*_SEARCH, "classifier", "topLevelOnly:bool")
_REMOVE = ("archiveWorkflow:bool", "reason")


class Searching:
    """Answers about many executions or tasks."""

    def __init__(self, house: House) -> None:
        self._searches = house.searches
        self._executions = house.executions
        self._bulk = house.bulk

    def routes(self) -> list[Route]:
        """All of them fixed words, so they go before what is variable."""
        return [
            Route("GET", "/workflow/search", self.executions, _EXECUTIONS),
            Route("GET", "/workflow/search-v2", self.whole_executions, _EXECUTIONS),
            Route("GET", "/workflow/search-by-tasks", self.by_tasks, _SEARCH),
            Route("GET", "/workflow/search-by-tasks-v2", self.whole_by_tasks, _SEARCH),
            Route("GET", "/tasks/search", self.tasks, _SEARCH),
            Route("GET", "/tasks/search-v2", self.whole_tasks, _SEARCH),
            Route("PUT", "/workflow/bulk/pause", self.pause, ("reason",), "list"),
            Route("PUT", "/workflow/bulk/resume", self.resume, ("reason",), "list"),
            Route(
                "POST",
                "/workflow/bulk/restart",
                self.restart,
                ("useLatestDefinitions:bool", "reason"),
                "list",
            ),
            Route("POST", "/workflow/bulk/retry", self.retry, ("reason",), "list"),
            Route("POST", "/workflow/bulk/terminate", self.terminate, ("reason",), "list"),
            Route("DELETE", "/workflow/bulk/remove", self.remove, _REMOVE, "list"),
            Route(
                "DELETE", "/workflow/bulk/terminate-remove", self.end_and_remove, _REMOVE, "list"
            ),
            Route("POST", "/workflow/bulk/search", self.many, ("includeTasks:bool",), "list"),
        ]

    # Searches

    def executions(self, call: Call) -> dict[str, Json]:
        """Find executions: summaries, the newest first unless told otherwise."""
        return self._searches.executions(_wanted(call), call.flag("topLevelOnly"))

    def whole_executions(self, call: Call) -> dict[str, Json]:
        """Find executions: whole ones, without their tasks."""
        return self._searches.whole_executions(_wanted(call), call.flag("topLevelOnly"))

    def by_tasks(self, call: Call) -> dict[str, Json]:
        """Find tasks; summaries of their executions, each once."""
        return self._searches.executions_of_tasks(_wanted(call))

    def whole_by_tasks(self, call: Call) -> dict[str, Json]:
        """Find tasks; their executions, each once, without tasks."""
        return self._searches.whole_executions_of_tasks(_wanted(call))

    def tasks(self, call: Call) -> dict[str, Json]:
        """Find tasks: summaries."""
        return self._searches.tasks(_wanted(call))

    def whole_tasks(self, call: Call) -> dict[str, Json]:
        """Find tasks: whole ones."""
        return self._searches.whole_tasks(_wanted(call))

    # Bulk

    def pause(self, call: Call) -> dict[str, Json]:
        """Hold executions."""
        return self._each(call, partial(self._executions.pause, by=call.person, why=call.reason))

    def resume(self, call: Call) -> dict[str, Json]:
        """Let paused executions go on."""
        return self._each(call, partial(self._executions.resume, by=call.person, why=call.reason))

    def restart(self, call: Call) -> dict[str, Json]:
        """Start executions over."""
        latest = call.flag("useLatestDefinitions")
        restart = partial(
            self._executions.restart, use_latest=latest, by=call.person, why=call.reason
        )
        return self._each(call, restart)

    def retry(self, call: Call) -> dict[str, Json]:
        """Try again what failed."""
        return self._each(call, partial(self._executions.retry, by=call.person, why=call.reason))

    def terminate(self, call: Call) -> dict[str, Json]:
        """End executions."""
        terminate = partial(self._executions.terminate, reason=call.reason, by=call.person)
        return self._each(call, terminate)

    def remove(self, call: Call) -> dict[str, Json]:
        """Remove ended executions; those in any state with archiveWorkflow=false."""
        archive = call.flag("archiveWorkflow", True)
        remove = self._bulk.removal.remove
        return self._each(call, partial(remove, archive=archive, by=call.person, why=call.reason))

    def end_and_remove(self, call: Call) -> dict[str, Json]:
        """End executions, then remove them."""
        archive = call.flag("archiveWorkflow", True)
        remove = self._bulk.removal.terminate_and_remove
        return self._each(
            call, partial(remove, archive=archive, reason=call.reason, by=call.person)
        )

    def many(self, call: Call) -> dict[str, Json]:
        """Executions by id."""
        tasks = call.flag("includeTasks", True)
        return self._each(call, partial(self._executions.get, tasks=tasks))

    def _each(self, call: Call, act: Callable[[str], Json]) -> dict[str, Json]:
        return self._bulk.each(call.ids(), act)


def _wanted(call: Call) -> Search:
    return wanted(
        call.text("query"),
        classes=call.texts("classifier"),
        free_text=call.text("freeText"),
        sort=call.text("sort"),
        start=call.number("start"),
        size=call.number("size", 100),
    )
