"""Health, version, documentation, metrics, administration."""

import re
from dataclasses import fields

from engine.api.app import routes_of
from engine.services.house import furnished
from engine.settings import Settings
from tests.api.door import Door, wait


def test_a_probe_is_told_that_all_is_well(door: Door) -> None:
    well = {"healthResults": [], "suppressedHealthResults": [], "healthy": True}
    assert door.get("/health") == well and door.get("health") == well
    assert door.get("/actuator/health") == {"status": "UP"}
    assert door.ask("GET", "version").text == "3.32.1"
    assert door.get("/actuator/info")["build"]["name"] == "reprise"


def test_every_route_is_documented(door: Door) -> None:
    document = door.get("/api-docs")
    for route in routes_of(furnished(door.engine)):
        operation = document["paths"][f"/api{route.path}"][route.method.lower()]
        named = {item["name"] for item in operation["parameters"] if item["in"] == "path"}
        assert named == set(re.findall(r"{(\w+)}", route.path))
        assert operation["summary"], route.path
    assert "post" in document["paths"]["/api/workflow"]
    retry = document["paths"]["/api/workflow/{id}/retry"]["post"]
    assert set(retry["responses"]) == {"204", "default"}
    assert "get" in document["paths"]["/api/tasks/poll/batch/{type}"]


def test_the_documentation_can_be_browsed_without_a_network(door: Door) -> None:
    for path in ("/docs", "/swagger-ui/index.html"):
        page = door.ask("GET", path)
        assert page.headers["content-type"].startswith("text/html")
        assert "/api/workflow/{id}/retry" in page.text
        assert "http://" not in page.text and "https://" not in page.text


def test_metrics_are_told_under_conductors_names(door: Door) -> None:
    door.define("measured")
    door.start("measured")
    door.start("measured")
    door.poll("measured_task", count=1)
    answer = door.ask("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    lines = set(answer.text.splitlines())
    assert 'workflow_running{workflowName="measured",ownerApp="unknown"} 2' in lines
    assert 'task_queue_depth{taskType="measured_task",ownerApp="unknown"} 1' in lines
    assert 'task_in_progress{taskType="measured_task",ownerApp="unknown"} 1' in lines
    assert door.ask("GET", "/actuator/prometheus").status_code == 200
    assert 'checkpoint_recovery_total{cause="start"} 1' in lines
    [written] = [
        line for line in lines if line.startswith('checkpoint_write_total{store="memory"}')
    ]
    assert int(written.split()[1]) > 1


def test_the_configuration_shows_no_password() -> None:
    with Door(workflow_listener="http://ann:hush@example.org/hook") as door:
        shown = door.get("admin/config")
    assert shown["workflow_listener"] == "http://ann:***@example.org/hook"
    assert shown["durability"] == "FULL"


def test_the_configuration_shows_settings_alone(door: Door) -> None:
    shown = door.get("admin/config")
    assert set(shown) == {one.name for one in fields(Settings)}


def test_an_execution_is_looked_at_again_on_demand(door: Door) -> None:
    workflow_id = door.start(door.define("swept", wait("gate")))
    assert door.post(f"admin/sweep/requeue/{workflow_id}").text == f"true.{workflow_id}"
    assert door.post(f"admin/consistency/verifyAndRepair/{workflow_id}").text == "false"
    assert door.put(f"workflow/decide/{workflow_id}").content == b""


def test_waiting_tasks_are_reported_on_through_the_queue_too(door: Door) -> None:
    workflow_id = door.start(door.define("queued", wait("one"), wait("two")))
    place = f"queue/update/{workflow_id}"
    door.post(f"{place}/one/COMPLETED", {"a": 1})
    two = door.execution(workflow_id)["tasks"][1]["taskId"]
    door.post(f"{place}/task/{two}/COMPLETED", {})
    assert door.execution(workflow_id)["status"] == "COMPLETED"
    door.refused(404, "POST", f"{place}/one/COMPLETED", json={})
    door.refused(400, "POST", f"{place}/one/DONE", json={})
    assert door.get("queue/") == {} and door.get("queue/size") == {}


def test_only_exposed_variables_are_shown_and_never_a_secrets_value(door: Door) -> None:
    assert door.get("environment") == []
    unknown = door.ask("GET", "environment/nothing")
    assert (unknown.status_code, unknown.content) == (200, b"")
    assert door.get("secrets") == [] and door.post("secrets", {}).json() == []
    assert door.get("secrets/nothing/exists") is False
    door.refused(404, "GET", "secrets/nothing")


def test_large_payloads_have_no_place_of_their_own(door: Door) -> None:
    for kind in ("workflow", "tasks"):
        path = f"{kind}/externalstoragelocation"
        query = "?path=x&operation=WRITE&payloadType=WORKFLOW_INPUT"
        assert "not set up" in door.refused(404, "GET", path + query)
        assert "operation" in door.refused(400, "GET", path)
