"""The hot routes as plain ASGI, in front of the router: poll, batch poll, report, start.

A poll that waits holds no thread; a task that was claimed for a client that has gone is handed back.
Everything else is passed on.
"""

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.api import wire
from engine.api.gate import admit
from engine.api.wire import Body, Call, Route, Text
from engine.instruments.telemetry import Telemetry
from engine.model.errors import EngineError, InvalidInput, NotFound, Violation
from engine.model.record import Json
from engine.model.requests import StartWorkflowRequest, TaskResult
from engine.services.house import House
from engine.services.port import in_words
from engine.services.tasks import Poll

BATCH = "/api/tasks/poll/batch/"
SINGLE = "/api/tasks/poll/"
SINGLE_POLL_MS = 100

_JSON = (b"content-type", wire.JSON_TYPE.encode())
_TEXT = (b"content-type", wire.TEXT_TYPE.encode())

Value = TypeVar("Value")
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

    def routes(self) -> list[Route]:
        """What is answered here, for the documentation."""
        batch = ("workerid", "domain", "count:int", "timeout:int")
        return [
            Route("GET", "/tasks/poll/batch/{type}", self._batch_poll, batch),
            Route("GET", "/tasks/poll/{type}", self._poll, ("workerid", "domain")),
            Route("POST", "/tasks", self._report, (), "TaskResult", "text"),
            Route("POST", "/tasks/update-v2", self._report_and_poll, (), "TaskResult"),
            Route("POST", "/workflow", self._start, (), "StartWorkflowRequest", "text"),
        ]

    def before(self, cold: ASGIApp) -> ASGIApp:
        """An app that answers these routes itself and passes on everything else."""

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
            headers = [(k.encode(), v.encode()) for k, v in wire.error_headers(plain).items()]
            return plain.status, headers, wire.written(wire.error_body(plain))

    def _door(self, scope: Scope) -> tuple[Door | None, dict[str, str]]:
        path: str = scope["path"]
        if scope["method"] == "POST":
            return self._posts.get(path), {}
        if scope["method"] != "GET" or not path.startswith(SINGLE):
            return None, {}
        batch = path.startswith(BATCH)
        name = path[len(BATCH if batch else SINGLE) :]
        if not name or "/" in name:
            return None, {}
        return (self._batch_poll if batch else self._poll), {"type": name}

    # Poll

    async def _batch_poll(self, call: Call, receive: Receive) -> Answered | None:
        """Up to `count` tasks of a type, as soon as there is one; an empty list after the timeout."""
        poll = self._asked(call, call.number("count", 1), call.number("timeout", 100))
        given = await self._waited(poll, receive)
        if given is None:
            return None
        return (200, [_JSON], wire.written(given)) if given else EMPTY_LIST

    async def _poll(self, call: Call, receive: Receive) -> Answered | None:
        """A task of a type, or 204."""
        return await self._next(self._asked(call, 1, SINGLE_POLL_MS), receive)

    async def _next(self, poll: Poll, receive: Receive) -> Answered | None:
        given = await self._waited(poll, receive)
        if given is None:
            return None
        return (200, [_JSON], wire.written(given[0])) if given else NOTHING

    def _asked(self, call: Call, count: int, timeout_ms: int) -> Poll:
        return self._tasks.want(
            call.path["type"],
            worker=call.text("workerid"),
            domain=call.text("domain"),
            count=count,
            timeout_ms=timeout_ms,
        )

    async def _waited(self, poll: Poll, receive: Receive) -> list[dict[str, Json]] | None:
        """What a poll is given; None when the client has gone, and then nothing is lost."""
        gone: asyncio.Future[Any] = asyncio.ensure_future(_gone(receive))
        given: asyncio.Future[Any] = asyncio.shield(asyncio.wrap_future(poll.reply))
        try:
            await asyncio.wait({gone, given}, return_when=asyncio.FIRST_COMPLETED)
            if not gone.done():
                return [self._tasks.shown(item) for item in given.result()]
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
                run = self._tasks.reported(result, await _settled(reply))
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
        return await self._next(poll or self._want_like(run, result), receive)

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
        return await _settled(reply)

    # Start

    async def _start(self, call: Call, receive: Receive) -> Answered:
        """Start an execution; its id."""
        if not call.body.strip():
            raise InvalidInput(
                "Required request body is missing: send a StartWorkflowRequest, at least its name."
            )
        asked = call.map()
        reply = await run_in_threadpool(self._begun, asked, call.person)
        workflow_id: str = await _settled(reply)
        return 200, [_TEXT], Text(workflow_id).encode()

    def _begun(self, asked: dict[str, Any], person: str | None) -> "Future[str]":
        request = StartWorkflowRequest.read(asked)
        return self._executions.begin(request, person)


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
    return Call(scope["method"], scope["path"], path, query, headers, body.whole())


def told(error: Exception, place: str, telemetry: Telemetry) -> EngineError:
    """An error for the caller; a fault of ours is told to the operators, too."""
    plain = in_words(error)
    if plain is None:
        trace = "".join(traceback.format_exception(error))
        telemetry.say("request.failed", place=place, error=str(error), trace=trace)
        plain = EngineError(f"The engine made a mistake: {type(error).__name__}. It is logged.")
    return plain


async def _settled(reply: "Future[Value]") -> Value:
    """The value of a reply, without holding a thread. A caller who goes away takes nothing back."""
    return await asyncio.shield(asyncio.wrap_future(reply))


async def _gone(receive: Receive) -> None:
    """Returns when the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        continue


async def _send(send: Send, answered: Answered) -> None:
    status, headers, body = answered
    if status != 204:
        headers = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
