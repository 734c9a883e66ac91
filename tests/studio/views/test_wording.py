"""Numbers, times and reasons as a person reads them."""

from zoneinfo import ZoneInfo

import pytest

from studio.views import wording

NOW = 1_796_000_000_000


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (0, "now"),
        (4_000, "4 s ago"),
        (18 * 60_000, "18 min ago"),
        (2 * 3_600_000, "2 h ago"),
        (-40 * 60_000, "in 40 min"),
    ],
)
def test_an_age_is_told_in_one_unit(passed: int, words: str) -> None:
    assert wording.ago(NOW - passed, NOW) == words


def test_beyond_a_day_the_date_is_told() -> None:
    assert wording.ago(NOW - 3 * 86_400_000, NOW) == "27 Nov 00:53"


def test_what_has_no_time_has_none() -> None:
    assert wording.ago(0, NOW) == "none"
    assert wording.moment(0) == "none"
    assert wording.took(None) == "none"


def test_an_absolute_time_names_its_zone() -> None:
    assert wording.absolute(NOW, ZoneInfo("Asia/Tokyo")) == "2026-11-30 09:53:20 JST"
    assert wording.absolute(0) == ""


@pytest.mark.parametrize(
    ("count", "words"),
    [(12, "12 B"), (2_048, "2.0 KiB"), (5 * 1024**2, "5.0 MiB"), (3 * 1024**3, "3.0 GiB")],
)
def test_a_size_has_its_unit(count: int, words: str) -> None:
    assert wording.size(count) == words


@pytest.mark.parametrize(
    ("value", "millis"),
    [
        (5, 5),
        ("2026-11-30T01:00:00.000Z", 1_796_000_400_000),
        ("17", 17),
        ("", 0),
        (None, 0),
        (True, 0),
        (float("nan"), 0),
        ("yesterday", 0),
    ],
)
def test_times_of_any_kind_become_milliseconds(value: object, millis: int) -> None:
    assert wording.millis(value) == millis


def test_a_reason_is_freed_of_what_conductor_wraps_around_it() -> None:
    inner = "Task 4711 failed with status: FAILED and reason: 'HTTP 503\nmore'"
    assert wording.reason_line(inner) == "HTTP 503"
    outer = f"Task 4712 failed with status: FAILED and reason: 'Sub workflow a.1/17 failure reason: {inner}'"
    assert wording.reason_line(outer) == "HTTP 503"
    assert wording.reason_line("plain words") == "plain words"


def test_a_reason_without_words_is_its_status() -> None:
    assert wording.reason_line("Task 1 failed with status: TIMED_OUT and reason: ''") == "TIMED_OUT"


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "Task 1 failed with status: FAILED and reason: 'null'",
        "Sub workflow a.1/17 failure reason: null",
        "Task 2 failed with status: FAILED and reason: 'Sub workflow a.1/17 failure reason: "
        "Task 1 failed with status: FAILED and reason: 'null''",
        "Task 2 failed with status: FAILED and reason: 'Sub workflow a.1/17 failure reason: null'",
    ],
)
def test_a_reason_that_nobody_gave_is_said_in_words(text: str) -> None:
    assert wording.reason_line(text) == "no reason was given"
    assert "null" not in wording.reason_said(text)


def test_a_reason_that_speaks_of_null_keeps_its_words() -> None:
    for text in ("name is null", "a 'null' came", "the reason: nullable"):
        assert wording.reason_said(text) == wording.reason_line(text) == text


def test_what_a_person_is_asked_is_found_in_the_input() -> None:
    assert wording.asked_in('{"assignee": "Noor", "question": "Approve?"}') == "Approve?"
    assert wording.asked_in('{"steps": 3, "deep": {"a": 1}}') == "steps 3"
    assert wording.asked_in("{cut off") == "{cut off"
    assert wording.asked_in("[1]") == "[1]"


def test_counts_have_their_plural() -> None:
    assert wording.plural(1, "try", "tries") == "1 try"
    assert wording.plural(1_200, "task") == "1,200 tasks"
