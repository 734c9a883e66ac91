"""Sub-workflows: what stops definitions that start each other."""

from engine.model.ids import depth_of
from engine.model.status import ExecutionStatus, TaskStatus
from engine.tasks.children import DEEPEST
from tests.builders import Bench, a_child, a_definition


def test_definitions_that_start_each_other_in_a_circle_come_to_an_end_that_says_so() -> None:
    bench = Bench(
        a_definition(a_child("s", of="there"), name="here"),
        a_definition(a_child("s", of="here"), name="there"),
    )
    w = bench.start("here")
    bench.expect(w, ExecutionStatus.FAILED, s=TaskStatus.FAILED)
    family = bench.executions()
    assert len(family) == DEEPEST + 1
    assert all(one.status is ExecutionStatus.FAILED for one in family)
    deepest = max(family, key=lambda one: depth_of(one.id))
    assert "nested 100 deep" in str(deepest.reason) and "started by itself" in str(deepest.reason)
