"""Every kind of event can be put into a letter and taken out of it."""

from dataclasses import MISSING, fields
from enum import StrEnum
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.model import events as model
from engine.model.definitions import WorkflowDef
from engine.model.events import Event, Start
from engine.store import letters
from tests.store.builders import a_definition

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
documents = st.dictionaries(texts, st.none() | st.integers(-9, 9) | texts, max_size=3)
KINDS: list[type[Event]] = [
    kind
    for kind in vars(model).values()
    if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
]
_VALUES: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(-(2**63), 2**63 - 1),
    bool: st.booleans(),
    bytes: texts.map(str.encode),
    WorkflowDef: st.integers(1, 3).map(lambda version: a_definition(version=version)),
    tuple[str, ...]: st.lists(texts, max_size=3).map(tuple),
    dict[str, str]: st.dictionaries(texts, texts, max_size=3),
    dict[str, Any]: documents,
    Any: st.none() | texts | documents | st.lists(st.booleans()),
}


def value_of(hint: Any) -> st.SearchStrategy[Any]:
    if hint in _VALUES:
        return _VALUES[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return st.sampled_from(hint)
    kind, _ = get_args(hint)
    return st.none() | _VALUES[kind]


def events(kind: type[Event]) -> st.SearchStrategy[Event]:
    hints = get_type_hints(kind)
    needed = {f.name for f in fields(kind) if f.default is f.default_factory is MISSING}
    return st.fixed_dictionaries(
        {name: value_of(hint) for name, hint in hints.items() if name in needed},
        optional={name: value_of(hint) for name, hint in hints.items() if name not in needed},
    ).map(lambda given: kind(**given))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_event_survives_its_letter(kind: type[Event]) -> None:
    @settings(deadline=None)
    @given(events(kind))
    def holds(event: Event) -> None:
        kept: dict[str, WorkflowDef] = {}
        name, body = letters.written(event, kept.__setitem__)
        assert name == kind.__name__
        assert letters.read(name, body, kept.__getitem__) == event

    holds()


def test_a_definition_is_named_in_the_letter_and_not_repeated() -> None:
    event = Start(definition=a_definition(), definition_hash="abc")
    kept: dict[str, WorkflowDef] = {}
    _, body = letters.written(event, kept.__setitem__)
    assert body == b'{"definition":"abc","definition_hash":"abc"}'
    assert kept == {"abc": a_definition()}
