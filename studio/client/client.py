"""Client: the questions a page may ask, over Conductor's REST and our additions.

One class for every server: what a server lacks is asked for in the plain way, so a page gets the
same answer from our engine and from a Conductor cluster. No words of the screen, no Streamlit.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import quote

import httpx

from studio.client import capabilities as capabilities_room
from studio.client import transport
from studio.client.capabilities import Capabilities
from studio.client.errors import Invalid, Missing, NotOffered, ServerError

Document = dict[str, Any]
T = TypeVar("T")

BULK_LIMIT: Final = 1_000
"""How many ids one bulk request may carry."""


@dataclass(frozen=True, slots=True)
class Found:
    """One page of a search: how many there are in all, and the rows of this page."""

    total: int
    rows: list[Document]


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks and why; our engine writes both into the ledger, Conductor ignores them."""

    name: str
    reason: str = ""

    def headers(self) -> dict[str, str]:
        # A header carries Latin-1 at most, so the name travels percent-encoded.
        return {"X-Reprise-Person": quote(self.name)} if self.name else {}


class Client:
    """All methods raise `ServerError` and nothing else."""

    def __init__(self, http: httpx.Client, name: str = "") -> None:
        self._http = http
        self.name = name or str(http.base_url).rstrip("/").removesuffix("/api")
        self._capabilities: Capabilities | None = None
        self._lock = threading.Lock()

    def close(self) -> None:
        self._http.close()

    def ask(
        self,
        method: str,
        *path: str | int,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        actor: Actor | None = None,
    ) -> Any:
        """One request; every part of the path is encoded, so a name may hold any sign."""
        address = "/" + "/".join(_part(str(part)) for part in path)
        asked = dict(query or {})
        if actor and actor.reason:
            asked["reason"] = actor.reason
        headers = actor.headers() if actor else None
        return transport.send(self._http, method, address, query=asked, body=body, headers=headers)

    # The server

    def capabilities(self) -> Capabilities:
        """What the server can do; asked once."""
        with self._lock:
            if self._capabilities is None:
                try:
                    self._capabilities = capabilities_room.read(
                        self.ask("GET", "ext", "capabilities")
                    )
                except (Missing, NotOffered):
                    self._capabilities = capabilities_room.of_conductor(self._version())
            return self._capabilities

    def _version(self) -> str:
        try:
            return str(self.ask("GET", "version") or "")
        except ServerError:
            return ""

    def forget_capabilities(self) -> None:
        """The server may have been restarted with another version."""
        with self._lock:
            self._capabilities = None

    def health(self) -> bool:
        """Whether the server says that it is healthy."""
        answer = self.ask("GET", "health")
        return not isinstance(answer, dict) or bool(answer.get("healthy", True))

    def overview(self) -> Document | None:
        """Counts over all executions; None where the server has no such answer."""
        return self._added("overview", lambda: self.ask("GET", "ext", "overview"))

    def _added(self, addition: str, ask: Callable[[], T]) -> T | None:
        """An addition of ours, or None: absent by declaration, or by a 404 for all that."""
        if not self.capabilities().can(addition):
            return None
        try:
            return ask()
        except NotOffered:
            return None

    # Executions: read

    def execution(self, id_: str, tasks: bool = True) -> Document:
        """An execution with its payloads, and with its tasks unless told otherwise."""
        found: Document = self.ask(
            "GET", "workflow", id_, query={"includeTasks": "true" if tasks else "false"}
        )
        for side in ("Input", "Output"):
            path = found.get(f"external{side}PayloadStoragePath")
            whole = self._payload(str(path)) if path else None
            if whole is not None:
                found[side.lower()] = whole
        return found

    def _payload(self, path: str) -> Document | None:
        """An input or output that the server keeps as a file; None where it is not to be had."""
        try:
            found = self._added("payloads", lambda: self.ask("GET", "ext", "payloads", path))
        except Missing:
            return None
        return found if isinstance(found, dict) else None

    def outline(self, id_: str) -> Document:
        """An execution and its tasks without payloads; where only the whole can be had, the whole.

        `tasks` then have Conductor's own fields instead of those of an outline.
        """
        light = self._added("outline", lambda: self.ask("GET", "ext", "executions", id_, "outline"))
        return light if isinstance(light, dict) else self.execution(id_)

    def task(self, execution_id: str, seq: int | None, task_id: str) -> Document:
        """One task with its payloads."""
        if seq is not None:
            found = self._added(
                "task", lambda: self.ask("GET", "ext", "executions", execution_id, "tasks", seq)
            )
            if isinstance(found, dict):
                return found
        plain: Document = self.ask("GET", "tasks", task_id)
        return plain

    def logs(self, task_id: str) -> list[Document]:
        return _listed(self.ask("GET", "tasks", task_id, "log"))

    def ledger(self, id_: str) -> list[Document] | None:
        """What happened to an execution, oldest first; None where nobody writes it down."""
        found = self._added("ledger", lambda: self.ask("GET", "ext", "executions", id_, "ledger"))
        if isinstance(found, dict):
            found = found.get("lines", found.get("results"))
        return None if found is None else _listed(found)

    def diagnosis(self, id_: str) -> Document | None:
        """Why an execution stopped or what it waits for, in sentences; None where nobody says it."""
        found = self._added(
            "diagnosis", lambda: self.ask("GET", "ext", "executions", id_, "diagnosis")
        )
        return found if isinstance(found, dict) else None

    def search(
        self,
        query: str = "",
        *,
        free_text: str = "*",
        start: int = 0,
        size: int = 50,
        sort: str = "startTime:DESC",
        top_level: bool = False,
    ) -> Found:
        """Executions by Conductor's query words."""
        asked = {"query": query, "freeText": free_text, "start": start, "size": size, "sort": sort}
        if top_level:
            asked["topLevelOnly"] = "true"
        return _found(self.ask("GET", "workflow", "search", query=asked))

    def search_tasks(
        self, query: str = "", *, start: int = 0, size: int = 50, sort: str = "startTime:DESC"
    ) -> Found:
        asked = {"query": query, "freeText": "*", "start": start, "size": size, "sort": sort}
        return _found(self.ask("GET", "tasks", "search", query=asked))

    def count(self, query: str) -> int:
        """How many executions a query finds."""
        return self.search(query, size=0).total

    # Executions: change

    def start(self, request: Mapping[str, Any], actor: Actor) -> str:
        """Starts an execution; its id."""
        return str(self.ask("POST", "workflow", body=dict(request), actor=actor)).strip('"')

    def pause(self, id_: str, actor: Actor) -> None:
        self.ask("PUT", "workflow", id_, "pause", actor=actor)

    def resume(self, id_: str, actor: Actor) -> None:
        self.ask("PUT", "workflow", id_, "resume", actor=actor)

    def terminate(self, id_: str, actor: Actor, *, failure_workflow: bool = False) -> None:
        asked = {"triggerFailureWorkflow": "true" if failure_workflow else None}
        self.ask("DELETE", "workflow", id_, query=asked, actor=actor)

    def retry(self, id_: str, actor: Actor, *, inside_children: bool = False) -> None:
        asked = {"resumeSubworkflowTasks": "true" if inside_children else "false"}
        self.ask("POST", "workflow", id_, "retry", query=asked, actor=actor)

    def restart(self, id_: str, actor: Actor, *, latest: bool = False) -> None:
        asked = {"useLatestDefinitions": "true" if latest else "false"}
        self.ask("POST", "workflow", id_, "restart", query=asked, actor=actor)

    def rerun(
        self,
        id_: str,
        actor: Actor,
        *,
        task_id: str | None = None,
        task_input: Document | None = None,
        workflow_input: Document | None = None,
    ) -> None:
        body: Document = {}
        for key, value in (
            ("reRunFromTaskId", task_id),
            ("taskInput", task_input),
            ("workflowInput", workflow_input),
        ):
            if value is not None:
                body[key] = value
        self.ask("POST", "workflow", id_, "rerun", body=body, actor=actor)

    def skip(self, id_: str, ref: str, actor: Actor, *, output: Document | None = None) -> None:
        body = {"taskOutput": output} if output is not None else {}
        self.ask("PUT", "workflow", id_, "skiptask", ref, body=body, actor=actor)

    def preview(
        self, id_: str, action: str, *, ref: str = "", task_id: str = ""
    ) -> Document | None:
        """What a recovery would do, by the engine's own rules; None where it cannot say."""
        body = {"action": action, "ref": ref, "taskId": task_id}
        return self._added(
            "preview", lambda: self.ask("POST", "ext", "executions", id_, "preview", body=body)
        )

    def bulk(
        self, verb: str, ids: Sequence[str], actor: Actor, *, latest: bool = False
    ) -> tuple[list[str], dict[str, str]]:
        """One verb over many ids: those that accepted it, and the words of those that did not."""
        method = "PUT" if verb in ("pause", "resume") else "POST"
        asked: Document = {}
        if verb == "restart" and latest:
            asked["useLatestDefinitions"] = "true"
        done: list[str] = []
        failed: dict[str, str] = {}
        for first in range(0, len(ids), BULK_LIMIT):
            some = list(ids[first : first + BULK_LIMIT])
            answer = self.ask(method, "workflow", "bulk", verb, query=asked, body=some, actor=actor)
            done += [str(one) for one in answer.get("bulkSuccessfulResults") or ()]
            failed.update(answer.get("bulkErrorResults") or {})
        return done, failed

    # Tasks and queues

    def report(
        self, execution_id: str, ref: str, status: str, output: Document, actor: Actor
    ) -> None:
        """Answers a waiting task by its reference name."""
        self.ask("POST", "tasks", execution_id, ref, status, body=output, actor=actor)

    def queues(self) -> dict[str, int]:
        """How many tasks wait, by queue."""
        answer = self.ask("GET", "tasks", "queue", "all")
        return {str(name): int(size) for name, size in (answer or {}).items()}

    def polls(self) -> list[Document]:
        """Who polled which queue, and when last."""
        return _listed(self.ask("GET", "tasks", "queue", "polldata", "all"))

    # Definitions

    def definitions(self) -> list[Document]:
        """All definitions, all versions."""
        return _listed(self.ask("GET", "metadata", "workflow"))

    def versions(self) -> dict[str, list[Document]]:
        """Name -> the summaries of its versions, the oldest first; no definition travels."""
        answer = self.ask("GET", "metadata", "workflow", "names-and-versions")
        listed = answer if isinstance(answer, dict) else {}
        return {
            str(name): sorted(_listed(rows), key=lambda row: int(row.get("version") or 1))
            for name, rows in listed.items()
            if rows
        }

    def definition(self, name: str, version: int | None = None) -> Document:
        """One definition, the newest unless told otherwise."""
        found: Document = self.ask("GET", "metadata", "workflow", name, query={"version": version})
        return found

    def definition_text(self, name: str, version: int | None = None) -> str | None:
        """A definition as readable text; None where the server has no such answer."""
        found = self._added(
            "text",
            lambda: self.ask("GET", "ext", "definitions", name, "text", query={"version": version}),
        )
        return None if found is None else str(found)

    def save_definition(self, definition: Mapping[str, Any], actor: Actor) -> None:
        """Registers a definition, over the same version if there is one."""
        self.ask("PUT", "metadata", "workflow", body=[dict(definition)], actor=actor)

    def register_definition(
        self, definition: Mapping[str, Any], actor: Actor, *, overwrite: bool = False
    ) -> None:
        """Registers a version; one that exists is refused, unless it may be written over."""
        asked = {"overwrite": "true" if overwrite else "false"}
        self.ask("POST", "metadata", "workflow", query=asked, body=dict(definition), actor=actor)

    def validate_definition(self, definition: Mapping[str, Any]) -> None:
        """`Invalid` names all that is wrong with a definition; nothing is stored."""
        self.ask("POST", "metadata", "workflow", "validate", body=dict(definition))

    def delete_definition(self, name: str, version: int, actor: Actor) -> None:
        self.ask("DELETE", "metadata", "workflow", name, version, actor=actor)

    def task_defs(self) -> list[Document]:
        return _listed(self.ask("GET", "metadata", "taskdefs"))

    def task_def(self, name: str) -> Document:
        found: Document = self.ask("GET", "metadata", "taskdefs", name)
        return found

    def save_task_def(self, task_def: Mapping[str, Any], actor: Actor) -> None:
        """Registers a task definition, over the one of the same name if there is one."""
        self.ask("POST", "metadata", "taskdefs", body=[dict(task_def)], actor=actor)

    def delete_task_def(self, name: str, actor: Actor) -> None:
        self.ask("DELETE", "metadata", "taskdefs", name, actor=actor)

    def test(self, request: Mapping[str, Any]) -> Document:
        """Plays a definition on mocks; the execution that came of it."""
        found: Document = self.ask("POST", "workflow", "test", body=dict(request))
        return found


def _listed(answer: object) -> list[Document]:
    return [one for one in answer if isinstance(one, dict)] if isinstance(answer, list) else []


def _found(answer: object) -> Found:
    if not isinstance(answer, dict):
        return Found(0, [])
    return Found(int(answer.get("totalHits") or 0), _listed(answer.get("results")))


def _part(name: str) -> str:
    """A name as a part of a path."""
    if not name:
        raise Invalid("A name or an id is empty.")
    if not name.strip("."):
        # As they are, they would lead to another path.
        return name.replace(".", "%2E")
    try:
        return quote(name, safe="")
    except UnicodeEncodeError as error:
        raise Invalid(f"{name!r} is no UTF-8.") from error
