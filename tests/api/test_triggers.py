"""Event handlers and schedules over REST."""

import pytest

from tests.api.door import Door, wait


def handler(name: str, **more: object) -> dict[str, object]:
    """An event handler that starts a workflow."""
    action = {"action": "start_workflow", "start_workflow": {"name": name}}
    return {
        "name": name,
        "event": f"conductor:{name}:go",
        "actions": [action],
        "active": True,
        **more,
    }


def schedule(name: str, **more: object) -> dict[str, object]:
    """A schedule that fires once a year."""
    request = {"name": name, "version": 1}
    return {
        "name": name,
        "cronExpression": "0 0 0 1 1 ?",
        "startWorkflowRequest": request,
        **more,
    }


def test_a_handler_is_registered_once_changed_and_taken_out(door: Door) -> None:
    body = handler("h_once")
    assert door.post("event", body).content == b""
    assert "already exists" in door.refused(409, "POST", "event", json=body)
    door.put("event", {**body, "active": False})
    place = "event/conductor%3Ah_once%3Ago"
    assert door.get(place) == []
    assert [item["name"] for item in door.get(f"{place}?activeOnly=false")] == ["h_once"]
    assert "h_once" in {item["name"] for item in door.get("event")}
    door.delete("event/h_once")
    assert "not found" in door.refused(404, "DELETE", "event/h_once")
    assert "not found" in door.refused(404, "PUT", "event", json=body)
    assert door.get("event/execution") == []
    door.refused(404, "GET", "event/")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "x", "event": "conductor:x"},
        {"name": "x", "actions": [{"action": "start_workflow", "start_workflow": {"name": "x"}}]},
        handler("x", actions=[{"action": "dance"}]),
    ],
)
def test_a_handler_that_could_never_work_is_refused(door: Door, body: object) -> None:
    door.refused(400, "POST", "event", json=body)


def test_a_schedule_is_stored_paused_resumed_and_taken_out(door: Door) -> None:
    """SCH-05 and SCH-08 at the door."""
    door.define("s_life", wait("gate"))
    stored = door.post("scheduler/schedules", schedule("s_life")).json()
    assert stored["nextRunTime"] > stored["createTime"] > 0
    place = "scheduler/schedules/s_life"
    for method in ("PUT", "GET"):
        assert door.ask(method, f"{place}/pause?reason=holiday").status_code == 200
        assert (door.get(place)["paused"], door.get(place)["pausedReason"]) == (True, "holiday")
        assert door.ask(method, f"{place}/resume").status_code == 200
        assert not door.get(place)["paused"]
    assert "s_life" in {item["name"] for item in door.get("scheduler/schedules")}
    assert len(door.get("scheduler/schedules?workflowName=s_life")) == 1
    found = door.get("scheduler/schedules/search?scheduleName=s_life&size=5")
    assert (found["totalHits"], found["results"][0]["name"]) == (1, "s_life")
    door.delete(place)
    door.delete(place)
    assert door.refused(404, "GET", place) == "Schedule 's_life' not found"


def test_unknown_schedules_are_not_found(door: Door) -> None:
    for method, verb in (("PUT", "/pause"), ("PUT", "/resume"), ("GET", ""), ("GET", "/pause")):
        message = door.refused(404, method, f"scheduler/schedules/nobody{verb}")
        assert "Schedule 'nobody' not found" in message


@pytest.mark.parametrize(
    "change",
    [
        {"cronExpression": "nope"},
        {"cronExpression": "0 0 0 1 1"},
        {"cronExpression": None},
    ],
)
def test_a_bad_cron_expression_is_refused_by_its_name(
    door: Door, change: dict[str, object]
) -> None:
    """SCH-01."""
    body = {**schedule("s_bad"), **change}
    assert "cron" in door.refused(400, "POST", "scheduler/schedules", json=body).lower()
    door.refused(400, "POST", "scheduler/schedules", json={"cronExpression": "0 0 0 1 1 ?"})
    door.refused(404, "GET", "scheduler/schedules/s_bad")


def test_the_next_instants_of_an_expression_are_told(door: Door) -> None:
    path = "scheduler/nextFewSchedules"
    found = door.get(path, cronExpression="0 0 0 * * ?", limit=9)
    assert len(found) == 5 and found == sorted(found)
    assert found[1] - found[0] == 24 * 3600 * 1000
    assert "cron" in door.refused(400, "GET", f"{path}?cronExpression=nope").lower()
    assert "cronExpression is missing" in door.refused(400, "GET", path)
    for bound in ("scheduleStartTime", "scheduleEndTime"):
        for far in (10**17, -(10**17)):
            params = {"cronExpression": "0 0 0 * * ?", bound: far}
            refusal = door.ask("GET", path, params=params)
            assert refusal.status_code == 400 and bound in refusal.text


def test_many_schedules_are_paused_at_once(door: Door) -> None:
    door.post("scheduler/schedules", schedule("s_many"))
    found = door.put("scheduler/bulk/pause", ["s_many", "nobody"]).json()
    assert found["bulkSuccessfulResults"] == ["s_many"] and "nobody" in found["bulkErrorResults"]
    assert door.put("scheduler/bulk/resume", ["s_many"]).json()["bulkErrorResults"] == {}
    assert door.get("scheduler/search/executions?query=scheduleName%3Ds_many")["totalHits"] == 0
    assert door.get("scheduler/admin/pause") == {"status": "done"}
    assert door.get("scheduler/admin/resume") == {"status": "done"}
    assert door.get("scheduler/admin/requeue")["sampleIds"] == []
    door.post("scheduler/schedules/s_many/tags", {"key": "a", "value": "b"})
    assert door.get("scheduler/schedules/s_many/tags")[0]["key"] == "a"
