"""Where the time of an execution went: queued, running, backing off, waiting."""

from typing import Any

from studio.graph import timeline

START = 1_700_000_000_000


def a_run(ref: str, start: int, end: int, queued: int | None = None, **more: Any) -> dict[str, Any]:
    times = {"startTime": START + start, "endTime": START + end}
    times["scheduledTime"] = START + (start if queued is None else queued)
    return {"ref": ref, "status": "COMPLETED", **times, **more}


def kinds(row: timeline.Row) -> list[tuple[str, int]]:
    return [(segment.kind, segment.to_ms - segment.from_ms) for segment in row.segments]


def test_a_run_is_queued_and_then_running() -> None:
    (row,) = timeline.rows_of([a_run("charge", 400, 1_000, queued=100)])
    assert kinds(row) == [("queued", 300), ("running", 600)]


def test_between_two_attempts_lies_backoff_even_if_the_next_is_queued_at_once() -> None:
    first = a_run("charge", 0, 700, status="FAILED", retryCount=0)
    second = a_run("charge", 3_000, 4_000, queued=700, retryCount=1)
    (row,) = timeline.rows_of([second, first])
    assert kinds(row) == [("running", 700), ("backoff", 2_300), ("running", 1_000)]
    assert row.tries == 2


def test_a_person_a_timer_and_a_join_wait_and_do_not_run() -> None:
    types = ("HUMAN", "WAIT", "JOIN")
    rows = timeline.rows_of([a_run(type_, 0, 500, type=type_) for type_ in types])
    assert [kinds(row) for row in rows] == [[("waiting", 500)]] * 3


def test_each_iteration_has_its_own_row_in_the_order_of_its_start() -> None:
    runs = [a_run("poll", 2_000, 2_100, iteration=2), a_run("poll", 0, 100, iteration=1)]
    assert [row.label for row in timeline.rows_of(runs)] == [
        "poll · iteration 1",
        "poll · iteration 2",
    ]


def test_an_open_run_lasts_until_now_and_a_run_without_times_has_no_bar() -> None:
    runs = [
        {"ref": "open", "status": "IN_PROGRESS", "startTime": START},
        {"ref": "blank", "status": "SCHEDULED"},
    ]
    rows = timeline.rows_of(runs, now_ms=START + 900)
    assert [(row.ref, kinds(row)) for row in rows] == [("open", [("running", 900)]), ("blank", [])]


def test_long_idle_time_is_cut_out_and_named() -> None:
    rows = timeline.rows_of([a_run("a", 0, 1_000), a_run("b", 600_000, 601_000)])
    cut = timeline.figure(rows)
    assert [note.text for note in cut.layout.annotations] == ["9 min 59 s hidden"]
    whole = timeline.figure(rows, hide_idle=False)
    assert not whole.layout.annotations
    assert whole.layout.xaxis.ticktext[-1] == "10 min 1 s"


def test_a_name_with_markup_is_escaped_in_the_figure() -> None:
    figure = timeline.figure(timeline.rows_of([a_run("<a href='x'>", 0, 10)]))
    assert figure.layout.yaxis.ticktext[0] == "&lt;a href=&#x27;x&#x27;&gt;"


def test_bars_carry_what_they_stand_for() -> None:
    figure = timeline.figure(timeline.rows_of([a_run("poll", 0, 10, iteration=3)]), dark=True)
    assert list(figure.data[0].customdata[0]) == ["poll", 3]


def test_an_execution_without_tasks_has_an_empty_figure() -> None:
    assert not timeline.figure([]).data
