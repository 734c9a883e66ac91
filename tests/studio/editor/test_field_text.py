"""Values as text in a form: what is shown reads back as the same value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.editor import field_text
from studio.editor.field_text import EMPTY, FieldFault
from studio.editor.form_field import Field, Kind

json_values = st.recursive(
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(min_size=1),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def a_field(kind: Kind) -> Field:
    return Field(("here",), "Here", kind, "")


@given(json_values)
def test_any_value_shown_on_a_line_reads_back_as_itself(value: object) -> None:
    read = field_text.read(field_text.shown(value))
    assert read == value and type(read) is type(value)


@given(st.dictionaries(st.text(), json_values, min_size=1))
def test_a_map_shown_as_json_reads_back_as_itself(value: dict[str, object]) -> None:
    field = a_field(Kind.JSON)
    assert field_text.read_in(field, field_text.shown_in(field, value)) == value


@given(st.lists(json_values, min_size=1))
def test_a_list_shown_line_by_line_reads_back_as_itself(value: list[object]) -> None:
    field = a_field(Kind.LIST)
    shown = field_text.shown_in(field, value)
    if len(shown.splitlines()) == len(value):
        assert field_text.read_in(field, shown) == value


def test_a_number_in_quotes_stays_a_text() -> None:
    assert field_text.read('"300"') == "300"
    assert field_text.read("300") == 300


def test_an_empty_field_means_that_the_key_is_left_out() -> None:
    assert field_text.read_in(a_field(Kind.TEXT), "  ") is EMPTY


def test_an_expression_may_stand_for_a_number() -> None:
    assert (
        field_text.read_in(a_field(Kind.SECONDS), "${workflow.input.wait}")
        == "${workflow.input.wait}"
    )


def test_a_word_for_a_number_is_refused_with_what_would_do() -> None:
    with pytest.raises(FieldFault, match="Here is a whole number, such as 3"):
        field_text.read_in(a_field(Kind.INT), "three")


def test_broken_json_is_refused_with_its_line_and_column() -> None:
    with pytest.raises(FieldFault, match="Line 2, column 9: There is a comma after the last item"):
        field_text.read_in(a_field(Kind.JSON), '{\n  "a": 1,\n}')


def test_a_script_keeps_its_blanks_and_lines() -> None:
    script = "function () {\n  return 1;\n}\n"
    assert field_text.read_in(a_field(Kind.JAVASCRIPT), script) == script


def test_a_list_is_no_map() -> None:
    with pytest.raises(FieldFault, match="is a map"):
        field_text.read_in(a_field(Kind.MAP), "[1]")
