"""Ids that carry their place."""

from engine.model.ids import child_id, depth_of, execution_id, family_of, task_id, task_place


def test_a_task_id_tells_its_execution_and_its_number() -> None:
    for execution, seq in ((1, 1), (7, 4_000_000), (2**47, 2**31)):
        assert task_place(task_id(execution, seq)) == (execution, seq)


def test_a_foreign_or_mutilated_id_is_no_place() -> None:
    good = task_id(5, 6)
    changed = good[:-1] + ("0" if good[-1] != "0" else "1")
    foreign = "018bcfe5-6800-70c1-8e7c-ba1de146b368"
    assert [task_place(text) for text in (changed, foreign, "", "x")] == [None] * 4


def test_execution_ids_sort_by_their_time() -> None:
    ids = [execution_id(now, bytes(10)) for now in (1, 1_000, 1_700_000_000_000)]
    assert ids == sorted(ids)


def test_a_child_has_the_same_id_however_often_it_is_started() -> None:
    assert child_id("p", "t", 0) == child_id("p", "t", 0)
    assert len({child_id("p", "t", 0), child_id("p", "t", 1), child_id("p", "u", 0)}) == 3


def test_the_id_of_a_sub_workflow_tells_how_deep_it_is() -> None:
    for depth in (1, 7, 100, 255):
        own = child_id("p", "t", 0, depth)
        assert depth_of(own) == depth
        assert own == child_id("p", "t", 0, depth) != child_id("p", "t", 1, depth)
        assert task_place(own) is None
    roots = (child_id("p", "t", 0), execution_id(1_000, bytes(10)), "named by a client")
    assert [depth_of(root) for root in roots] == [0, 0, 0]


def test_the_id_of_whatever_an_execution_starts_tells_its_family() -> None:
    root, other = execution_id(1_000, bytes(10)), "named by a client"
    child = child_id(root, "t", 0, 1)
    started = child_id(child, "t", 0)
    grandchild = child_id(started, "t", 0, 1)
    family = {family_of(one) for one in (root, child, started, grandchild)}
    assert len(family) == 1
    assert family_of(child_id(other, "t", 0)) == family_of(other) != family_of(root)
