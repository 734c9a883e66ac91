"""What we add to Conductor's API."""

from tests.api.door import Door, simple, wait

NOBODY = "00000000-0000-0000-0000-000000000000"


def test_a_server_says_what_it_can(door: Door) -> None:
    found = door.get("ext/capabilities")
    assert found["product"] == "reprise" and found["version"]
    assert {"outline", "task", "ledger", "overview", "preview", "text"} <= set(
        found["capabilities"]
    )


def test_an_outline_shows_attempts_without_payloads(door: Door) -> None:
    door.post(
        "metadata/taskdefs", [{"name": "outlined_task", "retryCount": 1, "retryDelaySeconds": 0}]
    )
    workflow_id = door.start(door.define("outlined"), input={"secret": "payload"})
    door.report(door.poll("outlined_task"), "FAILED", reasonForIncompletion="first", workerId="me")
    answer = door.ask("GET", f"ext/executions/{workflow_id}/outline")
    assert "payload" not in answer.text
    found = answer.json()
    assert (found["workflowName"], found["status"]) == ("outlined", "RUNNING")
    first, second = found["tasks"]
    assert (first["ref"], first["attempt"], first["status"]) == ("one", 0, "FAILED")
    assert (first["reason"], first["workerId"], first["retried"]) == ("first", "me", True)
    assert (second["seq"], second["attempt"], second["status"]) == (2, 1, "SCHEDULED")


def test_an_outline_since_a_line_shows_what_may_have_changed(door: Door) -> None:
    door.define("fresh", wait("one"), wait("two"), wait("three"))
    workflow_id = door.start("fresh")
    place = f"ext/executions/{workflow_id}/outline"
    line = door.get(place)["line"]
    assert [task["ref"] for task in door.get(place, since=line)["tasks"]] == ["one"]
    door.post(f"tasks/{workflow_id}/one/COMPLETED", {})
    after = door.get(place, since=line)
    assert [task["ref"] for task in after["tasks"]] == ["one", "two"]
    assert [task["ref"] for task in door.get(place, since=after["line"])["tasks"]] == ["two"]


def test_branches_of_a_dynamic_fork_name_their_fork(door: Door) -> None:
    fork = {
        "name": "fork",
        "taskReferenceName": "fork",
        "type": "FORK_JOIN_DYNAMIC",
        "dynamicForkTasksParam": "tasks",
        "dynamicForkTasksInputParamName": "inputs",
        "inputParameters": {
            "tasks": "${workflow.input.tasks}",
            "inputs": "${workflow.input.inputs}",
        },
    }
    join = {"name": "join", "taskReferenceName": "join", "type": "JOIN"}
    door.define("forked", fork, join)
    branches = [simple("b1", "forked_task"), simple("b2", "forked_task")]
    workflow_id = door.start("forked", input={"tasks": branches, "inputs": {"b1": {}, "b2": {}}})
    tasks = door.get(f"ext/executions/{workflow_id}/outline")["tasks"]
    assert {task["ref"]: task.get("fork") for task in tasks}["b1"] == "fork"


def test_one_task_comes_with_its_log_and_all_its_attempts(door: Door) -> None:
    door.post(
        "metadata/taskdefs", [{"name": "tries_task", "retryCount": 1, "retryDelaySeconds": 0}]
    )
    workflow_id = door.start(door.define("tries"))
    door.report(door.poll("tries_task"), "FAILED", logs=[{"log": "first try"}])
    door.report(door.poll("tries_task"), "COMPLETED", outputData={"ok": 1})
    first = door.get(f"ext/executions/{workflow_id}/tasks/1")
    assert [line["log"] for line in first["logs"]] == ["first try"]
    second = door.get(f"ext/executions/{workflow_id}/tasks/2")
    assert second["outputData"] == {"ok": 1}
    assert [item["status"] for item in second["attempts"]] == ["FAILED"]
    door.refused(404, "GET", f"ext/executions/{workflow_id}/tasks/9")
    door.refused(400, "GET", f"ext/executions/{workflow_id}/tasks/x")


def test_what_a_rerun_has_overwritten_can_still_be_read(door: Door) -> None:
    workflow_id = door.start(door.define("before"))
    task = door.poll("before_task")
    door.report(task, outputData={"old": True})
    door.post(f"workflow/{workflow_id}/rerun", {"reRunFromTaskId": task["taskId"]})
    found = door.get(f"ext/executions/{workflow_id}/tasks/1")
    assert found["status"] == "SCHEDULED"
    assert [item["outputData"] for item in found["before"]] == [{"old": True}]


def test_what_ran_before_a_restart_can_still_be_read(door: Door) -> None:
    door.define("anew", simple("one", "anew_one"), simple("two", "anew_two"))
    workflow_id = door.start("anew")
    door.report(door.poll("anew_one"), outputData={"first": True})
    door.report(door.poll("anew_two"), "FAILED_WITH_TERMINAL_ERROR", reasonForIncompletion="bad")
    door.post(f"workflow/{workflow_id}/restart")
    place = f"ext/executions/{workflow_id}"
    assert [task["ref"] for task in door.get(f"{place}/outline")["tasks"]] == ["one"]
    before = door.get(f"{place}/before")["tasks"]
    assert [(task["seq"], task["ref"], task["status"]) for task in before] == [
        (1, "one", "COMPLETED"),
        (2, "two", "FAILED_WITH_TERMINAL_ERROR"),
    ]
    assert door.get(f"{place}/tasks/1")["outputData"] == {"first": True}
    assert door.get(f"{place}/tasks/2")["reasonForIncompletion"] == "bad"
    door.refused(404, "GET", f"ext/executions/{NOBODY}/before")


def test_the_ledger_tells_the_story_in_pages(door: Door) -> None:
    workflow_id = door.start(door.define("story", wait("gate")))
    door.put(f"workflow/{workflow_id}/pause")
    place = f"ext/executions/{workflow_id}/ledger"
    whole = door.get(place)
    assert [line["line"] for line in whole["lines"]] == [1, 2] and not whole["more"]
    assert whole["lines"][0]["runs"]["1"]["ref"] == "gate"
    assert len({line["chain"] for line in whole["lines"]}) == 2
    page = door.get(place, limit=1)
    assert (len(page["lines"]), page["more"]) == (1, True)
    assert [line["cause"] for line in door.get(place, after=1)["lines"]] == ["Pause"]
    door.refused(404, "GET", f"ext/executions/{NOBODY}/ledger")


def test_a_preview_tells_what_a_verb_would_do_and_does_nothing(door: Door) -> None:
    door.define("told", simple("one", "told_one"), simple("two", "told_two"))
    workflow_id = door.start("told")
    door.report(door.poll("told_one"))
    task = door.poll("told_two")
    place = f"ext/executions/{workflow_id}/preview"
    assert door.post(place, {"action": "terminate"}).json()["cancelled"] == ["two"]
    assert "still running" in door.post(place, {"action": "retry"}).json()["refused"]
    door.report(task, "FAILED_WITH_TERMINAL_ERROR")
    retry = door.post(place, {"action": "retry"}).json()
    assert (retry["runsAgain"], retry["reused"], retry["status"]) == (["two"], ["one"], "RUNNING")
    restart = door.post(place, {"action": "restart"}).json()
    assert (restart["runsAgain"], restart["reused"]) == (["one", "two"], [])
    first = door.execution(workflow_id)["tasks"][0]["taskId"]
    rerun = door.post(place, {"action": "rerun", "taskId": first}).json()
    assert rerun["runsAgain"] == ["one", "two"]
    assert "action is 'dance'" in door.refused(400, "POST", place, json={"action": "dance"})
    assert door.execution(workflow_id)["status"] == "FAILED"


def test_the_overview_counts_what_there_is(door: Door) -> None:
    door.define("counted")
    door.ended("counted", "FAILED")
    waiting = door.start("counted")
    found = door.get("ext/overview")
    row = next(row for row in found["byWorkflow"] if row["name"] == "counted")
    assert row == {"name": "counted", "byStatus": {"FAILED": 1, "RUNNING": 1}, "total": 2}
    assert found["total"] == sum(found["byStatus"].values())
    assert "counted" in {item["workflowType"] for item in found["failedLastDay"]["results"]}
    assert found["oldestWaiting"] and waiting
