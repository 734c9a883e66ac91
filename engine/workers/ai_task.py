"""What tasks that ask a model or a tool server share: one request over the engine's HTTP path, and
how its failure ends the task. No provider's and no protocol's own words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from engine.expressions.java_text import java_text
from engine.model.record import Json, decode, encode
from engine.model.status import TaskStatus
from engine.workers.functions import Outcome
from engine.workers.http_call import Answer, Caller, NoAnswer, NotAllowed, Request
from engine.workers.http_task import JSON_TYPE, USER_AGENT, text_of
from engine.workers.lane import Job

CONNECT_SECONDS = 10.0
READ_SECONDS = 300.0
"""Models think, and tools work, before the first byte comes."""

MAY_PASS = frozenset([408, 409, 425, 429])
"""Refusals that another attempt may not meet; so are all from 500 on."""
LONGEST_DETAIL = 400


class Failure(Exception):
    """It did not work this time."""

    status = TaskStatus.FAILED
    said = "Task execution failed: "

    def __init__(self, text: str, output: Mapping[str, Json] | None = None) -> None:
        super().__init__(text)
        self.output = dict(output or {})


class FinalFailure(Failure):
    """It will not work however often it is tried."""

    status = TaskStatus.FAILED_WITH_TERMINAL_ERROR
    said = "Non-retryable error: "


@dataclass(frozen=True, slots=True)
class Success:
    """What a task leaves, and what its log says."""

    output: dict[str, Json]
    logs: tuple[str, ...] = ()


Work = Callable[[Job, dict[str, Json]], Success]


class AiCraft:
    """Carries out one task word in the threads of its lane."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def carry_out(self, job: Job, given: dict[str, Json], done: Callable[[Outcome], None]) -> None:
        done(outcome_of(lambda: self._work(job, given)))

    def cancel(self, job: Job) -> None:
        """A request that has left cannot be called back; its timeouts end it."""

    def close(self) -> None:
        """The caller is everybody's."""


def outcome_of(work: Callable[[], Success]) -> Outcome:
    """The work's outcome, whether it succeeds or fails."""
    try:
        found = work()
    except Failure as error:
        return Outcome(error.status, encode(error.output), error.said + str(error))
    return Outcome(TaskStatus.COMPLETED, encode(found.output), logs=found.logs)


# One request


def send(
    caller: Caller,
    url: httpx.URL,
    headers: Mapping[str, str],
    body: Json,
    method: str = "POST",
) -> Answer:
    """Send JSON (None: nothing), whatever is answered."""
    usual = {
        "Accept": JSON_TYPE,
        "Content-Type": JSON_TYPE,
        "Accept-Encoding": "gzip, deflate",
        "User-Agent": USER_AGENT,
    }
    named = {name.lower() for name in headers}
    sent = {**{k: v for k, v in usual.items() if k.lower() not in named}, **headers}
    try:
        data = None if body is None else encode(body)
        return caller.call(Request(method, url, sent, data, CONNECT_SECONDS, READ_SECONDS))
    except NotAllowed as error:
        raise FinalFailure(str(error)) from error
    except NoAnswer as error:
        raise Failure(str(error)) from error


def refusal(answer: Answer, whose: str, hidden: str | None = None, hint: str = "") -> Failure:
    """An answer that is no 2xx as a failure; `hidden` must not show in it."""
    text = _detail(answer)
    if hidden:
        text = text.replace(hidden, "***")
    passing = answer.status >= 500 or answer.status in MAY_PASS
    kind = Failure if passing else FinalFailure
    return kind(f"{whose} answered {answer.status} {answer.reason}: {text}{hint}")


def _detail(answer: Answer) -> str:
    """What a refusal says about itself, as far as it says it in one of the usual ways."""
    text = text_of(answer).strip()
    try:
        found: Any = decode(text.encode())
    except ValueError:
        found = None
    if isinstance(found, list) and found:
        found = found[0]
    for name in ("error", "message"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    said = found if isinstance(found, str) else text
    return said[:LONGEST_DETAIL] or "[no body]"


def read_object(answer: Answer, whose: str) -> dict[str, Json]:
    """The JSON object that a body must be."""
    text = text_of(answer)
    try:
        found = decode(text.encode())
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Failure(f"{whose} answered no JSON object: {text[:LONGEST_DETAIL] or '[no body]'}")
    return found


# Fields of an input


def text_field(given: Mapping[str, Json], name: str) -> str:
    """A field as text; empty when there is none."""
    value = given.get(name)
    return "" if value is None else java_text(value)


def object_field(given: Mapping[str, Json], name: str) -> dict[str, Json]:
    """A field that is an object; empty when there is none."""
    value = given.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FinalFailure(f"{name} is {java_text(value)!r}: it must be an object.")
    return value


def list_field(given: Mapping[str, Json], name: str) -> list[Json]:
    """A field that is a list; empty when there is none."""
    value = given.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise FinalFailure(f"{name} is {java_text(value)!r}: it must be a list.")
    return value


def number_field(given: Mapping[str, Json], name: str) -> float | int | None:
    """A field that is a number, or a text that is one."""
    value = given.get(name)
    if value is None or value == "":
        return None
    try:
        found = float(value) if isinstance(value, str) else value
    except ValueError:
        found = None
    if isinstance(found, bool) or not isinstance(found, int | float) or found - found != 0:
        raise FinalFailure(f"{name} is {java_text(value)!r}: it must be a number.")
    return int(found) if found == int(found) and isinstance(value, str) else found


def whole_field(given: Mapping[str, Json], name: str, plain: int | None) -> int | None:
    """A field that is a whole number above 0."""
    found = number_field(given, name)
    if found is None:
        return plain
    if found < 1 or found != int(found):
        raise FinalFailure(f"{name} is {java_text(found)}: it must be a whole number above 0.")
    return int(found)


def true_field(given: Mapping[str, Json], name: str) -> bool:
    """A field that is true, or says so."""
    return str(given.get(name)).lower() == "true"
