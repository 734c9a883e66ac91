"""How a request travels, and what its answer becomes: a value or one of the errors."""

import socket

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from studio.client import errors, transport
from studio.client.transport import in_process, over_network, send


async def _echo(request: Request) -> Response:
    return JSONResponse(
        {
            "method": request.method,
            "query": dict(request.query_params),
            "body": (await request.body()).decode(),
        }
    )


async def _refuse(request: Request) -> Response:
    status = int(request.path_params["status"])
    if status == 418:
        return PlainTextResponse("I am no JSON", status_code=418)
    body = {"status": status, "message": f"no {status}"}
    if status == 400:
        body["validationErrors"] = [{"path": "name", "message": "is empty", "invalidValue": ""}]
    return JSONResponse(body, status_code=status)


async def _odd(request: Request) -> Response:
    return Response(b"{ not json", media_type="application/json")


async def _text(request: Request) -> Response:
    return PlainTextResponse("4711")


async def _nothing(request: Request) -> Response:
    return Response(status_code=204)


APP = Starlette(
    routes=[
        Route("/api/echo", _echo, methods=["GET", "POST"]),
        Route("/api/refuse/{status}", _refuse),
        Route("/api/odd", _odd),
        Route("/api/text", _text),
        Route("/api/nothing", _nothing),
    ]
)


@pytest.fixture
def http() -> httpx.Client:
    return in_process(APP)


def test_absent_query_values_are_left_out(http: httpx.Client) -> None:
    found = send(http, "GET", "/echo", query={"a": 1, "b": None})
    assert found["query"] == {"a": "1"}


def test_a_body_travels_as_json(http: httpx.Client) -> None:
    assert send(http, "POST", "/echo", body={"ü": [1]})["body"] == '{"ü":[1]}'


def test_text_stays_text_and_nothing_is_none(http: httpx.Client) -> None:
    assert send(http, "GET", "/text") == "4711"
    assert send(http, "GET", "/nothing") is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.Invalid),
        (401, errors.NotAllowed),
        (403, errors.NotAllowed),
        (404, errors.Missing),
        (405, errors.NotOffered),
        (409, errors.Refused),
        (413, errors.Invalid),
        (429, errors.Busy),
        (500, errors.Broken),
        (503, errors.Busy),
    ],
)
def test_each_refusal_has_its_kind_and_the_servers_own_words(
    http: httpx.Client, status: int, kind: type[errors.ServerError]
) -> None:
    with pytest.raises(kind) as caught:
        send(http, "GET", f"/refuse/{status}")
    assert caught.value.message == f"no {status}"
    assert caught.value.next_step


def test_violations_name_the_field(http: httpx.Client) -> None:
    with pytest.raises(errors.Invalid) as caught:
        send(http, "GET", "/refuse/400")
    assert caught.value.violations == (errors.Violation("name", "is empty", ""),)


def test_an_error_without_json_still_says_what_was_asked(http: httpx.Client) -> None:
    with pytest.raises(errors.Broken, match="GET /refuse/418 was answered 418"):
        send(http, "GET", "/refuse/418")


def test_broken_json_is_an_error_of_the_server(http: httpx.Client) -> None:
    with pytest.raises(errors.Broken, match="no JSON"):
        send(http, "GET", "/odd")


def test_nobody_at_the_address_is_unreachable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with over_network(f"127.0.0.1:{port}") as http, pytest.raises(errors.Unreachable) as caught:
        send(http, "GET", "/echo")
    assert f"127.0.0.1:{port}" in caught.value.message


def test_a_silent_server_is_too_slow() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        http = httpx.Client(base_url=address, timeout=0.05)
        with http, pytest.raises(errors.TooSlow):
            send(http, "GET", "/echo")


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("http://host:1/", "http://host:1/api/"),
        ("http://host:1/api", "http://host:1/api/"),
        ("host:1", "http://host:1/api/"),
    ],
)
def test_api_is_added_to_an_address_that_lacks_it(given: str, base: str) -> None:
    with over_network(given) as http:
        assert str(http.base_url) == base


def test_a_closed_bridge_has_ended_its_thread() -> None:
    bridge = transport.InProcess(APP)
    with httpx.Client(base_url="http://in-process/api", transport=bridge) as http:
        assert send(http, "GET", "/text") == "4711"
        thread = bridge._thread
    assert not thread.is_alive()
