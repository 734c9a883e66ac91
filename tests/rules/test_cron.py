"""Cron expressions in Spring's dialect, and what they mean where clocks are changed."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.rules.cron import InvalidCron, parse_cron
from engine.rules.wall_clock import InvalidZone, next_instant, zone_of


def fires(text: str, start: str, count: int, zone: str = "UTC", shift: bool = False) -> list[str]:
    """The next few instants after a UTC time, in the zone's local time with its offset."""
    at = int(datetime.fromisoformat(start).replace(tzinfo=UTC).timestamp() * 1000)
    found = []
    for _ in range(count):
        following = next_instant(parse_cron(text), zone_of(zone), at, shift)
        if following is None:
            break
        assert following > at
        at = following
        found.append(f"{datetime.fromtimestamp(at / 1000, zone_of(zone)):%Y-%m-%d %H:%M:%S%z}")
    return found


def days(text: str, start: str, count: int) -> list[str]:
    return [found[:10] for found in fires(text, start, count)]


FRIDAY = "2024-03-01T00:00:00"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 0 0 L * *", ["2024-03-31", "2024-04-30", "2024-05-31"]),
        ("0 0 0 L-3 * *", ["2024-03-28", "2024-04-27", "2024-05-28"]),
        ("0 0 0 LW * *", ["2024-03-29", "2024-04-30", "2024-05-31"]),
        ("0 0 0 15W * *", ["2024-03-15", "2024-04-15", "2024-05-15", "2024-06-14"]),
        ("0 0 0 1W * *", ["2024-04-01", "2024-05-01", "2024-06-03", "2024-07-01"]),
        ("0 0 0 31W * *", ["2024-03-29", "2024-05-31", "2024-07-31"]),
        ("0 0 0 ? * FRI#2", ["2024-03-08", "2024-04-12", "2024-05-10"]),
        ("0 0 0 ? * MON#5", ["2024-04-29", "2024-07-29", "2024-09-30"]),
        ("0 0 0 ? * 5L", ["2024-03-29", "2024-04-26", "2024-05-31"]),
        ("0 0 0 ? * THUL", ["2024-03-28", "2024-04-25"]),
        ("0 0 0 ? * SUN", ["2024-03-03", "2024-03-10"]),
        ("0 0 0 ? * 0", ["2024-03-03", "2024-03-10"]),
        ("0 0 0 ? * 7", ["2024-03-03", "2024-03-10"]),
        ("0 0 0 ? * SUN-TUE", ["2024-03-03", "2024-03-04", "2024-03-05", "2024-03-10"]),
        ("0 0 0 13 * FRI", ["2024-09-13", "2024-12-13", "2025-06-13"]),
        ("0 0 0 29 2 ?", ["2028-02-29", "2032-02-29"]),
        ("0 0 0 1,15 JAN-MAR/2 *", ["2024-03-15", "2025-01-01", "2025-01-15"]),
        ("0 0 0 10/10 * ?", ["2024-03-10", "2024-03-20", "2024-03-30", "2024-04-10"]),
        ("0 0 0 L,1 * ?", ["2024-03-31", "2024-04-01", "2024-04-30"]),
        ("@monthly", ["2024-04-01", "2024-05-01"]),
        ("@weekly", ["2024-03-03", "2024-03-10"]),
        ("@yearly", ["2025-01-01", "2026-01-01"]),
        ("@Annually", ["2025-01-01"]),
        ("@daily", ["2024-03-02", "2024-03-03"]),
        ("@midnight", ["2024-03-02"]),
    ],
)
def test_days_are_found_by_the_calendar(text: str, expected: list[str]):
    assert days(text, FRIDAY, len(expected)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*/20 * * * * *", ["00:00:20", "00:00:40", "00:01:00"]),
        ("5/20 * * * * *", ["00:00:05", "00:00:25", "00:00:45", "00:01:05"]),
        ("0 10-20/5 * * * *", ["00:10:00", "00:15:00", "00:20:00", "01:10:00"]),
        ("0 0,30 8-9 * * *", ["08:00:00", "08:30:00", "09:00:00", "09:30:00", "08:00:00"]),
        ("@hourly", ["01:00:00", "02:00:00"]),
        ("  0   0  12 * * *  ", ["12:00:00"]),
    ],
)
def test_times_of_day_are_found(text: str, expected: list[str]):
    assert [found[11:19] for found in fires(text, FRIDAY, len(expected))] == expected


def test_the_next_time_is_strictly_later_even_within_a_second():
    cron, zone = parse_cron("* * * * * *"), zone_of("UTC")
    assert next_instant(cron, zone, 1_000) == 2_000
    assert next_instant(cron, zone, 1_001) == 2_000
    assert next_instant(cron, zone, 1_999) == 2_000


def test_a_day_that_never_comes_has_no_next_time():
    assert fires("0 0 0 30 2 *", FRIDAY, 1) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("* * * * *", "has 5 fields"),
        ("* * * * * * *", "has 7 fields"),
        ("", "has 0 fields"),
        ("60 * * * * *", "second"),
        ("* 60 * * * *", "minute"),
        ("* * 24 * * *", "hour"),
        ("* * * 0 * *", "day of month"),
        ("* * * 32 * *", "day of month"),
        ("* * * * 13 *", "month"),
        ("* * * * FOO *", "month"),
        ("* * * * * 8", "day of week"),
        ("* * * * * FRI-MON", "in order"),
        ("30-10 * * * * *", "in order"),
        ("*/0 * * * * *", "step"),
        ("1,,2 * * * * *", "no number"),
        ("-1 * * * * *", "no number"),
        ("? * * * * *", "no number"),
        ("* * * L3 * *", "L-3"),
        ("* * * W * *", "no number"),
        ("* * * L-0 * *", "day of month"),
        ("* * * * * L", "no number"),
        ("* * * * * FRI#6", "#1 to #5"),
        ("* * * * * #2", "no number"),
        ("@reboot", "has 1 fields"),
    ],
)
def test_what_is_no_cron_expression_says_where(text: str, says: str):
    with pytest.raises(InvalidCron, match="cron expression") as refused:
        parse_cron(text)
    assert says in str(refused.value)


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc/passwd", "/etc/passwd"])
def test_an_unknown_zone_is_refused(name: str):
    with pytest.raises(InvalidZone, match="IANA"):
        zone_of(name)


NEW_YORK = "America/New_York"


def test_a_local_time_keeps_its_hour_through_the_year():
    """FR-020."""
    found = fires("0 59 9 1 1,7 *", "2025-12-01T00:00:00", 3, NEW_YORK)
    assert [item[11:16] for item in found] == ["09:59", "09:59", "09:59"]
    assert [item[19:] for item in found] == ["-0500", "-0400", "-0500"]


def test_a_local_time_that_does_not_exist_is_skipped():
    """FR-020."""
    found = fires("0 30 2 * * *", "2026-03-07T12:00:00", 2, NEW_YORK)
    assert found == ["2026-03-09 02:30:00-0400", "2026-03-10 02:30:00-0400"]


def test_or_it_is_shifted_to_the_end_of_the_gap():
    found = fires("0 10,30 2 * * *", "2026-03-07T12:00:00", 3, NEW_YORK, shift=True)
    assert found == [
        "2026-03-08 03:00:00-0400",
        "2026-03-09 02:10:00-0400",
        "2026-03-09 02:30:00-0400",
    ]


def test_a_local_time_that_comes_twice_fires_once():
    """FR-020."""
    found = fires("0 30 1 * * *", "2026-10-31T12:00:00", 2, NEW_YORK)
    assert found == ["2026-11-01 01:30:00-0400", "2026-11-02 01:30:00-0500"]


def test_counted_from_within_the_second_pass_it_does_not_fire_again():
    found = fires("0 30 1 * * *", "2026-11-01T06:10:00", 1, NEW_YORK)
    assert found == ["2026-11-02 01:30:00-0500"]


def test_every_quarter_of_an_hour_goes_on_in_real_time():
    """FR-020."""
    found = fires("0 0/15 * * * *", "2026-11-01T05:20:00", 8, NEW_YORK)
    assert [item[11:] for item in found] == [
        "01:30:00-0400",
        "01:45:00-0400",
        "01:00:00-0500",
        "01:15:00-0500",
        "01:30:00-0500",
        "01:45:00-0500",
        "02:00:00-0500",
        "02:15:00-0500",
    ]


def test_every_quarter_of_an_hour_passes_over_the_gap_in_real_time():
    found = fires("0 0/30 * * * *", "2026-03-08T06:20:00", 3, NEW_YORK)
    assert [item[11:] for item in found] == ["01:30:00-0500", "03:00:00-0400", "03:30:00-0400"]


def test_a_change_of_half_an_hour_is_a_change_too():
    found = fires("0 15/30 * * * *", "2026-04-04T14:20:00", 4, "Australia/Lord_Howe")
    assert [item[11:] for item in found] == [
        "01:45:00+1100",
        "01:45:00+1030",
        "02:15:00+1030",
        "02:45:00+1030",
    ]


@pytest.mark.parametrize(
    "zone", [NEW_YORK, "Europe/Brussels", "Africa/Cairo", "Australia/Lord_Howe", "Asia/Tokyo"]
)
@pytest.mark.parametrize("text", ["0 59 9 * * *", "0 30 2 * * *", "0 30 1 * * *", "0 20 */4 * * *"])
@pytest.mark.parametrize("shift", [False, True])
def test_no_schedule_stops_and_none_goes_back(zone: str, text: str, shift: bool):
    """FR-020."""
    found = fires(text, "2026-01-01T00:00:00", 800, zone, shift)
    assert len(found) == 800


FIELDS = st.tuples(
    st.sampled_from(["*", "0/15", "7,40", "30-50"]),
    st.sampled_from(["*", "0", "*/7", "3-5", "22,4"]),
    st.sampled_from(["*", "1", "L", "L-2", "15W", "LW", "3,L", "28-31"]),
    st.sampled_from(["*", "2", "JAN,MAR", "6-9"]),
    st.sampled_from(["*", "?", "MON-FRI", "0", "SUN", "5L", "2#1", "6,7"]),
)


@settings(max_examples=60, deadline=None)
@given(FIELDS, st.integers(0, 3 * 365 * 1440))
def test_no_minute_between_two_times_matches(fields: tuple[str, ...], minutes: int):
    """Against a walk through the calendar that knows the fields alone."""
    cron = parse_cron(" ".join(["0", *fields]))
    start = datetime(2024, 1, 1) + timedelta(minutes=minutes)
    found = cron.next_local(start)
    day, here = start.date(), start
    for _ in range(60):
        if day.month in cron.months and day.day in cron.days_in(day.year, day.month):
            for hour in cron.hours:
                for minute in cron.minutes:
                    here = datetime(day.year, day.month, day.day, hour, minute)
                    if here > start:
                        assert found == here
                        return
        day += timedelta(days=1)
    assert found is None or found.date() >= day
