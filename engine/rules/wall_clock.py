"""Which instants a cron expression names in a time zone.

Clocks that are put forward or back: a local time that does not exist is skipped (or shifted to the
end of the gap), one that comes twice fires once; expressions for every hour go by real time and
fire in both.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from engine.rules.cron import Cron


class InvalidZone(ValueError):
    """There is no such time zone."""


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
