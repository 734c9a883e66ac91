"""Numbers, times and sizes as a person reads them. Pure: the present moment is handed in."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from studio.graph import marks

_DAY: Final = 86_400_000
# What Conductor wraps around the reason of a task when it becomes that of an execution.
_WRAPPED: Final = re.compile(
    r"Task \S+ failed with status: (?P<status>\w+) and reason: '(?P<reason>.*)'\s*", re.DOTALL
)
_CHILD: Final = re.compile(r"Sub workflow \S+ failure reason: (?P<reason>.*)", re.DOTALL)
# What Conductor writes there for a task that gave no reason.
_NOTHING: Final = re.compile(r"(?<=reason: ')null(?=')|(?<=failure reason: )null(?='*$)|^null$")
_DEPTH: Final = 8
_ASKING: Final = ("question", "title", "message", "summary", "subject", "description")
NONE: Final = "none"
NO_REASON: Final = "no reason was given"


def number(count: int) -> str:
    return f"{count:,}"


def plural(count: int, one: str, many: str = "") -> str:
    """1 task, 2 tasks."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def ago(at_ms: int, now_ms: int, zone: tzinfo = UTC) -> str:
    """How long since; beyond a day the date, because nobody counts hours then."""
    if not at_ms:
        return NONE
    passed = now_ms - at_ms
    if passed >= _DAY:
        return moment(at_ms, zone, "%d %b %H:%M")
    if passed < -1_000:
        return f"in {_coarse(-passed)}"
    return "now" if passed < 1_000 else f"{_coarse(passed)} ago"


def _coarse(ms: int) -> str:
    """A duration in one unit: an age needs no second figure."""
    seconds = ms // 1_000
    if seconds < 60:
        return f"{max(seconds, 1)} s"
    if seconds < 3_600:
        return f"{seconds // 60} min"
    return f"{seconds // 3_600} h" if seconds < 86_400 else f"{seconds // 86_400} d"


def took(ms: int | None) -> str:
    return NONE if ms is None else marks.duration_words(ms)


def moment(at_ms: int, zone: tzinfo = UTC, pattern: str = "%Y-%m-%d %H:%M:%S") -> str:
    return datetime.fromtimestamp(at_ms / 1_000, zone).strftime(pattern) if at_ms else NONE


def absolute(at_ms: int, zone: tzinfo = UTC) -> str:
    """A moment with its zone, for what is shown on hover."""
    return f"{moment(at_ms, zone)} {zone_name(at_ms, zone)}" if at_ms else ""


def zone_name(at_ms: int, zone: tzinfo) -> str:
    return datetime.fromtimestamp(at_ms / 1_000, zone).tzname() or str(zone)


def size(count: int) -> str:
    """A number of bytes."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def first_line(text: str, limit: int = 160) -> str:
    """What of a reason fits into one line."""
    lines = text.strip().splitlines()
    return marks.cut(lines[0], limit) if lines else ""


def reason_said(text: str) -> str:
    """A whole reason, with words where there is none."""
    return _NOTHING.sub(NO_REASON, text.strip())


def reason_line(text: str, limit: int = 160) -> str:
    """A reason in one line: that of the task it began with, without what was put around it."""
    inner, status = reason_said(text), ""
    for _ in range(_DEPTH):
        found = _WRAPPED.fullmatch(inner) or _CHILD.fullmatch(inner)
        if found is None:
            break
        status = found.groupdict().get("status") or status
        inner = found["reason"].strip()
    return first_line(inner, limit) or status


def asked_in(payload: str, limit: int = 90) -> str:
    """What a task asks a person, told from its input: a question or title, else its values."""
    try:
        value = json.loads(payload)
    except ValueError:
        return first_line(payload, limit)
    if not isinstance(value, Mapping):
        return first_line(payload, limit)
    for key in _ASKING:
        if isinstance(value.get(key), str) and value[key].strip():
            return first_line(value[key], limit)
    plain = [f"{key} {inner}" for key, inner in value.items() if isinstance(inner, str | int)]
    return first_line(", ".join(plain), limit)


def millis(value: Any) -> int:
    """A time as Conductor gives it: epoch milliseconds, or the text of a summary in GMT."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, int | float):
        return int(value) if value == value else 0
    if not isinstance(value, str) or not value:
        return 0
    try:
        return int(datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp() * 1_000)
    except ValueError:
        return int(value) if value.isdigit() else 0
