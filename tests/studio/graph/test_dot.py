"""Graphviz text: complete, quoted, and readable without colour."""

from studio.graph import dot, layout
from studio.graph.outline import forked_children
from studio.graph.progress import of_execution
from tests.studio.graph.samples import a_task, broken, dynamic, dynamic_run, order_run, order_saga


def test_statuses_have_letters_and_words() -> None:
    picture = layout.place(order_saga())
    text = dot.source(picture, of_execution(picture, order_run()), name="order")
    assert text.startswith("digraph order {")
    assert "poll_carrier\\nHTTP\\n[F] Failed\\n3 tries" in text
    assert "not taken" in text
    assert "subgraph cluster_" in text


def test_cases_stand_on_the_lines_and_merges_are_not_drawn() -> None:
    text = dot.source(layout.place(order_saga()))
    assert "label=review" in text
    assert "merge" not in text


def test_quotes_and_backslashes_in_names_stay_text() -> None:
    text = dot.source(layout.place({"tasks": [a_task('a"];x[label="\\N')]}))
    assert 'a\\"];x[label=\\"\\\\N' in text


def test_broken_and_dynamic_definitions_have_a_text() -> None:
    assert "odd" in dot.source(layout.place(broken()))
    picture = layout.place(dynamic(), forked=forked_children(dynamic_run()))
    assert "120 children" in dot.source(picture, of_execution(picture, dynamic_run()))
