"""One life of an engine that may be killed at any moment: `python -m tests.crashes.life FOLDER N`.

It starts what is missing of N executions and works until all have ended. Each run of a worker
leaves a line in this life's file and a dot on the output, so the one who watches knows when to
strike.
"""

import os
import sys
from pathlib import Path

from engine.model.requests import IdempotencyStrategy, StartWorkflowRequest
from engine.store.reading import counts
from engine.workers.functions import Worker, current_task
from tests.engine.builders import Bench, Json, task, workflow

NAME = "journey"
REFS = ("first", "left", "right", "again", "last")

JOURNEY = workflow(
    NAME,
    task("first", inputParameters={"n": "${workflow.input.n}"}),
    task(
        "fork",
        "FORK_JOIN",
        forkTasks=[
            [task("left", inputParameters={"n": "${first.output.n}"})],
            [task("right", inputParameters={"n": "${first.output.n}"})],
        ],
    ),
    task("join", "JOIN", joinOn=["left", "right"]),
    task(
        "loop",
        "DO_WHILE",
        loopCondition="$.loop['iteration'] < 2",
        loopOver=[task("again", inputParameters={"n": "${left.output.n}"})],
    ),
    task("pause", "WAIT", inputParameters={"duration": "1 seconds"}),
    task(
        "child",
        "SUB_WORKFLOW",
        subWorkflowParam={"name": "side_trip", "version": 1},
        inputParameters={"n": "${right.output.n}"},
    ),
    outputParameters={"n": "${child.output.n}"},
)
SIDE_TRIP = workflow(
    "side_trip",
    task("last", inputParameters={"n": "${workflow.input.n}"}),
    outputParameters={"n": "${last.output.n}"},
)


def main(folder: Path, life: str, number: int) -> None:
    """Live until all is done, or somebody kills us."""
    trail = os.open(folder / f"life-{life}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def step(n: int) -> Json:
        os.write(trail, f"{current_task().task_id}\n".encode())
        os.write(1, b".")
        return {"n": n + 1}

    bench = Bench(database=f"sqlite:///{folder / 'r.db'}", evaluators=1)
    bench.engine.workers.add_all([Worker(ref, step) for ref in REFS])
    with bench:
        bench.define(SIDE_TRIP, JOURNEY)
        begun = [
            bench.engine.executions.begin(
                StartWorkflowRequest(
                    name=NAME,
                    input={"n": n},
                    idempotency_key=str(n),
                    idempotency_strategy=IdempotencyStrategy.RETURN_EXISTING,
                )
            )
            for n in range(number)
        ]
        acknowledged = os.open(folder / "started", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for reply in begun:
            os.write(acknowledged, f"{reply.result(60)}\n".encode())
        bench.until(lambda: all_ended(bench, number))
    os.write(1, b"!")


def all_ended(bench: Bench, number: int) -> bool:
    """Has every journey come to its end?"""
    found = bench.engine.store.read(counts)
    ended = sum(n for (name, status), n in found.items() if name == NAME and status != "RUNNING")
    return ended >= number


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
