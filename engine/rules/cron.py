"""Six-field cron expressions in Spring's dialect, and the instants they name in a time zone.

Seconds come first; day of month and day of week must both match. Clocks that are put forward or
back: a local time that does not exist is skipped (or shifted to the end of the gap), one that comes
twice fires once; expressions for every hour go by real time and fire in both.
"""

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MACROS = {
    "@yearly": "0 0 0 1 1 *",
    "@annually": "0 0 0 1 1 *",
    "@monthly": "0 0 0 1 * *",
    "@weekly": "0 0 0 * * 0",
    "@daily": "0 0 0 * * *",
    "@midnight": "0 0 0 * * *",
    "@hourly": "0 0 * * * *",
}
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_DAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]
_SUNDAY = 7

YEARS_AHEAD = 40
"""How far a next time is looked for: February 29 on a given weekday comes within 40 years."""

DayRule = Callable[[int, int], int | None]
"""Year and month -> the day it means there, if any: `L`, `15W`, `FRI#2`."""


class InvalidCron(ValueError):
    """The text is no cron expression; the message says where and why."""


class InvalidZone(ValueError):
    """There is no such time zone."""


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed expression."""

    text: str
    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    day_rules: tuple[DayRule, ...]
    months: frozenset[int]
    weekdays: frozenset[int]
    """1 is Monday, 7 is Sunday."""
    weekday_rules: tuple[DayRule, ...]

    @property
    def every_hour(self) -> bool:
        """Goes by real time rather than by the hour on the wall."""
        return len(self.hours) == 24

    def days_in(self, year: int, month: int) -> list[int]:
        """The days of a month on which it fires."""
        length = calendar.monthrange(year, month)[1]
        by_day = self.days | {rule(year, month) for rule in self.day_rules}
        by_weekday = {rule(year, month) for rule in self.weekday_rules}
        first = date(year, month, 1).isoweekday()
        return [
            day
            for day in range(1, length + 1)
            if day in by_day and ((first + day - 2) % 7 + 1 in self.weekdays or day in by_weekday)
        ]

    def next_local(self, after: datetime) -> datetime | None:
        """The first matching local time after a local time, as if clocks were never changed."""
        earliest = after + timedelta(seconds=1)
        year, month = earliest.year, earliest.month
        for _ in range(YEARS_AHEAD * 12 + 1):
            if month in self.months:
                found = self._next_in_month(year, month, earliest)
                if found is not None:
                    return found
            year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        return None

    def _next_in_month(self, year: int, month: int, earliest: datetime) -> datetime | None:
        for day in self.days_in(year, month):
            today = date(year, month, day)
            if today < earliest.date():
                continue
            start = earliest if today == earliest.date() else datetime(year, month, day)
            found = self._next_on_day(start)
            if found is not None:
                return found
        return None

    def _next_on_day(self, start: datetime) -> datetime | None:
        for hour in self.hours:
            if hour < start.hour:
                continue
            for minute in self.minutes:
                if hour == start.hour and minute < start.minute:
                    continue
                same_minute = hour == start.hour and minute == start.minute
                for second in self.seconds:
                    if not same_minute or second >= start.second:
                        return start.replace(hour=hour, minute=minute, second=second)
        return None


def zone_of(name: str) -> ZoneInfo:
    """A time zone by its IANA name; raises InvalidZone."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidZone(
            f"zoneId is {name!r}: give an IANA time zone such as Europe/Berlin, or UTC."
        ) from error


def next_instant(cron: Cron, zone: ZoneInfo, after: int, shift: bool = False) -> int | None:
    """The first instant after another (epoch milliseconds) that an expression names in a zone.
    `shift`: a local time that does not exist fires at the end of the gap."""
    return _Wall(zone, shift).next(cron, after // 1000)


class _Wall:
    """A clock on a wall: local times and the instants they mean (epoch seconds)."""

    def __init__(self, zone: ZoneInfo, shift: bool) -> None:
        self._zone = zone
        self._shift = shift

    def next(self, cron: Cron, after: int) -> int | None:
        here = datetime.fromtimestamp(after, self._zone)
        local = here.replace(tzinfo=None, fold=0)
        again = self._second_pass(cron, local, here.fold)
        found = cron.next_local(local)
        while found is not None:
            instant = self._instant(cron, found, here.fold)
            if instant is not None and instant > after:
                at = instant if again is None else min(instant, again)
                return at * 1000
            found = cron.next_local(found)
        return None if again is None else again * 1000

    def _instant(self, cron: Cron, local: datetime, fold: int) -> int | None:
        """What a local time means; None if it is not to fire."""
        first, second = (self._reading(local, which) for which in (0, 1))
        if first == second:
            return first
        if first > second:
            return self._change(second, first) if self._shift else None
        if fold == 0:
            return first
        return second if cron.every_hour else None

    def _second_pass(self, cron: Cron, local: datetime, fold: int) -> int | None:
        """In the first of two equal hours, an expression for every hour has the second one to
        come."""
        first, second = (self._reading(local, which) for which in (0, 1))
        if first >= second or fold or not cron.every_hour:
            return None
        turned_back = self._change(first, second)
        begins = datetime.fromtimestamp(turned_back, self._zone).replace(tzinfo=None, fold=0)
        found = cron.next_local(begins - timedelta(seconds=1))
        return None if found is None else self._reading(found, 1)

    def _reading(self, local: datetime, fold: int) -> int:
        return int(local.replace(tzinfo=self._zone, fold=fold).timestamp())

    def _change(self, low: int, high: int) -> int:
        """The first instant of the new offset, between one of the old and one of the new."""
        old = self._offset(low)
        while high - low > 1:
            middle = (low + high) // 2
            if self._offset(middle) == old:
                low = middle
            else:
                high = middle
        return high

    def _offset(self, instant: int) -> timedelta | None:
        return datetime.fromtimestamp(instant, UTC).astimezone(self._zone).utcoffset()


# Reading


@lru_cache(maxsize=1024)
def parse_cron(text: str) -> Cron:
    """An expression of six fields, or a macro; raises InvalidCron."""
    fields = MACROS.get(text.strip().lower(), text).split()
    if len(fields) != 6:
        raise InvalidCron(
            f"cron expression {text!r} has {len(fields)} fields: it needs six, seconds first, "
            "such as '0 30 9 * * MON-FRI'."
        )
    try:
        seconds, minutes, hours, days, months, weekdays = fields
        plain_days, day_rules = _days(days)
        plain_weekdays, weekday_rules = _weekdays(weekdays)
        return Cron(
            text=text,
            seconds=tuple(sorted(_numbers(seconds, 0, 59, "second"))),
            minutes=tuple(sorted(_numbers(minutes, 0, 59, "minute"))),
            hours=tuple(sorted(_numbers(hours, 0, 23, "hour"))),
            days=plain_days,
            day_rules=day_rules,
            months=_numbers(_named(months, _MONTHS), 1, 12, "month"),
            weekdays=plain_weekdays,
            weekday_rules=weekday_rules,
        )
    except InvalidCron as error:
        raise InvalidCron(f"cron expression {text!r}: {error}") from None


def _named(text: str, names: list[str]) -> str:
    """Names as the numbers they stand for, from 1."""
    text = text.upper()
    for number, name in enumerate(names, 1):
        text = text.replace(name, str(number))
    return text


def _numbers(text: str, least: int, most: int, what: str) -> frozenset[int]:
    """A list of numbers, ranges and steps."""
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step = part.partition("/")
        low, high = _span(span, least, most, what)
        if slash:
            every = _number(step, what)
            if every < 1:
                raise InvalidCron(f"the step of the {what} in {part!r} must be 1 or more")
            # `5/10` goes on to the end of the field; `5-30/10` to the end of its range.
            high = most if "-" not in span and span != "*" else high
            found.update(range(low, high + 1, every))
        else:
            found.update(range(low, high + 1))
    return frozenset(found)


def _span(text: str, least: int, most: int, what: str) -> tuple[int, int]:
    if text == "*":
        return least, most
    start, dash, end = text.partition("-")
    low = _number(start, what)
    high = _number(end, what) if dash else low
    if what == "day of week" and dash and low == _SUNDAY:
        low = 0
    if not least <= low <= high <= most:
        raise InvalidCron(f"{text!r} is no {what}: it must be from {least} to {most}, in order")
    return low, high


def _number(text: str, what: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise InvalidCron(f"{text!r} is no number for the {what}")
    return int(text)


def _days(text: str) -> tuple[frozenset[int], tuple[DayRule, ...]]:
    """The day of month, with `?`, `L`, `L-3`, `LW` and `15W`."""
    plain: list[str] = []
    rules: list[DayRule] = []
    for part in text.upper().split(","):
        if part == "LW":
            rules.append(_last_weekday)
        elif part.startswith("L"):
            rules.append(_before_the_last(_offset(part)))
        elif part.endswith("W"):
            rules.append(_nearest_weekday(_day(part[:-1])))
        else:
            plain.append("*" if part == "?" else part)
    return (
        frozenset().union(*(_numbers(part, 1, 31, "day of month") for part in plain)),
        tuple(rules),
    )


def _offset(part: str) -> int:
    found = re.fullmatch(r"L(?:-([0-9]{1,2}))?", part)
    if found is None or found[1] == "0":
        raise InvalidCron(f"{part!r} is no day of month: write L, LW, or L-3 for three days before")
    return int(found[1] or 0)


def _day(text: str) -> int:
    day = _number(text, "day of month")
    if not 1 <= day <= 31:
        raise InvalidCron(f"{text!r} is no day of month: it must be from 1 to 31")
    return day


def _weekdays(text: str) -> tuple[frozenset[int], tuple[DayRule, ...]]:
    """The day of week, with `?`, `5L` and `FRI#2`; 0 and 7 are both Sunday."""
    plain: list[str] = []
    rules: list[DayRule] = []
    for part in _named(text, _DAYS).split(","):
        if "#" in part:
            day, _, which = part.partition("#")
            rules.append(_nth(_weekday(day), _which(which)))
        elif part.endswith("L"):
            rules.append(_last(_weekday(part[:-1])))
        else:
            plain.append("*" if part == "?" else part)
    numbers: set[int] = set()
    for part in plain:
        numbers |= _numbers(part, 0, 7, "day of week")
    return frozenset(_SUNDAY if day == 0 else day for day in numbers), tuple(rules)


def _weekday(text: str) -> int:
    day = _number(text, "day of week")
    if not 0 <= day <= 7:
        raise InvalidCron(f"{text!r} is no day of week: it must be from 0 to 7, or a name")
    return day or _SUNDAY


def _which(text: str) -> int:
    which = _number(text, "day of week")
    if not 1 <= which <= 5:
        raise InvalidCron(f"'#{text}' must be from #1 to #5")
    return which


# Days that depend on their month


def _length(year: int, month: int) -> int:
    return calendar.monthrange(year, month)[1]


def _before_the_last(offset: int) -> DayRule:
    def rule(year: int, month: int) -> int | None:
        day = _length(year, month) - offset
        return day if day > 0 else None

    return rule


def _last_weekday(year: int, month: int) -> int | None:
    day = _length(year, month)
    return day - max(0, date(year, month, day).isoweekday() - 5)


def _nearest_weekday(day: int) -> DayRule:
    def rule(year: int, month: int) -> int | None:
        length = _length(year, month)
        if day > length:
            return None
        weekday = date(year, month, day).isoweekday()
        if weekday == 6:
            return day - 1 if day > 1 else day + 2
        if weekday == 7:
            return day + 1 if day < length else day - 2
        return day

    return rule


def _nth(weekday: int, which: int) -> DayRule:
    def rule(year: int, month: int) -> int | None:
        first = date(year, month, 1).isoweekday()
        day = 1 + (weekday - first) % 7 + 7 * (which - 1)
        return day if day <= _length(year, month) else None

    return rule


def _last(weekday: int) -> DayRule:
    def rule(year: int, month: int) -> int | None:
        length = _length(year, month)
        return length - (date(year, month, length).isoweekday() - weekday) % 7

    return rule
