"""HTTP tasks: what is sent, what an answer means, what is said when there is none."""

import socket
from typing import Any

import orjson
import pytest

from engine.model.record import decode, encode
from engine.model.status import TaskStatus
from engine.workers.egress import Egress
from engine.workers.functions import Outcome
from engine.workers.http_call import Answer, Caller
from engine.workers.http_task import outcome_of, read_body
from tests.engine.builders import Bench, task, tasks_of, workflow
from tests.workers.web import Reply, Seen, Web, web

JSON = {"Content-Type": "application/json"}
SAID = "Failed to invoke HTTP task due to: "


def ask(uri: str, method: str = "GET", limit: int = 1_000_000, **fields: Any) -> Outcome:
    caller = Caller(Egress("loopback-and-public", own_port=1), limit)
    try:
        return outcome_of(caller, {"http_request": {"uri": uri, "method": method, **fields}})
    finally:
        caller.close()


def response(outcome: Outcome) -> Any:
    return orjson.loads(outcome.output)["response"]


def always(reply: Reply) -> Any:
    return lambda seen: reply


def sent(uri_path: str = "/", **fields: Any) -> Seen:
    with web(always(Reply())) as server:
        outcome = ask(server.url + uri_path, **fields)
        assert outcome.status is TaskStatus.COMPLETED, outcome
        return server.seen[0]


def received(reply: Reply) -> Outcome:
    with web(always(reply)) as server:
        return ask(server.url + "/x?secret=1")


def test_a_success_keeps_code_phrase_headers_and_body() -> None:
    outcome = received(Reply(201, b'{"id": 7}', {**JSON, "X-Two": "a"}))
    assert outcome.status is TaskStatus.COMPLETED
    found = response(outcome)
    assert (found["statusCode"], found["reasonPhrase"]) == (201, "Created")
    assert found["body"] == {"id": 7}
    assert found["headers"]["X-Two"] == ["a"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", None),
        (b"[1, 2]", [1, 2]),
        (b"7", 7.0),
        (b"true", "true"),
        (b"null", "null"),
        (b'"text"', "text"),
        (b"{broken", "{broken"),
        ("Grüße".encode(), "Grüße"),
    ],
)
def test_a_body_is_read_as_json_where_it_is_json(body: bytes, expected: Any) -> None:
    found = response(received(Reply(200, body, {"Content-Type": "text/plain"})))["body"]
    assert found == expected and type(found) is type(expected)


def test_a_named_charset_is_heeded() -> None:
    reply = Reply(200, "Grüße".encode("latin-1"), {"Content-Type": "text/plain; charset=latin1"})
    assert response(received(reply))["body"] == "Grüße"


def test_an_error_answer_fails_with_its_words_and_keeps_the_response() -> None:
    with web(always(Reply(404, b"no such order", JSON))) as server:
        outcome = ask(server.url + "/orders?token=s3cret")
        url = f"{server.url}/orders"
    assert outcome.status is TaskStatus.FAILED
    assert outcome.reason == f'{SAID}404 Not Found on GET request for "{url}": "no such order"'
    assert response(outcome)["statusCode"] == 404
    assert response(outcome)["body"] == "no such order"


def test_an_error_without_a_body_says_so() -> None:
    assert (received(Reply(500)).reason or "").endswith(": [no body]")


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_not_asked_a_second_time_behind_the_definition(status: int) -> None:
    with web(always(Reply(status, b"", {"Retry-After": "0"}))) as server:
        assert ask(server.url).status is TaskStatus.FAILED
        assert len(server.seen) == 1


@pytest.mark.parametrize("status", [299, 999])
def test_a_status_nobody_registered_fails(status: int) -> None:
    assert received(Reply(status)).status is TaskStatus.FAILED


@pytest.mark.parametrize("status", [300, 304, 302])
def test_a_redirect_to_nowhere_is_no_response(status: int) -> None:
    outcome = received(Reply(status))
    assert outcome.status is TaskStatus.FAILED
    assert outcome.reason == "No response from the remote service"
    assert response(outcome)["statusCode"] == status and response(outcome)["body"] is None


def test_without_uri_or_method_it_says_what_is_missing() -> None:
    caller = Caller(Egress(), 1000)
    no_uri = outcome_of(caller, {"http_request": {"method": "GET"}})
    no_method = outcome_of(caller, {"uri": "http://127.0.0.1"})
    caller.close()
    assert no_uri.reason == (
        "Missing HTTP URI.  See documentation for HttpTask for required input parameters"
    )
    assert no_method.reason == "No HTTP method specified"


@pytest.mark.parametrize(
    "request_", ["text", {"uri": "http://127.0.0.1", "method": "GET", "readTimeOut": "abc"}]
)
def test_a_request_that_cannot_be_read_fails(request_: Any) -> None:
    caller = Caller(Egress(), 1000)
    outcome = outcome_of(caller, {"http_request": request_})
    caller.close()
    assert outcome.status is TaskStatus.FAILED and "must be" in (outcome.reason or "")


def test_the_input_itself_may_be_the_request() -> None:
    with web(always(Reply(200, b"{}"))) as server:
        caller = Caller(Egress(own_port=1), 1000)
        outcome = outcome_of(caller, {"uri": server.url, "method": "GET"})
        caller.close()
    assert outcome.status is TaskStatus.COMPLETED


def test_usual_headers_are_sent_and_the_authors_replace_them() -> None:
    usual = sent().headers
    assert (usual["Accept"], usual["Content-Type"]) == ("application/json", "application/json")
    own = sent(headers={"content-type": "text/csv", "X-List": ["a", "b"], "X-Null": None}).headers
    assert own["content-type"] == "text/csv" and "Content-Type" not in own
    assert own["X-List"] == "[a, b]" and "X-Null" not in own


def test_a_map_is_sent_as_json_and_as_a_form_where_that_is_the_type() -> None:
    body = {"name": "Ärger", "n": [1, 2]}
    as_json = sent(method="POST", body=body)
    assert orjson.loads(as_json.body) == body
    form = "application/x-www-form-urlencoded"
    assert sent(method="POST", body=body, contentType=form).body == b"name=%C3%84rger&n=1&n=2"


def test_a_text_is_sent_as_it_is_in_utf8() -> None:
    assert sent(method="PUT", body="Grüße", contentType="text/plain").body == "Grüße".encode()


def test_an_address_is_sent_as_written_but_for_what_none_may_have() -> None:
    assert sent("/a%20b/{x}/ü c?q=%2F").path == "/a%20b/%7Bx%7D/%C3%BC%20c?q=%2F"


def test_a_header_with_a_line_break_is_refused() -> None:
    outcome = ask("http://127.0.0.1", headers={"X": "a\r\nInjected: 1"})
    assert outcome.status is TaskStatus.FAILED and "line break" in (outcome.reason or "")


def moved(status: int) -> Any:
    def answer(seen: Seen) -> Reply:
        if seen.path == "/there":
            return Reply(200, seen.method.encode() + b" " + seen.body)
        return Reply(status, b"", {"Location": "/there"})

    return answer


@pytest.mark.parametrize(
    ("status", "expected"),
    [(301, "GET "), (302, "GET "), (303, "GET "), (307, "POST {}"), (308, "POST {}")],
)
def test_redirects_are_followed_and_some_become_a_get(status: int, expected: str) -> None:
    with web(moved(status)) as server:
        outcome = ask(server.url + "/here", "POST", body={})
    assert response(outcome)["body"] == expected


def test_a_circle_of_redirects_ends() -> None:
    with web(always(Reply(302, b"", {"Location": "/here"}))) as server:
        outcome = ask(server.url + "/here")
        url = server.url + "/here"
    detail = f"I/O error on GET request for \"{url}\": Circular redirect to '{url}'"
    assert outcome.reason == SAID + detail
    assert response(outcome) == detail


def test_redirects_without_end_are_given_up() -> None:
    def on(seen: Seen) -> Reply:
        return Reply(302, b"", {"Location": f"/{len(seen.path)}{seen.path}"})

    with web(on) as server:
        outcome = ask(server.url)
        assert len(server.seen) == 6
    assert "Maximum redirects (5) exceeded" in (outcome.reason or "")


def test_credentials_do_not_follow_to_another_host() -> None:
    with web(always(Reply())) as other:
        there = {"Location": f"http://localhost:{other.port}/"}
        with web(always(Reply(302, b"", there))) as server:
            headers = {"Authorization": "Bearer x", "X-Own": "1"}
            assert ask(server.url, headers=headers).status is TaskStatus.COMPLETED
            assert server.seen[0].headers["Authorization"] == "Bearer x"
        assert "Authorization" not in other.seen[0].headers
        assert other.seen[0].headers["X-Own"] == "1"
        assert other.seen[0].headers["Host"] == f"localhost:{other.port}"


def test_a_redirect_is_checked_like_the_first_address() -> None:
    there = {"Location": "http://169.254.169.254/latest/meta-data/"}
    outcome = received(Reply(302, b"", there))
    assert outcome.status is TaskStatus.FAILED_WITH_TERMINAL_ERROR
    assert "address not allowed by egress policy" in (outcome.reason or "")


def test_silence_beyond_the_read_timeout_fails() -> None:
    with web(lambda seen: None) as server:
        outcome = ask(server.url + "/slow", readTimeOut="50")
        detail = f'I/O error on GET request for "{server.url}/slow": Read timed out'
    assert outcome.reason == SAID + detail
    assert response(outcome) == detail


def test_a_closed_port_is_a_refused_connection() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        outcome = ask(url)
    assert (outcome.reason or "").endswith(f"Connect to {url} failed: Connection refused")


def test_an_unknown_host_is_named() -> None:
    def nobody(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    caller = Caller(Egress(resolve=nobody), 1000)
    outcome = outcome_of(caller, {"uri": "http://nowhere.test/", "method": "GET"})
    caller.close()
    assert (outcome.reason or "").endswith("nowhere.test: Name or service not known")


def test_an_answer_above_the_limit_is_cut_off() -> None:
    with web(always(Reply(200, b"x" * 1001))) as server:
        assert ask(server.url, limit=1000).status is TaskStatus.FAILED
        assert ask(server.url, limit=1001).status is TaskStatus.COMPLETED


def http(server: Web, **fields: Any) -> Any:
    given = {"http_request": {"uri": server.url, "method": "GET", **fields.pop("request", {})}}
    return task("call", "HTTP", inputParameters=given, **fields)


def test_an_engine_carries_out_http_tasks() -> None:
    with web(always(Reply(200, b'{"rate": 1.5}'))) as server, Bench() as bench:
        bench.define(
            workflow("w", http(server), outputParameters={"r": "${call.output.response.body.rate}"})
        )
        assert bench.run("w")["output"] == {"r": 1.5}


def test_a_secret_reaches_the_server_and_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDUCTOR_SECRET_KEY", "not-to-be-told")
    request = {"headers": {"X-Key": "key ${workflow.secrets.KEY}"}}
    with web(always(Reply())) as server, Bench() as bench:
        bench.define(workflow("w", http(server, request=request)))
        done = bench.run("w")
        assert server.seen[0].headers["X-Key"] == "key not-to-be-told"
    assert "not-to-be-told" not in str(done)


def test_an_asynchronous_http_task_is_completed_from_outside() -> None:
    with web(always(Reply(202))) as server, Bench() as bench:
        bench.define(workflow("w", http(server, asyncComplete=True)))
        name = bench.start("w")
        waiting = bench.in_status(name, "call", "IN_PROGRESS")
        bench.until(lambda: (bench.task_of(name, "call") or waiting)["outputData"])
        bench.engine.tasks.update_by_ref(name, "call", "COMPLETED", {"paid": True})
        done = bench.ended(name)
        assert len(server.seen) == 1
    assert tasks_of(done)["call"]["outputData"]["paid"] is True


@pytest.mark.parametrize(
    ("body", "charset"),
    [(b"1" + b"0" * 400, None), (b"+2AA-", "utf-7"), (rb"\ud800", "unicode_escape"), (b"x", "hex")],
)
def test_whatever_a_server_sends_becomes_an_output_that_can_be_stored(
    body: bytes, charset: str | None
) -> None:
    value = read_body(Answer(200, "OK", body=body, charset=charset))
    assert decode(encode(value)) == value
