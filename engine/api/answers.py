"""Answers out: values and errors, written as exactly as Conductor's clients expect. The one place where
an error becomes HTTP. Nothing here knows what was asked."""

import gzip
import socket
from typing import Any

from starlette.responses import Response

from engine.api.wire import JSON_TYPE
from engine.model.errors import EngineError, InvalidInput, NotFound, NotTaken
from engine.model.record import Json, encode

TEXT_TYPE = "text/plain;charset=UTF-8"

WORTH_ZIPPING = 16 * 1024
"""Bytes from which an answer is compressed for a client that takes it so."""

AGAIN_SECONDS = "1"
"""When a request of which nothing was stored may be sent again."""

INSTANCE = socket.gethostname()


class Text(str):
    """An answer in plain text, such as an id: without quotes, whatever the client asked for."""


class Bare(int):
    """An answer without a body: its status."""


NO_CONTENT = Bare(204)


def answer(value: Any, accepts: str = "") -> Response:
    """A handler's value as a response."""
    if isinstance(value, Response):
        return value
    if value is None:
        return Response()
    if isinstance(value, Bare):
        return Response(status_code=int(value))
    if isinstance(value, Text):
        return Response(value.encode(), headers={"content-type": TEXT_TYPE})
    return zipped(encode(value), JSON_TYPE, accepts)


def zipped(body: bytes, kind: str, accepts: str) -> Response:
    """A body, compressed where that is worth it and the client takes it so."""
    if not worth_zipping(body, accepts):
        return Response(body, headers={"content-type": kind})
    return Response(
        compressed(body),
        headers={"content-type": kind, "content-encoding": "gzip", "vary": "Accept-Encoding"},
    )


def worth_zipping(body: bytes, accepts: str) -> bool:
    """Is a body large enough, for a client that takes it compressed?"""
    return len(body) >= WORTH_ZIPPING and "gzip" in accepts


def compressed(body: bytes) -> bytes:
    """The same bytes for the same body, always."""
    return gzip.compress(body, 4, mtime=0)


def error_body(error: EngineError) -> dict[str, Json]:
    """An error in Conductor's shape. Clients read `message`."""
    shown: dict[str, Json] = {
        "status": error.status,
        "code": error.code,
        "message": error.message,
        "instance": INSTANCE,
        "retryable": error.retryable,
    }
    if isinstance(error, InvalidInput) and error.violations:
        del shown["instance"]
        shown["validationErrors"] = [
            {
                "path": violation.path,
                "message": violation.message,
                **(
                    {}
                    if violation.invalid_value is None
                    else {"invalidValue": violation.invalid_value}
                ),
            }
            for violation in error.violations
        ]
    return shown


def error_headers(error: EngineError) -> dict[str, str]:
    """What goes with an error's body: its type, and when to send the request again."""
    again = {"retry-after": AGAIN_SECONDS} if isinstance(error, NotTaken) else {}
    return {"content-type": JSON_TYPE, **again}


def refusal(error: EngineError) -> Response:
    """An error as a response."""
    return Response(encode(error_body(error)), error.status, headers=error_headers(error))


def no_such_path(place: str) -> NotFound:
    """Nothing is at a path."""
    return NotFound(f"No static resource {place.lstrip('/')}.")


class WrongMethod(EngineError):
    """The path is there, the method is not."""

    code = "wrong_method"
    status = 405


class Forbidden(EngineError):
    """The request is not allowed from there."""

    code = "forbidden"
    status = 403
