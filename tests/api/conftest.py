"""One engine for all tests of the door: each test uses names of its own. Tests that move the clock have
an engine each."""

from collections.abc import Iterator

import pytest

from engine.instruments.clock import HandClock
from tests.api.door import Door


@pytest.fixture(scope="session")
def door() -> Iterator[Door]:
    with Door() as found:
        yield found


@pytest.fixture
def clock() -> HandClock:
    """It stands until a test moves it."""
    return HandClock()


@pytest.fixture
def timed_door(clock: HandClock) -> Iterator[Door]:
    """The door of an engine that goes by that clock."""
    with Door(clock=clock) as found:
        yield found
