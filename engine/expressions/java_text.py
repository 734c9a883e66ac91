"""How Conductor writes a value inside a text: as Java prints it. SWITCH keys and texts around
placeholders depend on every blank of it."""

import math
import re

from engine.model.record import Json, encode

_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e7


def java_text(value: Json) -> str:
    """`null`, `true`, `7`, `1.0E7`, `{k=v}`, `[a, b]`; a text is itself."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return java_double(value)
    if isinstance(value, dict):
        # Loops, not generators: a level of nesting costs one frame, so deep data has room.
        members = []
        for key, member in value.items():
            members.append(f"{key}={java_text(member)}")
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list | tuple):
        members = []
        for member in value:
            members.append(java_text(member))
        return "[" + ", ".join(members) + "]"
    return str(value)


def java_double(value: float) -> str:
    """Plain from 0.001 up to ten millions, else with an exponent: `1.0E-7`, `1.5E21`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    size = abs(value)
    if size == 0.0:
        return sign + "0.0"
    digits, power = _shortest(size)
    if _PLAIN_FROM <= size < _PLAIN_BELOW:
        return sign + _plain(digits, power)
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


def _shortest(size: float) -> tuple[str, int]:
    """The fewest digits that mean this number, and the power of ten of the first one."""
    mantissa, _, exponent = repr(size).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = (
        len(whole) - 1 if whole.strip("0") else -(len(fraction) - len(fraction.lstrip("0"))) - 1
    )
    return digits.rstrip("0") or "0", leading + int(exponent or 0)


def _plain(digits: str, power: int) -> str:
    if power < 0:
        return "0." + "0" * (-power - 1) + digits
    whole = digits[: power + 1].ljust(power + 1, "0")
    return f"{whole}.{digits[power + 1 :] or '0'}"


_WEB_UNSAFE = re.compile("[/\x7f-\x9f\u2000-\u20ff]")


def json_list_text(values: list[Json]) -> str:
    """The list of an indefinite path inside a text: compact JSON with Java's doubles, and with the
    characters escaped that could end a script on a web page."""
    return _WEB_UNSAFE.sub(_escape, _json(values))


def _json(value: Json) -> str:
    if isinstance(value, str):
        return encode(value).decode()
    if isinstance(value, dict):
        members = []
        for key, member in value.items():
            members.append(f"{encode(key).decode()}:{_json(member)}")
        return "{" + ",".join(members) + "}"
    if isinstance(value, list | tuple):
        members = []
        for member in value:
            members.append(_json(member))
        return "[" + ",".join(members) + "]"
    return java_text(value)


def _escape(match: re.Match[str]) -> str:
    return "\\/" if match[0] == "/" else f"\\u{ord(match[0]):04X}"
