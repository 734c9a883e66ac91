"""How a request travels: over the network, or into an ASGI app in this process, under one httpx.

Answers become values or one of the errors of `errors.py` here, once. No endpoint is known.
"""

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from typing import Any, Final, TypeVar

import httpx
import orjson

from engine.model.record import decode, encode
from studio.client import errors
from studio.client.errors import ServerError, Violation

CONNECT_SECONDS: Final = 3.0
ANSWER_SECONDS: Final = 20.0

_BY_STATUS: Final[Mapping[int, type[ServerError]]] = {
    400: errors.Invalid,
    401: errors.NotAllowed,
    403: errors.NotAllowed,
    404: errors.Missing,
    405: errors.NotOffered,
    409: errors.Refused,
    413: errors.Invalid,
    422: errors.Invalid,
    429: errors.Busy,
    503: errors.Busy,
}

_THERE_ALL_THE_SAME: Final = ("is still running", "is non-restartable")
"""Conductor refuses a retry and a restart with 404, although the execution is there."""

T = TypeVar("T")


class InProcess(httpx.BaseTransport):
    """Asks an ASGI app in this process. httpx has its ASGI transport for asynchronous clients only,
    so a private event loop stands between."""

    def __init__(self, app: Any) -> None:
        self._asgi = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="reprise-client", daemon=True
        )
        self._thread.start()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        return self._wait(self._answer(request))

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        # The private client reads the whole body, so that the answer may leave this loop.
        # Nothing is gained by compressing what stays in this process.
        carried = httpx.Request(
            request.method,
            request.url,
            headers={**request.headers, "accept-encoding": "identity"},
            content=request.content,
            extensions=request.extensions,
        )
        answer = await self._asgi.handle_async_request(carried)
        body = await answer.aread()
        return httpx.Response(answer.status_code, headers=answer.headers, content=body)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(ANSWER_SECONDS)

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self._wait(self._asgi.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(ANSWER_SECONDS)
        self._loop.close()


def over_network(server: str, token: str | None = None) -> httpx.Client:
    """An HTTP client for a server's base address; `/api` is added when it is missing."""
    try:
        base = httpx.URL(_with_api(server))
    except httpx.InvalidURL as error:
        raise errors.Unreachable(f"{server!r} is no address: {error}.") from error
    return httpx.Client(
        base_url=base,
        headers={"X-Authorization": token} if token else {},
        timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
        transport=httpx.HTTPTransport(retries=1),
        follow_redirects=False,
    )


def in_process(app: Any) -> httpx.Client:
    """An HTTP client for an ASGI app that has been started already."""
    return httpx.Client(base_url="http://in-process/api", transport=InProcess(app))


def _with_api(server: str) -> str:
    base = server.strip().rstrip("/")
    if "://" not in base:
        base = f"http://{base}"
    return base if base.endswith("/api") else f"{base}/api"


def send(
    http: httpx.Client,
    method: str,
    path: str,
    *,
    query: Mapping[str, Any] | None = None,
    body: Any = None,
    headers: Mapping[str, str] | None = None,
) -> Any:
    """One request and its value: JSON, text, or None for an empty answer."""
    given = {key: value for key, value in (query or {}).items() if value is not None}
    extra = dict(headers or {})
    content = None
    try:
        if body is not None:
            content = encode(body)
            extra["Content-Type"] = "application/json"
        asked = http.build_request(method, path, params=given, content=content, headers=extra)
    except UnicodeEncodeError as error:
        raise errors.Invalid(f"{method} {path}: what is sent is no UTF-8.") from error
    except RecursionError as error:
        raise errors.Invalid(f"{method} {path}: what is sent is nested too deeply.") from error
    try:
        answer = http.send(asked)
    except httpx.ConnectError as error:
        raise errors.Unreachable(f"{_place(http)} does not answer: {error}.") from error
    except httpx.ConnectTimeout as error:
        reason = f"no connection within {CONNECT_SECONDS:g} s"
        raise errors.Unreachable(f"{_place(http)} does not answer: {reason}.") from error
    except (httpx.TimeoutException, TimeoutError) as error:
        raise errors.TooSlow(f"{method} {path}: no answer within {ANSWER_SECONDS:g} s.") from error
    except httpx.HTTPError as error:
        raise errors.Unreachable(f"{_place(http)} broke the connection: {error}.") from error
    return _value(answer, f"{method} {path}")


def _place(http: httpx.Client) -> str:
    return str(http.base_url).rstrip("/").removesuffix("/api")


def _value(answer: httpx.Response, what: str) -> Any:
    if answer.is_success:
        if not answer.content:
            return None
        if "json" not in answer.headers.get("content-type", ""):
            return answer.text
        try:
            return decode(answer.content)
        except ValueError as error:
            raise errors.Broken(f"{what}: the answer is no JSON ({error}).") from error
    document = _error_document(answer)
    message = str(document.get("message") or f"{what} was answered {answer.status_code}.")
    kind = _BY_STATUS.get(answer.status_code, errors.Broken)
    if kind is errors.Missing and any(words in message for words in _THERE_ALL_THE_SAME):
        kind = errors.Refused
    raise kind(message, _violations(document.get("validationErrors")))


def _error_document(answer: httpx.Response) -> Mapping[str, Any]:
    try:
        document = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}


def _violations(listed: object) -> tuple[Violation, ...]:
    if not isinstance(listed, list):
        return ()
    return tuple(
        Violation(str(one.get("path", "")), str(one.get("message", "")), one.get("invalidValue"))
        for one in listed
        if isinstance(one, dict)
    )
