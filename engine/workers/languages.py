"""Runs inside an evaluator process and nowhere else: JavaScript, jq and, if the operator allows it,
Python. It has no environment, no files to write and hard limits; it ends when its input closes.
Frames go both ways: four bytes of length, then JSON. It imports almost nothing of ours: it must start fast."""

import contextlib
import io
import json
import math
import os
import resource
import sys
import textwrap
import time
import traceback
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import jq
import orjson
import quickjs

from engine.workers.script_limits import (
    LENGTH_BYTES,
    Limits,
    error_text,
    memory_text,
    time_limit_text,
    too_large_text,
)

PRELUDE = Path(__file__).with_name("prelude.js").read_text(encoding="utf-8")
# orjson writes 254 levels, of which the answer around a result takes some.
DEPTH_LIMIT = 250
LOG_CHARACTERS = 64 * 1024
STACK_BYTES = 2 * 1024 * 1024
PYTHON_REFUSED = "Python scripts are not allowed here; an operator can allow them in the settings"


Answer = dict[str, Any]
Job = dict[str, Any]


# -- JavaScript ------------------------------------------------------------------------


class JavaScript:
    """Each script gets a context of its own; the next one is prepared while nobody waits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._spare: Any = None

    def prepare(self) -> None:
        if self._spare is None:
            context = quickjs.Context()
            context.set_memory_limit(self._limits.heap_bytes)
            context.set_max_stack_size(STACK_BYTES)
            context.set_time_limit(self._limits.seconds)
            self._spare = context.eval(PRELUDE)

    def run(self, job: Job, inputs: str) -> Answer:
        self.prepare()
        enter, self._spare = self._spare, None
        now_ms = job["now_ms"] if job["now_ms"] is not None else int(time.time() * 1000)
        size = self._limits.output_bytes
        # As a double: the engine cuts Python's integers to 32 bits.
        door = enter(job["seed"] % 2**32, float(now_ms), size, DEPTH_LIMIT, LOG_CHARACTERS)
        source = job["source"]
        if job["language"] == "lambda":
            source = "(function(){" + source + "\n})()"
        try:
            told = orjson.loads(door("check" if job["check_only"] else "run", source, inputs))
            logs = orjson.loads(door("logs"))
        except quickjs.JSException as error:
            return self._gave_up(str(error).partition("\n")[0])
        return self._answer(told, source) | {"logs": logs}

    def _gave_up(self, reason: str) -> Answer:
        """The JavaScript engine stopped outside of the script, which could not say why itself."""
        if "interrupted" in reason:
            return {"error": time_limit_text(self._limits), "retriable": True}
        no_memory = reason == "null" or "out of memory" in reason
        return {"error": memory_text(self._limits) if no_memory else error_text(reason)}

    def _answer(self, told: Answer, source: str) -> Answer:
        if "unfit" in told:
            return {"error": error_text(told["unfit"])}
        if "detail" not in told:
            return told
        detail, line = told["detail"], told["line"]
        if "out of memory" in detail or "string too long" in detail:
            return {"error": memory_text(self._limits)}
        if told.get("nothing"):
            # With no memory left for an error object, the engine throws null.
            if "throw" not in source:
                return {"error": memory_text(self._limits)}
            detail = "null, thrown by the script, or for want of memory"
        return {"error": error_text(detail, line)}


# -- jq ----------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _compiled_jq(source: str) -> Any:
    # Through tojson a number keeps the digits it came with: 2^53+1 and 3.0 stay what they are.
    # The parentheses refuse `import` and `include`, which would look for files.
    return jq.compile("(" + source + "\n) | tojson")


def run_jq(job: Job, inputs: str, limits: Limits) -> Answer:
    """All results of a program; `.` is the whole input."""
    try:
        program = _compiled_jq(job["source"])
        if job["check_only"]:
            return {}
        texts, size = [], 0
        for text in program.input_text(inputs):
            size += len(text)
            if size > limits.output_bytes:
                return {"error": too_large_text(limits)}
            texts.append(text)
    except ValueError as error:
        return {"error": str(error)}
    return {"value": [_jq_value(text) for text in texts]}


def _jq_value(text: str) -> Any:
    if "E+" not in text:
        return orjson.loads(text)
    return json.loads(text, parse_float=_whole_if_it_is)


def _whole_if_it_is(text: str) -> int | float:
    """jq writes the literal 1e3 as 1E+3; as a result it is the integer 1000."""
    value = float(text)
    whole = "E+" in text and value.is_integer() and abs(value) < 2**63
    return int(value) if whole else value


# -- Python ------------------------------------------------------------------------------


def run_python(job: Job, inputs: str, limits: Limits) -> Answer:
    """The text is the body of a function; each key of the input is a global it sees."""
    given: dict[str, Any] = orjson.loads(inputs)
    names = [name for name in given if name.isidentifier()]
    head = "def evaluate():\n" + (f"    global {', '.join(names)}\n" if names else "")
    printed = io.StringIO()
    try:
        program = compile(head + textwrap.indent(job["source"], "    "), "<script>", "exec")
        if job["check_only"]:
            return {}
        room: dict[str, Any] = {name: given[name] for name in names}
        with contextlib.redirect_stdout(printed):
            exec(program, room)
            value = _plain(room["evaluate"](), 0)
        logs = printed.getvalue()[:LOG_CHARACTERS].splitlines()
        encoded = orjson.dumps(value)
    except MemoryError:
        return {"error": memory_text(limits)}
    except BaseException as error:
        line = _python_line(error)
        shown = None if line is None else max(1, line - head.count("\n"))
        logs = printed.getvalue()[:LOG_CHARACTERS].splitlines()
        told = error.msg if isinstance(error, SyntaxError) else str(error)
        return {"error": error_text(f"{type(error).__name__}: {told}", shown), "logs": logs}
    if len(encoded) > limits.output_bytes:
        return {"error": too_large_text(limits), "logs": logs}
    return {"value": orjson.Fragment(encoded), "logs": logs}


def _python_line(error: BaseException) -> int | None:
    if isinstance(error, SyntaxError):
        return error.lineno
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == "<script>"]
    return frames[-1].lineno if frames else None


def _plain(value: Any, depth: int) -> Any:
    """What JSON can hold: tuples and sets become lists, NaN and the infinities null."""
    if depth > DEPTH_LIMIT:
        raise ValueError(f"the result is nested deeper than {DEPTH_LIMIT} levels")
    if isinstance(value, dict):
        return {str(key): _plain(member, depth + 1) for key, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(member, depth + 1) for member in value]
    if isinstance(value, float) and not math.isfinite(value):
        print(f"the result holds {value}, which JSON cannot; null was stored in its place")
        return None
    return value


# -- the process -------------------------------------------------------------------------


def read_frame(source: BinaryIO) -> bytes | None:
    """The next frame; None when the other side has gone."""
    length = source.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    size = int.from_bytes(length, "big")
    frame = source.read(size)
    return frame if len(frame) == size else None


def write_frame(target: BinaryIO, frame: bytes) -> None:
    target.write(len(frame).to_bytes(LENGTH_BYTES, "big"))
    target.write(frame)
    target.flush()


def confine(limits: Limits) -> None:
    """Give up everything a script must not reach. A limit the system does not know is left out."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    os.environ.clear()
    wanted = {
        "RLIMIT_AS": limits.process_bytes,
        "RLIMIT_FSIZE": 0,
        "RLIMIT_NOFILE": 16,
        "RLIMIT_NPROC": 0,
        "RLIMIT_CORE": 0,
    }
    for name, value in wanted.items():
        with contextlib.suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (value, value))


def allow_seconds(limits: Limits) -> None:
    """A program that hangs without hearing that the engine has gone is ended by the system."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = math.ceil(used.ru_utime + used.ru_stime + limits.seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


class Languages:
    """All of them, under one set of limits."""

    def __init__(self, limits: Limits, allow_python: bool) -> None:
        self.limits = limits
        self._allow_python = allow_python
        self._javascript = JavaScript(limits)

    def prepare(self) -> None:
        self._javascript.prepare()

    def answer(self, job: Job, inputs: str) -> Answer:
        match job["language"]:
            case "javascript" | "lambda":
                return self._javascript.run(job, inputs)
            case "jq":
                return run_jq(job, inputs, self.limits)
            case "python" if self._allow_python:
                return run_python(job, inputs, self.limits)
            case "python":
                return {"error": PYTHON_REFUSED}
        return {"error": error_text(f"no language is called {job['language']}")}


def serve(source: BinaryIO, target: BinaryIO, languages: Languages) -> None:
    """Answer jobs until the engine closes the pipe."""
    own_pid = os.getpid()
    write_frame(target, b"{}")
    languages.prepare()
    while (head := read_frame(source)) is not None and (inputs := read_frame(source)) is not None:
        allow_seconds(languages.limits)
        try:
            frame = orjson.dumps(languages.answer(orjson.loads(head), inputs.decode()))
        except Exception as error:
            frame = orjson.dumps({"error": error_text(f"{type(error).__name__}: {error}")})
        if os.getpid() != own_pid:
            # A script has forked; its copy of us must not answer as well.
            os._exit(0)
        write_frame(target, frame)
        languages.prepare()


def main() -> None:
    settings = orjson.loads(sys.argv[1])
    limits = Limits(**settings["limits"])
    source = os.fdopen(os.dup(0), "rb")
    target = os.fdopen(os.dup(1), "wb")
    # What a library prints must not end up between the frames.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    confine(limits)
    serve(source, target, Languages(limits, settings["allow_python"]))


if __name__ == "__main__":
    main()
