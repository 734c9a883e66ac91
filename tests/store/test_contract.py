"""What every store promises, asked of each."""

from dataclasses import replace
from typing import Any

import pytest

from engine.model.events import ChildEnded, Letter, Restart, Result, Start
from engine.model.execution import Changes
from engine.model.status import ExecutionStatus, TaskStatus
from engine.store.contract import Gated, Group, Ready, RowRefused, Store, Wake, Written
from tests.store.builders import (
    a_definition,
    a_line,
    a_run,
    an_execution,
    changed,
    created,
    started,
)

BIG = b'{"text":"' + b"abcdefgh" * 4_000 + b'"}'


def test_a_new_number_is_never_given_twice(store: Store) -> None:
    assert len({store.next_key() for _ in range(100)}) == 100


def test_what_is_committed_is_loaded(store: Store) -> None:
    execution = an_execution(store, correlation_id="c-1", task_to_domain={"charge": "eu"})
    run = a_run(execution, input=b'{"amount":1}')
    store.commit(Group([created(execution, run)]))
    loaded = store.load(execution.key, payloads=True)
    assert loaded is not None
    assert loaded.execution == execution
    assert loaded.runs == [run]


def test_attempts_are_loaded_without_their_payloads(store: Store) -> None:
    execution = started(store, {"input": b'{"a":1}', "output": BIG}, variables=b'{"v":1}')
    loaded = store.load(execution.key)
    assert loaded is not None
    assert (loaded.runs[0].input, loaded.runs[0].output) == (None, None)
    assert loaded.execution.variables == b'{"v":1}'


def test_there_is_nothing_under_a_number_that_was_not_stored(store: Store) -> None:
    assert store.load(4711) is None
    assert store.key_of("unknown") is None


def test_attempts_come_in_the_order_of_their_numbers(store: Store) -> None:
    execution = an_execution(store)
    store.commit(Group([created(execution, a_run(execution, 3), a_run(execution, 1))]))
    loaded = store.load(execution.key)
    assert loaded is not None
    assert [run.seq for run in loaded.runs] == [1, 3]


def test_an_execution_is_found_by_its_workflow_id(store: Store) -> None:
    execution = started(store)
    assert store.key_of(execution.id) == execution.key


def test_an_execution_is_shown_without_its_attempts(store: Store) -> None:
    execution = started(store, {"output": BIG}, input=BIG, correlation_id="c-1")
    head = store.head(execution.id)
    assert head is not None
    assert (head.key, head.input, head.correlation_id) == (execution.key, BIG, "c-1")
    assert head.definition == execution.definition
    assert not head.runs
    assert store.head("unknown") is None


def test_a_payload_is_read_by_itself(store: Store) -> None:
    execution = started(store, {"input": b'{"in":1}', "output": BIG}, input=b'{"order":7}')
    assert store.payload(execution.key, 1, "input") == b'{"in":1}'
    assert store.payload(execution.key, 1, "output") == BIG
    assert store.payload(execution.key, 0, "input") == b'{"order":7}'


def test_there_is_no_payload_of_an_attempt_that_was_not_stored(store: Store) -> None:
    execution = started(store)
    assert store.payload(execution.key, 9, "input") is None
    assert store.payload(execution.key + 100, 1, "input") is None
    assert store.payload(execution.key + 100, 0, "input") is None


def test_outputs_of_several_attempts_are_read_together(store: Store) -> None:
    execution = an_execution(store)
    outputs = {1: b'{"n":1}', 2: b'{"n":2}', 3: BIG, 4: b"{}"}
    runs = [a_run(execution, seq, output=output) for seq, output in outputs.items()]
    store.commit(Group([created(execution, *runs)]))
    assert store.outputs(execution.key, [4, 1, 3]) == {seq: outputs[seq] for seq in (1, 3, 4)}
    assert store.outputs(execution.key, [2, 9]) == {2: outputs[2]}
    assert store.outputs(execution.key, []) == {}
    assert store.outputs(execution.key + 100, [1, 2]) == {}


def test_a_payload_that_is_not_given_stays_as_it_is_stored(store: Store) -> None:
    execution = started(store, {"input": b'{"in":1}', "output": BIG})
    run = a_run(execution, status=TaskStatus.COMPLETED, input=None, output=None)
    store.commit(Group([changed(execution, run)]))
    loaded = store.load(execution.key, payloads=True)
    assert loaded is not None
    assert loaded.runs[0].status is TaskStatus.COMPLETED
    assert (loaded.runs[0].input, loaded.runs[0].output) == (b'{"in":1}', BIG)


def test_two_events_of_one_group_leave_the_state_after_the_second(store: Store) -> None:
    execution = an_execution(store)
    first = a_run(execution, output=b'{"first":1}')
    second = a_run(execution, status=TaskStatus.IN_PROGRESS, input=None, output=None, poll_count=1)
    group = Group([created(execution, first), changed(execution, second, next_seq=2, reason="r")])
    store.commit(group)
    loaded = store.load(execution.key, payloads=True)
    assert loaded is not None
    assert loaded.runs == [replace(second, input=b"{}", output=b'{"first":1}')]
    assert (loaded.execution.next_seq, loaded.execution.reason) == (2, "r")


def test_only_the_fields_that_an_event_changed_are_overwritten(store: Store) -> None:
    execution = started(store, reason="kept")
    store.commit(Group([changed(execution, status=ExecutionStatus.PAUSED, updated_at=9)]))
    loaded = store.load(execution.key)
    assert loaded is not None
    assert (loaded.execution.status, loaded.execution.reason) == (ExecutionStatus.PAUSED, "kept")


def test_a_removed_attempt_is_gone(store: Store) -> None:
    execution = started(store, {}, {"carrier": None})
    gone = a_run(execution, 2, carrier=None)
    changes = Changes(removed={2}, aside=[gone], runs={3: a_run(execution, 3)})
    store.commit(Group([Written(execution, changes)]))
    loaded = store.load(execution.key)
    assert loaded is not None
    assert [run.seq for run in loaded.runs] == [1, 3]


def test_an_attempt_made_and_removed_in_one_group_is_gone(store: Store) -> None:
    execution = an_execution(store)
    removal = Written(execution, Changes(removed={1}))
    store.commit(Group([created(execution, a_run(execution)), removal]))
    loaded = store.load(execution.key)
    assert loaded is not None
    assert loaded.runs == []
    assert store.ready(None, 10) == []


def test_a_restart_goes_on_by_its_new_definition(store: Store) -> None:
    execution = started(store)
    newer = a_definition(version=2)
    store.commit(Group([changed(execution, definition=newer, definition_hash="newer", nodes={})]))
    loaded = store.load(execution.key)
    assert loaded is not None
    assert loaded.execution.definition == newer


def test_a_refused_group_stores_nothing(store: Store) -> None:
    execution = started(store)
    other = an_execution(store)
    doubled = an_execution(store, id=execution.id)
    with pytest.raises(RowRefused):
        store.commit(Group([created(other, a_run(other)), created(doubled, a_run(doubled))]))
    assert store.load(other.key) is None
    assert store.ready(None, 10) == []
    store.commit(Group([created(other, a_run(other))]))
    assert store.load(other.key) is not None


def test_an_idempotency_key_starts_one_execution_of_a_name(store: Store) -> None:
    started(store, idempotency_key="once")
    again = an_execution(store, idempotency_key="once")
    elsewhere = an_execution(store, a_definition("refund"), idempotency_key="once")
    with pytest.raises(RowRefused):
        store.commit(Group([created(again)]))
    store.commit(Group([created(elsewhere)]))
    assert store.load(again.key) is None


def test_an_idempotency_key_tells_what_it_started_and_can_be_freed_by_its_holder(
    store: Store,
) -> None:
    first = started(store, idempotency_key="once")
    assert store.started_with("order", "once") == first.id
    assert store.started_with("refund", "once") is None
    store.free_key("order", "once", "another")
    assert store.started_with("order", "once") == first.id
    store.free_key("order", "once", first.id)
    assert store.started_with("order", "once") is None
    second = started(store, idempotency_key="once")
    assert store.started_with("order", "once") == second.id


def test_live_executions_under_a_rate_limit_come_oldest_first(store: Store) -> None:
    limited = a_definition().but(rate_limit_config={"concurrentExecLimit": 2})
    running = started(store, definition=limited, rate_limit_key="eu")
    started(store, definition=limited)
    started(store, definition=limited, rate_limit_key="eu", status=ExecutionStatus.COMPLETED)
    waiting = started(store, definition=limited, rate_limit_key="eu", rate_limited=True)
    assert list(store.gated()) == [
        Gated("eu", running.key, False, 2),
        Gated("eu", waiting.key, True, 2),
    ]


def test_ready_attempts_come_by_priority_then_by_how_long_they_are_due(store: Store) -> None:
    late = started(store, {"due_at": 20})
    early = started(store, {"due_at": 10})
    urgent = started(store, {"due_at": 30, "priority": 5})
    found = store.ready("charge", 10)
    assert [item.execution for item in found] == [urgent.key, early.key, late.key]
    assert found[0] == Ready(urgent.key, 1, "charge", None, 5, 30)


def test_ready_attempts_are_asked_for_one_carrier_or_for_all(store: Store) -> None:
    execution = started(
        store,
        {"carrier": "charge", "domain": "eu"},
        {"carrier": "ship"},
        {"carrier": None},
    )
    assert store.ready("charge", 10) == [Ready(execution.key, 1, "charge", "eu", 0, 0)]
    assert [item.seq for item in store.ready(None, 10)] == [1, 2]
    assert len(store.ready(None, 1)) == 1


def test_a_taken_attempt_is_not_ready_unless_an_evaluator_has_it(store: Store) -> None:
    running = {"status": TaskStatus.IN_PROGRESS}
    started(store, running, {**running, "carrier": "#script"})
    assert [item.carrier for item in store.ready(None, 10)] == ["#script"]


@pytest.mark.parametrize("status", [ExecutionStatus.TERMINATED, ExecutionStatus.COMPLETED])
def test_nothing_of_an_ended_execution_is_ready_or_due(
    store: Store, status: ExecutionStatus
) -> None:
    started(store, {"wake_at": 5}, status=status, wake_at=5)
    assert store.ready(None, 10) == []
    assert store.due(100, 10) == []


def test_ended_attempts_are_neither_ready_nor_due(store: Store) -> None:
    started(store, {"status": TaskStatus.COMPLETED, "wake_at": 5})
    assert store.ready(None, 10) == []
    assert store.due(100, 10) == []


def test_due_instants_come_earliest_first_up_to_an_instant(store: Store) -> None:
    first = started(store, {"wake_at": 30}, {"wake_at": 10})
    second = started(store, {"wake_at": 0}, wake_at=20)
    started(store, {"wake_at": 99}, wake_at=99)
    expected = [Wake(10, first.key, 2), Wake(20, second.key, None), Wake(30, first.key, 1)]
    assert store.due(30, 10) == expected
    assert store.due(30, 2) == expected[:2]


def test_taken_attempts_are_counted_by_name(store: Store) -> None:
    running = {"status": TaskStatus.IN_PROGRESS}
    started(store, running, {**running, "name": "ship"}, {"name": "ship"})
    started(store, running)
    started(store, {**running, "name": "wait", "carrier": None})
    assert store.taken(["charge", "ship", "never"]) == {"charge": 2, "ship": 1, "never": 0}
    assert store.taken(()) == {"charge": 2, "ship": 1}


LETTERS = [
    Start(definition=a_definition(), definition_hash="abc", input=b'{"n": 1.0}', priority=3),
    Restart(definition=a_definition(version=3), definition_hash="def", by="ann", why="new rules"),
    Restart(),
    Result(seq=4, status=TaskStatus.COMPLETED, output=BIG, metadata=b'{"ms":1}', logs=("a", "b")),
    ChildEnded(
        task_id="t", child_id="c", status=ExecutionStatus.FAILED, output='{"ä":"€"}'.encode()
    ),
]


@pytest.mark.parametrize("event", LETTERS, ids=lambda event: type(event).__name__)
def test_a_letter_comes_back_as_it_was_written(store: Store, event: Any) -> None:
    letter = Letter("workflow-9", event, sender="workflow-1")
    store.commit(Group(letters=[letter]))
    assert [item.letter for item in store.letters()] == [letter]


def test_a_letter_waits_until_a_group_has_delivered_it(store: Store) -> None:
    letters = [Letter(f"workflow-{n}", Restart()) for n in range(3)]
    store.commit(Group(letters=letters))
    stored = store.letters()
    assert [item.letter for item in stored] == letters
    store.commit(Group(delivered=[stored[1].id]))
    assert [item.letter.to for item in store.letters()] == ["workflow-0", "workflow-2"]


def test_a_letter_of_a_refused_group_is_neither_stored_nor_delivered(store: Store) -> None:
    execution = started(store)
    store.commit(Group(letters=[Letter("waits", Restart())]))
    doubled = an_execution(store, id=execution.id)
    group = Group(
        [created(doubled)], [Letter("new", Restart())], [item.id for item in store.letters()]
    )
    with pytest.raises(RowRefused):
        store.commit(group)
    assert [item.letter.to for item in store.letters()] == ["waits"]


def test_an_empty_group_is_no_trouble(store: Store) -> None:
    store.commit(Group())


def test_a_line_of_the_ledger_is_counted_on_the_execution(store: Store) -> None:
    execution = an_execution(store)
    store.commit(Group([created(execution, line=a_line(1))]))
    execution.line = 1
    store.commit(Group([replace(changed(execution, line=2), ledger=a_line(2))]))
    loaded = store.load(execution.key)
    assert loaded is not None
    assert loaded.execution.line == 2
