"""The hot routes as plain ASGI, in front of the router: poll, report, start, look.

A poll that waits holds no thread; a task that was claimed for a client that has gone is handed back.
Everything else is passed on.
"""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.api import answers, wire
from engine.api.gate import admit
from engine.api.replies import heard, settled
from engine.api.wire import Body, Call, Route
from engine.instruments.telemetry import Telemetry
from engine.model.errors import EngineError, InvalidInput, NotFound, Violation
from engine.model.record import Json, encode
from engine.model.requests import StartWorkflowRequest, TaskResult
from engine.services.house import House
from engine.services.port import in_words
from engine.services.tasks import Poll

BATCH = "/api/tasks/poll/batch/"
SINGLE = "/api/tasks/poll/"
EXECUTION = "/api/workflow/"
SINGLE_POLL_MS = 100

_JSON = (b"content-type", wire.JSON_TYPE.encode())
_TEXT = (b"content-type", answers.TEXT_TYPE.encode())
_ZIPPED = ((b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding"))
_START = ("version:int", "correlationId", "priority:int")

Answered = tuple[int, list[tuple[bytes, bytes]], bytes]
Door = Callable[[Call, Receive], Awaitable[Answered | None]]

EMPTY_LIST: Answered = (200, [_JSON], b"[]")
NOTHING: Answered = (204, [], b"")


class Hot:
    """Answers what workers and starters ask all the time."""

    def __init__(self, house: House) -> None:
        self._executions = house.executions
        self._tasks = house.tasks
        self._telemetry = house.telemetry
        self._posts: dict[str, Door] = {
            "/api/tasks": self._report,
            "/api/tasks/update-v2": self._report_and_poll,
            "/api/workflow": self._start,
        }
        self._near = house.engine.store.near
        self._taken: frozenset[str] = frozenset()
        """Paths of the router that look like those with a name or an id."""

    def routes(self) -> list[Route]:
        """What is answered here, for the documentation."""
        batch = ("workerid", "domain", "count:int", "timeout:int")
        return [
            Route("GET", "/tasks/poll/batch/{type}", self._batch_poll, batch),
            Route("GET", "/tasks/poll/{type}", self._poll, ("workerid", "domain")),
            Route("POST", "/tasks", self._report, (), "TaskResult", "text"),
            Route("POST", "/tasks/update-v2", self._report_and_poll, (), "TaskResult"),
            Route("POST", "/workflow", self._start, (), "StartWorkflowRequest", "text"),
            Route("POST", "/workflow/{name}", self._start_by_name, _START, "map", "text"),
            Route("GET", "/workflow/{id}", self._look, ("includeTasks:bool",)),
        ]

    def before(self, cold: ASGIApp, taken: Iterable[str]) -> ASGIApp:
        """An app that answers these routes itself and passes on everything else. `taken`: paths
        without a variable part, which are the router's."""
        self._taken = frozenset(taken)

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            door, path = (None, {}) if scope["type"] != "http" else self._door(scope)
            if door is None:
                await cold(scope, receive, send)
                return
            answered = await self._answered(door, scope, receive, path)
            if answered is not None:
                await _send(send, answered)

        return app

    async def _answered(
        self, door: Door, scope: Scope, receive: Receive, path: dict[str, str]
    ) -> Answered | None:
        try:
            return await door(await read_call(scope, receive, path), receive)
        except Exception as error:
            plain = told(error, scope["path"], self._telemetry)
            headers = [(k.encode(), v.encode()) for k, v in answers.error_headers(plain).items()]
            return plain.status, headers, encode(answers.error_body(plain))

    def _door(self, scope: Scope) -> tuple[Door | None, dict[str, str]]:
        path: str = scope["path"]
        if scope["method"] == "POST":
            door = self._posts.get(path)
            return (door, {}) if door else self._named(path, EXECUTION, "name", self._start_by_name)
        if scope["method"] != "GET":
            return None, {}
        if path.startswith(BATCH):
            return self._named(path, BATCH, "type", self._batch_poll)
        if path.startswith(SINGLE):
            return self._named(path, SINGLE, "type", self._poll)
        return self._named(path, EXECUTION, "id", self._look)

    def _named(
        self, path: str, base: str, what: str, door: Door
    ) -> tuple[Door | None, dict[str, str]]:
        """The door to what the last part of a path names."""
        name = path[len(base) :]
        if not path.startswith(base) or not name or "/" in name or path in self._taken:
            return None, {}
        return door, {what: name}

    # Poll

    async def _batch_poll(self, call: Call, receive: Receive) -> Answered | None:
        """Up to `count` tasks of a type, as soon as there is one; an empty list after the timeout."""
        poll = self._asked(call, call.number("count", 1), call.number("timeout", 100))
        given = await self._waited(poll, call, receive, encode)
        if given is None:
            return None
        return (200, [_JSON], given) if given else EMPTY_LIST

    async def _poll(self, call: Call, receive: Receive) -> Answered | None:
        """A task of a type, or 204."""
        return await self._next(self._asked(call, 1, SINGLE_POLL_MS), call, receive)

    async def _next(self, poll: Poll, call: Call, receive: Receive) -> Answered | None:
        given = await self._waited(poll, call, receive, _only)
        if given is None:
            return None
        return (200, [_JSON], given) if given else NOTHING

    def _asked(self, call: Call, count: int, timeout_ms: int) -> Poll:
        return self._tasks.want(
            call.path["type"],
            worker=call.text("workerid"),
            domain=call.text("domain"),
            count=count,
            timeout_ms=timeout_ms,
        )

    async def _waited(
        self,
        poll: Poll,
        call: Call,
        receive: Receive,
        written: Callable[[list[dict[str, Json]]], bytes],
    ) -> bytes | None:
        """What a poll is given, as it is sent, empty for nothing; None when the client has gone. Then
        nothing is lost, nor when the answer does not go out."""
        gone: asyncio.Future[Any] = asyncio.ensure_future(hung_up(receive))
        given = heard(poll.reply)
        try:
            await asyncio.wait({gone, given}, return_when=asyncio.FIRST_COMPLETED)
            if not gone.done():
                handed = poll.reply.result()
                if not handed:
                    return b""
                body = written([self._tasks.shown(item) for item in handed])
                if call.mind is not None:
                    call.mind(poll.withdraw)
                return body
        except BaseException:
            poll.withdraw()
            raise
        finally:
            gone.cancel()
        poll.withdraw()
        return None

    # Report

    async def _report(self, call: Call, receive: Receive) -> Answered:
        """Report on a task; late and repeated reports change nothing."""
        result = call.record(TaskResult)
        try:
            run = await self._reported(result, call)
            task_id = self._tasks.reported(result, run).task_id
        except NotFound:
            task_id = result.task_id or ""
            if await run_in_threadpool(self._executions.archived_task, task_id) is None:
                raise
        return 200, [_TEXT], task_id.encode()

    async def _report_and_poll(self, call: Call, receive: Receive) -> Answered | None:
        """Report on a task; the next one of its type, or 204."""
        result = call.record(TaskResult)
        check_result(result)
        poll: Poll | None = None
        try:
            if self._tasks.swift(result, len(call.body)):
                reply, poll = self._tasks.report_and_want(result, call.person)
                run = self._tasks.reported(result, await settled(reply))
            else:
                run = self._tasks.reported(result, await self._reported(result, call))
        except BaseException as error:
            if poll is not None:
                poll.withdraw()
            if isinstance(error, NotFound):
                # A 404 here would make workers give up on this endpoint for good.
                return NOTHING
            raise
        if not run.status.terminal:
            if poll is not None:
                poll.withdraw()
            return NOTHING
        return await self._next(poll or self._want_like(run, result), call, receive)

    def _want_like(self, run: Any, result: TaskResult) -> Poll:
        return self._tasks.want(
            run.type, worker=result.worker_id, domain=run.domain, timeout_ms=SINGLE_POLL_MS
        )

    async def _reported(self, result: TaskResult, call: Call) -> Any:
        check_result(result)
        person = call.person
        if self._tasks.swift(result, len(call.body)):
            reply = self._tasks.report(result, person)
        else:
            reply = await run_in_threadpool(self._tasks.report, result, person)
        return await settled(reply)

    # Start

    async def _start(self, call: Call, receive: Receive) -> Answered:
        """Start an execution; its id."""
        if not call.body.strip():
            raise InvalidInput(
                "Required request body is missing: send a StartWorkflowRequest, at least its name."
            )
        return await self._started(call.record(StartWorkflowRequest), call)

    async def _start_by_name(self, call: Call, receive: Receive) -> Answered:
        """Start an execution; the body is its input."""
        request = StartWorkflowRequest(
            name=call.path["name"],
            version=call.optional_number("version"),
            correlation_id=call.text("correlationId"),
            priority=_priority(call),
            input=call.map(),
        )
        try:
            return await self._started(request, call)
        except NotFound:
            version = "null" if request.version is None else request.version
            raise NotFound(
                f"No such workflow found by name: {request.name}, version: {version}"
            ) from None

    async def _started(self, request: StartWorkflowRequest, call: Call) -> Answered:
        if self._executions.swift(request, len(call.body)):
            reply = self._executions.begin(request, call.person)
        else:
            reply = await run_in_threadpool(self._executions.begin, request, call.person)
        return 200, [_TEXT], (await settled(reply)).encode()

    # Look

    async def _look(self, call: Call, receive: Receive) -> Answered:
        """An execution."""
        tasks = call.flag("includeTasks", True)
        ask, workflow_id = self._executions.get, call.path["id"]
        if tasks or not self._near:
            body = await run_in_threadpool(lambda: encode(ask(workflow_id, tasks)))
        else:
            body = encode(ask(workflow_id, tasks))
        if not answers.worth_zipping(body, call.headers.get("accept-encoding", "")):
            return 200, [_JSON], body
        return 200, [_JSON, *_ZIPPED], await run_in_threadpool(answers.compressed, body)


def check_result(result: TaskResult) -> None:
    """What a report must name."""
    missing = []
    if not result.task_id:
        missing.append(Violation("updateTask.taskResult.taskId", "Task ID cannot be null or empty"))
    if not result.workflow_instance_id:
        message = "Workflow Id cannot be null or empty"
        missing.append(Violation("updateTask.taskResult.workflowInstanceId", message))
    if missing:
        raise InvalidInput.of(missing)


def _priority(call: Call) -> int:
    """A priority in the query."""
    given = call.number("priority")
    if 0 <= given <= 99:
        return given
    message = (
        f"{99 if given > 99 else 0} is the {'max' if given > 99 else 'min'}imum priority value"
    )
    raise InvalidInput.of([Violation("startWorkflow.arg3", message, str(given))])


async def read_call(scope: Scope, receive: Receive, path: dict[str, str]) -> Call:
    """The request with its whole body."""
    headers = wire.headers_of(scope["headers"])
    admit(scope["method"], headers)
    body = Body()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            # What has come so far may read like a whole request: half an input, or none.
            raise InvalidInput("The connection was closed before the request was whole.")
        body.add(message.get("body", b""))
        if not message.get("more_body", False):
            break
    query = wire.query_of(scope["query_string"])
    mind = scope.get("extensions", {}).get(wire.UNSENT, {}).get("mind")
    return Call(scope["method"], scope["path"], path, query, headers, body.whole(), mind)


def told(error: Exception, place: str, telemetry: Telemetry) -> EngineError:
    """An error for the caller; a fault of ours is told to the operators, too."""
    plain = in_words(error)
    if plain is None:
        trace = "".join(traceback.format_exception(error))
        telemetry.say("request.failed", place=place, error=str(error), trace=trace)
        plain = EngineError(f"The engine made a mistake: {type(error).__name__}. It is logged.")
    return plain


def _only(shown: list[dict[str, Json]]) -> bytes:
    return encode(shown[0])


async def hung_up(receive: Receive) -> None:
    """Returns when the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        continue


async def _send(send: Send, answered: Answered) -> None:
    status, headers, body = answered
    if status != 204:
        headers = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
