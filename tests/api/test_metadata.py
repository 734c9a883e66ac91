"""Definitions over REST: registered, changed, read back as they were written, removed."""

import pytest

from tests.api.door import Door, simple, wait


def test_a_definition_is_registered_once(door: Door) -> None:
    body = {"name": "once", "version": 1, "tasks": [wait("w")]}
    assert door.ask("POST", "metadata/workflow", json=body).content == b""
    message = door.refused(409, "POST", "metadata/workflow", json=body)
    assert message == "Workflow with once.1 already exists!"
    assert door.ask("POST", "metadata/workflow?overwrite=True", json=body).status_code == 200


def test_a_list_of_definitions_is_taken_as_a_whole(door: Door) -> None:
    one, two = ({"name": name, "tasks": [wait("w")]} for name in ("list1", "list2"))
    found = door.put("metadata/workflow?overwrite=True", [one, two]).json()
    assert found == {"bulkErrorResults": {}, "bulkSuccessfulResults": ["list1", "list2"]}
    bad = {"name": "list4", "tasks": []}
    message = door.refused(400, "PUT", "metadata/workflow", json=[{**one, "name": "list3"}, bad])
    assert "WorkflowTask list cannot be empty" in message
    door.refused(404, "GET", "metadata/workflow/list3")
    assert door.refused(400, "PUT", "metadata/workflow", json=[]) == "WorkflowDefList is empty"
    door.refused(400, "PUT", "metadata/workflow", json=one)
    door.refused(400, "POST", "metadata/workflow", json=[one])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"tasks": [wait("w")]}, "WorkflowDef name cannot be null or empty"),
        ({"name": "x", "tasks": []}, "WorkflowTask list cannot be empty"),
        ({"name": "x", "schemaVersion": 1, "tasks": [wait("w")]}, "schemaVersion: 2 is only"),
        ({"name": "x", "tasks": [wait("w"), wait("w")]}, "should be unique across tasks"),
    ],
)
def test_an_unsound_definition_is_refused_with_all_that_is_wrong(
    door: Door, body: object, words: str
) -> None:
    for path in ("metadata/workflow", "metadata/workflow/validate"):
        answer = door.ask("POST", path, json=body)
        document = answer.json()
        assert answer.status_code == 400
        assert document["message"] == "Validation failed, check below errors for detail."
        assert words in document["validationErrors"][0]["message"]
        assert "path" in document["validationErrors"][0] and "instance" not in document


def test_a_sound_definition_is_valid_and_not_registered_by_asking(door: Door) -> None:
    body = {"name": "asking", "tasks": [wait("w")]}
    assert door.ask("POST", "metadata/workflow/validate", json=body).status_code == 200
    door.refused(404, "GET", "metadata/workflow/asking")


def test_a_definition_comes_back_as_it_was_written(door: Door) -> None:
    task = simple("t", "back_task", futureField={"a": None})
    body = {"name": "back", "tasks": [task], "failureWorkflow": "", "fromTomorrow": [1]}
    door.post("metadata/taskdefs", [{"name": "back_task"}])
    door.put("metadata/workflow", [body])
    found = door.get("metadata/workflow/back")
    assert (found["failureWorkflow"], found["fromTomorrow"], found["version"]) == ("", [1], 1)
    assert found["tasks"][0]["futureField"] == {"a": None}
    assert "taskDefinition" not in found["tasks"][0]
    assert found["timeoutPolicy"] == "ALERT_ONLY" and found["schemaVersion"] == 2


def test_a_definition_keeps_the_time_of_its_first_registration(door: Door) -> None:
    body = {"name": "times", "tasks": [wait("w")]}
    door.post("metadata/workflow", body)
    first = door.get("metadata/workflow/times")
    door.put("metadata/workflow", [body])
    second = door.get("metadata/workflow/times")
    assert second["createTime"] == first["createTime"] > 0
    assert first["updateTime"] == 0 < second["updateTime"]


def test_the_highest_version_is_meant_when_none_is_named(door: Door) -> None:
    listed = [{"name": "high", "version": n, "tasks": [wait("w")]} for n in (2, 10, 9)]
    door.put("metadata/workflow", listed)
    assert door.get("metadata/workflow/high")["version"] == 10
    assert door.get("metadata/workflow/high", version=9)["version"] == 9
    assert [row["version"] for row in door.get("metadata/workflow/high/versions")] == [2, 9, 10]
    latest = door.get("metadata/workflow/latest-versions")
    assert [row["version"] for row in latest if row["name"] == "high"] == [10]
    assert "high" in door.get("metadata/workflow/names")
    summaries = door.get("metadata/workflow/names-and-versions")["high"]
    assert set(summaries[0]) == {"name", "version", "createTime", "updateTime"}
    every = door.get("metadata/workflow?access=READ&short=true")
    assert len([row for row in every if row["name"] == "high"]) == 3


def test_unknown_definitions_are_not_found(door: Door) -> None:
    assert door.refused(404, "GET", "metadata/workflow/none?version=9") == (
        "No such workflow found by name: none, version: 9"
    )
    assert door.get("metadata/workflow/none/versions") == []
    assert "none" in door.refused(404, "DELETE", "metadata/workflow/none/1", json={})
    assert "none" in door.refused(404, "DELETE", "metadata/taskdefs/none", json={})
    assert door.refused(404, "GET", "metadata/taskdefs/none") == (
        "No such taskType found by name: none"
    )
    assert door.refused(404, "PUT", "metadata/taskdefs", json={"name": "none"}) == (
        "No such task by name none"
    )
    assert "version is 'abc'" in door.refused(400, "DELETE", "metadata/workflow/none/abc")
    assert "version is 'abc'" in door.refused(400, "GET", "metadata/workflow/none?version=abc")
    door.refused(405, "DELETE", "metadata/workflow/none")


def test_an_execution_outlives_its_definition(door: Door) -> None:
    workflow_id = door.start(door.define("outlived", wait("gate")))
    door.delete("metadata/workflow/outlived/1")
    door.post(f"tasks/{workflow_id}/gate/COMPLETED", {})
    assert door.execution(workflow_id)["status"] == "COMPLETED"


def test_task_definitions_are_registered_again_and_again(door: Door) -> None:
    door.post("metadata/taskdefs", [{"name": "upsert", "retryCount": 1}])
    door.post("metadata/taskdefs", [{"name": "upsert", "enforceSchema": False}])
    found = door.get("metadata/taskdefs/upsert")
    assert (found["retryCount"], found["responseTimeoutSeconds"]) == (3, 3600)
    assert found["createTime"] > 0
    door.put("metadata/taskdefs", {"name": "upsert", "retryCount": 5})
    assert door.get("metadata/taskdefs/upsert")["retryCount"] == 5
    assert "upsert" in {row["name"] for row in door.get("metadata/taskdefs")}
    door.delete("metadata/taskdefs/upsert")
    door.refused(404, "GET", "metadata/taskdefs/upsert")


def test_unsound_task_definitions_are_refused(door: Door) -> None:
    def refused(body: object) -> str:
        return door.refused(400, "POST", "metadata/taskdefs", json=body)

    assert "TaskDef name cannot be null or empty" in refused([{}])
    assert "must be less than timeoutSeconds: 60" in refused([{"name": "x", "timeoutSeconds": 60}])
    assert "retryCount: 0 must be >= 0" in refused([{"name": "x"}, {"name": "y", "retryCount": -1}])
    assert refused([]) == "TaskDefList is empty"
    refused({"name": "x"})
    door.refused(404, "GET", "metadata/taskdefs/x")


def test_a_definition_nested_too_deeply_is_refused(door: Door) -> None:
    deep: object = 1
    for _ in range(250):
        deep = [deep]
    body = {"name": "deep", "tasks": [wait("w", inputParameters={"x": deep})]}
    message = door.refused(400, "POST", "metadata/workflow", json=body)
    assert message == "The definition is nested more than 200 levels deep."


@pytest.mark.parametrize("kind", ["workflow", "task"])
def test_tags_are_labels_on_a_definition(door: Door, kind: str) -> None:
    door.define("labelled")
    door.post("metadata/taskdefs", [{"name": "labelled"}])
    place = f"metadata/{kind}/labelled/tags"
    team = {"key": "team", "value": "shop", "type": "METADATA"}
    area = {"key": "area", "value": "eu"}
    door.post(place, team)
    door.post(place, area)
    assert team in door.get(place) and len(door.get(place)) == 2
    assert team in door.get("metadata/tags")
    door.delete(place, area)
    assert door.get(place) == [team]
    door.put(place, [area])
    assert [tag["key"] for tag in door.get(place)] == ["area"]
    assert "A tag needs a key" in door.refused(400, "POST", place, json={"value": "x"})


def test_the_authors_own_text_is_kept(door: Door) -> None:
    text = (
        '{ "name": "texted",\n  "tasks": [ {"name":"w","taskReferenceName":"w","type":"WAIT"} ] }'
    )
    headers = {"content-type": "application/json"}
    place = "ext/definitions/texted/text"
    door.ask("POST", "metadata/workflow", content=text.encode(), headers=headers)
    assert door.ask("GET", place).text == text
    door.put("metadata/workflow", [door.get("metadata/workflow/texted")])
    laid_out = door.ask("GET", place).text
    assert laid_out != text and '\n  "tasks": [' in laid_out
    assert door.ask("PUT", place, content=text.encode()).status_code == 200
    assert door.ask("GET", place).text == text
    other = "ext/definitions/other/text"
    assert "The text names 'texted'" in door.refused(400, "PUT", other, content=text.encode())
    door.refused(404, "GET", other)


def test_who_registers_a_definition_is_remembered(door: Door) -> None:
    body = {"name": "signed", "tasks": [wait("w")]}
    door.ask("POST", "metadata/workflow", json=body, headers={"x-reprise-person": "ann"})
    assert door.get("metadata/workflow/signed")["createdBy"] == "ann"


@pytest.mark.parametrize("name", ["a/b", "..", "names", "latest-versions"])
def test_a_name_that_could_never_be_asked_for_is_refused(door: Door, name: str) -> None:
    body = {"name": name, "tasks": [wait("w")]}
    assert "could never be asked for" in door.refused(400, "POST", "metadata/workflow", json=body)


@pytest.mark.parametrize("version", [0, -1, 2.5])
def test_versions_are_counted_from_one(door: Door, version: float) -> None:
    body = {"name": "counted_from", "version": version, "tasks": [wait("w")]}
    message = door.refused(400, "POST", "metadata/workflow", json=body)
    assert message.endswith("versions are whole numbers from 1.")


def test_a_version_that_is_null_is_the_first(door: Door) -> None:
    door.post("metadata/workflow", {"name": "null_version", "version": None, "tasks": [wait("w")]})
    assert door.get("metadata/workflow/null_version")["version"] == 1


@pytest.mark.parametrize("place", ["metadata/workflow", "metadata/task", "scheduler/schedules"])
def test_what_does_not_exist_bears_no_tags(door: Door, place: str) -> None:
    tag = {"key": "team", "value": "shop"}
    for method, body in (("GET", None), ("POST", tag), ("PUT", [tag]), ("DELETE", tag)):
        message = door.refused(404, method, f"{place}/never_was/tags", json=body)
        assert "never_was" in message
