"""A definition compiled: what follows what, what is inside what, and who waits for whom."""

from engine.tasks.plan import Plan
from tests.builders import a_definition, a_fork, a_loop, a_switch, a_task


def a_plan() -> Plan:
    fork = a_fork("fork", [a_task("x"), a_task("y")], [a_task("z")])
    switch = a_switch("switch", {"one": [a_task("c1"), a_task("c2")], "default": [a_task("d")]})
    loop = a_loop("loop", a_task("b1"), switch)
    return Plan(a_definition(a_task("first"), *fork, loop, a_task("last")))


def test_a_task_is_followed_by_the_next_of_its_list() -> None:
    nodes = a_plan().nodes
    assert (nodes["first"].next, nodes["x"].next, nodes["c1"].next) == ("fork", "y", "c2")


def test_the_end_of_a_branch_is_followed_by_the_join() -> None:
    nodes = a_plan().nodes
    assert (nodes["y"].next, nodes["z"].next) == ("join", "join")


def test_the_end_of_a_case_is_followed_by_what_follows_the_switch() -> None:
    switch = a_switch("s", {"one": [a_task("c")], "default": [a_task("d")]})
    nodes = Plan(a_definition(switch, a_task("after"))).nodes
    assert (nodes["c"].next, nodes["d"].next) == ("after", "after")


def test_the_end_of_a_loops_body_is_followed_by_nothing_but_knows_its_loop() -> None:
    nodes = a_plan().nodes
    assert (nodes["c2"].next, nodes["c2"].loop, nodes["loop"].loop) == (None, "loop", None)


def test_a_task_knows_the_joins_that_wait_for_it() -> None:
    nodes = a_plan().nodes
    assert (nodes["y"].feeds, nodes["z"].feeds, nodes["x"].feeds) == (("join",), ("join",), ())


def test_a_terminate_task_is_followed_by_nothing() -> None:
    nodes = Plan(a_definition(a_task("t", "TERMINATE"), a_task("after"))).nodes
    assert nodes["t"].next is None


def test_a_worker_task_without_a_definition_has_three_retries_and_a_system_task_none() -> None:
    nodes = Plan(a_definition(a_task("a"), a_task("w", "WAIT"))).nodes
    assert (nodes["a"].task_def.retry_count, nodes["w"].task_def.retry_count) == (3, 0)
