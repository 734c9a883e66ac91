"""What a step costs as the number of stored executions grows: `python -m tests.bench.stored`.

Prints steps a second of the same work on a file with few and with many ended executions, and the
ratio between them.
"""

import sys
import tempfile
import time
from pathlib import Path

from tests.bench.adapter import Adapter

FEW, MANY, RUNS, STEPS = 1_000, 100_000, 300, 10

ENDED = {
    "name": "ended",
    "schemaVersion": 2,
    "tasks": [{"name": "n", "taskReferenceName": "n", "type": "NOOP"}],
}
CHAIN = {
    "name": "chain",
    "schemaVersion": 2,
    "tasks": [
        {"name": "step", "taskReferenceName": f"s{number}", "type": "SIMPLE"}
        for number in range(STEPS)
    ],
}


def steps_a_second(adapter: Adapter, label: str) -> float:
    """The best of three runs of the chain."""
    best = 0.0
    for attempt in range(3):
        begun = time.perf_counter()
        adapter.wait(adapter.start("chain", [f"{label}.{attempt}.{n}" for n in range(RUNS)]))
        best = max(best, RUNS * STEPS / (time.perf_counter() - begun))
    return best


def main(many: int) -> None:
    """Fill, measure, fill more, measure again."""
    with tempfile.TemporaryDirectory() as folder:
        place = f"sqlite:///{Path(folder) / 'stored.db'}"
        adapter = Adapter(place, [], {"step": lambda given: {}})
        adapter.open(recover=False)
        adapter.register(ENDED)
        adapter.register(CHAIN)
        found = {}
        stored = 0
        for wanted in (FEW, many):
            while stored < wanted:
                batch = min(2_000, wanted - stored)
                adapter.wait(adapter.start("ended", [f"e{stored + n}" for n in range(batch)]))
                stored += batch
            found[wanted] = steps_a_second(adapter, str(wanted))
            print(f"{wanted:>9} stored: {found[wanted]:8.0f} steps/s")
        print(f"ratio of a step's cost: {found[FEW] / found[many]:.2f}")
        adapter.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else MANY)
