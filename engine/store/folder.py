"""The folder of payload files: what is too large for the database, a file for each payload.

A file is written as a whole, is on the disk before anything refers to it, and never changes. No name
of another form than ours ever reaches the disk.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from engine.model.errors import InvalidInput
from engine.model.ids import content_hash
from engine.store.contract import StoreFailed

GIVEN_OUT = re.compile(r"(task|workflow)_(?:input|output)_[0-9a-f]{32}\.json")
"""A name that a client may write to: it is made by chance, so nobody else knows it."""
BY_CONTENT = re.compile(r"content_[0-9a-f]{32}\.json")
_HALF_WRITTEN = re.compile(r"\..+\.part")


def name_of(data: bytes) -> str:
    """The name that a payload has by its content."""
    return f"content_{content_hash(data)}.json"


class Folder:
    """One folder, of one database. Any thread may call; only the writer's may drop."""

    def __init__(self, place: Path, make: bool = True) -> None:
        """The folder is made if it is not there, unless it is only looked at."""
        self.place = place.expanduser().absolute()
        if not make:
            return
        try:
            self.place.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(
                f"payload_folder is {str(place)!r}, which cannot be made: {error}. Name a folder "
                "that can be written to, or unset it."
            ) from None

    def file(self, path: str) -> Path:
        """The file of a payload, whether it is there or not."""
        if not (GIVEN_OUT.fullmatch(path) or BY_CONTENT.fullmatch(path)):
            raise InvalidInput(
                f"path is {path!r}, which this engine has not given out: ask "
                "externalstoragelocation for one."
            )
        return self.place / path

    def holds(self, path: str) -> bool:
        """Is this payload here?"""
        form = GIVEN_OUT.fullmatch(path) or BY_CONTENT.fullmatch(path)
        return form is not None and (self.place / path).is_file()

    def read(self, path: str, most: int = -1) -> bytes:
        """A payload that the database refers to, or its first bytes."""
        try:
            with self.file(path).open("rb") as stream:
                return stream.read(most)
        except OSError as error:
            raise StoreFailed(
                f"the payload {path} cannot be read from {self.place}: {error.strerror}"
            ) from error

    def keep(self, path: str, data: bytes) -> None:
        """See to it that a payload is on the disk. Raises OSError where it cannot be."""
        file = self.file(path)
        if not file.exists():
            _store(file, data)

    def drop(self, names: Sequence[str]) -> None:
        """Files that nothing refers to go; one that stays behind is found again as an orphan."""
        for name in names:
            with suppress(OSError):
                (self.place / name).unlink()

    def clear(self) -> None:
        """The database is thrown away, and so is this."""
        shutil.rmtree(self.place, ignore_errors=True)

    def names(self) -> Iterator[str]:
        """The names of all payloads."""
        with os.scandir(self.place) as entries:
            for entry in entries:
                if GIVEN_OUT.fullmatch(entry.name) or BY_CONTENT.fullmatch(entry.name):
                    yield entry.name

    def older(self, before_ms: int) -> Iterator[str]:
        """The names of ours that were written before an instant, half-written ones as well."""
        with os.scandir(self.place) as entries:
            for entry in entries:
                if _is_ours(entry.name) and self.is_older(entry.name, before_ms):
                    yield entry.name

    def is_older(self, name: str, before_ms: int) -> bool:
        """Was this file written before an instant?"""
        try:
            return (self.place / name).stat().st_mtime * 1000 < before_ms
        except OSError:
            return False


def read_from(folder: Folder | None, path: str, most: int = -1) -> bytes:
    """A payload that the database refers to, where there may be no folder."""
    if folder is None:
        raise StoreFailed(
            f"the payload {path} is a file, and the engine has no folder: start it with "
            "payload_folder (REPRISE_PAYLOAD_FOLDER)"
        )
    return folder.read(path, most)


def _is_ours(name: str) -> bool:
    forms = (BY_CONTENT, GIVEN_OUT, _HALF_WRITTEN)
    return any(form.fullmatch(name) for form in forms)


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
    _flush(file.parent)


def _flush(folder: Path) -> None:
    """A new name is on the disk when its folder is."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
