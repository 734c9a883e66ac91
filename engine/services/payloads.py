"""Payloads as files: what clients leave and fetch by path instead of sending it inline, and what is
too large for the database.

Whoever reports or starts by a path has the file's content read here at the door, so decisions know
payloads as bytes and never touch a disk.
"""

import os
import threading
from collections.abc import Callable
from dataclasses import replace

from engine.instruments.telemetry import Telemetry
from engine.model.errors import Conflict, EngineError, InvalidInput, NotFound, NotTaken, TooLarge
from engine.model.events import Result, Start
from engine.model.facts import Limits
from engine.model.record import Json, decode, encode
from engine.store.contract import StoreFailed
from engine.store.folder import GIVEN_OUT, Folder, name_of

KINDS = ("TASK_INPUT", "TASK_OUTPUT", "WORKFLOW_INPUT", "WORKFLOW_OUTPUT")
"""What a file may hold, in the words of the storage endpoints."""
OPERATIONS = ("READ", "WRITE")

TASK_THRESHOLD = 3072 * 1024
WORKFLOW_THRESHOLD = 5120 * 1024


def _nobody(path: str) -> None:
    """Whose it is is not known."""


class Payloads:
    """The payload folder of one engine; without a folder, every question is refused."""

    def __init__(
        self,
        folder: Folder | None = None,
        limits: Limits | None = None,
        *,
        task_threshold: int = TASK_THRESHOLD,
        workflow_threshold: int = WORKFLOW_THRESHOLD,
        telemetry: Telemetry | None = None,
        clean: Callable[[bytes], bytes] = bytes,
        owner: Callable[[str], str | None] = _nobody,
        randomness: Callable[[int], bytes] = os.urandom,
    ) -> None:
        """`clean` takes out of a client's file what may not be stored; `owner` names the workflow
        that a file belongs to."""
        self._folder = folder
        self._limits = limits or Limits()
        self.task_threshold = task_threshold
        self.workflow_threshold = workflow_threshold
        self._telemetry = telemetry or Telemetry()
        self._clean = clean
        self._owner = owner
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
            self._require(path)
            self.note("READ", self._owner(path), kind.upper())
            return path
        if path:
            _require_writable(path)
            return path
        return f"{prefix}_{self._randomness(16).hex()}.json"

    def read(self, path: str) -> bytes:
        """A payload: the bytes of a JSON object."""
        try:
            return self._require(path).read(path)
        except StoreFailed as error:
            raise NotTaken(f"Nothing was read: {error}. Ask again.") from None

    def write(self, path: str, value: dict[str, Json]) -> None:
        """Store a client's payload. Writing the same again is harmless; what is stored stays."""
        folder = self._require_folder()
        folder.file(path)
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
                folder.keep(path, data)
                if folder.read(path) != data:
                    raise Conflict(
                        f"The payload {path} is there already, with other content: ask for a new "
                        "location to write to."
                    )
        except (OSError, StoreFailed) as error:
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
        """A report whose large output is in a file already, so that the core need not write it. An
        output that is yet to be merged is left alone, and so is one above its limit."""
        size = len(result.output)
        if result.merge or not self._takes(size, self.task_threshold, self._limits.task_payload):
            return result
        path = self.keep(result.output, result.output_path, self.task_threshold)
        return replace(result, output_path=path)

    def lightened_start(self, start: Start) -> Start:
        """The same of a start and its input."""
        size, limit = len(start.input), self._limits.workflow_payload
        if not self._takes(size, self.workflow_threshold, limit):
            return start
        path = self.keep(start.input, start.input_path, self.workflow_threshold)
        return replace(start, input_path=path)

    def may_be_large(self, size: int) -> bool:
        """Might a report or a start of so many bytes have to be written to the folder?"""
        return self.on and size > min(self.task_threshold, self.workflow_threshold)

    def _takes(self, size: int, threshold: int, limit: int) -> bool:
        return self.on and threshold < size <= limit

    # For what is stored

    def keep(self, data: bytes, path: str | None, most: int) -> str | None:
        """The file of these bytes: the one that a client has named, if it holds them; else, for more
        than `most` bytes, one named by their content. None if there is none, or the disk fails: then
        they are kept in the database, and clients see them inline."""
        folder = self._folder
        if folder is None:
            return None
        if path is not None and GIVEN_OUT.fullmatch(path) and _holds(folder, path, data):
            return path
        if len(data) <= most:
            return None
        path = name_of(data)
        try:
            folder.keep(path, data)
        except OSError as error:
            self._telemetry.say("payload.kept_inline", path=path, error=str(error))
            return None
        return path

    def note(self, operation: str, name: str | None, payload_type: str) -> None:
        """Tell that a file was written (WRITE) or read (READ) for a workflow or a task."""
        self._telemetry.say(
            "payload.used", operation=operation, name=name, payload_type=payload_type
        )

    # The folder

    def _require_folder(self) -> Folder:
        if self._folder is None:
            raise NotFound(
                "External payload storage is not set up: send payloads in the request, or start the "
                "engine with payload_folder (REPRISE_PAYLOAD_FOLDER)."
            )
        return self._folder

    def _require(self, path: str) -> Folder:
        """The folder, in which this payload must be."""
        folder = self._require_folder()
        folder.file(path)
        if not folder.holds(path):
            raise NotFound(f"No payload found by path: {path}")
        return folder


def _holds(folder: Folder, path: str, data: bytes) -> bool:
    """Are these the bytes of a file? One that has gone, or was filled up from a template since, is
    no longer what it is named for."""
    try:
        return folder.read(path) == data
    except StoreFailed:
        return False


def _word(field: str, text: str, allowed: tuple[str, ...]) -> str:
    word = text.upper()
    if word not in allowed:
        raise InvalidInput(f"{field} is {text!r}: use one of {', '.join(allowed)}.")
    return word


def _require_writable(path: str) -> str:
    """Whose payload a client may write under this path: a task's or a workflow's."""
    found = GIVEN_OUT.fullmatch(path)
    if found is None:
        raise InvalidInput(
            f"path is {path!r}, which clients cannot write to: ask externalstoragelocation for a "
            "path with operation=WRITE."
        )
    return found[1]
