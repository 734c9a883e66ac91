from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from engine.expressions.durations import InvalidDuration, InvalidUntil, duration_ms, until_ms
from tests.vectors import by_id, rows

WAITS = rows("waits")


def instant(text: str) -> int:
    return int(datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC).timestamp()) * 1000


@pytest.mark.parametrize("row", [r for r in WAITS if "seconds" in r], ids=by_id)
def test_a_duration_is_read(row: dict[str, Any]) -> None:
    assert duration_ms(row["duration"]) == row["seconds"] * 1000


@pytest.mark.parametrize("row", [r for r in WAITS if "duration" in r and "error" in r], ids=by_id)
def test_what_is_no_duration_is_refused_by_name(row: dict[str, Any]) -> None:
    with pytest.raises(InvalidDuration) as refusal:
        duration_ms(row["duration"])
    assert str(refusal.value) == f"Not valid duration: {row['duration']}"


@pytest.mark.parametrize("value", [30, 1.5, None, "", "  ", True, ["1s"], {}, "１s"])
def test_other_values_are_no_duration(value: Any) -> None:
    with pytest.raises(InvalidDuration):
        duration_ms(value)


def test_a_very_long_duration_is_not_cut() -> None:
    assert duration_ms("100000d") == 100_000 * 86_400_000


@pytest.mark.parametrize("row", [r for r in WAITS if "ends" in r], ids=by_id)
def test_a_moment_is_read(row: dict[str, Any]) -> None:
    assert until_ms(row["until"]) == instant(row["ends"])


@pytest.mark.parametrize("row", [r for r in WAITS if "until" in r and "error" in r], ids=by_id)
def test_what_is_no_moment_is_refused_by_name(row: dict[str, Any]) -> None:
    with pytest.raises(InvalidUntil) as refusal:
        until_ms(row["until"])
    assert str(refusal.value) == f"Invalid/Unsupported Wait Until format.  Provided: {row['until']}"


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("2031-01-01", "2030-12-31 23:00"),
        ("2031-07-01 10:00", "2031-07-01 08:00"),
        ("2031-07-01 10:00 UTC", "2031-07-01 10:00"),
        ("2031-07-01 10:00 cet", "2031-07-01 09:00"),
        ("2031-07-01 10:00 Pacific Standard Time", "2031-07-01 18:00"),
        ("2031-13-01 25:61", "2032-01-02 01:01"),
        ("2031-01-01 10:00 -0330", "2031-01-01 13:30"),
    ],
)
def test_a_moment_without_a_zone_is_in_the_zone_of_the_server(text: str, ends: str) -> None:
    assert until_ms(text, ZoneInfo("Europe/Berlin")) == instant(ends)


@pytest.mark.parametrize("value", [None, 5, "", "2031", "9999-99-99 10:00 +9999", "0000-01-01"])
def test_other_values_are_no_moment(value: Any) -> None:
    with pytest.raises(InvalidUntil):
        until_ms(value)
