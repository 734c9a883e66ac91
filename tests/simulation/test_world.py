"""One seed, many faults: store errors, lost answers, late answers, restarts, clock steps. In the
end everything is done, and nothing that was confirmed is done twice."""

import pytest

from tests.simulation.world import World


@pytest.mark.parametrize("seed", range(12))
def test_everything_completes_and_nothing_confirmed_is_lost_or_doubled(seed: int) -> None:
    world = World(seed)
    world.live_through(150)
    world.come_to_an_end()
    assert world.faults() == []
