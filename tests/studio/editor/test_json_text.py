"""A mistake in the text is named with its place and with what to do."""

import json

import pytest
from hypothesis import given

from studio.editor.json_text import read, written
from studio.editor.tree import JsonObject, same
from tests.studio.editor.definitions import definitions


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "next_step"),
    [
        ("", 1, 1, "is empty", "Write a definition"),
        ('{\n  "a": 1,\n}', 2, 9, "comma after the last item", "Remove that comma"),
        ('{"a": [1, 2,]}', 1, 12, "comma after the last item", "Remove that comma"),
        ('{\n  "a": 1\n  "b": 2\n}', 2, 9, "comma is missing", "Put a comma"),
        ('{"a" 1}', 1, 6, "colon is missing", 'Write "key": value'),
        ("{a: 1}", 1, 2, "double quotes", 'Write "key": value'),
        ("{'a': 1}", 1, 2, "wrong quotes", "straight double quotes"),
        ("{“a”: 1}", 1, 2, "wrong quotes", "straight double quotes"),
        ('{"a": True}', 1, 7, "`True` is no JSON word", "Write `true`"),
        ('{"a": None}', 1, 7, "`None` is no JSON word", "Write `null`"),
        ('{"a": undefined}', 1, 7, "`undefined` is no JSON word", "Write `null`"),
        ('{\n// why\n"a": 1}', 2, 1, "no comments", "`description`"),
        ('{"a": "x', 1, 7, "not closed", 'closing `"`'),
        ('{"a": "x\ny"}', 1, 9, "not closed", "\\n"),
        ('{"a": "\\d"}', 1, 8, "backslash", "two backslashes"),
        ('{"a": [{"b": 1', 1, 15, "ends too early", "`}]}`"),
        ('{"a": 1}}', 1, 9, "more text after the end", "one `}` too many"),
        ('{"a": }', 1, 7, "value is missing", "null"),
        ('{"a": 1,\n "b": 1e999}', 2, 7, "no number that JSON can hold", "plain number"),
        ('{"a": NaN}', 1, 7, "no number that JSON can hold", "plain number"),
        ('{"a": -Infinity}', 1, 7, "no number that JSON can hold", "plain number"),
        ('{"a": 1,\n "a": 2}', 2, 2, "stands twice", "Remove or rename"),
        ("[]", None, None, "is a list", "Begin with `{`"),
        ("3", None, None, "is a number", "Begin with `{`"),
    ],
)
def test_a_mistake_has_a_place_and_a_next_step(
    text: str, line: int | None, column: int | None, message: str, next_step: str
) -> None:
    definition, problem = read(text)
    assert definition is None and problem is not None
    assert (problem.line, problem.column) == (line, column)
    assert message in problem.message
    assert next_step in problem.next_step


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' * 100_000, '{"a": ' + "9" * 5_000 + "}"])
def test_absurd_text_is_a_problem_and_no_crash(text: str) -> None:
    definition, problem = read(text)
    assert definition is None and problem is not None and len(problem.message) < 200


@given(definitions())
def test_what_we_write_we_can_read(definition: JsonObject) -> None:
    again, problem = read(written(definition))
    assert problem is None and same(again, definition)


def test_text_can_always_be_sent_on() -> None:
    definition = {"half": json.loads('"\\ud83d"'), "whole": "ü"}
    assert written(definition).encode()
    assert read(written(definition)) == (definition, None)
    assert "ü" in written({"whole": "ü"})
