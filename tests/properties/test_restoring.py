"""An execution that is saved and loaded at any moment goes on as if nothing had been."""

from hypothesis import given
from hypothesis import strategies as st

from engine.model.definitions import WorkflowDef
from engine.model.events import Result
from engine.model.execution import Execution
from engine.model.status import TaskStatus
from engine.tasks.kind import SCRIPT
from tests.builders import Bench
from tests.properties.definitions import definitions, task_defs, the_child
from tests.properties.test_rules import QUICK

OUTCOMES = TaskStatus.COMPLETED, TaskStatus.COMPLETED, TaskStatus.FAILED


def story(bench: Bench) -> list[object]:
    """All that can be seen of all executions."""
    return [
        (
            execution.status,
            execution.reason,
            execution.output,
            execution.variables,
            shown(execution),
        )
        for execution in bench.executions()
    ]


def shown(execution: Execution) -> list[object]:
    return [
        (run.task_id, run.reference, run.status, run.attempt, run.input, run.output, run.wake_at)
        for run in execution.runs.values()
    ]


def open_work(bench: Bench) -> list[tuple[str, int]]:
    return [
        (execution.id, run.seq)
        for execution in bench.executions()
        for run in execution.runs.values()
        if run.open and (run.carrier not in (None, SCRIPT) or run.type == "WAIT")
    ]


@QUICK
@given(definition=definitions(), picks=st.lists(st.integers(0, 1000), max_size=30))
def test_an_engine_that_restarts_after_every_event_does_what_one_that_never_does(
    definition: WorkflowDef, picks: list[int]
) -> None:
    steady, shaken = (Bench(definition, the_child(), task_defs=task_defs()) for _ in range(2))
    for bench in (steady, shaken):
        bench.conditions = lambda question: question.asked < 3
        bench.start()
    for pick in picks:
        work = open_work(steady)
        if not work:
            break
        workflow_id, seq = work[pick % len(work)]
        event = Result(seq=seq, status=OUTCOMES[pick % 3], output=b'{"v":%d}' % pick)
        for bench in (steady, shaken):
            bench.ask(workflow_id, event)
            bench.advance(pick % 7)
        shaken.wake_up()
        shaken.settle()
        assert story(shaken) == story(steady)
