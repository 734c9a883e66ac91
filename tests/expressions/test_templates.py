from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.expressions.roots import ENVIRONMENT, MISSING, MappingRoot
from engine.expressions.templates import (
    DEEPEST_EXPRESSION,
    DEEPEST_VALUE,
    TemplateTooDeep,
    compile_template,
    fill_inputs,
    with_input_template,
)
from tests.vectors import by_id, document, exact, rows


def a_root(**extra: Any) -> MappingRoot:
    return MappingRoot(document("expression_root"), {"CPEWF_TASK_ID": "TASKID", **extra})


class WatchedRoot:
    """Remembers what was asked of it."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._root, self.asked = MappingRoot(values), list[str]()

    def get(self, name: str) -> Any:
        self.asked.append(name)
        return self._root.get(name)

    def field(self, name: str, field: str, only: str | None = None) -> Any:
        self.asked.append(f"{name}.{field}")
        return self._root.field(name, field, only)

    def names(self) -> Iterable[str]:
        return self._root.names()


@pytest.mark.parametrize("row", rows("placeholders"), ids=by_id)
def test_a_template_is_filled_as_on_a_real_server(row: dict[str, Any]) -> None:
    assert exact(compile_template(row["template"]).fill(a_root())) == exact(row["value"])


@pytest.mark.parametrize("row", rows("placeholders"), ids=by_id)
def test_filling_twice_gives_the_same(row: dict[str, Any]) -> None:
    template, root = compile_template(row["template"]), a_root()
    assert exact(template.fill(root)) == exact(template.fill(root))


@pytest.mark.parametrize("row", rows("input_templates"), ids=by_id)
def test_the_input_template_of_a_task_stands_in_for_what_is_missing(row: dict[str, Any]) -> None:
    parameters = compile_template(row["parameters"])
    assert exact(fill_inputs(parameters, row["defaults"], a_root())) == exact(row["value"])


def test_defaults_come_after_the_given_keys() -> None:
    filled = fill_inputs(compile_template({"b": 1}), {"a": 2, "b": 3}, a_root())
    assert list(filled.items()) == [("b", 1), ("a", 2)]


def test_filling_with_defaults_leaves_a_constant_template_as_it_was() -> None:
    parameters = compile_template({"b": None})
    fill_inputs(parameters, {"a": 1, "b": 2}, a_root())
    assert parameters.fill(a_root()) == {"b": None}


def test_a_workflow_gets_its_input_template_unresolved() -> None:
    template = {"a": 1, "b": 2, "c": "${workflow.input.a}"}
    assert with_input_template({"a": 0, "b": None}, template) == {
        "a": 0,
        "b": 2,
        "c": "${workflow.input.a}",
    }


def test_an_empty_workflow_input_gets_all_defaults() -> None:
    assert with_input_template({}, {"a": 1}) == {"a": 1}


def test_a_template_without_expressions_gives_back_the_very_value() -> None:
    value = {"a": [1, {"b": "x"}], "c": None}
    template = compile_template(value)
    assert template.constant and template.reads == frozenset()
    assert template.fill(a_root()) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("$${x}", "${x}"),
        ("${}", ""),
        ("${workflow.secrets.TOKEN}", "${workflow.secrets.TOKEN}"),
        ("${a b}", None),
        ("x ${a b}", "x null"),
    ],
)
def test_what_no_root_can_change_is_constant(text: str, value: Any) -> None:
    template = compile_template({"k": text})
    assert template.constant and template.fill(MappingRoot({})) == {"k": value}


def test_a_template_names_the_roots_it_reads() -> None:
    template = compile_template(
        {"a": "${one.output.x}", "b": ["${two.status} ${workflow.input.y}"], "c": "z"}
    )
    assert template.reads == {"one", "two", "workflow"} and not template.dynamic


def test_a_path_inside_a_filter_is_read_too() -> None:
    template = compile_template("${one.output.list[?(@.n > $.two.output.limit)]}")
    assert template.reads == {"one", "two"} and not template.dynamic


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("${one.output.list[${two.output.n}]}", {"one", "two"}),
        ("${${two.output.name}.output.x}", {"two"}),
        ("${$..x}", set()),
        ("${$}", set()),
    ],
)
def test_a_template_that_may_read_more_says_so(text: str, reads: set[str]) -> None:
    template = compile_template(text)
    assert template.reads == reads and template.dynamic


def test_only_what_an_expression_names_is_asked_of_the_root() -> None:
    root = WatchedRoot({"one": {"output": {"x": [7]}, "input": {}}, "two": {"output": {}}})
    assert compile_template({"a": "${one.output.x[0]}", "b": "k"}).fill(root) == {"a": 7, "b": "k"}
    assert root.asked == ["one.output"]


def test_a_filter_asks_only_for_what_it_compares_with() -> None:
    root = WatchedRoot(
        {"one": {"output": [1, 2, 3], "input": {}}, "two": {"output": {"n": 1}, "input": {}}}
    )
    assert compile_template("${one.output[?(@ > $.two.output.n)]}").fill(root) == [2, 3]
    assert set(root.asked) == {"one.output", "two.output"}


def test_a_process_variable_is_read_when_the_root_hands_it_out() -> None:
    template = compile_template(["${REGION}", "in ${REGION}", "${HOME}"])
    assert template.fill(a_root(REGION="north")) == ["north", "in north", None]


def test_an_unset_system_name_stays_as_written() -> None:
    assert (
        compile_template("${NETFLIX_STACK} ${NETFLIX_ENV}").fill(a_root(NETFLIX_ENV="test"))
        == "${NETFLIX_STACK} test"
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${workflow.env.STAGE}", "blue"),
        ("at ${workflow.env.STAGE}", "at blue"),
        ("${workflow.env.DB.port}", 5),
        ("${workflow.env.NOPE}", None),
        ("at ${workflow.env.NOPE}", "at null"),
        ("${workflow.env.STAGE.x}", None),
    ],
)
def test_the_environment_is_what_the_root_allows(text: str, value: Any) -> None:
    root = a_root(**{ENVIRONMENT: {"STAGE": "blue", "DB": '{"port":5}'}})
    assert compile_template(text).fill(root) == value


def test_a_root_without_an_environment_gives_null() -> None:
    assert compile_template("${workflow.env.STAGE}").fill(a_root()) is None


def test_filled_values_are_never_resolved_again() -> None:
    root = MappingRoot({"t": {"output": {"evil": "${workflow.secrets.KEY} ${t.output.evil}"}}})
    assert compile_template("<${t.output.evil}>").fill(root) == (
        "<${workflow.secrets.KEY} ${t.output.evil}>"
    )


def test_system_names_and_the_environment_are_no_roots_to_read() -> None:
    template = compile_template("${CPEWF_TASK_ID} ${workflow.env.STAGE}")
    assert template.reads == frozenset() and not template.dynamic and not template.constant


def nested(levels: int, innermost: Any) -> Any:
    for level in range(levels):
        innermost = [innermost] if level % 2 else {"k": innermost}
    return innermost


def test_a_value_nested_as_deep_as_allowed_is_filled() -> None:
    template = compile_template(nested(DEEPEST_VALUE, "${workflow.input.n}"))
    assert template.fill(a_root()) == nested(DEEPEST_VALUE, 7)


def test_a_value_nested_deeper_is_refused_with_the_limit() -> None:
    with pytest.raises(TemplateTooDeep, match="250 levels"):
        compile_template(nested(DEEPEST_VALUE + 1, "x"))


def test_expressions_nested_too_deep_are_refused_with_the_limit() -> None:
    with pytest.raises(TemplateTooDeep, match="16 deep"):
        compile_template("${" * (DEEPEST_EXPRESSION + 1) + "x" + "}" * (DEEPEST_EXPRESSION + 1))


def test_deep_data_can_be_written_into_a_text() -> None:
    deep = nested(500, 1)
    text = compile_template("x=${t.output}").fill(MappingRoot({"t": {"output": deep}}))
    assert text.count("[") == 250 and text.count("{k=") == 250
    listed = compile_template("x=${t.output[*]}").fill(MappingRoot({"t": {"output": [deep]}}))
    assert listed.count("[") == 251


def test_a_tuple_is_filled_like_a_list() -> None:
    assert compile_template(("${workflow.input.n}", 1)).fill(a_root()) == [7, 1]


def test_a_long_text_is_filled_like_a_short_one() -> None:
    long = "x" * 50_000 + "${workflow.input.n}" + "{" * 50_000
    assert compile_template(long).fill(a_root()) == "x" * 50_000 + "7" + "{" * 50_000


def test_the_missing_root_is_not_a_value() -> None:
    root = MappingRoot({"t": {"output": None}})
    assert root.field("t", "output") is None
    assert root.field("t", "input") is MISSING and root.get("u") is MISSING


@settings(max_examples=400, deadline=None)
@given(st.text(alphabet="${}$$.[]()'\"@?*:,-=~&|! \\01aworkflow.input", max_size=60))
def test_no_text_makes_filling_fail(text: str) -> None:
    template = compile_template({"k": "${" + text + "}", "l": text})
    filled = template.fill(a_root())
    assert set(filled) == {"k", "l"} and isinstance(filled["l"], str | None | int | list | dict)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab${} ", max_size=40))
def test_a_text_without_a_closed_placeholder_keeps_its_letters(text: str) -> None:
    unclosed = text.replace("}", "")
    assert compile_template(unclosed).fill(a_root()) == unclosed.replace("$${", "${")
