"""Days of cron expressions that depend on their month. 1 is Monday, 7 is Sunday."""

import calendar
from collections.abc import Callable
from datetime import date

DayRule = Callable[[int, int], int | None]
"""Year and month -> the day it means there, if any."""


def _length(year: int, month: int) -> int:
    return calendar.monthrange(year, month)[1]


def before_the_last(offset: int) -> DayRule:
    """`L-3`: so many days before the last one; `L` for 0."""

    def rule(year: int, month: int) -> int | None:
        day = _length(year, month) - offset
        return day if day > 0 else None

    return rule


def last_weekday(year: int, month: int) -> int | None:
    """`LW`: the last day from Monday to Friday."""
    day = _length(year, month)
    return day - max(0, date(year, month, day).isoweekday() - 5)


def nearest_weekday(day: int) -> DayRule:
    """`15W`: the day from Monday to Friday that is nearest, within the month."""

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


def nth(weekday: int, which: int) -> DayRule:
    """`FRI#2`: the second Friday, in months that have one."""

    def rule(year: int, month: int) -> int | None:
        first = date(year, month, 1).isoweekday()
        day = 1 + (weekday - first) % 7 + 7 * (which - 1)
        return day if day <= _length(year, month) else None

    return rule


def last(weekday: int) -> DayRule:
    """`5L`: the last Friday."""

    def rule(year: int, month: int) -> int | None:
        length = _length(year, month)
        return length - (date(year, month, length).isoweekday() - weekday) % 7

    return rule
