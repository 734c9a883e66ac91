"""Six-field cron expressions in Spring's dialect: seconds come first, day of month and day of week
must both match. Local times alone; wall_clock.py knows which instants they are.
"""

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache

from engine.rules.cron_days import (
    DayRule,
    before_the_last,
    last,
    last_weekday,
    nearest_weekday,
    nth,
)

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


class InvalidCron(ValueError):
    """The text is no cron expression; the message says where and why."""


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
            rules.append(last_weekday)
        elif part.startswith("L"):
            rules.append(before_the_last(_offset(part)))
        elif part.endswith("W"):
            rules.append(nearest_weekday(_day(part[:-1])))
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
            rules.append(nth(_weekday(day), _which(which)))
        elif part.endswith("L"):
            rules.append(last(_weekday(part[:-1])))
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
