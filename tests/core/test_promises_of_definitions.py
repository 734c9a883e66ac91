"""Fields that Conductor accepts and does not obey: here they work."""

from typing import Any

import pytest

from engine.workers.evaluators import EvaluatorPool
from tests.scenarios.language import Refused
from tests.scenarios.memory_stage import MemoryStage

PERSON = {
    "name": "person",
    "type": "JSON",
    "data": {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}}},
}


def a_stage(task: dict[str, Any] | None = None, **definition: Any) -> MemoryStage:
    stage = MemoryStage(EvaluatorPool(1))
    one = {"name": "greet", "taskReferenceName": "greet", "type": "SIMPLE", **(task or {})}
    stage.register({"name": "w", "schemaVersion": 2, "tasks": [one], **definition})
    return stage


def test_an_input_that_breaks_the_input_schema_is_refused_at_the_start() -> None:
    stage = a_stage(inputSchema=PERSON)
    with pytest.raises(Refused) as refused:
        stage.start({"name": "w", "input": {"age": "ten"}})
    assert refused.value.status == 400
    assert "age: 'ten' is not of type 'integer'" in refused.value.message


def test_a_schema_that_is_not_enforced_refuses_nothing() -> None:
    stage = a_stage(inputSchema=PERSON, enforceSchema=False)
    assert stage.start({"name": "w", "input": {"age": "ten"}})


def test_a_task_whose_input_breaks_its_schema_fails_for_good() -> None:
    stage = a_stage({"inputParameters": {"age": "${workflow.input.age}"}})
    stage.register_task({"name": "greet", "inputSchema": PERSON, "enforceSchema": True})
    execution = stage.execution(stage.start({"name": "w", "input": {"age": "ten"}}))
    assert execution["tasks"][0]["status"] == "FAILED_WITH_TERMINAL_ERROR"
    assert "inputSchema" in execution["tasks"][0]["reasonForIncompletion"]


def test_a_task_whose_output_breaks_its_schema_fails_for_good() -> None:
    stage = a_stage()
    stage.register_task({"name": "greet", "outputSchema": PERSON, "enforceSchema": True})
    workflow = stage.start({"name": "w"})
    task = stage.poll("greet", "me", None, 1)[0]
    stage.report({"taskId": task["taskId"], "status": "COMPLETED", "outputData": {"age": "x"}})
    stage.settle()
    execution = stage.execution(workflow)
    assert execution["tasks"][0]["status"] == "FAILED_WITH_TERMINAL_ERROR"
    assert execution["tasks"][0]["outputData"] == {"age": "x"}


def test_a_cached_output_saves_the_call_while_it_is_fresh() -> None:
    stage = a_stage({"cacheConfig": {"key": "${workflow.input.who}", "ttlInSecond": 60}})
    stage.start({"name": "w", "input": {"who": "ada"}})
    task = stage.poll("greet", "me", None, 1)[0]
    stage.report({"taskId": task["taskId"], "status": "COMPLETED", "outputData": {"hi": 1}})
    stage.settle()
    again = stage.execution(stage.start({"name": "w", "input": {"who": "ada"}}))
    assert (again["status"], again["output"]) == ("COMPLETED", {"hi": 1})
    other = stage.execution(stage.start({"name": "w", "input": {"who": "bob"}}))
    assert other["status"] == "RUNNING"
    stage.advance(61)
    stale = stage.execution(stage.start({"name": "w", "input": {"who": "ada"}}))
    assert stale["status"] == "RUNNING"


def test_a_cache_key_may_name_the_tasks_own_inputs() -> None:
    given = {"inputParameters": {"who": "${workflow.input.who}"}}
    stage = a_stage({**given, "cacheConfig": {"key": "greet-${who}", "ttlInSecond": 60}})
    stage.start({"name": "w", "input": {"who": "ada"}})
    finish(stage, {"text": "hello"})
    for who, status in (("ada", "COMPLETED"), ("bob", "RUNNING")):
        again = stage.execution(stage.start({"name": "w", "input": {"who": who}}))
        assert again["status"] == status


def test_a_state_change_sends_its_message() -> None:
    stage = a_stage(
        {"onStateChange": {"onSuccess": [{"type": "billing:done", "payload": {"a": 1}}]}}
    )
    stage.start({"name": "w"})
    task = stage.poll("greet", "me", None, 1)[0]
    assert stage.store.messages == []
    stage.report({"taskId": task["taskId"], "status": "COMPLETED"})
    topic, body = stage.store.messages[0]
    assert (topic, body["event"], body["payload"]["a"]) == ("event", "billing:done", 1)


def test_an_input_above_the_size_limit_fails_its_task_with_the_figures() -> None:
    stage = a_stage({"inputParameters": {"x": "${workflow.input.x}", "y": "${workflow.input.x}"}})
    limit = stage.core.knowledge.facts(0, lambda seq, side: None).limits.task_payload
    workflow = stage.start({"name": "w", "input": {"x": "y" * (limit // 2 + 1)}})
    task = stage.execution(workflow)["tasks"][0]
    assert task["status"] == "FAILED_WITH_TERMINAL_ERROR"
    assert str(limit) in task["reasonForIncompletion"]


def test_expressions_nested_too_deep_refuse_the_start() -> None:
    nested = "workflow.input.x"
    for _ in range(20):
        nested = "${" + nested + "}"
    stage = a_stage({"inputParameters": {"x": nested}})
    with pytest.raises(Refused) as refused:
        stage.start({"name": "w"})
    assert refused.value.status == 400


def test_a_workflow_whose_output_breaks_its_output_schema_fails_and_says_where() -> None:
    stage = a_stage(outputSchema=PERSON, outputParameters={"age": "${greet.output.age}"})
    workflow = stage.start({"name": "w"})
    finish(stage, {"age": "ten"})
    execution = stage.execution(workflow)
    assert (execution["status"], execution["output"]) == ("FAILED", {"age": "ten"})
    assert "does not fit the outputSchema of w: age" in execution["reasonForIncompletion"]
    good = stage.start({"name": "w"})
    finish(stage, {"age": 10})
    assert stage.execution(good)["status"] == "COMPLETED"


def test_a_workflows_cached_output_saves_all_its_tasks_while_it_is_fresh() -> None:
    stage = a_stage(
        cacheConfig={"key": "${workflow.input.who}", "ttlInSecond": 60},
        outputParameters={"text": "${greet.output.text}"},
    )
    stage.start({"name": "w", "input": {"who": "ada"}})
    finish(stage, {"text": "hello"})
    again = stage.execution(stage.start({"name": "w", "input": {"who": "ada"}}))
    assert (again["status"], again["output"]) == ("COMPLETED", {"text": "hello"})
    assert again["tasks"] == []
    assert again["reasonForIncompletion"] == "output taken from the cache"
    other = stage.execution(stage.start({"name": "w", "input": {"who": "bob"}}))
    assert other["status"] == "RUNNING"
    stage.advance(61)
    stale = stage.execution(stage.start({"name": "w", "input": {"who": "ada"}}))
    assert stale["status"] == "RUNNING"


def finish(stage: MemoryStage, output: dict[str, Any]) -> None:
    task = stage.poll("greet", "me", None, 1)[0]
    stage.report({"taskId": task["taskId"], "status": "COMPLETED", "outputData": output})
    stage.settle()
