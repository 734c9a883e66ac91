"""A task in the picture is found in the text, and the other way round."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from studio.editor.json_text import written
from studio.editor.text_spans import lines_of, path_at_line, spans
from studio.editor.tree import JsonObject
from studio.editor.tree import spots as tasks_of
from tests.studio.editor.definitions import a_definition, a_switch, a_task, definitions


@given(definitions(), st.sampled_from([None, 2]))
def test_every_task_is_found_where_its_text_stands(
    definition: JsonObject, indent: int | None
) -> None:
    text = json.dumps(definition, indent=indent)
    found = spans(text)
    for spot in tasks_of(definition):
        start, end = found[spot.path]
        assert json.loads(text[start:end]) == spot.task


@given(definitions())
def test_the_first_line_of_a_task_leads_back_to_it(definition: JsonObject) -> None:
    text = written(definition)
    for spot in tasks_of(definition):
        lines = lines_of(text, spot.path)
        assert lines is not None
        assert path_at_line(text, lines[0]) == spot.path
        assert path_at_line(text, lines[1]) == spot.path


def test_a_line_inside_the_inputs_belongs_to_the_task() -> None:
    odd: Any = {"tasks": [{"a,b": '}"{'}], "e:\\": []}
    switch = a_switch("route", late=[a_task("x", inputParameters=odd)])
    text = written(a_definition(switch))
    line = text.split("\n").index(next(row for row in text.split("\n") if "a,b" in row)) + 1
    assert path_at_line(text, line) == ("tasks", 0, "decisionCases", "late", 0)
    assert path_at_line(text, 1) is None and path_at_line(text, 0) is None


@given(st.text(alphabet='{}[]",:a1 \\\n'))
def test_broken_text_is_searched_without_an_error(text: str) -> None:
    spans(text)
    path_at_line(text, 1)
    assert lines_of(text, ("nowhere",)) is None
