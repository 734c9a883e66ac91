"""Python's search for circular garbage, set for a process that keeps much and makes few circles.

For processes of our own alone: it concerns all of an interpreter.
"""

import gc

ALLOCATIONS = 50_000
"""New containers between two searches of the youngest; the default of 700 makes a busy engine
spend a quarter of its time on them."""


def collect_rarely() -> None:
    """Leave what is loaded by now out of every search, and search less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(ALLOCATIONS, 20, 20)
