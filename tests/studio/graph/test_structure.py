"""What surely ran before a task, what can run after it, and what never runs."""

from studio.graph import layout
from studio.graph.structure import Flow
from tests.studio.graph.samples import a_task, broken, dynamic, many_tasks, order_saga

ORDER = Flow(layout.place(order_saga()))


def test_a_case_is_not_sure_behind_its_switch_but_all_branches_are_behind_the_join() -> None:
    sure = ORDER.dominators("close_order")
    assert "manual_review" not in sure
    assert {"notify_customer", "book_shipment", "poll_carrier", "fulfilled"} <= set(sure)


def test_a_join_that_waits_for_one_branch_is_not_sure_of_the_other() -> None:
    lanes = [[a_task("quick")], [a_task("slow")]]
    tasks = [
        a_task("fork", "FORK_JOIN", forkTasks=lanes),
        a_task("join", "JOIN", joinOn=["quick"]),
        a_task("next"),
    ]
    assert Flow(layout.place({"tasks": tasks})).dominators("next") == ("fork", "quick", "join")


def test_the_body_of_a_loop_has_run_at_least_once_behind_the_loop() -> None:
    tasks = [a_task("loop", "DO_WHILE", loopOver=[a_task("body")]), a_task("next")]
    assert Flow(layout.place({"tasks": tasks})).dominators("next") == ("loop", "body")


def test_after_a_task_in_a_loop_the_loop_may_run_again() -> None:
    tasks = [a_task("loop", "DO_WHILE", loopOver=[a_task("one"), a_task("two")]), a_task("next")]
    assert set(Flow(layout.place({"tasks": tasks})).after("two")) == {"loop", "one", "next"}


def test_nothing_runs_before_the_first_task_and_nothing_after_the_last() -> None:
    assert ORDER.dominators("reserve_stock") == ()
    assert ORDER.after("close_order") == ()


def test_paths_follow_each_case_and_each_branch() -> None:
    ways = ORDER.paths()
    assert len(ways) == 2 * 2  # cases without a task share a way
    assert all(way[0] == "reserve_stock" and way[-1] == "close_order" for way in ways)


def test_paths_of_a_large_definition_stop_at_the_limit() -> None:
    assert len(Flow(layout.place(many_tasks(200))).paths(limit=7)) == 7


def test_broken_and_dynamic_definitions_have_a_flow_too() -> None:
    assert Flow(layout.place(broken())).paths() != []
    assert "each_row" in Flow(layout.place(dynamic())).dominators("all_later")
    assert ORDER.dominators("nobody") == ORDER.after("nobody") == ()
