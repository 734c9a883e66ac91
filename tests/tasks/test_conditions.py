"""What a loop's condition is found to look at, and that doubt means everything."""

import pytest

from engine.tasks.conditions import EVERYTHING, sight_of


@pytest.mark.parametrize(
    ("condition", "names", "rounds"),
    [
        ("$.l.iteration < 3", {"l"}, set()),
        ("$['l']['iteration'] < 3", {"l"}, set()),
        ('$["l"] . iteration < $ . max', {"l", "max"}, set()),
        ("if ($.l?.iteration < $.n) { true } else { false }", {"l", "n"}, set()),
        ("$.work.response.body['$ref'] != null && $.l.loopIndex < 9", {"work", "l"}, set()),
        ("$.work.status !== 'DONE' && $.l.loopItem", {"work", "l"}, set()),
        ("$.l['1'].work.v > 2 || $.l[2].work.v > 2", {"l"}, {"1", "2"}),
        ("$.work.list.size() > 0", {"work"}, set()),
        ("true", set(), set()),
        ("cost$ = 1, my$x = 2, true", set(), set()),
    ],
)
def test_constant_members_are_named(
    condition: str, names: set[str] | None, rounds: set[str] | None
) -> None:
    sight = sight_of(condition, "l")
    assert (sight.names, sight.rounds) == (names, rounds)


@pytest.mark.parametrize(
    "condition",
    [
        "$.l[$.l.iteration].work.v > 2",
        "$.l != null",
        "const { iteration } = $.l; iteration < 3",
        "$.l.get('1') != null",
        "$.l.hasOwnProperty('2')",
        "$.l['01']",
        "Object.keys($.l).length < 4",
    ],
)
def test_an_output_that_is_taken_as_a_whole_may_be_read_in_any_round(condition: str) -> None:
    sight = sight_of(condition, "l")
    assert sight.names == {"l"}
    assert sight.rounds is None


@pytest.mark.parametrize(
    "condition",
    [
        "Object.keys($).length > 3",
        "$[name].iteration < 3",
        "const { l } = $; l['1'].v",
        "$.get('l').get('1')",
        "$ /* all */ .l.iteration < 3",
        "`${$.l.iteration}` < 3",
        "$['l\\x31']",
        "this['\\u0024'].l[1]",
        "globalThis[key].l[1]",
        "eval(text)",
        "''.constructor.constructor(text)()",
        "with (x) y",
    ],
)
def test_in_doubt_a_condition_looks_at_everything(condition: str) -> None:
    assert sight_of(condition, "l") == EVERYTHING
