"""MCP tasks: the conversation with a tool server, and what its answers mean."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from engine.model.status import TaskStatus
from engine.workers.ai_task import outcome_of
from engine.workers.egress import Egress
from engine.workers.functions import Outcome
from engine.workers.http_call import Caller
from engine.workers.mcp_task import ToolServers, events
from tests.engine.builders import Bench, task, tasks_of, workflow
from tests.workers.web import Reply, Seen, web

Json = dict[str, Any]

TOOL = {"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}


class Server:
    """A tool server on loopback: methods answered by a table, as JSON or as a stream of events."""

    def __init__(self, *, stream: bool = False, session: str | None = "s1", **methods: Any) -> None:
        self._stream = stream
        self._session = session
        self._methods = {name.replace("_", "/"): answer for name, answer in methods.items()}
        self._methods.setdefault("initialize", {"result": {"protocolVersion": "2025-03-26"}})

    def __call__(self, seen: Seen) -> Reply:
        if seen.method == "DELETE":
            return Reply(200)
        asked = orjson.loads(seen.body)
        if "id" not in asked:
            return Reply(202)
        answer = self._methods.get(asked["method"])
        if isinstance(answer, Reply):
            return answer
        found: Json = answer(asked["params"]) if callable(answer) else answer
        if found is None:
            found = {"error": {"code": -32601, "message": "Method not found"}}
        return self._sent({"jsonrpc": "2.0", "id": asked["id"], **found})

    def _sent(self, message: Json) -> Reply:
        headers = {"Mcp-Session-Id": self._session} if self._session else {}
        if not self._stream:
            return Reply(
                200, orjson.dumps(message), {"Content-Type": "application/json", **headers}
            )
        note = orjson.dumps({"jsonrpc": "2.0", "method": "notifications/progress"})
        body = b": hello\n\ndata: " + note + b"\n\nevent: message\ndata: " + orjson.dumps(message)
        return Reply(200, body + b"\n\n", {"Content-Type": "text/event-stream", **headers})


def servers() -> ToolServers:
    return ToolServers(Caller(Egress("loopback-and-public", own_port=1), 1_000_000))


def listed(server: Callable[[Seen], Reply], **given: Any) -> tuple[Outcome, list[Seen]]:
    with web(server) as place:
        asked = {"mcpServer": f"{place.url}/mcp", **given}
        return outcome_of(lambda: servers().tools(asked)), place.seen


def called(server: Callable[[Seen], Reply], **given: Any) -> tuple[Outcome, list[Seen]]:
    with web(server) as place:
        asked = {"mcpServer": f"{place.url}/mcp", "method": "add", **given}
        return outcome_of(lambda: servers().call_tool(asked)), place.seen


def output(outcome: Outcome) -> Json:
    found: Json = orjson.loads(outcome.output)
    return found


def methods(seen: list[Seen]) -> list[str]:
    return [orjson.loads(item.body)["method"] if item.body else item.method for item in seen]


@pytest.mark.parametrize("stream", [False, True])
def test_tools_are_listed_within_a_session(stream: bool) -> None:
    shown = {**TOOL, "annotations": {"title": "Add"}}
    outcome, seen = listed(
        Server(stream=stream, tools_list={"result": {"tools": [shown]}}),
        headers={"Authorization": "Bearer x", "X-None": None},
    )
    assert outcome.status is TaskStatus.COMPLETED, outcome
    assert output(outcome) == {"tools": [TOOL]}
    assert methods(seen) == ["initialize", "notifications/initialized", "tools/list", "DELETE"]
    assert {item.headers["Authorization"] for item in seen} == {"Bearer x"}
    assert "Mcp-Session-Id" not in seen[0].headers
    assert {item.headers["Mcp-Session-Id"] for item in seen[1:]} == {"s1"}
    assert seen[2].headers["MCP-Protocol-Version"] == "2025-03-26"


def test_all_pages_of_tools_are_listed() -> None:
    def page(params: Json) -> Json:
        if params.get("cursor") == "2":
            return {"result": {"tools": [{"name": "b"}]}}
        return {"result": {"tools": [{"name": "a"}], "nextCursor": "2"}}

    outcome, _ = listed(Server(tools_list=page))
    assert output(outcome) == {"tools": [{"name": "a"}, {"name": "b"}]}


@pytest.mark.parametrize(
    "greeting", [Reply(404), Reply(400), {"error": {"code": -32601, "message": "unknown"}}]
)
def test_a_server_without_sessions_is_asked_at_once(greeting: Any) -> None:
    server = Server(session=None, initialize=greeting, tools_list={"result": {"tools": [TOOL]}})
    outcome, seen = listed(server)
    assert output(outcome) == {"tools": [TOOL]}
    assert methods(seen) == ["initialize", "tools/list"]


def test_a_tool_is_called_with_its_arguments() -> None:
    def add(params: Json) -> Json:
        total = params["arguments"]["a"] + params["arguments"]["b"]
        text = orjson.dumps({"total": total, "of": params["name"]}).decode()
        return {"result": {"content": [{"type": "text", "text": text}]}}

    outcome, _ = called(Server(tools_call=add), arguments={"a": 2, "b": 3})
    (part,) = output(outcome)["content"]
    assert part["parsed"] == {"total": 5, "of": "add"}
    assert part["type"] == "text" and isinstance(part["text"], str)
    assert output(outcome)["isError"] is False


def test_every_kind_of_content_is_kept() -> None:
    content = [
        {"type": "text", "text": "5"},
        {"type": "image", "data": "QUJD", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "T", "mimeType": "text/plain"}},
    ]
    outcome, _ = called(Server(tools_call={"result": {"content": content}}))
    assert output(outcome)["content"] == [
        {"type": "text", "text": "5", "parsed": "5"},
        {"type": "image", "data": "QUJD", "mimeType": "image/png"},
        {"type": "resource", "text": "T", "mimeType": "text/plain"},
    ]


def test_a_tool_that_says_it_failed_has_answered() -> None:
    result = {"content": [{"type": "text", "text": "no such order"}], "isError": True}
    outcome, _ = called(Server(tools_call={"result": result}))
    assert outcome.status is TaskStatus.COMPLETED
    assert output(outcome)["isError"] is True


@pytest.mark.parametrize(
    ("code", "expected", "begins"),
    [
        (-32602, TaskStatus.FAILED_WITH_TERMINAL_ERROR, "Non-retryable error: "),
        (-32603, TaskStatus.FAILED, "Task execution failed: "),
    ],
)
def test_an_error_of_the_request_is_final_one_of_the_server_is_not(
    code: int, expected: TaskStatus, begins: str
) -> None:
    error = {"error": {"code": code, "message": "told why"}}
    outcome, seen = called(Server(tools_call=error))
    assert outcome.status is expected
    assert str(outcome.reason).startswith(begins) and "told why" in str(outcome.reason)
    assert methods(seen)[-1] == "DELETE"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(401, b"who are you?"), TaskStatus.FAILED_WITH_TERMINAL_ERROR),
        (Reply(503, b"later"), TaskStatus.FAILED),
        (Reply(200, b"<html>"), TaskStatus.FAILED),
        (Reply(200, b"", {"Content-Type": "text/event-stream"}), TaskStatus.FAILED),
    ],
)
def test_a_refusal_is_final_unless_it_may_pass(reply: Reply, expected: TaskStatus) -> None:
    outcome, _ = called(Server(tools_call=reply))
    assert outcome.status is expected and output(outcome) == {}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"mcpServer": ""}, "mcpServer is missing"),
        ({"mcpServer": "files/tools"}, "mcpServer is 'files/tools'"),
        ({"method": None}, "method is missing"),
        ({"arguments": [1]}, "arguments is"),
        ({"headers": {"X": "a\nb"}}, "'X' has a line break"),
    ],
)
def test_an_input_that_cannot_be_sent_is_a_final_failure_that_names_it(
    given: Json, named: str
) -> None:
    outcome, seen = called(Server(), **given)
    assert outcome.status is TaskStatus.FAILED_WITH_TERMINAL_ERROR
    assert named in str(outcome.reason) and seen == []


def test_events_may_have_several_lines_and_any_line_ends() -> None:
    stream = 'data: {"a":\r\ndata: 1}\r\n\r\ndata: nonsense\n\n: note\n\ndata:{"b": 2}'
    assert events(stream) == [{"a": 1}, {"b": 2}]


def test_an_engine_carries_out_tool_tasks_when_it_is_told_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONDUCTOR_SECRET_SHOP", "pass-word")
    server = Server(tools_list={"result": {"tools": [TOOL]}})
    with web(server) as place, Bench(mcp_worker=True, evaluators=1) as b:
        given = {"mcpServer": place.url, "headers": {"X-Key": "${workflow.secrets.SHOP}"}}
        b.define(workflow("tools", task("list", "LIST_MCP_TOOLS", inputParameters=given)))
        done = b.run("tools")
        assert place.seen[0].headers["X-Key"] == "pass-word"
    assert tasks_of(done)["list"]["outputData"] == {"tools": [TOOL]}
    assert "pass-word" not in orjson.dumps(done).decode()
