"""The search language, without a database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.errors import InvalidInput
from engine.store.query import Both, Compare, Either, parse

RUNNING = Compare("status", "=", ("RUNNING",))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", None),
        ("  ", None),
        ("status = RUNNING", RUNNING),
        ("status=RUNNING", RUNNING),
        ("status = 'RUNNING'", RUNNING),
        ('status = "RUNNING"', RUNNING),
        ("(status = RUNNING)", RUNNING),
        ("startTime>1700000000000", Compare("startTime", ">", ("1700000000000",))),
        ("startTime <= 5", Compare("startTime", "<=", ("5",))),
        ("status <> RUNNING", Compare("status", "!=", ("RUNNING",))),
        ("status IN (RUNNING, 'FAILED')", Compare("status", "IN", ("RUNNING", "FAILED"))),
        ("status IN ()", Compare("status", "IN", ())),
        ("status NOT IN (FAILED)", Compare("status", "NOT IN", ("FAILED",))),
        ("correlationId = two words", Compare("correlationId", "=", ("two words",))),
        ("correlationId = 'a AND (b)'", Compare("correlationId", "=", ("a AND (b)",))),
        ("parentWorkflowId = ''", Compare("parentWorkflowId", "=", ("",))),
    ],
)
def test_a_condition_is_read(query: str, expected: Compare | None) -> None:
    assert parse(query) == expected


def test_and_binds_closer_than_or() -> None:
    a, b, c = (Compare(name, "=", ("1",)) for name in "abc")
    assert parse("a=1 OR b=1 AND c=1") == Either((a, Both((b, c))))
    assert parse("(a=1 OR b=1) AND c=1") == Both((Either((a, b)), c))


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("status", "after 'status' one of"),
        ("status =", "the value of 'status' is missing"),
        ("= RUNNING", "a field is expected"),
        ("status = RUNNING AND", "a field is expected"),
        ("(status = RUNNING", r"'\)' is expected"),
        ("status = RUNNING)", "not expected here"),
        ("status IN (a b", "is expected"),
        ("status LIKE x", "after 'status' one of"),
        ("status NOT x", "after 'status' one of"),
        ("status = 'open", "cannot be read"),
    ],
)
def test_a_query_that_does_not_parse_says_where(query: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"Incorrectly formatted query string: .*{complaint}"):
        parse(query)


@given(st.text(alphabet="ab =<>!()'\",*ANDORIN", max_size=30))
def test_any_text_is_either_read_or_refused_in_words(query: str) -> None:
    try:
        parse(query)
    except InvalidInput as error:
        assert query in error.message
