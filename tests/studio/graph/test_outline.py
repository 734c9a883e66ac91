"""An execution as Conductor gives it becomes an outline."""

from studio.graph.outline import forked_children, outline_of


def test_full_conductor_tasks_become_an_outline() -> None:
    tasks = [
        {"referenceTaskName": "each_file", "status": "COMPLETED", "taskType": "FORK", "seq": 1}
        | {"workflowTask": {"type": "FORK_JOIN_DYNAMIC"}, "inputData": {"forkedTasks": ["f_0"]}},
        {"referenceTaskName": "f_0", "status": "FAILED", "taskType": "SIMPLE", "seq": 2}
        | {"taskDefName": "copy", "reasonForIncompletion": "disk full", "retryCount": 1},
        {"referenceTaskName": "poll__3", "status": "SCHEDULED", "iteration": 3, "seq": 3},
        {"referenceTaskName": "plain__3", "status": "SCHEDULED", "iteration": 0, "seq": 4},
        {"referenceTaskName": "way", "status": "COMPLETED", "outputData": {"caseOutput": ["b"]}},
    ]
    found = outline_of({"tasks": tasks})
    assert [entry["ref"] for entry in found] == ["each_file", "f_0", "poll", "plain__3", "way"]
    assert (found[1]["forkRef"], found[1]["reason"]) == ("each_file", "disk full")
    assert found[4]["case"] == "b"
    assert forked_children(found)["each_file"][0].name == "copy"


def test_children_of_a_static_fork_are_no_dynamic_children() -> None:
    fork = {"referenceTaskName": "fulfil", "status": "COMPLETED", "taskType": "FORK"}
    fork |= {"workflowTask": {"type": "FORK_JOIN"}, "inputData": {"forkedTasks": ["a"]}}
    found = outline_of({"tasks": [fork, {"referenceTaskName": "a", "status": "COMPLETED"}]})
    assert found[1]["forkRef"] is None
