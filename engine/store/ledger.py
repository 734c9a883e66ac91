"""The story of an execution: lines that are only added to, each bound to the one before it."""

import hashlib

import orjson

from engine.store.contract import LedgerLine


def chained(before: str, execution: int, line: LedgerLine) -> str:
    """The hash that binds a line to its place in the story."""
    head = orjson.dumps([before, execution, line.line, line.at, line.cause, line.by, line.why])
    return hashlib.blake2b(head + b"\n" + line.body, digest_size=16).hexdigest()
