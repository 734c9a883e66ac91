"""The turn: nothing leaves before its commit, and what goes wrong concerns one event alone."""

from concurrent.futures import Future

import pytest

from engine.core.inbox import Asked, Inbox
from engine.core.turn import LETTERS_A_TURN
from engine.model.errors import Conflict, NotTaken
from engine.model.events import (
    ChildEnded,
    Decide,
    Event,
    Letter,
    Pause,
    Result,
    Resume,
    Terminate,
)
from engine.model.execution import Execution
from engine.model.record import encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.store.contract import Group
from tests.builders import (
    Bench,
    a_child,
    a_definition,
    a_dynamic_fork,
    a_loop,
    a_task,
    a_task_def,
)
from tests.core.stores import FaultyStore

COMPLETED = TaskStatus.COMPLETED
TWO = a_definition(a_task("a"), a_task("b"))


def a_faulty_bench() -> tuple[Bench, FaultyStore]:
    store = FaultyStore()
    return Bench(TWO, store=store, task_defs=[a_task_def("a"), a_task_def("b")]), store


def asked(workflow_id: str, event: Event) -> Asked:
    return Asked(event, workflow_id=workflow_id, reply=Future())


def done(bench: Bench, workflow_id: str, ref: str = "a", output: bytes = b"{}") -> Result:
    return Result(seq=bench.run(workflow_id, ref).seq, status=COMPLETED, output=output)


# A store that fails


def test_a_caller_whose_group_failed_is_told_that_nothing_was_stored() -> None:
    bench, store = a_faulty_bench()
    w = bench.start()
    store.failures = 1
    reply = bench.send(w, done(bench, w))
    assert isinstance(reply.exception(0), NotTaken)
    bench.expect(w, ExecutionStatus.RUNNING, a=TaskStatus.SCHEDULED, b=None)


def test_memory_does_not_run_ahead_of_a_store_that_failed() -> None:
    bench, store = a_faulty_bench()
    w = bench.start()
    store.failures = 1
    bench.send(w, done(bench, w))
    assert len(bench.core.live) == 0
    bench.ask(w, done(bench, w))
    bench.expect(w, ExecutionStatus.RUNNING, a=COMPLETED, b=TaskStatus.SCHEDULED)


def test_work_that_was_withdrawn_in_a_failed_turn_can_be_polled_again() -> None:
    bench, store = a_faulty_bench()
    w = bench.start()
    store.failures = 1
    bench.send(w, done(bench, w))
    assert [handed.run.ref for handed in bench.poll("a")] == ["a"]


def test_a_poll_whose_claim_was_not_stored_gets_nothing_and_the_work_stays() -> None:
    bench, store = a_faulty_bench()
    bench.start()
    store.failures = 1
    assert bench.poll("a") == []
    assert len(bench.poll("a")) == 1


def test_an_outcome_in_doubt_is_settled_by_the_store_and_a_repetition_is_harmless() -> None:
    bench, store = a_faulty_bench()
    w = bench.start()
    store.failures, store.in_doubt = 1, True
    event = done(bench, w)
    assert isinstance(bench.send(w, event).exception(0), NotTaken)
    bench.ask(w, event)
    assert [run.ref for run in bench.execution(w).runs.values()] == ["a", "b"]


def test_a_timer_that_met_a_failing_store_rings_again() -> None:
    store = FaultyStore()
    wait = a_task("wait", "WAIT", input_parameters={"duration": "10s"})
    bench = Bench(a_definition(wait), store=store)
    w = bench.start()
    store.failures = 1
    bench.advance(10)
    bench.expect(w, ExecutionStatus.RUNNING)
    bench.advance(1)
    bench.expect(w, ExecutionStatus.COMPLETED)


def test_an_evaluators_answer_that_met_a_failing_store_is_not_lost() -> None:
    store = FaultyStore()
    bench = Bench(a_definition(a_loop("loop", a_task("a"))), store=store)
    w = bench.start()
    bench.send(w, done(bench, w, "a__1"))
    store.failures = 1
    bench.settle()
    bench.advance(1)
    bench.expect(w, ExecutionStatus.COMPLETED, loop=COMPLETED)


# A row that is refused


def too_large(group: Group) -> bool:
    return any(
        run.output == b'{"n":1e999}' for item in group.written for run in item.changes.runs.values()
    )


def test_a_row_that_is_refused_fails_its_own_event_and_no_other() -> None:
    bench, store = a_faulty_bench()
    first, second, third = bench.start(), bench.start(), bench.start()
    store.refuses = too_large
    events = [
        asked(first, done(bench, first)),
        asked(second, done(bench, second, output=b'{"n":1e999}')),
        asked(third, done(bench, third)),
    ]
    bench.core.turn(events)
    outcomes = [type(item.reply.exception(0)) for item in events if item.reply is not None]
    assert outcomes == [type(None), NotTaken, type(None)]
    assert [bench.statuses(w)["a"] for w in (first, second, third)] == [
        "COMPLETED", "SCHEDULED", "COMPLETED",
    ]  # fmt: skip


def test_an_event_that_was_refused_beside_a_refused_row_is_answered_too() -> None:
    bench, store = a_faulty_bench()
    first, second = bench.start(), bench.start()
    store.refuses = too_large
    refused = asked(second, Resume())
    bench.core.turn([asked(first, done(bench, first, output=b'{"n":1e999}')), refused])
    assert refused.reply is not None and isinstance(refused.reply.exception(0), Conflict)


# An event that raises


def poisonous(bench: Bench, workflow_id: str) -> Result:
    """A report whose merge raises: what is there is no JSON."""
    seq = bench.run(workflow_id, "a").seq
    return Result(seq=seq, status=COMPLETED, output=b"{not json", merge=True)


def test_an_event_that_raises_marks_its_execution_stuck_and_the_others_go_on() -> None:
    bench = Bench(TWO)
    first, second = bench.start(), bench.start()
    poison = asked(first, poisonous(bench, first))
    good = asked(second, done(bench, second))
    bench.core.turn([poison, good])
    assert poison.reply is not None and isinstance(poison.reply.exception(0), ValueError)
    assert (bench.execution(first).stuck or "").startswith("Result could not be taken")
    bench.expect(first, ExecutionStatus.RUNNING, a=TaskStatus.SCHEDULED, b=None)
    assert bench.execution(second).stuck is None
    bench.expect(second, ExecutionStatus.RUNNING, a=COMPLETED, b=TaskStatus.SCHEDULED)


def test_the_trace_of_an_event_that_raised_is_in_the_ledger() -> None:
    bench = Bench(TWO)
    w = bench.start()
    bench.send(w, poisonous(bench, w))
    line = bench.store.ledger[bench.execution(w).key][-1]
    assert line.cause == "Stuck" and b"Traceback" in line.body


def test_a_letter_that_raises_is_kept_and_does_not_go_round_in_circles() -> None:
    bench = Bench(TWO)
    w = bench.start()
    task_id = bench.run(w, "a").task_id
    bad = ChildEnded(task_id=task_id, child_id="c", status=ExecutionStatus.COMPLETED, output=b"{")
    seq = bench.run(w, "a").seq
    bench.ask(w, Result(seq=seq, status=TaskStatus.IN_PROGRESS, child_id="c"))
    bench.core.turn([Asked(bad, workflow_id=w)])
    bench.settle()
    assert [stored.letter for stored in bench.store.letters()] == [Letter(w, bad)]
    bench.wake_up()
    bench.settle()
    assert len(bench.store.letters()) == 1
    assert len(bench.heard("event.poisoned")) == 2


# Letters


def a_wide_bench(width: int) -> tuple[Bench, str]:
    tasks = [
        {
            "name": f"s{number}",
            "taskReferenceName": f"s{number}",
            "type": "SUB_WORKFLOW",
            "subWorkflowParam": {"name": "kid"},
        }
        for number in range(width)
    ]
    kid = a_definition(a_task("k"), name="kid")
    bench = Bench(a_definition(*a_dynamic_fork("fork")), kid)
    return bench, bench.start(input={"tasks": tasks, "inputs": {}})


def test_letters_that_are_too_many_for_one_turn_are_stored_and_taken_once() -> None:
    bench, w = a_wide_bench(LETTERS_A_TURN + 20)
    assert bench.store.letters() == []
    assert len(bench.store.numbers()) == LETTERS_A_TURN + 21
    bench.wake_up()
    bench.settle()
    assert len(bench.store.numbers()) == LETTERS_A_TURN + 21
    assert bench.execution(w).stuck is None


def test_a_childs_end_reaches_its_parent_in_the_same_commit() -> None:
    store = FaultyStore()
    bench = Bench(
        a_definition(a_child("sub", "kid"), a_task("b")),
        a_definition(a_task("k"), name="kid"),
        store=store,
    )
    w = bench.start()
    bench.complete("k")
    moved = {item.execution.id for item in store.groups[-1].written}
    assert w in moved and len(moved) == 2
    bench.expect(w, ExecutionStatus.RUNNING, sub=COMPLETED, b=TaskStatus.SCHEDULED)


def test_a_letter_whose_group_failed_is_delivered_later_and_only_once() -> None:
    store = FaultyStore()
    bench = Bench(
        a_definition(a_child("sub", "kid"), a_task("b")),
        a_definition(a_task("k"), name="kid"),
        store=store,
    )
    w = bench.start()
    child = bench.run(w, "sub").child_id or ""
    store.failures = 1
    event = done(bench, child, "k")
    assert isinstance(bench.send(child, event).exception(0), NotTaken)
    bench.ask(child, event)
    bench.ask(child, event)
    assert [run.ref for run in bench.execution(w).runs.values()] == ["sub", "b"]


# Order, and what is written


def test_people_are_heard_before_machines() -> None:
    bench = Bench(TWO)
    w = bench.start()
    inbox = Inbox()
    wanted = bench.wanted("a")
    inbox.put(wanted)
    inbox.put(Asked(Terminate(reason="stop"), workflow_id=w, urgent=True))
    bench.core.turn(inbox.drain(10))
    assert wanted.reply.result(0) == []
    assert bench.status(w) is ExecutionStatus.TERMINATED


def test_a_late_or_repeated_report_writes_no_ledger_line_and_no_attempt() -> None:
    bench = Bench(TWO)
    w = bench.start()
    bench.complete("a")
    before = bench.execution(w)
    bench.answer(w, "a", TaskStatus.FAILED, output={"late": True})
    after = bench.execution(w)
    assert (after.line, after.runs, after.updated_at) == (
        before.line, before.runs, before.updated_at,
    )  # fmt: skip
    assert "late update ignored" in bench.store.logs[-1][1]


def test_looking_again_at_any_time_moves_nothing() -> None:
    bench = Bench(TWO)
    w = bench.start()
    before = bench.statuses(w)
    for _ in range(3):
        bench.ask(w, Decide())
    assert bench.statuses(w) == before


def test_a_refused_verb_changes_nothing_and_says_why() -> None:
    bench = Bench(TWO)
    w = bench.start()
    with pytest.raises(Conflict, match="not PAUSED"):
        bench.ask(w, Resume())
    assert bench.execution(w).line == 1


def test_every_event_that_changes_something_leaves_one_line_with_who_and_why() -> None:
    bench = Bench(TWO)
    w = bench.start()
    bench.ask(w, Pause(by="ann", why="stocktaking"))
    lines = bench.store.ledger[bench.execution(w).key]
    assert [(line.line, line.cause, line.by, line.why) for line in lines] == [
        (1, "Start", None, None),
        (2, "Pause", "ann", "stocktaking"),
    ]


def test_a_repeated_start_meets_the_execution_that_is_there() -> None:
    bench = Bench(TWO)
    w = bench.start()
    found = bench.core.knowledge.definition("order", None)
    assert found is not None
    bench.started = 0
    assert bench.start() == w
    assert len(bench.store.numbers()) == 1


def test_what_is_decided_is_not_applied_to_what_a_reader_holds() -> None:
    bench = Bench(TWO)
    w = bench.start()
    (handed,) = bench.poll("a")
    bench.ask(w, Result(seq=handed.run.seq, status=COMPLETED, output=encode({"v": 1})))
    held: Execution = handed.execution
    assert handed.run.status is TaskStatus.IN_PROGRESS
    assert held.id == w
