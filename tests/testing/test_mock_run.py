"""Definitions played on mocks: the clock is virtual, nothing leaves, and the report says what was
seen."""

from typing import Any

import pytest

from engine.expressions.scripts import ScriptAnswer, ScriptJob
from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.errors import EngineError, InvalidInput, NotFound
from engine.model.requests import WorkflowTestRequest
from engine.testing.mock_run import BEGINNING, MOST_STEPS, MockRun, play

HOUR = 3_600_000


def a_task(ref: str, type_: str = "SIMPLE", **fields: Any) -> dict[str, Any]:
    return {"name": ref, "taskReferenceName": ref, "type": type_, **fields}


def done(**output: Any) -> dict[str, Any]:
    return {"status": "COMPLETED", "output": output}


def no_script(job: ScriptJob) -> ScriptAnswer:
    raise AssertionError(f"no script was expected: {job.source}")


def played(
    *tasks: dict[str, Any],
    mocks: dict[str, list[dict[str, Any]]] | None = None,
    task_defs: dict[str, dict[str, Any]] | None = None,
    definitions: list[dict[str, Any]] | None = None,
    evaluate: Any = no_script,
    most_steps: int = MOST_STEPS,
    fields: dict[str, Any] | None = None,
    **request: Any,
) -> MockRun:
    """Play these tasks as an inline definition."""
    policies = {
        name: TaskDef.read({"name": name, **given}) for name, given in (task_defs or {}).items()
    }
    known = {given["name"]: WorkflowDef.read(given) for given in definitions or []}
    described = {"name": "tried", "tasks": list(tasks), **(fields or {})}
    asked = {"name": "tried", "workflowDef": described, "taskRefToMockOutput": mocks or {}}
    return play(
        WorkflowTestRequest.read({**asked, **request}),
        policies.get,
        lambda name, version: known.get(name),
        evaluate,
        most_steps=most_steps,
    )


def statuses(run: MockRun) -> list[str]:
    return [f"{task['referenceTaskName']} {task['status']}" for task in run.workflow["tasks"]]


def test_a_retry_delay_passes_on_the_virtual_clock():
    run = played(
        a_task("pay"),
        mocks={"pay": [{"status": "FAILED", "reason": "declined"}, done(ok=True)]},
        task_defs={"pay": {"retryCount": 1, "retryDelaySeconds": 3600}},
    )
    assert statuses(run) == ["pay FAILED", "pay COMPLETED"]
    assert run.workflow["tasks"][0]["reasonForIncompletion"] == "declined"
    assert run.report.elapsed_ms == HOUR


def test_a_response_timeout_strikes_a_worker_that_takes_too_long():
    run = played(
        a_task("pay"),
        mocks={"pay": [{"executionTime": 20_000}, done()]},
        task_defs={"pay": {"retryDelaySeconds": 0, "responseTimeoutSeconds": 10}},
    )
    assert statuses(run) == ["pay TIMED_OUT", "pay COMPLETED"]
    assert run.report.elapsed_ms == 10_000


def test_a_mock_that_says_timed_out_lets_the_nearest_deadline_pass():
    run = played(
        a_task("pay"),
        mocks={"pay": [{"status": "TIMED_OUT"}, done()]},
        task_defs={"pay": {"retryDelaySeconds": 5, "responseTimeoutSeconds": 30}},
    )
    assert statuses(run) == ["pay TIMED_OUT", "pay COMPLETED"]
    assert run.report.elapsed_ms == 35_000


def test_a_poll_timeout_strikes_what_nobody_takes():
    policy = {"pollTimeoutSeconds": 60, "timeoutPolicy": "RETRY", "retryDelaySeconds": 0}
    run = played(
        a_task("pay"),
        mocks={"pay": [{"queueWaitTime": 90_000}, done()]},
        task_defs={"pay": policy},
    )
    assert statuses(run) == ["pay TIMED_OUT", "pay COMPLETED"]
    assert run.report.elapsed_ms == 60_000


def test_parallel_branches_take_as_long_as_the_longest():
    run = played(
        a_task("split", "FORK_JOIN", forkTasks=[[a_task("left")], [a_task("right")]]),
        a_task("meet", "JOIN", joinOn=["left", "right"]),
        mocks={"left": [{"executionTime": 3_000}], "right": [{"executionTime": 5_000}]},
    )
    assert run.workflow["status"] == "COMPLETED"
    assert run.report.elapsed_ms == 5_000


@pytest.mark.parametrize(
    ("policy", "elapsed_ms"),
    [
        ({"concurrentExecLimit": 1}, 9_000),
        ({"concurrentExecLimit": 2}, 6_000),
        ({"rateLimitPerFrequency": 1, "rateLimitFrequencyInSeconds": 60}, 123_000),
        ({"rateLimitPerFrequency": 2, "rateLimitFrequencyInSeconds": 60}, 63_000),
    ],
)
def test_limits_hold_tasks_back_on_the_virtual_clock(policy: dict[str, int], elapsed_ms: int):
    refs = ("one", "two", "three")
    run = played(
        a_task("split", "FORK_JOIN", forkTasks=[[{**a_task(ref), "name": "pay"}] for ref in refs]),
        a_task("meet", "JOIN", joinOn=list(refs)),
        mocks={ref: [{"executionTime": 3_000}] for ref in refs},
        task_defs={"pay": policy},
    )
    assert run.workflow["status"] == "COMPLETED"
    assert run.report.elapsed_ms == elapsed_ms


def test_what_a_limit_holds_back_goes_on_when_its_slot_times_out():
    policy = {"concurrentExecLimit": 1, "retryCount": 0, "responseTimeoutSeconds": 20}
    run = played(
        a_task(
            "split",
            "FORK_JOIN",
            forkTasks=[
                [{**a_task("one", optional=True), "name": "pay"}],
                [{**a_task("two"), "name": "pay"}],
            ],
        ),
        a_task("meet", "JOIN", joinOn=["one", "two"]),
        mocks={"one": [{"status": "TIMED_OUT"}], "two": [{"executionTime": 1_000}]},
        task_defs={"pay": policy},
    )
    assert run.workflow["status"] == "COMPLETED"
    assert run.report.elapsed_ms == 21_000


def test_a_wait_with_an_end_passes_by_itself():
    run = played(a_task("sleep", "WAIT", inputParameters={"duration": "30 days"}))
    assert run.workflow["status"] == "COMPLETED"
    assert run.report.elapsed_ms == 30 * 24 * HOUR


def test_a_mocked_wait_ends_when_its_mock_says():
    run = played(
        a_task("sleep", "WAIT", inputParameters={"duration": "30 days"}),
        mocks={"sleep": [{"output": {"by": "signal"}, "executionTime": 1_000}]},
    )
    assert run.workflow["output"] == {"by": "signal"}
    assert run.report.elapsed_ms == 1_000


@pytest.mark.parametrize(
    "type_", ["WAIT", "HUMAN", "HTTP", "EVENT", "START_WORKFLOW", "KAFKA_PUBLISH"]
)
def test_a_task_that_reaches_outside_stops_the_test_unless_it_is_mocked(type_: str):
    inputs = {
        "uri": "http://localhost:1",
        "kafka_request": {"topic": "t"},
        "startWorkflow": {"name": "other"},
    }
    task = a_task("out", type_, sink="conductor:q", inputParameters=inputs)
    stopped = played(task)
    assert stopped.workflow["status"] == "RUNNING"
    assert [(stop.ref, stop.reason) for stop in stopped.report.stops] == [("out", "needs a mock")]

    answered = played(task, mocks={"out": [done(got=1)]})
    assert answered.workflow["status"] == "COMPLETED"
    assert answered.workflow["tasks"][0]["taskType"] == type_
    assert answered.workflow["tasks"][0]["outputData"] == {"got": 1}
    assert answered.children == {}


def test_the_other_branches_go_on_past_a_task_without_a_mock():
    run = played(
        a_task("split", "FORK_JOIN", forkTasks=[[a_task("left")], [a_task("right")]]),
        a_task("meet", "JOIN", joinOn=["left", "right"]),
        mocks={"right": [done(r=1)]},
    )
    assert "right COMPLETED" in statuses(run)
    assert [stop.ref for stop in run.report.stops] == ["left"]


def test_time_stands_still_before_a_task_without_a_mock():
    policy = {"pollTimeoutSeconds": 60, "timeoutPolicy": "TIME_OUT_WF"}
    run = played(a_task("pay"), task_defs={"pay": policy})
    assert run.workflow["status"] == "RUNNING"
    assert run.report.elapsed_ms == 0


def test_an_attempt_that_reports_progress_takes_the_next_mock_too():
    progress = {"status": "IN_PROGRESS", "output": {"half": True}, "executionTime": 100}
    run = played(a_task("pay"), mocks={"pay": [progress, done(whole=True)]})
    assert statuses(run) == ["pay COMPLETED"]
    assert run.workflow["output"] == {"half": True, "whole": True}


def test_mocks_that_are_used_up_are_told_from_those_that_are_missing():
    run = played(
        a_task("pay"),
        mocks={"pay": [{"status": "FAILED"}]},
        task_defs={"pay": {"retryCount": 3}},
    )
    assert [(stop.ref, stop.reason) for stop in run.report.stops] == [
        ("pay", "its mocks are used up")
    ]


def test_a_list_for_one_iteration_stands_beside_the_list_for_the_others():
    loop = a_task("loop", "DO_WHILE", items="${workflow.input.list}", loopOver=[a_task("each")])
    run = played(
        loop,
        mocks={"each": [done(n=1), done(n=3)], "each__2": [done(n=2)]},
        input={"list": ["a", "b", "c"]},
    )
    loop_output = run.workflow["tasks"][0]["outputData"]
    assert [loop_output[str(n)]["each"]["n"] for n in (1, 2, 3)] == [1, 2, 3]


def test_a_mock_stands_in_for_a_whole_sub_workflow_that_nobody_has_registered():
    child = a_task("ship", "SUB_WORKFLOW", subWorkflowParam={"name": "shipping", "version": 3})
    run = played(child, mocks={"ship": [done(parcel="p1")]})
    assert run.workflow["status"] == "COMPLETED"
    assert run.workflow["output"] == {"parcel": "p1"}
    assert run.children == {}


def test_a_sub_workflow_is_played_on_its_own_mocks():
    shipping = {"name": "shipping", "tasks": [a_task("label")]}
    child = a_task("ship", "SUB_WORKFLOW", subWorkflowParam={"name": "shipping", "version": 1})
    run = played(
        child,
        definitions=[shipping],
        subWorkflowTestRequest={"ship": {"taskRefToMockOutput": {"label": [done(no=7)]}}},
    )
    assert run.workflow["status"] == "COMPLETED"
    assert run.report.children["ship"].attempts == {"label": 1}
    assert [child["workflowName"] for child in run.children.values()] == ["shipping"]


def test_a_stop_inside_a_sub_workflow_names_the_way_to_it():
    shipping = {"name": "shipping", "tasks": [a_task("label")]}
    child = a_task("ship", "SUB_WORKFLOW", subWorkflowParam={"name": "shipping", "version": 1})
    run = played(child, definitions=[shipping])
    assert [stop.ref for stop in run.report.stops] == ["ship/label"]


def test_scripts_run_through_the_evaluator_that_was_given():
    asked: list[ScriptJob] = []

    def evaluate(job: ScriptJob) -> ScriptAnswer:
        asked.append(job)
        return ScriptAnswer(value=job.inputs["n"] + 1)

    inputs = {"evaluatorType": "javascript", "expression": "$.n + 1", "n": 4}
    run = played(a_task("calc", "INLINE", inputParameters=inputs), evaluate=evaluate)
    assert run.workflow["output"] == {"result": 5}
    assert [job.source for job in asked] == ["$.n + 1"]


def test_the_report_tells_branches_taken_from_branches_left():
    choice = a_task(
        "kind",
        "SWITCH",
        evaluatorType="value-param",
        expression="k",
        inputParameters={"k": "${workflow.input.k}"},
        decisionCases={"gold": [a_task("gift")], "none": []},
        defaultCase=[a_task("mail")],
    )
    report = played(choice, mocks={"gift": [done()], "mail": [done()]}, input={"k": "gold"}).report
    assert {branch.name: branch.taken for branch in report.branches} == {
        "gold": 1,
        "none": 0,
        "defaultCase": 0,
    }
    assert report.branch_coverage == pytest.approx(1 / 3)
    assert report.unvisited == ("mail",)
    assert report.task_coverage == pytest.approx(2 / 3)
    assert report.unused_mocks == {"mail": 1}
    assert report.json_value()["branches"][0] == {"ref": "kind", "name": "gold", "taken": 1}


def test_the_answer_shows_the_tests_own_time():
    run = played(a_task("pay"), mocks={"pay": [{"queueWaitTime": 700, "executionTime": 1_500}]})
    task = run.workflow["tasks"][0]
    assert task["scheduledTime"] == BEGINNING
    assert task["startTime"] == BEGINNING + 700
    assert task["endTime"] == BEGINNING + 2_200


def test_a_workflow_timeout_ends_what_takes_too_long():
    run = played(
        a_task("pay"),
        mocks={"pay": [{"executionTime": 90_000}]},
        fields={"timeoutSeconds": 60, "timeoutPolicy": "TIME_OUT_WF"},
    )
    assert run.workflow["status"] == "TIMED_OUT"
    assert run.report.elapsed_ms == 60_000


def test_a_loop_that_never_ends_is_an_error_and_no_hang():
    loop = a_task("loop", "DO_WHILE", loopCondition="true", loopOver=[a_task("n", "NOOP")])
    with pytest.raises(InvalidInput, match="without coming to rest"):
        played(loop, evaluate=lambda job: ScriptAnswer(value=True), most_steps=50)


def test_a_loop_that_goes_round_too_often_fails_long_before_an_engines_limit():
    loop = a_task("loop", "DO_WHILE", loopCondition="true", loopOver=[a_task("n", "NOOP")])
    run = played(loop, evaluate=lambda job: ScriptAnswer(value=True))
    assert run.workflow["status"] == "FAILED"
    assert "limit of 500 iterations" in run.workflow["reasonForIncompletion"]


@pytest.mark.parametrize(
    ("mock", "field"),
    [
        ({"status": "SKIPPED"}, "taskRefToMockOutput.pay[0].status"),
        ({"executionTime": -1}, "taskRefToMockOutput.pay[0].executionTime"),
        ({"queueWaitTime": -1}, "taskRefToMockOutput.pay[0].queueWaitTime"),
    ],
)
def test_a_mock_that_means_nothing_is_refused_by_its_place(mock: dict[str, Any], field: str):
    with pytest.raises(InvalidInput) as refused:
        played(a_task("pay"), mocks={"pay": [mock]})
    assert [violation.path for violation in refused.value.violations] == [field]


def test_an_input_that_is_left_out_is_that_of_the_template():
    run = played(a_task("pay"), mocks={"pay": [done()]}, fields={"inputTemplate": {"sum": 7}})
    assert run.workflow["input"] == {"sum": 7}


def test_a_definition_that_could_not_be_registered_is_not_played():
    with pytest.raises(InvalidInput) as refused:
        played(a_task("out", "EVENT"))
    assert [violation.path for violation in refused.value.violations] == [
        "startWorkflow.arg0.workflowDef.tasks[0]"
    ]


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({"name": "nobody", "workflowDef": None}, NotFound),
        ({"name": "", "workflowDef": None}, InvalidInput),
        ({"input": None}, InvalidInput),
        ({"priority": 100}, InvalidInput),
        ({"externalInputPayloadStoragePath": "in/file"}, InvalidInput),
    ],
)
def test_a_request_that_cannot_be_played_is_refused(
    request_: dict[str, Any], error: type[EngineError]
):
    with pytest.raises(error):
        played(a_task("pay"), **request_)
