"""Patterns can be inserted anywhere, twice too, and read their own tasks."""

import pytest

from studio.editor.fields import missing
from studio.editor.joins import watch
from studio.editor.operations import apply
from studio.editor.patterns import PATTERNS, Pattern
from studio.editor.references import loops_around, readers_of
from studio.editor.tree import all_refs, refs_in, spots
from tests.studio.editor.definitions import a_definition, gap


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_a_pattern_inserted_twice_has_two_sets_of_names(pattern: Pattern) -> None:
    once = apply(a_definition(), pattern.operation(gap(0))).definition
    twice = apply(once, pattern.operation(gap(0))).definition
    refs = refs_in(twice["tasks"])
    assert len(refs) == len(set(refs)) == 2 * len(refs_in(once["tasks"]))
    assert all(pair.derived for pair in watch(twice))
    second = a_definition(*twice["tasks"][: len(pattern.tasks)])
    foreign = all_refs(once)
    assert readers_of(second, foreign, loops_around(second)) == {}


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_a_pattern_lacks_nothing_but_addresses_and_names(pattern: Pattern) -> None:
    definition = a_definition(*pattern.tasks)
    lacking = {field.label for spot in spots(definition) for field in missing(spot.task)}
    assert lacking <= {"Address"}
