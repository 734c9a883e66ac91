"""Ids that carry their place: a task id tells its execution and its sequence number.

Looking a task up is decoding its id. The ids of children are derived from their parents, so a
repeated start meets the child that is already there.
"""

import hashlib
import uuid
import zlib
from typing import NamedTuple

UUID_LENGTH = 36
_VERSION_8 = 0x8000
_VARIANT = 0x8 << 60
_VERSION_AND_VARIANT = 0xF000 << 64 | 0xC << 60
_END_BITS = 40


class TaskPlace(NamedTuple):
    """Where a task id points: the execution's number and the attempt's sequence number."""

    execution: int
    seq: int


def task_id(execution: int, seq: int) -> str:
    """A UUID (version 8) of 48 bits of execution number, 32 bits of seq and a check of both."""
    check = _check(execution, seq)
    high = (execution & 0xFFFF_FFFF_FFFF) << 16 | _VERSION_8 | (seq >> 20 & 0xFFF)
    low = _VARIANT | (seq & 0xF_FFFF) << 40 | check
    # The text of a UUID, put together here: uuid.UUID takes four times as long.
    text = f"{high:016x}{low:016x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def task_place(text: str) -> TaskPlace | None:
    """The place in a task id; None when the text is no task id of ours."""
    # Read by hand, as it was written: uuid.UUID takes three times as long.
    try:
        number = int(text.replace("-", ""), 16) if len(text) == UUID_LENGTH else -1
    except (ValueError, AttributeError, TypeError):
        return None
    if number < 0:
        return None
    high, low = number >> 64, number & 0xFFFF_FFFF_FFFF_FFFF
    seq = (high & 0xFFF) << 20 | (low >> 40 & 0xF_FFFF)
    execution = high >> 16
    if high & 0xF000 != _VERSION_8 or low & 0xFF_FFFF_FFFF != _check(execution, seq):
        return None
    return TaskPlace(execution, seq)


def _check(execution: int, seq: int) -> int:
    """40 bits that a mistyped or made-up id hardly meets (a multiplicative hash; no secret)."""
    mixed = (execution << 32 ^ seq) * 0x9E37_79B9_7F4A_7C15 & 0xFFFF_FFFF_FFFF_FFFF
    return (mixed ^ mixed >> 29) >> 24


def execution_id(now_ms: int, randomness: bytes) -> str:
    """A time-ordered UUID (version 7): 48 bits of milliseconds, then ten random bytes."""
    number = (now_ms & 0xFFFF_FFFF_FFFF) << 80 | int.from_bytes(randomness[:10], "big")
    number = number & ~(0xF000 << 64) & ~(0xC000 << 48) | 0x7000 << 64 | 0x8000 << 48
    return str(uuid.UUID(int=number))


def child_id(parent: str, task: str, attempt: int, depth: int = 0) -> str:
    """The id of the execution that this attempt of this task starts (always the same): a UUID
    (version 8) that tells, at its end, the family it belongs to and its `depth`, which is the
    number of its ancestors if it is a sub-workflow, else 0."""
    text = f"subworkflow:{parent}:{task}:{attempt}"
    derived = int.from_bytes(hashlib.md5(text.encode()).digest(), "big")
    end = family_of(parent) << 8 | min(depth, 255)
    number = derived >> _END_BITS << _END_BITS | end
    return str(uuid.UUID(int=number & ~_VERSION_AND_VARIANT | _VERSION_8 << 64 | _VARIANT))


def derived_id(text: str) -> str:
    """The id of an execution that something outside of any execution starts, always the same for the
    same origin: a UUID (version 3)."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest, version=3))


def depth_of(execution: str) -> int:
    """How many ancestors the id of an execution tells; 0 for one that was not started by a
    SUB_WORKFLOW."""
    end = _end_of(execution)
    return 0 if end is None else end & 0xFF


def family_of(execution: str) -> int:
    """A number (32 bits) that an execution shares with all it starts, and with all those start."""
    end = _end_of(execution)
    return zlib.crc32(execution.encode()) if end is None else end >> 8


def _end_of(execution: str) -> int | None:
    """What the id of a started execution tells; None for one that began by itself."""
    if execution[14:15] != "8":
        return None
    try:
        return uuid.UUID(execution).int & (1 << _END_BITS) - 1
    except ValueError:
        return None


def content_hash(body: bytes) -> str:
    """The name of a stored document: a hash of its bytes."""
    return hashlib.blake2b(body, digest_size=16).hexdigest()
