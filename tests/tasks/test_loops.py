"""The rounds of a loop: shown whole at any time, stored when it ends, and cheap in between."""

from itertools import pairwise
from typing import Any

import pytest

from engine.core.questions import Question
from engine.model.definitions import WorkflowTask
from engine.model.events import Pause, Rerun, Resume, Retry, Terminate
from engine.model.execution import Changes, Execution
from engine.model.record import Json, decode, encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.rules.decide import decide
from engine.rules.recheck import recheck
from engine.rules.task_rendering import task_json
from engine.tasks.view import View
from tests.builders import (
    Bench,
    a_definition,
    a_dynamic_fork,
    a_fork,
    a_loop,
    a_switch,
    a_task,
    a_task_def,
    after,
    an_execution,
    facts_at,
    latest,
    result,
)

DONE = TaskStatus.COMPLETED


def a_bench(*body: WorkflowTask, **fields: Any) -> tuple[Bench, str]:
    """A started execution of one loop `l`, whose condition holds for ever, and a task behind it."""
    bench = Bench(a_definition(a_loop("l", *body, **fields), a_task("end")))
    bench.conditions = lambda question: True
    return bench, bench.start()


def stored(bench: Bench, w: str) -> Json:
    """What the loop's record holds as its output."""
    return decode(bench.run(w, "l").output)


def shown(bench: Bench, w: str) -> Json:
    """The loop's output as the API shows it."""
    view = bench.view(w)
    return decode(encode(task_json(view, latest(view.execution, "l"))))["outputData"]


def go_round(bench: Bench, *numbers: int, ref: str = "a") -> None:
    for number in numbers:
        bench.complete(ref, {"n": number})


# What is seen


def test_an_open_loop_shows_all_its_rounds_and_stores_none_of_them() -> None:
    bench, w = a_bench(a_task("a"))
    go_round(bench, 1, 2)
    whole = {"iteration": 3, "1": {"a": {"n": 1}}, "2": {"a": {"n": 2}}}
    assert bench.output(w, "l") == whole
    assert shown(bench, w) == whole
    assert stored(bench, w) == {"iteration": 3}


def test_the_round_that_is_under_way_is_not_shown_before_it_is_over() -> None:
    bench, w = a_bench(a_task("a"), a_task("b"))
    bench.complete("a", {"n": 1})
    assert shown(bench, w) == {"iteration": 1}
    bench.complete("b")
    assert shown(bench, w) == {"iteration": 2, "1": {"a": {"n": 1}, "b": {}}}


def test_a_round_counts_while_the_condition_is_being_asked() -> None:
    execution = an_execution(a_loop("l", a_task("a")))
    after(execution, result(execution, "a__1", output={"n": 1}))
    assert latest(execution, "l").carrier is not None
    shown = View(execution, facts_at()).output(latest(execution, "l"))
    assert shown == {"iteration": 1, "1": {"a": {"n": 1}}}


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("${l.output.iteration}", 3),
        ("${l.output.1.a.n}", 10),
        ("${l.output['2'].a}", {"n": 20}),
        ("${l.output.3}", None),
        ("${l.output.03}", None),
        ("${l.output.1.*}", [{"n": 10}]),
        ("${l.output['1','2']}", {"1": {"a": {"n": 10}}, "2": {"a": {"n": 20}}}),
        ("${l.output..n}", [10, 20]),
        ("${l.output.keys()}", ["iteration", "1", "2"]),
        ("${l.output}", {"iteration": 3, "1": {"a": {"n": 10}}, "2": {"a": {"n": 20}}}),
        ("in ${l.output.2.a.n}", "in 20"),
    ],
)
def test_expressions_read_the_rounds_of_an_open_loop(expression: str, found: Json) -> None:
    bench, w = a_bench(a_task("a"))
    go_round(bench, 10, 20)
    assert bench.view(w).fill_value(expression) == found


def test_a_list_loop_shows_its_present_item_beside_the_rounds() -> None:
    bench, w = a_bench(a_task("a"), items=["x", "y", "z"])
    go_round(bench, 1)
    own = {"iteration": 2, "loopIndex": 1, "loopItem": "y"}
    assert stored(bench, w) == own
    assert shown(bench, w) == {**own, "1": {"a": {"n": 1}}}


def test_rounds_hold_what_switches_and_forks_led_to() -> None:
    switch = a_switch("s", {"x": [a_task("c")], "default": [a_task("other")]})
    body = (*a_fork("f", [a_task("a")], [a_task("b")]), switch)
    bench = Bench(a_definition(a_loop("l", *body)))
    bench.conditions = lambda question: True
    w = bench.start(input={"case": "x"})
    for ref in ("a", "b", "c"):
        bench.complete(ref, {"from": ref})
    (first,) = (value for key, value in shown(bench, w).items() if key == "1")
    assert set(first) == {"f", "a", "b", "join", "s", "c"}
    assert first["join"] == {"a__1": {"from": "a"}, "b__1": {"from": "b"}}


def test_rounds_hold_what_a_dynamic_fork_grew_in_each_of_them() -> None:
    fork, join = a_dynamic_fork("f")
    given = {
        "tasks": [{"name": "k", "taskReferenceName": "kid", "type": "SIMPLE"}],
        "inputs": {"kid": {}},
    }
    bench = Bench(a_definition(a_loop("l", fork, join)), task_defs=[a_task_def("k")])
    bench.conditions = lambda question: True
    w = bench.start(input=given)
    go_round(bench, 1, 2, ref="k")
    for number in (1, 2):
        assert shown(bench, w)[str(number)]["kid"] == {"n": number}


# The end


def test_the_end_of_a_loop_stores_its_rounds() -> None:
    bench, w = a_bench(a_task("a"), items=[7, 8])
    go_round(bench, 1, 2)
    whole = {"iteration": 2, "loopIndex": 1, "loopItem": 8, "1": {"a": {"n": 1}}}
    assert stored(bench, w) == {**whole, "2": {"a": {"n": 2}}}


def test_a_loop_that_is_cancelled_keeps_the_rounds_that_were_over() -> None:
    bench, w = a_bench(a_task("a"), a_task("b"))
    bench.complete("a", {"n": 1})
    bench.complete("b")
    bench.complete("a", {"n": 2})
    bench.ask(w, Terminate(reason="enough"))
    assert bench.run(w, "l").status is TaskStatus.CANCELED
    assert stored(bench, w) == {"iteration": 2, "1": {"a": {"n": 1}, "b": {}}}


def test_a_loop_that_fails_keeps_the_round_that_failed_too() -> None:
    bench, w = a_bench(a_task("a", permissive=True))
    bench.task_defs["a"] = a_task_def("a")
    go_round(bench, 1)
    bench.fail("a", "broken", for_good=True)
    assert bench.run(w, "l").status is TaskStatus.FAILED
    assert stored(bench, w) == {"iteration": 2, "1": {"a": {"n": 1}}, "2": {"a": {}}}


def test_what_is_reported_for_a_loop_is_its_whole_output() -> None:
    bench, w = a_bench(a_task("a"))
    go_round(bench, 1, 2)
    bench.answer(w, "l", DONE, output={"by": "hand"})
    assert stored(bench, w) == {"by": "hand"}


def test_what_is_merged_into_an_open_loop_hides_no_round() -> None:
    bench, w = a_bench(a_task("a"))
    go_round(bench, 1)
    bench.answer(w, "l", TaskStatus.IN_PROGRESS, output={"note": "n"}, merge=True)
    go_round(bench, 2)
    assert stored(bench, w) == {"iteration": 3, "note": "n"}
    assert set(shown(bench, w)) == {"iteration", "note", "1", "2"}


# What a round costs


def changes_of_rounds(count: int, **fields: Any) -> list[Changes]:
    """What is decided at the end of each round of a loop, beginning with the first."""
    items = [f"item {number:06}" for number in range(count + 1)]
    body = a_task("a", input_parameters={"in": "${l.output.loopItem}"})
    execution = an_execution(a_loop("l", body, items=items, **fields))
    found = []
    for number in range(1, count + 1):
        event = result(execution, f"a__{number}", output={"text": "x" * 100})
        changes = decide(execution, event, facts_at())
        execution.apply(changes)
        found.append(changes)
    return found


def size(changes: Changes) -> int:
    """Bytes of payload that are to be written."""
    return sum(len(run.input or b"") + len(run.output or b"") for run in changes.runs.values())


@pytest.mark.parametrize("keep", [{}, {"keepLastN": 2}])
def test_no_round_writes_more_than_the_one_before(keep: dict[str, Json]) -> None:
    found = changes_of_rounds(200, input_parameters=keep)
    # The number of a round is written out: its digits are all that may be added.
    for before, changes in pairwise(found):
        assert size(changes) <= size(before) + 4
    assert size(found[-1]) <= size(found[10]) + 10
    assert {len(changes.runs) for changes in found} == {3}


class Reader:
    """Payloads that are not in memory; counts how often one was asked for."""

    def __init__(self, execution: Execution) -> None:
        self.held = {
            (run.seq, side): getattr(run, side)
            for run in execution.runs.values()
            for side in ("input", "output")
        }
        self.single: list[tuple[int, str]] = []
        self.together = 0

    def payload(self, seq: int, side: str) -> bytes | None:
        self.single.append((seq, side))
        return self.held.get((seq, side))

    def outputs(self, seqs: Any) -> dict[int, bytes]:
        self.together += 1
        return {seq: self.held[seq, "output"] or b"{}" for seq in seqs}


def test_a_round_after_a_reload_reads_no_output_of_earlier_rounds_and_the_end_all_at_once() -> None:
    body = a_task("a", input_parameters={"in": "${l.output.loopItem}"})
    execution = an_execution(a_loop("l", body, items=list(range(12))))
    for number in range(1, 11):
        after(execution, result(execution, f"a__{number}", output={"n": number}))
    reader = Reader(execution)
    for run in execution.runs.values():
        run.input = run.output = None
    facts = facts_at(payload=reader.payload, outputs=reader.outputs)
    loop = latest(execution, "l").seq
    after(execution, result(execution, "a__11", output={"n": 11}), facts=facts)
    assert reader.together == 0
    assert {seq for seq, _ in reader.single} == {loop}
    after(execution, result(execution, "a__12", output={"n": 12}), facts=facts)
    assert reader.together == 1
    assert {seq for seq, _ in reader.single} == {loop}
    whole = decode(latest(execution, "l").output)
    assert [whole[str(number)]["a"]["n"] for number in range(1, 13)] == list(range(1, 13))


# The condition


def asked_of(bench: Bench) -> list[Json]:
    """The inputs of every condition that is asked from now on, each answered with true."""
    seen: list[Json] = []

    def hear(question: Question) -> Json:
        seen.append(question.job.inputs)
        return True

    bench.conditions = hear
    return seen


def test_a_condition_is_sent_what_its_text_looks_at_and_nothing_else() -> None:
    bench, _ = a_bench(
        a_task("a"),
        a_task("b"),
        loop_condition="$.l.iteration < $.max && $.a.n != 5",
        input_parameters={"max": 9, "unread": "x"},
    )
    seen = asked_of(bench)
    for number in (1, 2, 3):
        bench.complete("a", {"n": number})
        bench.complete("b")
    assert seen == [{"max": 9, "a": {"n": n}, "l": {"iteration": n}} for n in (1, 2, 3)]


def test_a_condition_that_refers_to_an_earlier_round_gets_that_round() -> None:
    bench, _ = a_bench(a_task("a"), loop_condition="$.l['1'].a.n != $.a.n")
    seen = asked_of(bench)
    go_round(bench, 10, 20)
    first = {"1": {"a": {"n": 10}}}
    assert seen == [
        {"a": {"n": 10}, "l": {"iteration": 1, **first}},
        {"a": {"n": 20}, "l": {"iteration": 2, **first}},
    ]


@pytest.mark.parametrize("condition", ["$.l[$.l.iteration - 1] == null", "all($)"])
def test_a_condition_that_may_read_any_round_gets_them_all(condition: str) -> None:
    bench, _ = a_bench(a_task("a"), loop_condition=condition)
    seen = asked_of(bench)
    go_round(bench, 1, 2)
    assert seen[-1]["l"] == {"iteration": 2, "1": {"a": {"n": 1}}, "2": {"a": {"n": 2}}}


def test_a_condition_over_a_list_sees_the_item() -> None:
    bench, _ = a_bench(
        a_task("a"), items=["x", "y"], loop_condition="$.loopItem != 'z' && $.l.loopIndex < 5"
    )
    seen = asked_of(bench)
    go_round(bench, 1)
    assert seen == [
        {"loopItem": "x", "l": {"iteration": 1, "loopIndex": 0, "loopItem": "x"}},
    ]


# Restarts and second attempts


def test_after_the_engine_is_reopened_amid_a_round_the_loop_goes_on() -> None:
    bench, w = a_bench(a_task("a"), a_task("b"), items=["x", "y", "z"])
    for number in (1, 2):
        bench.complete("a", {"n": number})
        bench.complete("b")
    bench.complete("a", {"n": 3})
    before = shown(bench, w)
    bench.wake_up()
    assert shown(bench, w) == before
    assert set(before) == {"iteration", "loopIndex", "loopItem", "1", "2"}
    bench.complete("b")
    bench.complete("end")
    assert bench.status(w) is ExecutionStatus.COMPLETED
    assert [stored(bench, w)[key]["a"] for key in "123"] == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_a_pause_hides_no_round() -> None:
    bench, w = a_bench(a_task("a"))
    go_round(bench, 1)
    bench.ask(w, Pause())
    assert set(shown(bench, w)) == {"iteration", "1"}
    bench.ask(w, Resume())
    go_round(bench, 2)
    assert set(shown(bench, w)) == {"iteration", "1", "2"}


def test_a_rerun_amid_a_round_keeps_earlier_rounds_and_takes_that_rounds_item_again() -> None:
    reading = a_task("b", input_parameters={"in": "${l.output.loopItem}"})
    bench, w = a_bench(a_task("a"), reading, items=["x", "y", "z"])
    for number in (1, 2, 3):
        bench.complete("a", {"n": number})
        bench.complete("b")
    bench.ask(w, Terminate(reason="once more"))
    bench.ask(w, Rerun(task_id=bench.run(w, "a__2").task_id))
    own = {"iteration": 2, "loopIndex": 1, "loopItem": "y"}
    assert stored(bench, w) == own
    assert shown(bench, w) == {**own, "1": {"a": {"n": 1}, "b": {}}}
    assert recheck(bench.execution(w)) == []
    bench.complete("a", {"n": 20})
    assert bench.complete("b").input == b'{"in":"y"}'
    bench.complete("a", {"n": 30})
    bench.complete("b")
    assert [stored(bench, w)[key]["a"]["n"] for key in "123"] == [1, 20, 30]
    bench.complete("end")
    assert bench.status(w) is ExecutionStatus.COMPLETED


def test_a_retry_inside_a_round_opens_the_loop_without_its_rounds() -> None:
    bench, w = a_bench(a_task("a"))
    bench.task_defs["a"] = a_task_def("a")
    go_round(bench, 1)
    bench.fail("a", "broken", for_good=True)
    assert bench.status(w) is ExecutionStatus.FAILED
    assert stored(bench, w) == {"iteration": 2, "1": {"a": {"n": 1}}}
    bench.ask(w, Retry())
    assert stored(bench, w) == {"iteration": 2}
    assert shown(bench, w) == {"iteration": 2, "1": {"a": {"n": 1}}}
    go_round(bench, 2)
    assert shown(bench, w) == {"iteration": 3, "1": {"a": {"n": 1}}, "2": {"a": {"n": 2}}}
    assert recheck(bench.execution(w)) == []


def test_a_rerun_from_the_loop_itself_begins_without_any_round() -> None:
    bench, w = a_bench(a_task("a"), items=[1, 2])
    go_round(bench, 1, 2)
    bench.ask(w, Terminate(reason="once more"))
    bench.ask(w, Rerun(task_id=bench.run(w, "l").task_id))
    assert shown(bench, w) == {"iteration": 1, "loopIndex": 0, "loopItem": 1}
    go_round(bench, 5, 6)
    assert [stored(bench, w)[key] for key in "12"] == [{"a": {"n": 5}}, {"a": {"n": 6}}]


def test_dropped_rounds_are_not_shown_again_by_a_rerun() -> None:
    bench, w = a_bench(a_task("a"), items=[1, 2, 3, 4], input_parameters={"keepLastN": 2})
    go_round(bench, 1, 2, 3)
    assert set(shown(bench, w)) == {"iteration", "loopIndex", "loopItem", "2", "3"}
    bench.ask(w, Terminate(reason="once more"))
    bench.ask(w, Rerun(task_id=bench.run(w, "a__3").task_id))
    assert set(shown(bench, w)) == {"iteration", "loopIndex", "loopItem", "2"}
    go_round(bench, 3, 4)
    assert set(stored(bench, w)) == {"iteration", "loopIndex", "loopItem", "3", "4"}
