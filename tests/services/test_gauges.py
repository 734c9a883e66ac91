"""What is measured at the moment of a look, without an engine that does something meanwhile."""

from engine.model.requests import StartWorkflowRequest
from engine.services.gauges import UNATTENDED_MS, Gauges
from engine.store import catalogue
from engine.store.rowstore import RowStore
from tests.services.engine_room import EngineRoom

NOW = 1_700_000_000_000


def test_the_first_timer_tells_how_late_it_is(database: RowStore) -> None:
    room = EngineRoom(database, NOW)
    later = {"name": "later", "type": "WAIT", "taskReferenceName": "later"}
    room.register("timed", {**later, "inputParameters": {"duration": "10 seconds"}})
    room.port.settle()
    room.executions.start(StartWorkflowRequest(name="timed"))
    gauges = Gauges(room.port, database, room.tasks.sightings)

    def lag_after(ms: int) -> float:
        room.clock.advance(ms)
        return gauges.now()["timer_lag_seconds"]

    assert [lag_after(10_000), lag_after(2_500)] == [0, 2.5]
    room.port.settle()
    assert lag_after(1_000) == 0


def test_a_worker_of_an_earlier_engine_is_remembered(database: RowStore) -> None:
    room = EngineRoom(database, NOW)
    room.register("order")
    room.executions.start(StartWorkflowRequest(name="order"))
    room.clock.advance(UNATTENDED_MS)
    database.errand(
        lambda s: catalogue.note_workers(s, [("work", None, "w1", room.clock.now() - 1_000)])
    )
    gauges = Gauges(room.port, database, room.tasks.sightings)
    stuck = 'workflow_stuck_total{workflow="order",rule="no_worker"}'
    assert stuck not in gauges.now()
    room.clock.advance(UNATTENDED_MS)
    assert gauges.now()[stuck] == 1
