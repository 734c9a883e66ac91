"""One ASGI app: the hot routes in front, behind them a router over the tables of routes.

Every handler is a plain function in a thread of the pool, or a coroutine where it waits long.
"""

import asyncio
import inspect
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.routing import Route as Path
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.api.admin import Admin
from engine.api.answers import Forbidden, WrongMethod, answer, no_such_path, refusal
from engine.api.documents import Documents
from engine.api.ext import Ext
from engine.api.gate import admit_change, admit_preflight
from engine.api.hot import Hot, hung_up, read_call, told
from engine.api.metadata import Metadata
from engine.api.payloads import PayloadRoutes
from engine.api.probes import Probes
from engine.api.searching import Searching
from engine.api.synchronous import Synchronous
from engine.api.tasks import TaskRoutes
from engine.api.triggers import TriggerRoutes
from engine.api.wire import Call, Route
from engine.api.workflows import Workflows
from engine.instruments.telemetry import Telemetry
from engine.services.house import House, furnished

BASE = "/api"


def create_app(engine: Any) -> ASGIApp:
    """The REST door of an engine. The engine is started and stopped by whoever made it."""
    house = furnished(engine)
    below = routes_of(house)
    hot = Hot(house)
    documents = Documents([*hot.routes(), *below])
    outside = [*documents.routes(), *Probes(house).routes()]
    paths = [_path(route, BASE, house.telemetry) for route in below]
    paths += [_refusing(route) for route in hot.routes()]
    paths += [_path(route, "", house.telemetry) for route in outside]
    cold = Starlette(routes=paths, exception_handlers={HTTPException: _no_route})
    cold.router.redirect_slashes = False
    fixed = (f"{BASE}{route.path}" for route in below if "{" not in route.path)
    return hot.before(cold, fixed)


def routes_of(house: House) -> list[Route]:
    """Everything below /api but the hot routes, fixed words before what is variable."""
    return [
        *Admin(house).routes(),
        *Searching(house).routes(),
        *PayloadRoutes(house).routes(),
        *Synchronous(house).routes(),
        *Workflows(house).routes(),
        *TaskRoutes(house).routes(),
        *Metadata(house).routes(),
        *Ext(house).routes(),
        *TriggerRoutes(house).routes(),
    ]


def _path(route: Route, base: str, telemetry: Telemetry) -> Path:
    endpoint = Endpoint(route, telemetry)
    return Path(f"{base}{route.path}", endpoint, methods=[route.method])


def _refusing(route: Route) -> Path:
    """The path of a hot route, so that a wrong method is known as one."""
    path = Path(f"{BASE}{route.path}", _nothing, methods=[route.method])
    path.methods = {route.method}
    return path


async def _nothing(request: Request) -> Response:
    return refusal(no_such_path(request.url.path))


class Endpoint:
    """One handler as ASGI."""

    def __init__(self, route: Route, telemetry: Telemetry) -> None:
        self._handler = route.handler
        self._changes = route.changes
        self._waits = inspect.iscoroutinefunction(route.handler)
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._response(scope, receive)
        if response is not None:
            await response(scope, receive, send)

    async def _response(self, scope: Scope, receive: Receive) -> Response | None:
        try:
            call = await read_call(scope, receive, scope["path_params"])
            if self._changes:
                admit_change(call.headers)
            if self._waits:
                return await self._awaited(call, receive)
            return await run_in_threadpool(self._answered, call)
        except Exception as error:
            return refusal(told(error, scope["path"], self._telemetry))

    async def _awaited(self, call: Call, receive: Receive) -> Response | None:
        """The answer of a handler that waits; None when nobody waits for it any more."""
        listening = asyncio.ensure_future(_hang_up(receive, call))
        try:
            value = await self._handler(call)
        finally:
            listening.cancel()
        if call.gone.is_set():
            return None
        return answer(value, call.headers.get("accept-encoding", ""))

    def _answered(self, call: Call) -> Response:
        return answer(self._handler(call), call.headers.get("accept-encoding", ""))


async def _hang_up(receive: Receive, call: Call) -> None:
    """Tells a handler when its client has closed the connection."""
    await hung_up(receive)
    call.gone.set()


async def _no_route(request: Request, error: Exception) -> Response:
    """Nothing is there, or not for this method."""
    status = getattr(error, "status_code", 404)
    if status != 405:
        return refusal(no_such_path(request.url.path))
    if request.method == "OPTIONS":
        return _options(request)
    return refusal(WrongMethod(f"Request method '{request.method}' is not supported"))


def _options(request: Request) -> Response:
    """Which methods there are at a path, over all routes that lead to it."""
    try:
        admit_preflight(request.headers)
    except Forbidden as error:
        return refusal(error)
    methods: set[str] = {"OPTIONS"}
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            methods |= route.methods
    return Response(headers={"allow": ", ".join(sorted(methods))})
