"""Requests in: the lenient reading that Conductor's clients expect. What they are answered is written
in `answers.py`. Nothing here knows what a request is about."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote

from engine.model.errors import InvalidInput, TooLarge
from engine.model.record import Json, Record, decode

JSON_TYPE = "application/json"

LONGEST_BODY = 32 * 1024 * 1024
"""Bytes of a request body that are read at most; payload limits proper are lower."""

UNSENT = "reprise.unsent"
"""An extension of ASGI, ours: its `mind` takes a function that is called if the answer is known not
to have gone out."""

_TRUE = frozenset({"true", "1", "on", "yes"})
_FALSE = frozenset({"false", "0", "off", "no"})

Kind = TypeVar("Kind", bound=Record)


@dataclass(slots=True)
class Call:
    """One request, read leniently: an empty query value counts as absent, unknown ones as nothing."""

    method: str
    place: str
    path: Mapping[str, str]
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes = b""
    mind: Callable[[Callable[[], None]], None] | None = None
    """Takes a function to call if the answer is known not to have gone out."""
    _gone: asyncio.Event | None = None

    @property
    def gone(self) -> asyncio.Event:
        """Set when the client has closed the connection; for handlers that wait."""
        self._gone = self._gone or asyncio.Event()
        return self._gone

    @property
    def person(self) -> str | None:
        """Who asks, by their own word."""
        named = self.headers.get("x-reprise-person") or self.headers.get("x-reprise-actor")
        return unquote(named) if named else None

    @property
    def reason(self) -> str | None:
        """Why they ask it."""
        said = self.headers.get("x-reprise-reason")
        return self.text("reason") or (unquote(said) if said else None)

    def text(self, name: str) -> str | None:
        """A query value."""
        return next((value for value in self.query.get(name, ()) if value), None)

    def texts(self, name: str) -> list[str]:
        """All values of a repeatable query parameter; commas separate, too."""
        given = self.query.get(name, ())
        return [part for value in given for part in value.split(",") if part]

    def need(self, name: str) -> str:
        """A query value that must be there."""
        found = self.text(name)
        if found is None:
            raise InvalidInput(
                f"The query parameter {name} is missing: add ?{name}=... to the URL."
            )
        return found

    def number(self, name: str, default: int = 0) -> int:
        """A whole number from the query."""
        found = self.optional_number(name)
        return default if found is None else found

    def optional_number(self, name: str) -> int | None:
        """A whole number from the query, if there is one."""
        found = self.text(name)
        return None if found is None else whole(name, found)

    def flag(self, name: str, default: bool = False) -> bool:
        """A yes or no from the query, in any of the ways clients write it."""
        found = self.text(name)
        if found is None:
            return default
        word = found.lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        raise InvalidInput(f"{name} is {found!r}: write true or false.")

    def json(self) -> Json:
        """The body as JSON; None when there is none."""
        if not self.body.strip():
            return None
        self._refuse_packed()
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != JSON_TYPE and not kind.endswith("+json"):
            raise InvalidInput(f"Content-Type {kind!r} is not supported: send application/json.")
        return read_json(self.body)

    def map(self) -> dict[str, Json]:
        """The body as a JSON object; none is the empty one."""
        found = self.json()
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise InvalidInput(f"The body is {_named(found)}: send a JSON object.")
        return found

    def items(self) -> list[Json]:
        """The body as a JSON list."""
        found = self.json()
        if not isinstance(found, list):
            raise InvalidInput(f"The body is {_named(found)}: send a JSON list.")
        return found

    def ids(self) -> list[str]:
        """The body as a list of texts."""
        found = self.items()
        for item in found:
            if not isinstance(item, str):
                raise InvalidInput(f"The list holds {_named(item)}: send a list of strings.")
        return found

    def record(self, kind: type[Kind]) -> Kind:
        """The body as a record; none is the empty one."""
        return kind.read(self.map())

    def raw(self) -> str:
        """The body as text, whatever its content type says."""
        self._refuse_packed()
        try:
            return self.body.decode()
        except UnicodeDecodeError as error:
            raise InvalidInput(f"The body is no UTF-8 text: {error}.") from None

    def _refuse_packed(self) -> None:
        packed = self.headers.get("content-encoding", "identity")
        if packed.lower() != "identity":
            raise InvalidInput(
                f"Content-Encoding {packed!r} is not supported: send the body as it is."
            )


@dataclass(frozen=True, slots=True)
class Route:
    """One endpoint: where it is, who answers, and what its documentation says."""

    method: str
    path: str
    handler: Callable[..., Any]
    query: tuple[str, ...] = ()
    """Names, with `:int` or `:bool` behind those that are, `*` behind repeatable ones."""
    body: str | None = None
    """`map`, `list`, `text`, or the name of a record."""
    gives: str = "json"
    """`json`, `text`, `html`, `none` (200 without a body) or `nothing` (204)."""
    changes: bool = False
    """A GET that does more than to read."""


def query_of(raw: bytes) -> dict[str, list[str]]:
    """The query of a URL."""
    if not raw:
        return {}
    try:
        return parse_qs(raw.decode("latin-1"), keep_blank_values=True, errors="replace")
    except ValueError as error:
        raise InvalidInput(f"The query of the URL cannot be read: {error}.") from None


def headers_of(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by lower-case name."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}


def whole(name: str, text: str) -> int:
    """A whole number that fits into 64 bits."""
    try:
        number = int(text)
    except ValueError:
        raise InvalidInput(f"{name} is {text!r}: write a whole number.") from None
    if not -(2**63) <= number < 2**63:
        raise InvalidInput(f"{name} is {text}: it does not fit into 64 bits.")
    return number


def read_json(body: bytes) -> Json:
    """JSON bytes; a byte order mark is skipped, long whole numbers are kept exactly."""
    if body.startswith(b"\xef\xbb\xbf"):
        body = body[3:]
    try:
        return decode(body)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"JSON parse error: {error}") from None


def _named(value: Json) -> str:
    if value is None:
        return "missing"
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return kinds.get(type(value), "a number")


@dataclass(slots=True)
class Body:
    """Collects a request body piece by piece, up to the limit."""

    longest: int = LONGEST_BODY
    pieces: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, piece: bytes) -> None:
        """One more piece."""
        self.size += len(piece)
        if self.size > self.longest:
            raise TooLarge(
                f"The body is larger than {self.longest} bytes. Store large data elsewhere and "
                "pass a reference."
            )
        if piece:
            self.pieces.append(piece)

    def whole(self) -> bytes:
        """All of it."""
        return self.pieces[0] if len(self.pieces) == 1 else b"".join(self.pieces)
