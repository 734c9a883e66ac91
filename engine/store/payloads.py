"""Large values live in a table of their own, under the hash of their content.

A row holds either the value itself or a reference to it; above the store nobody can tell. A value
that was written lately is not written again, so an input that repeats an output costs a hash.
"""

import hashlib
import zlib
from collections import OrderedDict
from collections.abc import Callable

from sqlmodel import Session

from engine.store.files import FOLDER
from engine.store.folder import read_from
from engine.store.tables import Payload

INLINE_BYTES = 8 * 1024
"""Values up to here stay in their row."""
PLAIN_BYTES = 16 * 1024
"""Values above are compressed."""
_MARK = b"\0"
"""Begins a reference to a row. JSON never begins with it."""
_FILE = b"\1"
"""Begins a reference to a file; nor with this."""
_RAW, _ZLIB = 0, 1
_REMEMBERED = 4096
_HELD_BYTES = 32 * 1024 * 1024

PayloadRow = tuple[bytes, int, int, bytes]
"""hash, size, codec, body."""


class Payloads:
    """What one store knows about the large values it has written lately."""

    def __init__(self) -> None:
        self._stored: OrderedDict[bytes, None] = OrderedDict()
        self._hashed: OrderedDict[int, tuple[bytes, bytes]] = OrderedDict()
        self._held = 0

    def name(self, value: bytes) -> bytes:
        """The hash of a value. The same object is hashed once: an output is often written again
        when what follows from it is done, and again as an input."""
        known = self._hashed.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        digest = hashlib.blake2b(value, digest_size=16).digest()
        self._hold(value, digest)
        return digest

    def _hold(self, value: bytes, digest: bytes) -> None:
        """Keeping the object keeps its identity from being given to another."""
        self._hashed[id(value)] = (value, digest)
        self._held += len(value)
        while self._held > _HELD_BYTES and self._hashed:
            _, (dropped, _) = self._hashed.popitem(last=False)
            self._held -= len(dropped)

    def knows(self, digest: bytes) -> bool:
        """Is this value certainly stored already?"""
        return digest in self._stored

    def learn(self, digests: list[bytes]) -> None:
        """These values are committed."""
        for digest in digests:
            self._stored[digest] = None
        while len(self._stored) > _REMEMBERED:
            self._stored.popitem(last=False)

    def forget(self) -> None:
        """Values may have been removed: what is stored must be found out anew."""
        self._stored.clear()


def is_inline(value: bytes) -> bool:
    """May this value stay in its row?"""
    return len(value) <= INLINE_BYTES and not value.startswith((_MARK, _FILE))


def reference(digest: bytes) -> bytes:
    """What a row holds instead of a large value."""
    return _MARK + digest


def file_reference(path: str) -> bytes:
    """What a row holds instead of a value that is a file."""
    return _FILE + path.encode()


def is_file(held: bytes | None) -> bool:
    """Does a row hold the name of a file?"""
    return held is not None and bytes(held[:1]) == _FILE


def payload_row(digest: bytes, value: bytes) -> PayloadRow:
    """The row of a large value."""
    if len(value) > PLAIN_BYTES:
        return digest, len(value), _ZLIB, zlib.compress(value, 1)
    return digest, len(value), _RAW, value


def whole(
    held: bytes | None,
    fetch: Callable[[bytes], tuple[int, bytes]],
    read: Callable[[str], bytes],
) -> bytes | None:
    """The value of what a row holds; `fetch` gives codec and body for a hash, `read` a file."""
    if held is None:
        return None
    held = bytes(held)
    if held.startswith(_FILE):
        return read(held[1:].decode())
    if not held.startswith(_MARK):
        return held
    codec, body = fetch(held[1:])
    return zlib.decompress(body) if codec == _ZLIB else bytes(body)


def stored_value(session: Session, held: bytes | None) -> bytes | None:
    """The value of what a row holds, for cold readers."""

    def fetch(digest: bytes) -> tuple[int, bytes]:
        row = session.get_one(Payload, digest)
        return row.codec, row.body

    return whole(held, fetch, lambda path: read_from(session.info.get(FOLDER), path))


def at_hand(session: Session, held: bytes | None) -> bytes | None:
    """The same without what is a file, which has its name beside it."""
    return None if is_file(held) else stored_value(session, held)
