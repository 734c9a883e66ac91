"""Python functions as workers: how a function gets a task's input, and what its result, or its
failure, means for the task. Nothing here takes work or reports it; see `pool.py`."""

import asyncio
import inspect
import math
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_origin, get_type_hints

from engine.model.record import Json, decode, encode
from engine.model.requests import TaskResult
from engine.model.status import REPORTABLE, TaskStatus

MARK = "__reprise_worker__"
LONGEST_TRACE = 16_000

Function = TypeVar("Function", bound=Callable[..., Any])


class TerminalError(Exception):
    """The task cannot succeed, however often it is tried."""

    terminal = True


@dataclass(frozen=True, slots=True)
class Worker:
    """A function and the task it carries out."""

    task_name: str
    call: Callable[..., Any]
    domain: str | None = None
    poll_count: int | None = None
    """So many tasks it has in hand at most; None leaves that to the pool."""
    process: bool = False
    """Run it in a process of its own, which is killed when its task ends before it does."""

    @property
    def is_async(self) -> bool:
        """Is it to run on the event loop?"""
        return inspect.iscoroutinefunction(self.call)


def worker(
    task_name: str,
    *,
    domain: str | None = None,
    poll_count: int | None = None,
    process: bool = False,
) -> Callable[[Function], Function]:
    """Declare what task a function carries out. The function stays as it is.

    It is given the input by the names of its parameters, or whole if it has one parameter that is
    a dict or has no annotation. A dict it returns is the output; any other JSON is `result`."""

    def mark(function: Function) -> Function:
        setattr(function, MARK, Worker(task_name, function, domain, poll_count, process))
        return function

    return mark


def worker_of(function: Callable[..., Any] | Worker) -> Worker:
    """What `worker` has declared about a function."""
    found = function if isinstance(function, Worker) else getattr(function, MARK, None)
    if not isinstance(found, Worker):
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(
            f"{name} does not say which task it carries out: put @worker('task_name') above it."
        )
    return found


# The task in hand


@dataclass(slots=True)
class TaskContext:
    """The task that a function works on, for those who ask with `current_task`."""

    task_id: str
    workflow_id: str
    reference: str
    attempt: int = 0
    """0 for the first."""
    cancelled: bool = False
    """The task has ended meanwhile: what comes of the work will not be heard."""
    lines: list[str] = field(default_factory=list)

    def log(self, line: str) -> None:
        """Add a line to the task's log, which is stored with the result."""
        self.lines.append(line)


_current: ContextVar[TaskContext] = ContextVar("reprise_task")


def current_task() -> TaskContext:
    """The task that the calling function works on. Its id is a good idempotency key, except that
    another attempt has another."""
    return _current.get()


def enter(context: TaskContext) -> None:
    """From here on, in this thread or coroutine, this task is the current one."""
    _current.set(context)


# Input


class BadInput(Exception):
    """The task's input lacks what the function needs."""

    terminal = True


Bind = Callable[[dict[str, Json]], Any]


def binding(call: Callable[..., Any]) -> Bind:
    """How a function is called with a task's input."""
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except ValueError:
        return call
    if not parameters:
        return lambda given: call()
    if len(parameters) == 1 and _takes_all(parameters[0], call):
        return call
    names = {item.name for item in parameters if item.kind in _NAMED}
    needed = [
        i.name for i in parameters if i.kind in _NAMED and i.default is inspect.Parameter.empty
    ]
    open_ended = any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters)
    if any(item.kind is inspect.Parameter.POSITIONAL_ONLY for item in parameters):
        raise TypeError(
            f"{call!r} has parameters without a usable name: give it one dict, or named ones."
        )

    def bound(given: dict[str, Json]) -> Any:
        missing = [name for name in needed if name not in given]
        if missing:
            raise BadInput(f"the input has no {', '.join(missing)}; it has {', '.join(given)}")
        if open_ended:
            return call(**given)
        return call(**{name: value for name, value in given.items() if name in names})

    return bound


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _takes_all(parameter: inspect.Parameter, call: Callable[..., Any]) -> bool:
    """Is this one parameter meant for the whole input?"""
    if parameter.kind in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
        return False
    if parameter.annotation is inspect.Parameter.empty:
        return True
    try:
        kind = get_type_hints(call).get(parameter.name, Any)
    except (NameError, TypeError):
        kind = parameter.annotation
    if isinstance(kind, str):
        return kind.startswith(("dict", "Dict", "Mapping", "Any"))
    kind = get_origin(kind) or kind
    return kind is Any or (isinstance(kind, type) and issubclass(kind, Mapping))


# Outcome


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task."""

    status: TaskStatus
    output: bytes = b"{}"
    reason: str | None = None
    logs: tuple[str, ...] = ()
    callback_after: int = 0
    elsewhere: bool = False
    """It goes on outside, and the outside will report how it ends."""


def outcome_of(name: str, value: Any, logs: tuple[str, ...] = ()) -> Outcome:
    """What a returned value means."""
    if isinstance(value, TaskResult):
        return _as_reported(name, value, logs)
    shown = {} if value is None else value if isinstance(value, dict) else {"result": value}
    return _encoded(name, Outcome(TaskStatus.COMPLETED, logs=logs), shown)


def _as_reported(name: str, value: TaskResult, logs: tuple[str, ...]) -> Outcome:
    """A function may also say everything itself."""
    if value.status not in REPORTABLE:
        reason = f"{name} returned a TaskResult with status {value.status!r}"
        return Outcome(TaskStatus.FAILED, reason=reason, logs=logs)
    told = Outcome(
        TaskStatus(value.status),
        reason=value.reason_for_incompletion,
        logs=(*logs, *(line.log or "" for line in value.logs or ())),
        callback_after=max(0, value.callback_after_seconds),
    )
    return _encoded(name, told, value.output_data or {})


def _encoded(name: str, outcome: Outcome, value: Json) -> Outcome:
    """The outcome with an output, if that is JSON."""
    try:
        output = encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        return Outcome(
            TaskStatus.FAILED,
            reason=f"The result of {name} is not JSON: {error}",
            logs=outcome.logs,
        )
    logs = outcome.logs
    if b"null" in output and (place := not_finite(value)):
        logs = (*logs, f"{place} of the result is not a finite number; null is stored")
    return Outcome(outcome.status, output, outcome.reason, logs, outcome.callback_after)


def not_finite(value: Any, place: str = "") -> str | None:
    """Where a value has its first NaN or infinity, which no JSON holds."""
    if isinstance(value, float):
        return None if math.isfinite(value) else place or "the whole"
    if isinstance(value, dict):
        members = [(f"{place}.{key}" if place else str(key), item) for key, item in value.items()]
    elif isinstance(value, list | tuple):
        members = [(f"{place}[{index}]", item) for index, item in enumerate(value)]
    else:
        return None
    return next((found for key, item in members if (found := not_finite(item, key))), None)


def failure_of(error: BaseException, logs: tuple[str, ...] = ()) -> Outcome:
    """What an exception means: the next attempt may do better, unless it says that none will."""
    final = bool(getattr(error, "terminal", False))
    status = TaskStatus.FAILED_WITH_TERMINAL_ERROR if final else TaskStatus.FAILED
    return Outcome(status, reason=reason_of(error), logs=(*logs, trace_of(error)))


def reason_of(error: BaseException) -> str:
    """An exception in a line."""
    text = _printed(str, error).strip()
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def trace_of(error: BaseException) -> str:
    """Where it was raised, from the function on."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next and frames.tb_frame.f_globals.get("_OURS"):
        frames = frames.tb_next
    lines = traceback.format_exception(type(error), error, frames)
    text = "".join(lines)
    return text if len(text) <= LONGEST_TRACE else "[...]\n" + text[-LONGEST_TRACE:]


_OURS = True
"""Marks the modules between the pool and a function: their frames say nothing to its author."""


def _printed(how: Callable[[Any], str], error: BaseException) -> str:
    try:
        return how(error)
    except Exception:
        return "an exception that cannot be printed"


# Carrying out


@dataclass(frozen=True, slots=True)
class Assignment:
    """One task to carry out."""

    name: str
    bind: Bind
    given: dict[str, Json]
    context: TaskContext


def carry_out(assignment: Assignment) -> Outcome:
    """Call the function; whatever happens, there is an outcome."""
    enter(assignment.context)
    try:
        value = assignment.bind(assignment.given)
    except BaseException as error:
        return failure_of(error, tuple(assignment.context.lines))
    return outcome_of(assignment.name, value, tuple(assignment.context.lines))


async def carry_out_async(assignment: Assignment) -> Outcome:
    """The same for a coroutine function."""
    enter(assignment.context)
    try:
        pending: Awaitable[Any] = assignment.bind(assignment.given)
        value = await pending
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return failure_of(error, tuple(assignment.context.lines))
    return outcome_of(assignment.name, value, tuple(assignment.context.lines))


def decoded(data: bytes) -> dict[str, Json]:
    """An encoded input; a map, always."""
    value = decode(data)
    return value if isinstance(value, dict) else {}
