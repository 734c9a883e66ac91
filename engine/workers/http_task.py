"""The HTTP task: its input as a request, the answer as its outcome."""

import math
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import httpx

from engine.expressions.java_text import java_text
from engine.model.record import Json, decode, encode
from engine.model.status import TaskStatus
from engine.workers.functions import Outcome
from engine.workers.http_call import Answer, Caller, NoAnswer, NotAllowed, Request, bare
from engine.workers.lane import Job

TASK = "HTTP"
METHODS = frozenset(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
JSON_TYPE = "application/json"
FORM_TYPE = "application/x-www-form-urlencoded"
DEFAULT_MS = 3000.0
MOST_MS = 300_000.0
USER_AGENT = "reprise"

NO_URI = "Missing HTTP URI.  See documentation for HttpTask for required input parameters"
NO_METHOD = "No HTTP method specified"
NO_ANSWER = "No response from the remote service"


class Unreadable(Exception):
    """The input describes no request."""


class HttpCraft:
    """Carries out HTTP tasks in the threads of its lane. One task is one request: whether a failed
    one is sent again is for the task's definition to say."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def carry_out(self, job: Job, given: dict[str, Json], done: Callable[[Outcome], None]) -> None:
        outcome = outcome_of(self._caller, given)
        if job.handed.node.task.async_complete and outcome.status is TaskStatus.COMPLETED:
            outcome = replace(outcome, status=TaskStatus.IN_PROGRESS, elsewhere=True)
        done(outcome)

    def cancel(self, job: Job) -> None:
        """A request that has left cannot be called back; its timeouts end it."""

    def close(self) -> None:
        self._caller.close()


def outcome_of(caller: Caller, given: dict[str, Json]) -> Outcome:
    """Send the request of a task's input."""
    try:
        request = request_of(given)
    except Unreadable as error:
        return Outcome(TaskStatus.FAILED, reason=str(error))
    try:
        return judged(request, caller.call(request))
    except NotAllowed as error:
        return _failed(str(error), TaskStatus.FAILED_WITH_TERMINAL_ERROR)
    except NoAnswer as error:
        return _failed(str(error))


def _failed(detail: str, status: TaskStatus = TaskStatus.FAILED) -> Outcome:
    reason = f"Failed to invoke HTTP task due to: {detail}"
    return Outcome(status, encode({"response": detail}), reason)


# The request


def request_of(given: dict[str, Json]) -> Request:
    """The request that an input describes."""
    wanted = given.get("http_request")
    if wanted is None:
        wanted = given
    if not isinstance(wanted, dict):
        raise Unreadable(f"http_request is {java_text(wanted)!r}: it must be an object.")
    if not wanted.get("uri"):
        raise Unreadable(NO_URI)
    method = wanted.get("method")
    if not method:
        raise Unreadable(NO_METHOD)
    if method not in METHODS:
        raise Unreadable(f"Failed to invoke HTTP task due to: Invalid HTTP method: {method}")
    headers = headers_of(wanted)
    content_type = next(v for k, v in headers.items() if k.lower() == "content-type")
    return Request(
        method=method,
        url=url_of(wanted["uri"]),
        headers=headers,
        body=body_of(wanted.get("body"), content_type),
        connect_seconds=seconds_of(wanted, "connectionTimeOut"),
        read_seconds=seconds_of(wanted, "readTimeOut"),
    )


def url_of(uri: Json) -> httpx.URL:
    """The address as it is written; only what is not allowed in one is encoded."""
    try:
        return httpx.URL(str(uri)).copy_with(fragment=None)
    except httpx.InvalidURL as error:
        raise Unreadable(f"Failed to invoke HTTP task due to: Invalid URI: {error}") from error


def headers_of(wanted: dict[str, Json]) -> dict[str, str]:
    """The author's headers, and the usual ones where the author gives none."""
    given = wanted.get("headers") or {}
    if not isinstance(given, dict):
        raise Unreadable(f"headers is {java_text(given)!r}: it must be an object.")
    accept = wanted.get("accept") or JSON_TYPE
    usual = {
        "Accept": ", ".join(map(java_text, accept)) if isinstance(accept, list) else str(accept),
        "Content-Type": java_text(wanted.get("contentType") or JSON_TYPE),
        "Accept-Encoding": "gzip, deflate",
        "User-Agent": USER_AGENT,
    }
    own = {str(name): java_text(value) for name, value in given.items() if value is not None}
    for name, value in own.items():
        if any(sign in name + value for sign in "\r\n\0"):
            raise Unreadable(f"The header {name!r} has a line break, which no header may have.")
    named = {name.lower() for name in own}
    return {**{name: v for name, v in usual.items() if name.lower() not in named}, **own}


def body_of(value: Json, content_type: str) -> bytes | None:
    """The bytes to send: a text as it is, a form as a form, the rest as JSON."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and content_type.partition(";")[0].strip().lower() == FORM_TYPE:
        return urlencode(_pairs(value)).encode()
    return encode(value)


def _pairs(form: dict[str, Json]) -> list[tuple[str, str]]:
    """A form's fields; a list is a field that comes several times, null one without a value."""
    return [
        (name, "" if member is None else java_text(member))
        for name, value in form.items()
        for member in (value if isinstance(value, list) else [value])
    ]


def seconds_of(wanted: dict[str, Json], name: str) -> float:
    """A timeout in milliseconds, as a number or a text; 0 is the longest there is."""
    value: Any = wanted.get(name)
    try:
        found = DEFAULT_MS if value is None else float(value)
    except (TypeError, ValueError):
        found = math.nan
    if isinstance(value, bool) or not math.isfinite(found) or found < 0:
        raise Unreadable(f"{name} is {java_text(value)!r}: it must be a number of milliseconds.")
    return (min(found, MOST_MS) or MOST_MS) / 1000


# The answer


def judged(request: Request, answer: Answer) -> Outcome:
    """What an answer means for the task. The answer is kept whatever it means, so that what
    follows can look at the code."""
    status = answer.status
    known = status in {item.value for item in HTTPStatus}
    redirect = 300 <= status < 400
    response: dict[str, Json] = {
        "statusCode": status,
        "reasonPhrase": answer.reason,
        "headers": answer.headers,
        "body": None if redirect else read_body(answer),
    }
    output = encode({"response": response})
    if known and 200 <= status < 300:
        return Outcome(TaskStatus.COMPLETED, output)
    if redirect:
        return Outcome(TaskStatus.FAILED, output, NO_ANSWER)
    text = text_of(answer)
    shown = f'"{text}"' if text else "[no body]"
    detail = f'{status} {answer.reason} on {request.method} request for "{bare(request.url)}"'
    return Outcome(
        TaskStatus.FAILED, output, f"Failed to invoke HTTP task due to: {detail}: {shown}"
    )


def read_body(answer: Answer) -> Json:
    """JSON objects and lists as such, numbers as doubles, all else as text; null when empty. The
    content type says nothing about it."""
    if not answer.body:
        return None
    text = text_of(answer)
    try:
        value = decode(text.encode())
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict | list | str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return text
    return text.strip()


def text_of(answer: Answer) -> str:
    """The body as text, by the charset it names, else UTF-8."""
    try:
        text = answer.body.decode(answer.charset or "utf-8")
        # Some charsets lead to halves of signs, which nothing can store.
        text.encode()
        return text
    except (LookupError, UnicodeError):
        return answer.body.decode("utf-8", "replace")
