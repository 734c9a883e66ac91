"""Stories from plain seeds: longer and more varied than what a search for small examples tries."""

import random

import pytest

from tests.properties.definitions import random_definition
from tests.properties.play import Play

STORIES_A_TEST = 20


@pytest.mark.parametrize("block", range(10))
def test_long_stories_leave_every_execution_as_its_definition_says(block: int) -> None:
    for seed in range(block * STORIES_A_TEST, (block + 1) * STORIES_A_TEST):
        numbers = random.Random(seed)
        play = Play(random_definition(numbers.randrange), numbers.randrange)
        for _ in range(numbers.randrange(40)):
            play.step()
        play.finish()
