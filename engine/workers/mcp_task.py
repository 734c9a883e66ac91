"""LIST_MCP_TOOLS and CALL_MCP_TOOL: the tools of a server that speaks the Model Context Protocol as
JSON-RPC over streamable HTTP. One task is one session."""

from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from typing import Any

import httpx

from engine.expressions.java_text import java_text
from engine.model.record import Json, decode, encode
from engine.workers.ai_task import (
    AiCraft,
    Failure,
    FinalFailure,
    Success,
    object_field,
    read_object,
    refusal,
    send,
    text_field,
)
from engine.workers.http_call import Answer, Caller, bare
from engine.workers.http_task import USER_AGENT, text_of
from engine.workers.lane import Job

LIST, CALL = "LIST_MCP_TOOLS", "CALL_MCP_TOOL"

VERSION = "2025-06-18"
SESSION, SPOKEN = "Mcp-Session-Id", "MCP-Protocol-Version"
WITHOUT_GREETING = frozenset([400, 404, 405, 501])
"""What servers answer that know their tools, but no session to be opened first."""
UNKNOWN_METHOD = -32601
SENDERS_FAULT = frozenset([-32700, -32600, UNKNOWN_METHOD, -32602])
"""Errors of JSON-RPC that lie in the request."""
MOST_PAGES = 100


class ToolServers:
    """What the servers are asked, and what comes of it."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def crafts(self) -> dict[str, AiCraft]:
        """Who carries out each task word."""

        def listing(job: Job, given: dict[str, Json]) -> Success:
            return self.tools(given)

        def calling(job: Job, given: dict[str, Json]) -> Success:
            return self.call_tool(given)

        return {LIST: AiCraft(listing), CALL: AiCraft(calling)}

    def tools(self, given: Mapping[str, Json]) -> Success:
        """All tools of a server, page by page."""
        with Session(self._caller, given) as session:
            tools: list[Json] = []
            cursor: Json = None
            for _ in range(MOST_PAGES):
                page = session.ask("tools/list", {"cursor": cursor} if cursor else {})
                found = page.get("tools")
                if not isinstance(found, list):
                    raise Failure(f"{session.place} answered tools/list without a list of tools.")
                tools += [_tool(item) for item in found if isinstance(item, dict)]
                cursor = page.get("nextCursor")
                if not cursor:
                    return Success({"tools": tools})
            raise Failure(f"{session.place} has more than {MOST_PAGES} pages of tools.")

    def call_tool(self, given: Mapping[str, Json]) -> Success:
        """Call one tool. A tool that says that it failed has answered: `isError` tells."""
        name = text_field(given, "method").strip()
        if not name:
            raise FinalFailure("method is missing: name the tool to call.")
        arguments = object_field(given, "arguments")
        with Session(self._caller, given) as session:
            found = session.ask("tools/call", {"name": name, "arguments": arguments})
            content = found.get("content") or []
            if not isinstance(content, list):
                raise Failure(f"{session.place} answered tools/call without a list as content.")
        items = [_content(item) for item in content if isinstance(item, dict)]
        return Success({"content": items, "isError": bool(found.get("isError"))})


class Session:
    """A conversation with one server."""

    def __init__(self, caller: Caller, given: Mapping[str, Json]) -> None:
        self._caller = caller
        self._url = _url(text_field(given, "mcpServer").strip())
        self._headers = {"Accept": "application/json, text/event-stream", **_headers(given)}
        self._ids = count(1)
        self.place = bare(self._url)

    def __enter__(self) -> "Session":
        self._greet()
        return self

    def __exit__(self, *how: object) -> None:
        """Let the server forget the session; it will do so by itself if it does not hear of it."""
        if SESSION in self._headers:
            with suppress(Failure):
                send(self._caller, self._url, self._headers, None, "DELETE")

    def _greet(self) -> None:
        """Open a session, if the server knows such a thing."""
        params: Json = {
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": USER_AGENT, "version": "1"},
        }
        answer, number = self._send("initialize", params)
        if answer.status in WITHOUT_GREETING:
            return
        message = self._message(answer, number)
        if "error" in message:
            if _code(message["error"]) == UNKNOWN_METHOD:
                return
            raise self._failure("initialize", message["error"])
        session = _header(answer, SESSION)
        if session:
            self._headers[SESSION] = session
        agreed = _object(message.get("result")).get("protocolVersion")
        self._headers[SPOKEN] = agreed if isinstance(agreed, str) else VERSION
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        send(self._caller, self._url, self._headers, note)

    def ask(self, method: str, params: Json) -> dict[str, Any]:
        """The result of a request."""
        answer, number = self._send(method, params)
        message = self._message(answer, number)
        if "error" in message:
            raise self._failure(method, message["error"])
        result = message.get("result")
        if not isinstance(result, dict):
            raise Failure(f"{self.place} answered {method} without a result.")
        return result

    def _send(self, method: str, params: Json) -> tuple[Answer, int]:
        number = next(self._ids)
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return send(self._caller, self._url, self._headers, body), number

    def _message(self, answer: Answer, number: int) -> dict[str, Any]:
        """The response among what was answered: a JSON object, or one of a stream of events."""
        if not 200 <= answer.status < 300:
            raise refusal(answer, self.place)
        kind = (_header(answer, "content-type") or "").partition(";")[0].strip().lower()
        if kind != "text/event-stream":
            return read_object(answer, self.place)
        for message in events(text_of(answer)):
            if message.get("id") == number and ("result" in message or "error" in message):
                return message
        raise Failure(f"{self.place} ended its stream without an answer.")

    def _failure(self, method: str, error: Json) -> Failure:
        kind = FinalFailure if _code(error) in SENDERS_FAULT else Failure
        return kind(f"{self.place} answered {method} with an error: {encode(error).decode()}")


def events(stream: str) -> list[dict[str, Any]]:
    """The JSON objects among the events of a stream, in order."""
    found: list[dict[str, Any]] = []
    data: list[str] = []
    for line in [*stream.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and data:
            try:
                message = decode("\n".join(data).encode())
            except ValueError:
                message = None
            data.clear()
            if isinstance(message, dict):
                found.append(message)
    return found


def _url(text: str) -> httpx.URL:
    if not text:
        raise FinalFailure("mcpServer is missing: give the URL of the tool server.")
    try:
        url = httpx.URL(text).copy_with(fragment=None)
    except httpx.InvalidURL as error:
        raise FinalFailure(f"mcpServer is {text!r}: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise FinalFailure(f"mcpServer is {text!r}: it must begin with http:// or https://.")
    return url


def _headers(given: Mapping[str, Json]) -> dict[str, str]:
    found = {
        name: java_text(value)
        for name, value in object_field(given, "headers").items()
        if value is not None
    }
    for name, value in found.items():
        if any(sign in name + value for sign in "\r\n\0"):
            raise FinalFailure(f"The header {name!r} has a line break, which no header may have.")
    return found


def _header(answer: Answer, name: str) -> str | None:
    for found, values in answer.headers.items():
        if found.lower() == name.lower() and values:
            return values[0]
    return None


def _object(value: Json) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _code(error: Json) -> Json:
    return _object(error).get("code")


def _tool(item: dict[str, Any]) -> dict[str, Json]:
    names = ("name", "description", "inputSchema")
    return {name: item[name] for name in names if item.get(name) is not None}


def _content(item: dict[str, Any]) -> dict[str, Json]:
    """A part of a tool's answer; an embedded document lies one level deeper. A text that is a JSON
    object or list is shown as that as well."""
    whole = {**item, **_object(item.get("resource"))}
    shown = {n: whole[n] for n in ("type", "text", "data", "mimeType") if whole.get(n) is not None}
    if item.get("type") == "text" and isinstance(item.get("text"), str):
        shown["parsed"] = _parsed(item["text"])
    return shown


def _parsed(text: str) -> Json:
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return decode(text.strip().encode())
    except ValueError:
        return text
