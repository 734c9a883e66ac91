"""What a caller can ask about definitions: register and fetch workflows and task policies."""

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

import orjson

from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.errors import InvalidInput, NotFound
from engine.model.record import Json
from engine.rules.validation import registration_errors, require, task_def_errors
from engine.rules.validation_tasks import Check
from engine.services.port import Port
from engine.store import catalogue, texts
from engine.store.rowstore import RowStore

Definition = TypeVar("Definition", WorkflowDef, TaskDef)

DEEPEST = 200
"""Levels of nesting in a definition; the writer of JSON ends at 254."""


TAKEN = frozenset({"names", "names-and-versions", "latest-versions", "validate"})
"""Words that mean something else where the name of a definition would stand."""


class Definitions:
    """The catalogue: written as errands of the core, read on connections of its own."""

    def __init__(
        self,
        port: Port,
        store: RowStore,
        check: Check | None = None,
        environment: Collection[str] = (),
    ) -> None:
        self._port = port
        self._store = store
        self._check_script = check
        self._environment = environment

    # Workflow definitions: write

    def register(
        self, definition: WorkflowDef, *, overwrite: bool = True, text: str | None = None
    ) -> WorkflowDef:
        """Store a workflow definition under its name and version, with its author's own text."""
        if not definition.name:
            raise InvalidInput("WorkflowDef name cannot be null or empty")
        now = self._port.core.clock.now()
        kept: WorkflowDef = self._port.errand(
            lambda session: _put(session, definition, now, overwrite, text)
        )
        return kept

    def check(self, given: Json) -> WorkflowDef:
        """A definition that may be registered; InvalidInput names all that is wrong with it."""
        if not isinstance(given, dict):
            raise InvalidInput("A workflow definition is a JSON object.")
        if given.get("version", 1) is None:
            given = {key: value for key, value in given.items() if key != "version"}
        check_depth(given)
        check_address(given)
        definition = WorkflowDef.read(given)
        self.require_sound(definition)
        return definition

    def require_sound(
        self, definition: WorkflowDef, place: str = "registerWorkflowDef.arg0"
    ) -> None:
        """InvalidInput names all for which Conductor would refuse a definition. `place` is where
        the request holds it."""
        errors = registration_errors(
            definition,
            place,
            task_def=self._port.core.knowledge.task_def,
            check=self._check_script,
            environment=self._environment,
        )
        require(errors)

    def take(
        self, given: Json, *, overwrite: bool, text: str | None = None, by: str | None = None
    ) -> WorkflowDef:
        """Check and store a definition as it was sent."""
        return self.register(signed(self.check(given), by), overwrite=overwrite, text=text)

    def take_all(self, given: Sequence[Json], by: str | None = None) -> list[str]:
        """Check all, then store all; their names."""
        checked = [signed(self.check(item), by) for item in given]
        now = self._port.core.clock.now()
        self._port.errand(
            lambda session: [_put(session, item, now, True, None) for item in checked]
        )
        return [item.name or "" for item in checked]

    def remove(self, name: str, version: int) -> None:
        """Take a definition out; executions go on by their snapshots."""
        if not self._port.errand(lambda session: _take_out(session, name, version)):
            raise NotFound(f"No such workflow definition: {name} version: {version}")

    # Workflow definitions: read

    def find(self, name: str, version: int | None = None) -> WorkflowDef | None:
        """A workflow definition, if there is one; without a version the highest."""
        return self._store.read(lambda session: catalogue.workflow(session, name, version))

    def get(self, name: str, version: int | None = None) -> WorkflowDef:
        """A workflow definition; without a version the highest."""
        found = self.find(name, version)
        if found is None:
            shown = "null" if version is None else version
            raise NotFound(f"No such workflow found by name: {name}, version: {shown}")
        return found

    def text(self, name: str, version: int | None = None) -> str:
        """A definition as its author wrote it; laid out anew if that is not known."""
        found = self.get(name, version)
        kept = self._store.read(lambda session: texts.of(session, name, found.version))
        return laid_out(found) if kept is None else kept

    def all(self) -> list[WorkflowDef]:
        """All versions of all definitions."""
        return self._store.read(catalogue.workflows)

    def latest(self) -> list[WorkflowDef]:
        """The highest version of each."""
        return self._store.read(catalogue.latest_workflows)

    def names(self) -> list[str]:
        """All names, sorted."""
        return list(self._store.read(catalogue.workflow_names))

    def versions(self, name: str) -> list[Json]:
        """Conductor's WorkflowDefSummary of each version of a name; none for an unknown name."""
        found = self._store.read(lambda session: catalogue.workflows(session, name))
        return [_summary(item) for item in found]

    def summaries(self) -> dict[str, Json]:
        """The same of all names."""
        shown: dict[str, Json] = {}
        for item in self.all():
            shown.setdefault(item.name or "", []).append(_summary(item))
        return shown

    # Task definitions

    def register_tasks(self, definitions: Sequence[TaskDef]) -> list[TaskDef]:
        """Store task definitions under their names."""
        for definition in definitions:
            if not definition.name:
                raise InvalidInput("TaskDef name cannot be null or empty")
        now = self._port.core.clock.now()
        kept: list[TaskDef] = self._port.errand(
            lambda session: catalogue.put_tasks(session, definitions, now)
        )
        return kept

    def check_task(self, given: Json, place: str = "registerTaskDef.arg0[0]") -> TaskDef:
        """A task definition that may be registered."""
        if not isinstance(given, dict):
            raise InvalidInput("A task definition is a JSON object.")
        check_depth(given)
        definition = TaskDef.read(given)
        require(task_def_errors(definition, place))
        return definition

    def take_tasks(self, given: Sequence[Json], by: str | None = None) -> list[TaskDef]:
        """Check all, then store all, over those that are there."""
        checked = [
            self.check_task(item, f"registerTaskDef.arg0[{number}]")
            for number, item in enumerate(given)
        ]
        return self.register_tasks([signed(item, by) for item in checked])

    def update_task(self, given: Json, by: str | None = None) -> TaskDef:
        """Change a task definition that is there."""
        checked = self.check_task(given, "updateTaskDef.arg0")
        name = checked.name or ""
        if self._store.read(lambda session: catalogue.task(session, name)) is None:
            raise NotFound(f"No such task by name {name}")
        return self.register_tasks([signed(checked, by)])[0]

    def task(self, name: str) -> TaskDef:
        """A task definition."""
        found = self._store.read(lambda session: catalogue.task(session, name))
        if found is None:
            raise NotFound(f"No such taskType found by name: {name}")
        return found

    def all_tasks(self) -> list[TaskDef]:
        """All task definitions."""
        return self._store.read(catalogue.tasks)

    def remove_task(self, name: str) -> None:
        """Take a task definition out."""
        if not self._port.errand(lambda session: catalogue.remove_task(session, name)):
            raise NotFound(f"No such task definition: {name}")

    # Tags

    def all_tags(self) -> list[tuple[str, str]]:
        """Every label that something bears, sorted."""
        return self._store.read(catalogue.all_tags)

    def tags(self, kind: str, name: str) -> dict[str, str]:
        """The labels of a thing."""
        return self._store.read(lambda session: catalogue.tags(session, kind, name))

    def put_tags(self, kind: str, name: str, tags: dict[str, str]) -> None:
        """The labels of a thing, in place of those it had."""
        self._port.errand(lambda session: catalogue.put_tags(session, kind, name, tags))


def _put(
    session: Any, definition: WorkflowDef, now: int, overwrite: bool, text: str | None
) -> WorkflowDef:
    kept = catalogue.put_workflow(session, definition, now, overwrite)
    texts.keep(session, definition.name or "", definition.version, text)
    return kept


def _take_out(session: Any, name: str, version: int) -> bool:
    texts.keep(session, name, version, None)
    return catalogue.remove_workflow(session, name, version)


def laid_out(definition: WorkflowDef) -> str:
    """A definition as a person reads it."""
    return orjson.dumps(definition.json_value(), option=orjson.OPT_INDENT_2).decode()


def signed(definition: Definition, by: str | None) -> Definition:
    """With the name of who wrote it, if that is known."""
    if by is None:
        return definition
    if definition.created_by:
        return definition.but(updated_by=by)
    return definition.but(created_by=by, updated_by=by)


def check_address(given: dict[str, Json]) -> None:
    """Refuse what could be registered, but never be asked for again: names and versions are parts
    of addresses."""
    name, version = given.get("name"), given.get("version", 1)
    if isinstance(name, str) and ("/" in name or name in (".", "..") or name in TAKEN):
        raise InvalidInput(
            f"name is {name!r}: it could never be asked for under /metadata/workflow/. Use a name "
            f"without a slash that is none of {', '.join(sorted(TAKEN))}."
        )
    if isinstance(version, float) and not version.is_integer():
        raise InvalidInput(f"version is {version}: versions are whole numbers from 1.")
    number = WorkflowDef.read({"version": version}).version
    if number < 1:
        raise InvalidInput(f"version is {number}: versions are whole numbers from 1.")


def check_depth(value: Json) -> None:
    """Refuse what is nested too deeply to be written again."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for item in level for inner in _inside(item)]
        if not level:
            return
    raise InvalidInput(f"The definition is nested more than {DEEPEST} levels deep.")


def _inside(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _summary(found: WorkflowDef) -> dict[str, Json]:
    return {
        "name": found.name,
        "version": found.version,
        "createTime": found.create_time,
        "updateTime": found.update_time,
    }
