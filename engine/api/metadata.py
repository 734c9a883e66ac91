"""/metadata: workflow definitions, task definitions, their tags."""

from collections.abc import Callable
from typing import Any

from engine.api.wire import Call, Route, whole
from engine.model.errors import InvalidInput
from engine.model.record import Json
from engine.services.house import House

_OVERWRITE = ("overwrite:bool",)


class Metadata:
    """Answers about definitions."""

    def __init__(self, house: House) -> None:
        self._definitions = house.definitions
        self._bearers: dict[str, Callable[[str], Any]] = {
            "workflow": lambda name: house.definitions.get(name, None),
            "task": house.definitions.task,
            "schedule": house.schedules.get,
        }

    def routes(self) -> list[Route]:
        """Fixed words first, then what is variable."""
        return [
            Route("POST", "/metadata/workflow/validate", self.validate, (), "WorkflowDef", "none"),
            Route("POST", "/metadata/workflow", self.register, _OVERWRITE, "WorkflowDef", "none"),
            Route("PUT", "/metadata/workflow", self.update, _OVERWRITE, "list"),
            Route("GET", "/metadata/workflow/names", self.names),
            Route("GET", "/metadata/workflow/names-and-versions", self.names_and_versions),
            Route("GET", "/metadata/workflow/latest-versions", self.latest),
            Route("GET", "/metadata/workflow/{name}/versions", self.versions),
            Route("GET", "/metadata/workflow", self.all, ("classifier",)),
            Route("GET", "/metadata/workflow/{name}/tags", self.tags("workflow")),
            Route("POST", "/metadata/workflow/{name}/tags", self.add_tag("workflow"), (), "map"),
            Route("PUT", "/metadata/workflow/{name}/tags", self.put_tags("workflow"), (), "list"),
            Route(
                "DELETE", "/metadata/workflow/{name}/tags", self.drop_tags("workflow"), (), "map"
            ),
            Route("GET", "/metadata/workflow/{name}", self.get, ("version:int",)),
            Route("DELETE", "/metadata/workflow/{name}/{version}", self.remove, gives="none"),
            Route("POST", "/metadata/taskdefs", self.register_tasks, (), "list", "none"),
            Route("PUT", "/metadata/taskdefs", self.update_task, (), "TaskDef", "none"),
            Route("GET", "/metadata/taskdefs", self.all_tasks),
            Route("GET", "/metadata/taskdefs/{name}", self.get_task),
            Route("DELETE", "/metadata/taskdefs/{name}", self.remove_task, gives="none"),
            Route("GET", "/metadata/task/{name}/tags", self.tags("task")),
            Route("POST", "/metadata/task/{name}/tags", self.add_tag("task"), (), "map"),
            Route("PUT", "/metadata/task/{name}/tags", self.put_tags("task"), (), "list"),
            Route("DELETE", "/metadata/task/{name}/tags", self.drop_tags("task"), (), "map"),
            Route("GET", "/metadata/tags", self.all_tags),
            Route("GET", "/scheduler/schedules/{name}/tags", self.tags("schedule")),
            Route("POST", "/scheduler/schedules/{name}/tags", self.add_tag("schedule"), (), "map"),
            Route("PUT", "/scheduler/schedules/{name}/tags", self.put_tags("schedule"), (), "list"),
            Route(
                "DELETE", "/scheduler/schedules/{name}/tags", self.drop_tags("schedule"), (), "map"
            ),
        ]

    # Workflow definitions

    def validate(self, call: Call) -> None:
        """Would this definition be accepted?"""
        self._definitions.check(call.map())

    def register(self, call: Call) -> None:
        """Register a definition."""
        self._definitions.take(
            call.map(), overwrite=call.flag("overwrite"), text=call.raw(), by=call.person
        )

    def update(self, call: Call) -> dict[str, Json]:
        """Register definitions over those that are there. One bad definition refuses them all."""
        given = call.items()
        if not given:
            raise InvalidInput("WorkflowDefList is empty")
        names = self._definitions.take_all(given, by=call.person)
        return {"bulkErrorResults": {}, "bulkSuccessfulResults": names}

    def get(self, call: Call) -> dict[str, Json]:
        """A definition, the newest unless a version is asked for."""
        name, version = call.path["name"], call.optional_number("version")
        return self._definitions.get(name, version).json_value()

    def all(self, call: Call) -> list[dict[str, Json]]:
        """All versions of all definitions."""
        if call.text("classifier") not in (None, "workflow"):
            return []
        return [found.json_value() for found in self._definitions.all()]

    def latest(self, call: Call) -> list[dict[str, Json]]:
        """The newest version of each definition."""
        return [found.json_value() for found in self._definitions.latest()]

    def names(self, call: Call) -> list[str]:
        """The names of all definitions."""
        return self._definitions.names()

    def names_and_versions(self, call: Call) -> dict[str, Json]:
        """The versions of each definition."""
        return self._definitions.summaries()

    def versions(self, call: Call) -> list[Json]:
        """The versions of one definition."""
        return self._definitions.versions(call.path["name"])

    def remove(self, call: Call) -> None:
        """Take a definition out; executions of it go on."""
        version = whole("version", call.path["version"])
        self._definitions.remove(call.path["name"], version)

    # Task definitions

    def register_tasks(self, call: Call) -> None:
        """Register task definitions, over those that are there."""
        given = call.items()
        if not given:
            raise InvalidInput("TaskDefList is empty")
        self._definitions.take_tasks(given, by=call.person)

    def update_task(self, call: Call) -> None:
        """Change a task definition."""
        self._definitions.update_task(call.map(), by=call.person)

    def all_tasks(self, call: Call) -> list[dict[str, Json]]:
        """All task definitions."""
        return [found.json_value() for found in self._definitions.all_tasks()]

    def get_task(self, call: Call) -> dict[str, Json]:
        """A task definition."""
        return self._definitions.task(call.path["name"]).json_value()

    def remove_task(self, call: Call) -> None:
        """Take a task definition out."""
        self._definitions.remove_task(call.path["name"])

    # Tags

    def all_tags(self, call: Call) -> list[dict[str, Json]]:
        """Every tag that something bears."""
        return [_tag(key, value) for key, value in self._definitions.all_tags()]

    def _bearer(self, kind: str, call: Call) -> str:
        """Who bears the tags of a path: the name of something that is there."""
        name = call.path["name"]
        self._bearers[kind](name)
        return name

    def tags(self, kind: str) -> Any:
        """A handler: the tags of a thing."""

        def tags(call: Call) -> list[dict[str, Json]]:
            """The tags of a definition."""
            found = self._definitions.tags(kind, self._bearer(kind, call))
            return [_tag(key, value) for key, value in found.items()]

        return tags

    def add_tag(self, kind: str) -> Any:
        """A handler: one tag more, or several."""

        def add_tag(call: Call) -> None:
            """Add a tag, or a list of them, to a definition."""
            name = self._bearer(kind, call)
            present = self._definitions.tags(kind, name)
            self._definitions.put_tags(kind, name, {**present, **_given(call)})

        return add_tag

    def put_tags(self, kind: str) -> Any:
        """A handler: these tags and no others."""

        def put_tags(call: Call) -> None:
            """Give a definition these tags and no others."""
            self._definitions.put_tags(kind, self._bearer(kind, call), _given(call))

        return put_tags

    def drop_tags(self, kind: str) -> Any:
        """A handler: without these tags."""

        def drop_tags(call: Call) -> None:
            """Take tags from a definition."""
            name, gone = self._bearer(kind, call), _given(call)
            present = self._definitions.tags(kind, name)
            kept = {key: value for key, value in present.items() if gone.get(key) != value}
            self._definitions.put_tags(kind, name, kept)

        return drop_tags


def _tag(key: str, value: str) -> dict[str, Json]:
    return {"key": key, "value": value, "type": "METADATA"}


def _given(call: Call) -> dict[str, str]:
    """The tags of a body: one of them, or a list."""
    found = call.json()
    tags: dict[str, str] = {}
    for item in found if isinstance(found, list) else [found]:
        if not isinstance(item, dict) or not item.get("key"):
            raise InvalidInput('A tag needs a key: send {"key": "...", "value": "..."}.')
        tags[str(item["key"])] = str(item.get("value") or "")
    return tags
