"""Clients that go, hurry or dawdle: what the door makes of a connection."""

from collections.abc import Iterator
from typing import Any

from tests.api.door import Door


class Caller:
    """A client whose connection says these things, one after the other; then it is closed."""

    def __init__(
        self, door: Door, method: str, path: str, *pieces: bytes, whole: bool, query: bytes = b""
    ) -> None:
        self._door = door
        self._scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query,
            "headers": [(b"content-type", b"application/json")],
        }
        self._pieces: Iterator[bytes] = iter(pieces)
        self._left = len(pieces)
        self._whole = whole
        self.sent: list[Any] = []

    async def receive(self) -> Any:
        if not self._left:
            return {"type": "http.disconnect"}
        self._left -= 1
        more = self._left > 0 or not self._whole
        return {"type": "http.request", "body": next(self._pieces), "more_body": more}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    async def asks(self) -> None:
        await self._door.app(self._scope, self.receive, self.send)


def test_a_request_that_is_cut_off_does_nothing(door: Door) -> None:
    """What has come so far may well be whole JSON, or nothing where a body may be missing."""
    door.define("cut")
    begin = b'{"name": "cut"}'
    for path, pieces in (
        ("/api/workflow", [begin]),
        ("/api/workflow/cut", [b""]),
        ("/api/workflow/cut", [b"{}"]),
    ):
        door.run(Caller(door, "POST", path, *pieces, whole=False).asks())
    assert door.get("workflow/running/cut") == []


def test_what_was_not_taken_says_when_to_ask_again() -> None:
    with Door() as stopping:
        stopping.define("late")
        stopping.engine.port.wind_down()
        for path in ("workflow", "workflow/late"):
            answer = stopping.ask("POST", path, json={"name": "late"})
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert answer.json()["retryable"] is True


def test_nobody_is_waited_for_who_has_gone_and_what_they_began_goes_on(door: Door) -> None:
    door.define("left_alone")
    path = "/api/workflow/execute/left_alone/1"
    caller = Caller(door, "POST", path, b"{}", whole=True, query=b"waitForSeconds=60")
    door.run(caller.asks())
    assert caller.sent == []
    assert len(door.get("workflow/running/left_alone")) == 1
