"""One execution, whichever server told it: head, root failure, attempts, story."""

from studio.views.execution import (
    attempts_of,
    entries_of,
    in_short,
    iterations_of,
    root_failure,
    story_of,
    task_of,
    view_of,
    waiting_for,
)
from tests.client.conductor_data import (
    NOW,
    ORDER,
    a_failed_order,
    a_waiting_incident,
    an_attempt,
    an_execution,
    an_odd_execution,
)
from tests.studio.graph.samples import order_saga


def test_the_head_comes_from_conductors_document() -> None:
    view = view_of(a_failed_order())
    assert (view.id, view.name, view.version, view.status) == (ORDER, "order_saga", 7, "FAILED")
    assert view.ran_ms(NOW) == 69_000
    assert view.failed and not view.live


def test_a_newer_outline_goes_before_the_document() -> None:
    outline = {
        "status": "COMPLETED",
        "endTime": NOW + 5,
        "tasks": [
            {"ref": "poll", "reference": "poll__2", "iteration": 2, "attempt": 1, "seq": 4,
             "type": "poll", "name": "poll", "status": "COMPLETED", "fork": "each"}
        ],
    }  # fmt: skip
    view = view_of(a_failed_order(), outline)
    assert (view.status, view.ended_ms) == ("COMPLETED", NOW + 5)
    entry = view.outline[0]
    assert (entry["retryCount"], entry["forkRef"], entry["type"]) == (1, "each", "SIMPLE")


def test_the_root_is_the_first_failure_and_its_consequences_are_named() -> None:
    root = root_failure(view_of(a_failed_order()))
    assert root is not None
    assert (root.ref, root.iteration, root.tries) == ("poll_carrier", 3, 3)
    assert root.consequences == ("track failed", "fulfilled cancelled")


def test_a_container_is_the_root_only_when_nothing_in_it_is() -> None:
    tasks = [an_attempt("track", "FAILED", type="DO_WHILE")]
    root = root_failure(view_of(an_execution("1", order_saga(), "FAILED", tasks=tasks)))
    assert root is not None and root.ref == "track"


def test_a_task_that_was_retried_well_is_no_root() -> None:
    tasks = [
        an_attempt("charge_card", "FAILED", seq=1),
        an_attempt("charge_card", "COMPLETED", seq=2, retryCount=1),
    ]
    assert root_failure(view_of(an_execution("1", order_saga(), tasks=tasks))) is None


def test_attempts_and_iterations_are_told_apart() -> None:
    outline = view_of(a_failed_order()).outline
    assert [entry["retryCount"] for entry in attempts_of(outline, "poll_carrier", 3)] == [0, 1, 2]
    assert iterations_of(outline, "poll_carrier") == {1: "COMPLETED", 2: "COMPLETED", 3: "FAILED"}


def test_a_task_is_found_in_branches_loops_and_cases() -> None:
    definition = order_saga()
    for ref in ("poll_carrier", "manual_review", "notify_customer", "close_order"):
        found = task_of(definition, ref)
        assert found is not None and found["taskReferenceName"] == ref
    assert task_of(definition, "nowhere") is None


def test_what_is_open_is_what_it_waits_for() -> None:
    assert [entry["ref"] for entry in waiting_for(view_of(a_waiting_incident()))] == ["approval"]


def test_odd_data_stays_readable() -> None:
    view = view_of(an_odd_execution())
    assert view.status == "LEVITATING"
    assert [entry["status"] for entry in view.outline] == ["HOVERING", "COMPLETED"]
    assert root_failure(view) is None
    assert view_of({}).name == ""
    assert entries_of({"tasks": "none"}) == []


def test_a_summary_for_a_chat_names_cause_and_link() -> None:
    words = in_short(view_of(a_failed_order()), "http://host/execution?id=1", NOW + 60_000)
    assert words.splitlines() == [
        "**order_saga v7** is failed, started 1 min ago.",
        "Failed at `poll_carrier` after 3 tries: HTTP 503 from the carrier gateway",
        "Correlation id order-10482",
        "<http://host/execution?id=1>",
    ]


def test_the_story_is_told_newest_first_with_person_and_reason() -> None:
    lines = [
        {
            "at": 1,
            "cause": "Start",
            "by": "shop",
            "runs": {"1": {"ref": "a", "status": "SCHEDULED"}},
        },
        {"at": 2, "cause": "Retry", "by": "Mara", "why": "it answers again"},
        {"at": 3, "cause": "SomethingNew", "status": "FAILED", "reason": "out of luck"},
    ]
    told = story_of(lines)
    assert [line.words for line in told] == ["SomethingNew", "Retried", "Started"]
    assert (told[1].person, told[1].reason) == ("Mara", "it answers again")
    assert (told[0].status, told[0].reason) == ("FAILED", "out of luck")
    assert told[2].about == (("a", "SCHEDULED"),)
