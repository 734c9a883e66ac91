"""Lists, counts and outlines of what is stored."""

from pathlib import Path

from engine.model.execution import Changes
from engine.model.ids import task_id
from engine.model.record import encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.store import ledger, reading
from engine.store.contract import Group, Written
from engine.store.database import open_sqlite
from engine.store.reading import Filter
from engine.store.rowstore import RowStore
from tests.store.builders import (
    a_definition,
    a_line,
    a_run,
    an_execution,
    changed,
    created,
    started,
)
from tests.store.plans import plans

BIG = b'{"text":"' + b"x" * 20_000 + b'"}'


def test_pages_follow_each_other_without_gap_or_repeat(database: RowStore) -> None:
    for number in range(7):
        started(database, created_at=number // 2)
    keys, after = [], None
    for _ in range(4):
        page = database.read(
            lambda session, after=after: reading.page(session, Filter(), after, limit=2)
        )
        keys.append([row.key for row in page.rows])
        after = page.after
        assert page.total == 7
    assert keys == [[7, 6], [5, 4], [3, 2], [1]]
    assert after is None


def test_a_page_shows_what_the_filter_asks_for(database: RowStore) -> None:
    refund = a_definition("refund", 2)
    started(database, created_at=10, correlation_id="c")
    started(database, created_at=20, definition=refund, parent_id="workflow-1")
    started(database, created_at=30, definition=refund, status=ExecutionStatus.FAILED)

    def keys(**fields: object) -> list[int]:
        wanted = Filter(**fields)  # type: ignore[arg-type]
        return [row.key for row in database.read(lambda s: reading.page(s, wanted)).rows]

    assert keys(name="refund") == [3, 2]
    assert keys(name="refund", statuses=["RUNNING"]) == [2]
    assert keys(version=1) == [1]
    assert keys(correlation_id="c") == [1]
    assert keys(parent_id="workflow-1") == [2]
    assert keys(top_level=True) == [3, 1]
    assert keys(since=20, until=30) == [2]


def test_a_listed_execution_carries_its_fields_and_on_demand_its_payloads(
    database: RowStore,
) -> None:
    execution = started(
        database, input=BIG, output=b'{"o":1}', failed_refs=("a",), task_to_domain={"*": "eu"}
    )
    (bare,) = database.read(lambda session: reading.listed(session, [execution.key, 99]))
    assert (bare.id, bare.name, bare.version) == (execution.id, "order", 1)
    assert (bare.failed_refs, bare.task_to_domain, bare.input) == (("a",), {"*": "eu"}, None)
    (full,) = database.read(lambda s: reading.listed(s, [execution.key], payloads=True))
    assert (full.input, full.output) == (BIG, b'{"o":1}')


def test_counts_follow_every_change_of_status(database: RowStore) -> None:
    first = started(database)
    started(database)
    started(database, definition=a_definition("refund"))
    assert database.read(reading.counts) == {("order", "RUNNING"): 2, ("refund", "RUNNING"): 1}
    database.commit(Group([changed(first, status=ExecutionStatus.PAUSED)]))
    database.commit(
        Group(
            [
                changed(first, status=ExecutionStatus.RUNNING),
                changed(first, status=ExecutionStatus.COMPLETED),
            ]
        )
    )
    assert database.read(reading.counts) == {
        ("order", "COMPLETED"): 1,
        ("order", "RUNNING"): 1,
        ("refund", "RUNNING"): 1,
    }


def test_ids_are_found_by_name_by_correlation_and_by_parent(database: RowStore) -> None:
    started(database, created_at=10, correlation_id="c")
    started(database, created_at=20, correlation_id="c", status=ExecutionStatus.COMPLETED)
    started(database, created_at=30, parent_id="workflow-1", status=ExecutionStatus.PAUSED)
    read = database.read
    assert read(lambda s: reading.running(s, "order")) == ["workflow-1", "workflow-3"]
    assert read(lambda s: reading.running(s, "order", 1, since=5, until=20)) == ["workflow-1"]
    assert read(lambda s: reading.running(s, "order", 2)) == []
    assert read(lambda s: reading.correlated(s, "c")) == ["workflow-1"]
    assert read(lambda s: reading.correlated(s, "c", "order", ended=True)) == [
        "workflow-1",
        "workflow-2",
    ]
    assert read(lambda s: reading.children(s, "workflow-1")) == ["workflow-3"]


def test_attempts_come_in_pages_with_their_payloads(database: RowStore) -> None:
    execution = started(
        database, {"output": BIG}, {"status": TaskStatus.FAILED, "carrier": None}, {}
    )
    key = execution.key
    runs, total = database.read(lambda s: reading.tasks(s, key, count=1))
    assert (len(runs), total, runs[0].output) == (1, 3, BIG)
    runs, total = database.read(lambda s: reading.tasks(s, key, ["FAILED"]))
    assert ([run.seq for run in runs], total) == ([2], 1)
    picked = database.read(lambda s: reading.attempts(s, [(key, 3), (key, 1), (key, 9)]))
    assert [run.seq for run in picked] == [3, 1]


def test_attempts_set_aside_can_be_looked_up(database: RowStore) -> None:
    execution = started(database, {"output": BIG})
    was = a_run(execution, output=BIG, status=TaskStatus.FAILED)
    database.commit(Group([Written(execution, Changes(removed={1}, aside=[was]))]))
    assert database.read(lambda session: reading.before(session, execution.key)) == [was]


def test_what_is_set_aside_keeps_the_payloads_of_its_own_group(database: RowStore) -> None:
    execution = started(database, {"output": b'{"old":1}'})
    failed = a_run(execution, status=TaskStatus.FAILED, input=None, output=BIG, carrier=None)
    bare = a_run(execution, status=TaskStatus.FAILED, input=None, output=None, carrier=None)
    again = a_run(execution, input=None, output=b"{}")
    reopened = Written(execution, Changes(runs={1: again}, aside=[bare]))
    database.commit(Group([changed(execution, failed), reopened]))
    (was,) = database.read(lambda session: reading.before(session, execution.key))
    assert (was.input, was.output) == (b"{}", BIG)
    assert database.payload(execution.key, 1, "output") == b"{}"


def test_logs_are_read_line_by_line(database: RowStore) -> None:
    execution = an_execution(database, updated_at=5)
    task = task_id(execution.key, 1)
    item = created(execution, a_run(execution), line=a_line(at=77))
    item.changes.logs.extend([(task, "one"), (task, "two")])
    database.commit(Group([item]))
    assert database.read(lambda session: reading.task_logs(session, execution.key, 1)) == [
        reading.LogLine(task, 77, "one"),
        reading.LogLine(task, 77, "two"),
    ]


def test_queue_sizes_count_what_waits(database: RowStore) -> None:
    started(database, {}, {"domain": "eu"}, {"status": TaskStatus.IN_PROGRESS})
    started(database, {}, {"carrier": None})
    assert database.read(reading.queue_sizes) == {("charge", None): 2, ("charge", "eu"): 1}


def test_what_a_queue_holds_and_has_handed_out_is_told_attempt_by_attempt(
    database: RowStore,
) -> None:
    taken = {"status": TaskStatus.IN_PROGRESS, "domain": "eu"}
    started(database, {}, taken, {"carrier": "other"}, {"status": TaskStatus.FAILED})
    held = database.read(lambda session: reading.queued(session, "charge"))
    assert held == [(1, 1, "SCHEDULED"), (1, 2, "IN_PROGRESS")]
    in_hand = database.read(lambda s: reading.queue_sizes(s, TaskStatus.IN_PROGRESS))
    assert in_hand == {("charge", "eu"): 1}


def test_open_attempts_of_a_type_are_told_the_newest_first(database: RowStore) -> None:
    over = {"status": TaskStatus.FAILED, "carrier": None}
    started(database, {}, {"carrier": None, "type": "WAIT"}, over)
    started(database, {"name": "pack", "status": TaskStatus.IN_PROGRESS})
    started(database, {}, status=ExecutionStatus.TERMINATED)

    def places(word: str, **page: int) -> list[tuple[int, int]]:
        return database.read(lambda session: reading.open_attempts(session, word, **page))

    assert places("SIMPLE") == [(2, 1), (1, 1)]
    assert places("SIMPLE", start=1, count=1) == [(1, 1)]
    assert (places("WAIT"), places("pack"), places("none")) == ([(1, 2)], [(2, 1)], [])


def test_what_is_open_is_found_without_a_look_at_what_is_over(tmp_path: Path) -> None:
    path = tmp_path / "reprise.db"
    open_sqlite(path).close()
    asked = {
        "task_open": lambda store: store.read(lambda s: reading.queued(s, "charge")),
        "execution_by_status": lambda store: store.read(lambda s: reading.open_attempts(s, "WAIT")),
    }
    for index, ask in asked.items():
        steps = plans(path, ask)
        assert any(index in step for step in steps), steps
        assert not any("SCAN" in step and "USING" not in step for step in steps), steps


def test_the_story_of_an_execution_is_told_in_order(database: RowStore) -> None:
    execution = an_execution(database)
    lines = [a_line(n, by="ann", why="because", body=BIG) for n in (1, 2, 3)]
    database.commit(Group([created(execution, line=lines[0])]))
    for line in lines[1:]:
        database.commit(Group([Written(execution, Changes(), ledger=line)]))
    told = database.read(lambda session: ledger.story(session, execution.key))
    assert told == lines
    assert len({line.chain for line in told}) == 3
    assert database.read(lambda s: ledger.story(s, execution.key, after=1, limit=1)) == lines[1:2]


def test_the_state_after_any_line_is_told_by_the_lines_before_it(database: RowStore) -> None:
    execution = an_execution(database)
    first = {"ref": "charge", "status": "SCHEDULED", "attempt": 0}
    failed = {**first, "status": "FAILED"}
    second = {**first, "attempt": 1}
    bodies: list[dict[str, object]] = [
        {"runs": {"1": first}},
        {"runs": {"1": failed, "2": second}},
        {"removed": [2], "status": "FAILED", "reason": "declined"},
    ]
    lines = [a_line(n, body=encode(body)) for n, body in enumerate(bodies, 1)]
    database.commit(Group([created(execution, line=lines[0])]))
    database.commit(Group([Written(execution, Changes(), ledger=line) for line in lines[1:]]))

    def at(line: int) -> ledger.Past:
        return database.read(lambda session: ledger.state_at(session, execution.key, line))

    assert at(0) == ledger.Past()
    assert at(1) == ledger.Past(1, 1_001, "RUNNING", None, {1: first})
    assert at(2) == ledger.Past(2, 1_002, "RUNNING", None, {1: failed, 2: second})
    assert at(3) == ledger.Past(3, 1_003, "FAILED", "declined", {1: failed})
