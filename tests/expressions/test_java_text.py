import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.expressions.java_text import java_double, java_text, json_list_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3.0"),
        (0.001, "0.001"),
        (0.0099, "0.0099"),
        (0.00099, "9.9E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (1e21, "1.0E21"),
        (1.5e-7, "1.5E-7"),
        (123.456, "123.456"),
        (100.0, "100.0"),
        (-0.0, "-0.0"),
        (-2.5, "-2.5"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (5e-324, "5.0E-324"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
    ],
)
def test_a_double_is_written_as_java_writes_it(value: float, text: str) -> None:
    assert java_double(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_double_means_the_same_number(value: float) -> None:
    assert float(java_double(value)) == value


def test_maps_and_lists_are_written_in_their_order() -> None:
    value = {"b": [1, None, True], "a": {"x": "y z"}, "c": {}}
    assert java_text(value) == "{b=[1, null, true], a={x=y z}, c={}}"


def test_the_list_of_an_indefinite_path_is_json_with_its_slashes_escaped() -> None:
    assert json_list_text(["http://x/é", 1e7, None, {"a": [1, True]}]) == (
        '["http:\\/\\/x\\/é",1.0E7,null,{"a":[1,true]}]'
    )
