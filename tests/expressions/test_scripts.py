from typing import Any

import pytest

from engine.expressions.scripts import (
    ScriptAnswer,
    case_text,
    is_true,
    value_param,
)


@pytest.mark.parametrize("value", [True, 1, 0.5, 10**18])
def test_true_and_positive_numbers_ask_for_another_round(value: Any) -> None:
    assert is_true(value) and is_true(ScriptAnswer(value=value))


@pytest.mark.parametrize("value", [False, 0, -1, 0.0, None, "true", "1", [1], {"a": 1}])
def test_everything_else_is_false(value: Any) -> None:
    assert not is_true(value) and not is_true(ScriptAnswer(value=value))


def test_a_number_that_json_cannot_hold_still_has_its_truth_and_its_case() -> None:
    infinite, not_a_number = ScriptAnswer(not_finite="Infinity"), ScriptAnswer(not_finite="NaN")
    assert is_true(infinite) and not is_true(not_a_number)
    assert not is_true(ScriptAnswer(not_finite="-Infinity"))
    assert case_text(infinite) == "Infinity" and case_text(not_a_number) == "NaN"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "null"), (True, "true"), (1, "1"), (3.0, "3.0"), ("", ""), ([1, "a"], "[1, a]")],
)
def test_a_case_is_the_text_of_the_value(value: Any, text: str) -> None:
    assert case_text(value) == text


def test_value_param_takes_a_key_and_no_path() -> None:
    assert value_param({"a.b": 1, "a": {"b": 2}}, "a.b") == 1
    assert value_param({"a": {"b": 2}}, "a.b") is None
