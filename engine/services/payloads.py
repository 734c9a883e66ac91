"""Payloads in a folder beside the database: what clients send and fetch as files instead of inline.

The folder is for clients alone: whoever reports or starts by a path has the file's content read here
at the door, so decisions know payloads as bytes and never touch a disk.
"""

import os
import re
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from engine.instruments.telemetry import Telemetry
from engine.model.errors import Conflict, EngineError, InvalidInput, NotFound, NotTaken, TooLarge
from engine.model.events import Result, Start
from engine.model.facts import Limits
from engine.model.ids import content_hash
from engine.model.record import Json, decode, encode

KINDS = ("TASK_INPUT", "TASK_OUTPUT", "WORKFLOW_INPUT", "WORKFLOW_OUTPUT")
"""What a file may hold, in the words of the storage endpoints."""
OPERATIONS = ("READ", "WRITE")

TASK_THRESHOLD = 3072 * 1024
WORKFLOW_THRESHOLD = 5120 * 1024

_GIVEN_OUT = re.compile(r"(task|workflow)_(?:input|output)_[0-9a-f]{32}\.json")
"""A name that a client may write to: it is made by chance, so nobody else knows it."""
_BY_CONTENT = re.compile(r"content_[0-9a-f]{32}\.json")


class Payloads:
    """The payload folder of one engine; without a folder, every question is refused. Any thread may
    call, but the core's."""

    def __init__(
        self,
        folder: str | None = None,
        limits: Limits | None = None,
        *,
        task_threshold: int = TASK_THRESHOLD,
        workflow_threshold: int = WORKFLOW_THRESHOLD,
        telemetry: Telemetry | None = None,
        clean: Callable[[bytes], bytes] = bytes,
        randomness: Callable[[int], bytes] = os.urandom,
    ) -> None:
        """`clean` takes out of a client's file what may not be stored."""
        self._folder = _made(folder) if folder else None
        self._limits = limits or Limits()
        self._task_threshold = task_threshold
        self._workflow_threshold = workflow_threshold
        self._telemetry = telemetry or Telemetry()
        self._clean = clean
        self._randomness = randomness
        self._writing = threading.Lock()

    @property
    def on(self) -> bool:
        """Is there a folder?"""
        return self._folder is not None

    # For clients

    def location(self, operation: str, kind: str, path: str | None) -> str:
        """The path to read from or write to. Without one, writing is given a new path."""
        reads = _word("operation", operation, OPERATIONS) == "READ"
        prefix = _word("payloadType", kind, KINDS).lower()
        self._require_folder()
        if reads:
            if not path:
                raise InvalidInput("path is empty: name the payload that is to be read.")
            self._file(path, there=True)
            return path
        if path:
            _require_writable(path)
            return path
        return f"{prefix}_{self._randomness(16).hex()}.json"

    def read(self, path: str) -> bytes:
        """A payload: the bytes of a JSON object."""
        try:
            data = self._file(path, there=True).read_bytes()
        except OSError as error:
            raise NotTaken(f"The payload {path} cannot be read: {error}. Ask again.") from None
        return data

    def write(self, path: str, value: dict[str, Json]) -> None:
        """Store a client's payload. Writing the same again is harmless; what is stored stays."""
        file = self._file(path)
        of = _require_writable(path)
        data = self._clean(encode(value))
        limit = self._limits.task_payload if of == "task" else self._limits.workflow_payload
        if len(data) > limit:
            raise TooLarge(
                f"The payload size: {len(data)} of {path} is greater than the permissible limit: "
                f"{limit} bytes. Split it up."
            )
        try:
            with self._writing:
                if not file.exists():
                    _store(file, data)
                elif file.read_bytes() != data:
                    raise Conflict(
                        f"The payload {path} is there already, with other content: ask for a new "
                        "location to write to."
                    )
        except OSError as error:
            raise NotTaken(f"The payload {path} cannot be stored: {error}. Ask again.") from None

    # For what comes in through the door

    def named(self, field: str, path: str) -> bytes:
        """The content of a payload that a request names by its path in one of its fields."""
        try:
            data = self.read(path)
            found = decode(data)
        except NotTaken:
            raise
        except EngineError as error:
            raise InvalidInput(f"{field} cannot be followed: {error.message}") from None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise InvalidInput(f"{field} is {path!r}, which holds no JSON object: write it anew.")
        return data

    def lightened(self, result: Result) -> Result:
        """A report whose large output is a file as well, which is what clients then see. An output
        that is yet to be merged is left alone, and so is one above its limit."""
        size = len(result.output)
        if result.merge or not self._takes(size, self._task_threshold, self._limits.task_payload):
            return result
        path = result.output_path or self._kept(result.output)
        return replace(result, output_path=path)

    def lightened_start(self, start: Start) -> Start:
        """The same of a start and its input."""
        size, limit = len(start.input), self._limits.workflow_payload
        if not self._takes(size, self._workflow_threshold, limit):
            return start
        return replace(start, input_path=start.input_path or self._kept(start.input))

    def may_be_large(self, size: int) -> bool:
        """Might a report of so many bytes have to be written to the folder?"""
        return self.on and size > self._task_threshold

    def _takes(self, size: int, threshold: int, limit: int) -> bool:
        return self.on and threshold < size <= limit

    def _kept(self, data: bytes) -> str | None:
        """Where these bytes are now. None if the disk fails: then clients see them inline."""
        path = f"content_{content_hash(data)}.json"
        try:
            file = self._file(path)
            if not file.exists():
                _store(file, data)
        except OSError as error:
            self._telemetry.say("payload.kept_inline", path=path, error=str(error))
            return None
        return path

    # The folder

    def _require_folder(self) -> Path:
        if self._folder is None:
            raise NotFound(
                "External payload storage is not set up: send payloads in the request, or start the "
                "engine with payload_folder (REPRISE_PAYLOAD_FOLDER)."
            )
        return self._folder

    def _file(self, path: str, *, there: bool = False) -> Path:
        """The file of a path. Names of any other form than ours never reach the disk."""
        folder = self._require_folder()
        if not (_GIVEN_OUT.fullmatch(path) or _BY_CONTENT.fullmatch(path)):
            raise InvalidInput(
                f"path is {path!r}, which this engine has not given out: ask "
                "externalstoragelocation for one."
            )
        file = folder / path
        if there and not file.is_file():
            raise NotFound(f"No payload found by path: {path}")
        return file


def _word(field: str, text: str, allowed: tuple[str, ...]) -> str:
    word = text.upper()
    if word not in allowed:
        raise InvalidInput(f"{field} is {text!r}: use one of {', '.join(allowed)}.")
    return word


def _require_writable(path: str) -> str:
    """Whose payload a client may write under this path: a task's or a workflow's."""
    found = _GIVEN_OUT.fullmatch(path)
    if found is None:
        raise InvalidInput(
            f"path is {path!r}, which clients cannot write to: ask externalstoragelocation for a "
            "path with operation=WRITE."
        )
    return found[1]


def _made(folder: str) -> Path:
    """The folder, which is made if it is not there."""
    found = Path(folder).expanduser().absolute()
    try:
        found.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"payload_folder is {folder!r}, which cannot be made: {error}. Name a folder that can "
            "be written to, or unset it."
        ) from None
    return found


def _store(file: Path, data: bytes) -> None:
    """Write a file as a whole or not at all, and only return when it is on the disk."""
    number, partial = tempfile.mkstemp(prefix=".", suffix=".part", dir=file.parent)
    try:
        with os.fdopen(number, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise
    _flush_folder(file.parent)


def _flush_folder(folder: Path) -> None:
    """A new name is on the disk when its folder is."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
