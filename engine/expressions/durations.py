"""How long a WAIT waits: `duration` ("1h 30m") and `until` ("2031-01-01 10:00 UTC"). The server's own
time zone is handed in; nothing here knows what time it is."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from engine.model.record import Json

_PARTS = (
    (r"days|day|d", 86_400_000),
    (r"hours|hour|hrs|hr|h", 3_600_000),
    (r"minutes|minute|mins|min|m", 60_000),
    (r"seconds|second|secs|sec|s", 1_000),
)
_DURATION = re.compile(
    r"\s*" + r"\s*".join(rf"(?:([0-9]{{1,15}})\s*(?:{words}))?" for words, _ in _PARTS) + r"\s*",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    r"([0-9]{1,4})-([0-9]{1,4})-([0-9]{1,4})(?: ([0-9]{1,4}):([0-9]{1,4})(?: (\S.*))?)?"
)
_OFFSET = re.compile(r"(?:GMT)?([+-])([01][0-9]|2[0-3]):?([0-5][0-9])")

_HOURS_FROM_UTC: dict[str, float] = {
    "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3,
    "MSK": 3, "IST": 5.5, "ICT": 7, "WIB": 7, "SGT": 8, "HKT": 8, "AWST": 8, "JST": 9, "KST": 9,
    "ACST": 9.5, "ACDT": 10.5, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13, "SAST": 2, "CAT": 2,
    "WAT": 1, "EAT": 3, "HST": -10, "AKST": -9, "AKDT": -8, "PST": -8, "PDT": -7, "MST": -7,
    "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4, "AST": -4, "ADT": -3, "NST": -3.5,
    "NDT": -2.5, "BRT": -3, "ART": -3,
    "Coordinated Universal Time": 0, "Greenwich Mean Time": 0, "British Summer Time": 1,
    "Western European Time": 0, "Western European Standard Time": 0,
    "Western European Summer Time": 1, "Central European Time": 1,
    "Central European Standard Time": 1, "Central European Summer Time": 2,
    "Eastern European Time": 2, "Eastern European Standard Time": 2,
    "Eastern European Summer Time": 3, "Moscow Standard Time": 3, "India Standard Time": 5.5,
    "Indochina Time": 7, "Singapore Standard Time": 8, "Hong Kong Standard Time": 8,
    "China Standard Time": 8, "Japan Standard Time": 9, "Korean Standard Time": 9,
    "Australian Western Standard Time": 8, "Australian Eastern Standard Time": 10,
    "Australian Eastern Daylight Time": 11, "New Zealand Standard Time": 12,
    "New Zealand Daylight Time": 13, "South Africa Standard Time": 2,
    "Hawaii-Aleutian Standard Time": -10, "Alaska Standard Time": -9, "Alaska Daylight Time": -8,
    "Pacific Standard Time": -8, "Pacific Daylight Time": -7, "Mountain Standard Time": -7,
    "Mountain Daylight Time": -6, "Central Standard Time": -6, "Central Daylight Time": -5,
    "Eastern Standard Time": -5, "Eastern Daylight Time": -4, "Atlantic Standard Time": -4,
    "Atlantic Daylight Time": -3, "Newfoundland Standard Time": -3.5, "Brasilia Standard Time": -3,
}  # fmt: skip
_ZONES = {name.lower(): hours for name, hours in _HOURS_FROM_UTC.items()}


class InvalidDuration(ValueError):
    """The value is not a duration."""


class InvalidUntil(ValueError):
    """The value is not a moment."""


def duration_ms(value: Json) -> int:
    """`90s`, `1d 2h`, `2 Hours 5 mins`: days, hours, minutes and seconds, in this order."""
    found = _DURATION.fullmatch(str(value)) if value is not None else None
    if found is None or not any(found.groups()):
        raise InvalidDuration(f"Not valid duration: {value}")
    return sum(
        int(count) * unit_ms
        for count, (_, unit_ms) in zip(found.groups(), _PARTS, strict=True)
        if count
    )


def until_ms(value: Json, server_zone: tzinfo = UTC) -> int:
    """The moment in milliseconds since 1970. Without a zone in the text, the server's counts. The
    calendar is lenient: February 30 is March 2."""
    found = _UNTIL.fullmatch(str(value)) if value is not None else None
    if found is None:
        raise _no_moment(value)
    year, month, day, hour, minute = (int(part or 0) for part in found.groups()[:5])
    zone = server_zone if found[6] is None else _zone(found[6])
    if zone is None:
        raise _no_moment(value)
    years, months = divmod(month - 1, 12)
    try:
        start = datetime(year + years, months + 1, 1)
        local = start + timedelta(days=day - 1, hours=hour, minutes=minute)
        return int(local.replace(tzinfo=zone).timestamp()) * 1000
    except (ValueError, OverflowError) as error:
        raise _no_moment(value) from error


def _no_moment(value: Json) -> InvalidUntil:
    return InvalidUntil(f"Invalid/Unsupported Wait Until format.  Provided: {value}")


def _zone(name: str) -> tzinfo | None:
    """`PST`, `Pacific Standard Time`, `GMT+02:00`, `+0200`; a colon needs GMT in front."""
    offset = _OFFSET.fullmatch(name)
    if offset and name.startswith("GMT") == (":" in name):
        minutes = int(offset[2]) * 60 + int(offset[3])
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    hours = _ZONES.get(name.lower())
    return None if hours is None else timezone(timedelta(hours=hours))
