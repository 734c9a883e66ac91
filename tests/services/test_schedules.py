"""Schedules: what fires when, once for each slot, over pauses, downtime and restarts."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from engine.model.errors import InvalidInput, NotFound
from engine.services.schedules import KEPT, Schedules
from engine.services.trigger_shelf import MemoryShelf
from engine.store.contract import Store
from engine.store.memory import MemoryStore
from tests.services.engine_room import EngineRoom

MINUTE, HOUR = 60_000, 3_600_000


def at(text: str) -> int:
    """Epoch milliseconds of a UTC time."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


MIDNIGHT = at("2024-01-01T00:00:00")


@pytest.fixture
def room(store: Store) -> EngineRoom:
    made = EngineRoom(store, MIDNIGHT)
    made.register("report")
    return made


def a_schedule(cron: str = "0 0 * * * *", **fields: Any) -> dict[str, Any]:
    request = {"name": "report", "input": {"a": 1}}
    return {
        "name": "s",
        "cronExpression": cron,
        "startWorkflowRequest": request,
        **fields,
    }


def run_until(room: EngineRoom, until: int, step: int = MINUTE) -> None:
    """Let time pass, with the firing loop called at every step."""
    while room.clock.now() < until:
        room.clock.set(min(until, room.clock.now() + step))
        room.schedules.fire_due(room.clock.now())


def firings(room: EngineRoom, name: str = "s") -> list[dict[str, Any]]:
    """Oldest first."""
    return room.schedules.search_firings(f"scheduleName={name}", size=1000)["results"][::-1]


def slots(room: EngineRoom, name: str = "s") -> list[str]:
    return [
        f"{datetime.fromtimestamp(firing['scheduledTime'] / 1000, UTC):%H:%M}"
        for firing in firings(room, name)
    ]


def execution(room: EngineRoom, firing: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(orjson.dumps(room.executions.get(firing["workflowId"])))
    return found


# When


def test_the_next_run_is_strictly_later_and_heeds_the_zone(room: EngineRoom):
    """SCH-01."""
    saved = room.schedules.save(a_schedule("0 0 9 * * *", zoneId="Asia/Tokyo"))
    assert saved["nextRunTime"] == at("2024-01-02T00:00:00")


def test_the_preview_shows_five_at_most(room: EngineRoom):
    """SCH-01."""
    now = MIDNIGHT + 10_000
    found = Schedules.next_few("0 0/15 * * * *", now, limit=50)
    assert found == [MIDNIGHT + n * 15 * MINUTE for n in (1, 2, 3, 4, 5)]
    assert Schedules.next_few("0 0/15 * * * *", now, limit=2) == found[:2]


def test_the_preview_keeps_to_the_bounds(room: EngineRoom):
    """SCH-06."""
    start, end = MIDNIGHT + 12 * HOUR, MIDNIGHT + 14 * HOUR
    found = Schedules.next_few("0 0 * * * *", MIDNIGHT, start=start, end=end)
    assert found == [start, start + HOUR, end]


def test_a_preview_of_what_is_no_expression_is_refused():
    """SCH-01."""
    with pytest.raises(InvalidInput, match="Invalid cron expression"):
        Schedules.next_few("* * * * *", MIDNIGHT)


def test_both_bounds_are_served_and_nothing_beyond(room: EngineRoom):
    """SCH-06."""
    bounds = {"scheduleStartTime": MIDNIGHT + 2 * HOUR, "scheduleEndTime": MIDNIGHT + 4 * HOUR}
    room.schedules.save(a_schedule(**bounds))
    run_until(room, MIDNIGHT + 8 * HOUR, HOUR)
    assert slots(room) == ["02:00", "03:00", "04:00"]
    assert "nextRunTime" not in room.schedules.get("s")


def test_of_several_expressions_the_earliest_is_next_and_the_single_one_is_ignored(
    room: EngineRoom,
):
    """SCH-07."""
    crons = [
        {"cronExpression": "0 0 9 * * MON-FRI", "zoneId": "Europe/Berlin"},
        {"cronExpression": "0 0 12 * * SAT,SUN"},
    ]
    saved = room.schedules.save(a_schedule("0 * * * * *", cronSchedules=crons))
    assert saved["nextRunTime"] == at("2024-01-01T08:00:00")
    run_until(room, MIDNIGHT + 7 * 24 * HOUR, HOUR)
    found = [execution(room, firing)["input"]["_schedulerCron"] for firing in firings(room)]
    assert found == ["0 0 9 * * MON-FRI Europe/Berlin"] * 5 + ["0 0 12 * * SAT,SUN UTC"] * 2


# What


def test_a_fired_execution_gets_the_request_and_five_more_inputs(room: EngineRoom):
    """SCH-02."""
    request = {
        "name": "report",
        "input": {"a": 1},
        "correlationId": "daily",
        "priority": 5,
        "taskToDomain": {"work": "blue"},
    }
    given = a_schedule("0 * * * * *", startWorkflowRequest=request, createdBy="ann")
    room.schedules.save(given)
    room.clock.set(MIDNIGHT + MINUTE + 300)
    assert room.schedules.fire_due(room.clock.now()) == 1
    (firing,) = firings(room)
    started = execution(room, firing)
    assert started["input"] == {
        "a": 1,
        "_startedByScheduler": "s",
        "_scheduledTime": MIDNIGHT + MINUTE,
        "_executedTime": MIDNIGHT + MINUTE + 300,
        "_executionId": firing["executionId"],
        "_schedulerCron": "0 * * * * * UTC",
    }
    shown = {name: started[name] for name in ("correlationId", "priority", "createdBy")}
    assert shown == {"correlationId": "daily", "priority": 5, "createdBy": "ann"}
    assert started["taskToDomain"] == {"work": "blue"}
    assert {name: firing[name] for name in ("state", "workflowName", "zoneId")} == {
        "state": "EXECUTED",
        "workflowName": "report",
        "zoneId": "UTC",
    }
    assert room.schedules.get("s")["startWorkflowRequest"]["input"] == {"a": 1}


def test_a_start_that_fails_is_recorded_and_stops_nothing(room: EngineRoom):
    """SCH-03."""
    request = {"name": "later", "input": {}}
    room.schedules.save(a_schedule("0 * * * * *", startWorkflowRequest=request))
    run_until(room, MIDNIGHT + 2 * MINUTE)
    assert [firing["state"] for firing in firings(room)] == ["FAILED", "FAILED"]
    assert "later" in firings(room)[0]["reason"]
    assert "workflowId" not in firings(room)[0]
    assert room.schedules.get("s")["nextRunTime"] == MIDNIGHT + 3 * MINUTE
    room.register("later")
    run_until(room, MIDNIGHT + 3 * MINUTE)
    assert firings(room)[-1]["state"] == "EXECUTED"


# Downtime, pauses, restarts


def test_after_downtime_catch_up_serves_every_slot_and_without_it_the_first_alone(
    room: EngineRoom,
):
    """SCH-04."""
    room.schedules.save(a_schedule(name="c", runCatchupScheduleInstances=True))
    room.schedules.save(a_schedule(name="n"))
    run_until(room, MIDNIGHT + HOUR + 30 * MINUTE)
    room.clock.set(MIDNIGHT + 4 * HOUR + 20 * MINUTE)
    room.schedules.fire_due(room.clock.now())
    run_until(room, MIDNIGHT + 5 * HOUR)
    assert slots(room, "c") == ["01:00", "02:00", "03:00", "04:00", "05:00"]
    assert slots(room, "n") == ["01:00", "02:00", "05:00"]
    late = firings(room, "n")[1]
    assert late["executionTime"] - late["scheduledTime"] == 2 * HOUR + 20 * MINUTE


def test_a_pause_is_never_made_up_for(room: EngineRoom):
    """SCH-05."""
    room.schedules.save(a_schedule("0 * * * * *", runCatchupScheduleInstances=True))
    room.clock.set(MIDNIGHT + 30_000)
    room.schedules.pause("s", "maintenance")
    shown = room.schedules.get("s")
    assert (shown["paused"], shown["pausedReason"]) == (True, "maintenance")
    run_until(room, MIDNIGHT + 10 * MINUTE + 30_000)
    assert slots(room) == []
    room.schedules.resume("s")
    assert room.schedules.get("s")["nextRunTime"] == MIDNIGHT + 11 * MINUTE
    assert "pausedReason" not in room.schedules.get("s")
    with pytest.raises(NotFound):
        room.schedules.resume("s")


def test_saving_counts_from_now(room: EngineRoom):
    room.schedules.save(a_schedule("0 * * * * *", runCatchupScheduleInstances=True))
    room.clock.set(MIDNIGHT + 10 * MINUTE)
    room.schedules.save(a_schedule("0 * * * * *", runCatchupScheduleInstances=True))
    room.schedules.fire_due(room.clock.now())
    assert slots(room) == []


def test_a_slot_whose_record_was_lost_meets_the_execution_it_has_started(room: EngineRoom):
    """As after a death between the start and the record."""

    class Forgetful(MemoryShelf):
        forgets = True

        def served(self, *args: Any) -> bool:
            return False if self.forgets else super().served(*args)

    shelf = Forgetful()
    twin = EngineRoom(room.store, MIDNIGHT, shelf)
    twin.register("report")
    twin.schedules.save(a_schedule("0 * * * * *"))
    assert twin.schedules.fire_due(MIDNIGHT + MINUTE) == 1
    shelf.forgets = False
    assert twin.schedules.fire_due(MIDNIGHT + MINUTE + 1) == 1
    (firing,) = firings(twin)
    assert execution(twin, firing)["input"]["_executedTime"] == MIDNIGHT + MINUTE


def test_a_schedule_that_was_changed_meanwhile_keeps_its_change(room: EngineRoom):
    room.schedules.save(a_schedule("0 * * * * *"))
    old = room.shelf.due_schedules(MIDNIGHT + MINUTE)[0]
    room.schedules.save(a_schedule("0 0 9 * * *"))
    assert not room.shelf.served("s", old.next_run_at, 1, a_record(1), 10)
    assert room.schedules.get("s")["nextRunTime"] == MIDNIGHT + 9 * HOUR


def a_record(number: int) -> dict[str, Any]:
    return {
        "executionId": f"e{number}",
        "scheduleName": "s",
        "scheduledTime": MIDNIGHT + number,
        "state": "EXECUTED",
    }


def test_the_history_of_a_schedule_is_kept_to_its_last_hundred(room: EngineRoom):
    for number in range(KEPT + 3):
        room.shelf.served("s", number, number + 1, a_record(number), KEPT)
    kept = room.schedules.search_firings("", size=1000)["results"]
    assert [kept[0]["executionId"], kept[-1]["executionId"]] == ["e102", "e3"]
    assert len(kept) == KEPT


def test_catching_up_takes_turns_with_everything_else():
    room = EngineRoom(MemoryStore(), MIDNIGHT)
    room.register("report")
    room.schedules.save(a_schedule("* * * * * *", runCatchupScheduleInstances=True))
    served = [room.schedules.fire_due(MIDNIGHT + 250_000) for _ in range(4)]
    assert served == [100, 100, 50, 0]


def test_the_whole_scheduler_can_rest(room: EngineRoom):
    room.schedules.save(a_schedule("0 * * * * *"))
    room.schedules.paused = True
    run_until(room, MIDNIGHT + 2 * MINUTE)
    assert slots(room) == []
    room.schedules.paused = False
    run_until(room, MIDNIGHT + 4 * MINUTE)
    assert slots(room) == ["00:01", "00:04"]


# The catalogue


def test_a_second_save_keeps_who_created_it_and_when(room: EngineRoom):
    """SCH-08."""
    room.schedules.save(a_schedule(createdBy="ann"))
    room.clock.set(MIDNIGHT + 5_000)
    saved = room.schedules.save(a_schedule("0 30 * * * *", createdBy="bob"), by="bob")
    assert (saved["createdBy"], saved["updatedBy"]) == ("ann", "bob")
    assert (saved["createTime"], saved["updatedTime"]) == (MIDNIGHT, MIDNIGHT + 5_000)
    assert saved["nextRunTime"] == MIDNIGHT + 30 * MINUTE


def test_removing_twice_is_fine_and_leaves_what_was_started(room: EngineRoom):
    """SCH-08."""
    room.schedules.save(a_schedule("0 * * * * *"))
    run_until(room, MIDNIGHT + MINUTE)
    room.schedules.remove("s")
    room.schedules.remove("s")
    with pytest.raises(NotFound, match="Schedule 's' not found"):
        room.schedules.get("s")
    (firing,) = firings(room)
    assert execution(room, firing)["status"] == "RUNNING"


@pytest.mark.parametrize("verb", ["pause", "resume", "get"])
def test_a_schedule_that_is_not_there_is_not_found(room: EngineRoom, verb: str):
    with pytest.raises(NotFound, match="Schedule 'x' not found"):
        getattr(room.schedules, verb)("x")


def test_a_name_with_a_colon_is_a_name_like_any_other(room: EngineRoom):
    room.schedules.save(a_schedule(name="abcd:x"))
    assert room.schedules.get("abcd:x")["name"] == "abcd:x"


@pytest.mark.parametrize(
    ("change", "path", "says"),
    [
        ({"cronExpression": "* * * * *"}, "schedule.cronExpression", "cron"),
        ({"cronExpression": None}, "schedule.cronExpression", "cron"),
        ({"zoneId": "Mars/Olympus"}, "schedule.zoneId", "IANA"),
        ({"name": " "}, "schedule.name", "name is empty"),
        ({"startWorkflowRequest": None}, "schedule.startWorkflowRequest.name", "workflow to start"),
        ({"startWorkflowRequest": {}}, "schedule.startWorkflowRequest.name", "workflow to start"),
        (
            {"cronSchedules": [{"cronExpression": "0 * * * * *"}, {"cronExpression": "x"}]},
            "schedule.cronSchedules[1].cronExpression",
            "cron",
        ),
        ({"scheduleStartTime": -1}, "schedule.scheduleStartTime", "milliseconds"),
        (
            {"scheduleStartTime": 2 * MIDNIGHT, "scheduleEndTime": MIDNIGHT},
            "schedule.scheduleEndTime",
            "never fire",
        ),
    ],
)
def test_an_unsound_schedule_is_refused_at_once(
    room: EngineRoom, change: dict[str, Any], path: str, says: str
):
    with pytest.raises(InvalidInput, match=says) as refused:
        room.schedules.save({**a_schedule(), **change})
    assert [violation.path for violation in refused.value.violations] == [path]
    assert room.schedules.all() == []


def test_many_are_paused_and_resumed_at_once(room: EngineRoom):
    room.schedules.save(a_schedule(name="a"))
    answer = room.schedules.pause_many(["a", "none"])
    assert answer == {
        "bulkErrorResults": {"none": "Schedule 'none' not found"},
        "bulkSuccessfulResults": ["a"],
    }
    assert room.schedules.resume_many(["a"])["bulkSuccessfulResults"] == ["a"]


def test_schedules_are_searched_and_paged(room: EngineRoom):
    for name in ("nightly", "hourly", "weekly"):
        room.schedules.save(a_schedule(name=name))
    room.schedules.pause("hourly")
    names = [document["name"] for document in room.schedules.search()["results"]]
    assert names == ["hourly", "nightly", "weekly"]
    page = room.schedules.search(start=1, size=1, sort="name:DESC")
    assert (page["totalHits"], page["results"][0]["name"]) == (3, "nightly")
    assert room.schedules.search(paused=True)["results"][0]["name"] == "hourly"
    assert room.schedules.search(name="LY")["totalHits"] == 3
    assert room.schedules.search(free_text="week")["totalHits"] == 1
    assert room.schedules.search(workflow_name="nope")["totalHits"] == 0
    assert len(room.schedules.all("report")) == 3


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("", ["e4", "e3", "e2", "e1"]),
        ("scheduleName IN (s)", ["e3", "e2", "e1"]),
        ("scheduleName IN (s, t)", ["e4", "e3", "e2", "e1"]),
        ("s", ["e3", "e2", "e1"]),
        ("state IN (FAILED)", ["e2"]),
        ("scheduleName IN (s) AND state IN (EXECUTED,FAILED)", ["e3", "e2", "e1"]),
        (f"scheduledTime>{MIDNIGHT + 1}", ["e4", "e3", "e2"]),
        (f"scheduledTime>{MIDNIGHT + 1} AND scheduledTime<{MIDNIGHT + 4}", ["e3", "e2"]),
        ("executionId=e3", ["e3"]),
        ("workflowName=report", ["e3"]),
    ],
)
def test_firings_are_searched_by_clauses(room: EngineRoom, query: str, wanted: list[str]):
    for number in (1, 2, 3):
        record = a_record(number)
        record["state"] = "FAILED" if number == 2 else "EXECUTED"
        record["workflowName"] = "report" if number == 3 else "other"
        room.shelf.served("s", 0, 0, record, 10)
    room.shelf.served("t", 0, 0, {**a_record(4), "scheduleName": "t"}, 10)
    found = room.schedules.search_firings(query)
    assert [record["executionId"] for record in found["results"]] == wanted
    assert found["totalHits"] == len(wanted)


def test_a_comparison_with_what_is_no_instant_is_refused(room: EngineRoom):
    with pytest.raises(InvalidInput, match="epoch milliseconds"):
        room.schedules.search_firings("scheduledTime>yesterday")
