"""Every executable scenario, played on each kind of store with a clock turned by hand."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.instruments.clock import HandClock
from engine.model.facts import Limits
from engine.store.contract import Store
from engine.workers.evaluators import EvaluatorPool
from tests.api.door import Door
from tests.scenarios.memory_stage import MemoryStage
from tests.scenarios.play import Player
from tests.scenarios.rest_stage import RestStage

FILE = Path(__file__).parent.parent / "data" / "scenarios.jsonl"
SCENARIOS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text().splitlines()]
PLAYABLE = [scenario for scenario in SCENARIOS if not scenario.get("manual")]


@pytest.fixture(scope="module")
def evaluators() -> Iterator[EvaluatorPool]:
    pool = EvaluatorPool(1)
    yield pool
    pool.close()


def test_no_scenario_is_left_out() -> None:
    assert len(PLAYABLE) == 239
    assert len({scenario["id"] for scenario in SCENARIOS}) == 263


@pytest.mark.parametrize("scenario", PLAYABLE, ids=[item["id"] for item in PLAYABLE])
def test_scenario(scenario: dict[str, Any], store: Store, evaluators: EvaluatorPool) -> None:
    Player(MemoryStage(evaluators, store), scenario).play()


@pytest.mark.parametrize("scenario", PLAYABLE, ids=[item["id"] for item in PLAYABLE])
def test_scenario_over_rest(scenario: dict[str, Any]) -> None:
    clock = HandClock()
    with Door(clock, limits=Limits()) as door:
        Player(RestStage(door, clock), scenario).play()
