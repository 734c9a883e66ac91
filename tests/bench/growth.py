"""What a step costs as executions grow: `python -m tests.bench.growth`.

Ratios to a small execution in the same run; the absolute figures belong to the machine. A ratio
that climbs with the size says that something looks at all attempts.
"""

import gc
import statistics
import time
from collections.abc import Callable

from engine.core.inbox import Asked
from engine.model.definitions import WorkflowDef
from engine.model.events import Result
from engine.model.status import TaskStatus
from tests.builders import Bench, a_definition, a_fork, a_loop, a_task

SIZES = (10, 100, 1_000, 10_000)
STEPS = 400
"""Steps that are measured, at most; in the middle of an execution."""


def a_sequence(size: int) -> WorkflowDef:
    return a_definition(*(a_task(f"t{number}") for number in range(size)))


def a_wide_fork(size: int) -> WorkflowDef:
    return a_definition(*a_fork("fork", *([a_task(f"t{number}")] for number in range(size))))


def a_long_loop(size: int) -> WorkflowDef:
    body = a_task("t", input_parameters={"item": "${loop.output.loopItem}"})
    return a_definition(a_loop("loop", body, items=list(range(size))))


def a_loop_by_condition(size: int) -> WorkflowDef:
    return a_definition(a_loop("loop", a_task("t"), loop_condition="$.loop.iteration < $.t.v"))


def a_kept_loop(size: int) -> WorkflowDef:
    loop = a_loop("loop", a_task("t"), items=list(range(size)), input_parameters={"keepLastN": 3})
    return a_definition(loop)


def microseconds(build: Callable[[int], WorkflowDef], size: int) -> float:
    """The median cost of reporting one task and deciding what follows."""
    bench = Bench(build(size))
    workflow_id = bench.start()
    key = bench.store.key_of(workflow_id) or 0
    bench.conditions = lambda question: True
    core = bench.core
    costs = []
    gc.disable()
    for number in range(size - 1):
        execution = core.live.get(key)
        if execution is None:
            raise LookupError(workflow_id)
        name = f"t{number}" if f"t{number}" in execution.latest else f"t__{number + 1}"
        asked = Asked(
            Result(seq=execution.latest[name], status=TaskStatus.COMPLETED, output=b'{"v":1}'),
            key=key,
        )
        began = time.perf_counter_ns()
        core.turn([asked])
        while bench.questions:
            core.turn([bench.answered(bench.questions.pop())])
        costs.append((time.perf_counter_ns() - began) / 1000)
    gc.enable()
    middle = len(costs) // 2
    return statistics.median(costs[max(0, middle - STEPS // 2) : middle + STEPS // 2])


def main() -> None:
    """Print a row for each shape."""
    print(f"{'shape':<18}" + "".join(f"{size:>10}" for size in SIZES) + "   first size in us")
    for build in (a_sequence, a_wide_fork, a_long_loop, a_loop_by_condition, a_kept_loop):
        costs = [microseconds(build, size) for size in SIZES]
        name = build.__name__.removeprefix("a_")
        ratios = "".join(f"{cost / costs[0]:>10.2f}" for cost in costs)
        print(f"{name:<18}{ratios}   {costs[0]:.0f}")


if __name__ == "__main__":
    main()
