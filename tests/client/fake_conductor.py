"""A Conductor server as far as the studio asks one: documents in memory behind Conductor's paths.

It has none of our additions, so it shows what the studio can do with a foreign cluster. Verbs change
a status and are remembered in `calls`, with their query and body.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from studio.views import wording

Document = dict[str, Any]


@dataclass
class Server:
    """What it holds. `broken` makes every answer a 500, `calls` is what changed something."""

    executions: dict[str, Document] = field(default_factory=dict)
    definitions: list[Document] = field(default_factory=list)
    task_defs: dict[str, Document] = field(default_factory=dict)
    queues: dict[str, int] = field(default_factory=dict)
    polls: list[Document] = field(default_factory=list)
    logs: dict[str, list[Document]] = field(default_factory=dict)
    calls: list[tuple[str, str, Document, Any]] = field(default_factory=list)
    broken: bool = False

    def add(self, *executions: Document) -> "Server":
        for execution in executions:
            self.executions[execution["workflowId"]] = execution
            definition = execution.get("workflowDefinition")
            if definition and definition not in self.definitions:
                self.definitions.append(definition)
        return self

    def app(self) -> Starlette:
        paths = {
            "/version": ("GET", self._version),
            "/workflow/search": ("GET", self._search),
            "/workflow/bulk/{verb}": ("PUT POST", self._bulk),
            "/workflow": ("POST", self._start),
            "/workflow/{id}": ("GET DELETE", self._one),
            "/workflow/{id}/{verb}": ("PUT POST", self._verb),
            "/workflow/{id}/skiptask/{ref}": ("PUT", self._verb),
            "/metadata/workflow": ("GET PUT", self._workflow_defs),
            "/metadata/workflow/{name}": ("GET", self._workflow_def),
            "/metadata/taskdefs": ("GET POST", self._task_defs),
            "/tasks/search": ("GET", self._search_tasks),
            "/tasks/queue/all": ("GET", self._queues),
            "/tasks/queue/polldata/all": ("GET", self._polls),
            "/tasks/{id}": ("GET", self._task),
            "/tasks/{id}/log": ("GET", self._log),
            "/tasks/{id}/{ref}/{status}": ("POST", self._report),
        }
        routes = [Route("/api/health", self._health)]
        routes += [
            Route(f"/api{path}", self._guarded(answer), methods=methods.split())
            for path, (methods, answer) in paths.items()
        ]
        return Starlette(routes=routes)

    def _guarded(self, answer: Any) -> Any:
        async def endpoint(request: Request) -> Response:
            if self.broken:
                return _error(500, "The database is gone")
            body = await request.body()
            found: Response = answer(request, json.loads(body) if body else None)
            return found

        return endpoint

    def _health(self, request: Request) -> Response:
        return JSONResponse({"healthy": not self.broken})

    def _version(self, request: Request, body: Any) -> Response:
        return PlainTextResponse("3.32.1")

    def _search(self, request: Request, body: Any) -> Response:
        query = request.query_params.get("query", "")
        free = request.query_params.get("freeText", "*")
        if "!=" in query:
            return _error(400, f"Incorrectly formatted query string: {query}")
        rows = [_summary(one) for one in self.executions.values() if _matches(one, query, free)]
        rows.sort(key=lambda row: str(row["startTime"]), reverse=True)
        start = int(request.query_params.get("start") or 0)
        size = int(request.query_params.get("size") or 100)
        return JSONResponse({"totalHits": len(rows), "results": rows[start : start + size]})

    def _search_tasks(self, request: Request, body: Any) -> Response:
        query = request.query_params.get("query", "")
        rows = [
            {**task, "workflowId": one["workflowId"], "workflowType": one["workflowName"]}
            for one in self.executions.values()
            for task in one.get("tasks") or ()
            if _all_terms(query, {"status": task["status"], "taskType": task.get("taskType", "")})
        ]
        return JSONResponse({"totalHits": len(rows), "results": rows})

    def _one(self, request: Request, body: Any) -> Response:
        found = self.executions.get(request.path_params["id"])
        if found is None:
            return _error(404, f"No such workflow found by id: {request.path_params['id']}")
        if request.method == "DELETE":
            self._remember("terminate", request, body)
            found["status"] = "TERMINATED"
            return Response()
        bare = request.query_params.get("includeTasks", "true") == "false"
        return JSONResponse({**found, "tasks": []} if bare else found)

    def _verb(self, request: Request, body: Any) -> Response:
        id_ = request.path_params["id"]
        verb = request.path_params.get("verb", "skiptask")
        found = self.executions.get(id_)
        if found is None:
            return _error(404, f"No such workflow found by id: {id_}")
        ended = found["status"] not in ("RUNNING", "PAUSED")
        if verb in ("pause", "skiptask") and ended:
            return _error(409, f"Workflow {id_} is in terminal state")
        self._remember(verb, request, body)
        found["status"] = {"pause": "PAUSED"}.get(verb, "RUNNING")
        return PlainTextResponse(id_) if verb == "rerun" else Response(status_code=204)

    def _bulk(self, request: Request, body: Any) -> Response:
        self._remember(request.path_params["verb"], request, body)
        known = [id_ for id_ in body if id_ in self.executions]
        failed = {id_: "No such workflow" for id_ in body if id_ not in self.executions}
        return JSONResponse({"bulkSuccessfulResults": known, "bulkErrorResults": failed})

    def _start(self, request: Request, body: Any) -> Response:
        self._remember("start", request, body)
        definition = next((one for one in self.definitions if one["name"] == body["name"]), None)
        if definition is None:
            return _error(404, f"No such workflow defined. name={body['name']}, version=null")
        id_ = f"started-{len(self.executions)}"
        self.executions[id_] = {
            "workflowId": id_,
            "workflowName": body["name"],
            "workflowVersion": 1,
            "status": "RUNNING",
            "startTime": 1,
            "input": body.get("input", {}),
            "workflowDefinition": definition,
            "tasks": [],
        }
        return PlainTextResponse(id_)

    def _workflow_defs(self, request: Request, body: Any) -> Response:
        if request.method == "PUT":
            self._remember("define", request, body)
            return JSONResponse({"bulkSuccessfulResults": [], "bulkErrorResults": {}})
        return JSONResponse(self.definitions)

    def _workflow_def(self, request: Request, body: Any) -> Response:
        name = request.path_params["name"]
        found = [one for one in self.definitions if one["name"] == name]
        if not found:
            return _error(404, f"No such workflow found by name: {name}, version: null")
        return JSONResponse(max(found, key=lambda one: one.get("version", 1)))

    def _task_defs(self, request: Request, body: Any) -> Response:
        if request.method == "GET":
            return JSONResponse(list(self.task_defs.values()))
        self._remember("define_task", request, body)
        if any(not one.get("name") for one in body):
            violation = {"path": "registerTaskDef.arg0[0].name", "message": "name cannot be empty"}
            return JSONResponse(
                {"status": 400, "message": "Validation failed.", "validationErrors": [violation]},
                status_code=400,
            )
        self.task_defs.update({one["name"]: one for one in body})
        return Response()

    def _queues(self, request: Request, body: Any) -> Response:
        return JSONResponse(self.queues)

    def _polls(self, request: Request, body: Any) -> Response:
        return JSONResponse(self.polls)

    def _task(self, request: Request, body: Any) -> Response:
        for execution in self.executions.values():
            for task in execution.get("tasks") or ():
                if task.get("taskId") == request.path_params["id"]:
                    return JSONResponse(task)
        return _error(404, f"Task not found for taskId: {request.path_params['id']}")

    def _log(self, request: Request, body: Any) -> Response:
        found = self.logs.get(request.path_params["id"])
        return JSONResponse(found) if found else Response(status_code=204)

    def _report(self, request: Request, body: Any) -> Response:
        self._remember("report", request, body)
        return PlainTextResponse("task")

    def _remember(self, verb: str, request: Request, body: Any) -> None:
        about = {**request.path_params, **dict(request.query_params)}
        self.calls.append((verb, str(about.get("id", "")), about, body))


def _error(code: int, message: str) -> Response:
    return JSONResponse({"status": code, "message": message, "retryable": False}, status_code=code)


def _matches(execution: Document, query: str, free: str) -> bool:
    fields = {
        "status": execution["status"],
        "workflowType": execution["workflowName"],
        "correlationId": execution.get("correlationId", ""),
    }
    words = json.dumps(_summary(execution)).lower()
    return _all_terms(query, fields) and (free in ("", "*") or free.lower() in words)


def _all_terms(query: str, fields: dict[str, str]) -> bool:
    for term in filter(None, query.split(" AND ")):
        if " IN " in term:
            name, listed = term.split(" IN ")
            wanted = [one.strip(" '\"") for one in listed.strip("() ").split(",")]
        elif "=" in term:
            name, listed = term.split("=", 1)
            wanted = [listed.strip(" '\"")]
        else:
            continue
        if name.strip() in fields and fields[name.strip()] not in wanted:
            return False
    return True


def _summary(execution: Document) -> Document:
    start, end = execution.get("startTime", 0), execution.get("endTime", 0)
    return {
        "workflowType": execution["workflowName"],
        "version": execution.get("workflowVersion", 1),
        "workflowId": execution["workflowId"],
        "correlationId": execution.get("correlationId", ""),
        "startTime": wording.moment(start, pattern="%Y-%m-%dT%H:%M:%S.000Z") if start else "",
        "endTime": wording.moment(end, pattern="%Y-%m-%dT%H:%M:%S.000Z") if end else "",
        "status": execution["status"],
        "reasonForIncompletion": execution.get("reasonForIncompletion", ""),
        "failedReferenceTaskNames": ",".join(execution.get("failedReferenceTaskNames", ())),
        "executionTime": max(end - start, 0),
        "input": "{}",
        "output": "{}",
    }
