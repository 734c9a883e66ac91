"""Which starts are let in: idempotency keys and workflow rate limits."""

from typing import Any

import pytest

from engine.workers.evaluators import EvaluatorPool
from tests.scenarios.language import Refused
from tests.scenarios.memory_stage import MemoryStage


def a_stage(**definition: Any) -> MemoryStage:
    stage = MemoryStage(EvaluatorPool(1))
    stage.register(
        {
            "name": "orders",
            "schemaVersion": 2,
            "tasks": [{"name": "pack", "taskReferenceName": "pack", "type": "SIMPLE"}],
            **definition,
        }
    )
    return stage


def finish(stage: MemoryStage, workflow_id: str) -> None:
    task = stage.execution(workflow_id)["tasks"][0]
    stage.report({"taskId": task["taskId"], "status": "COMPLETED"})
    stage.settle()


def start(stage: MemoryStage, **request: Any) -> str:
    return stage.start({"name": "orders", **request})


def test_a_second_start_with_the_same_key_is_refused() -> None:
    stage = a_stage()
    first = start(stage, idempotencyKey="k")
    with pytest.raises(Refused) as refused:
        start(stage, idempotencyKey="k")
    assert refused.value.status == 409
    assert first in refused.value.message


def test_a_second_start_may_ask_for_the_first_execution() -> None:
    stage = a_stage()
    first = start(stage, idempotencyKey="k")
    again = start(stage, idempotencyKey="k", idempotencyStrategy="RETURN_EXISTING")
    assert again == first
    assert stage.count("orders") == 1


def test_fail_on_running_starts_anew_once_the_first_has_ended() -> None:
    stage = a_stage()
    first = start(stage, idempotencyKey="k")
    with pytest.raises(Refused):
        start(stage, idempotencyKey="k", idempotencyStrategy="FAIL_ON_RUNNING")
    finish(stage, first)
    second = start(stage, idempotencyKey="k", idempotencyStrategy="FAIL_ON_RUNNING")
    assert second != first
    assert start(stage, idempotencyKey="k", idempotencyStrategy="RETURN_EXISTING") == second


def test_a_strategy_without_a_key_has_no_effect() -> None:
    stage = a_stage()
    assert start(stage, idempotencyStrategy="FAIL") != start(stage, idempotencyStrategy="FAIL")


LIMITED = {"rateLimitKey": "${workflow.input.customer}", "concurrentExecLimit": 1}


def test_an_execution_over_its_rate_limit_waits_and_begins_when_another_ends() -> None:
    stage = a_stage(rateLimitConfig=LIMITED)
    first = start(stage, input={"customer": "ada"})
    second = start(stage, input={"customer": "ada"})
    assert stage.execution(second)["rateLimited"] is True
    assert stage.execution(second)["tasks"] == []
    finish(stage, first)
    assert stage.execution(second)["rateLimited"] is False
    assert [task["status"] for task in stage.execution(second)["tasks"]] == ["SCHEDULED"]


def test_other_keys_are_not_held_back() -> None:
    stage = a_stage(rateLimitConfig=LIMITED)
    start(stage, input={"customer": "ada"})
    other = start(stage, input={"customer": "bob"})
    assert stage.execution(other)["rateLimited"] is False


def test_the_policy_reject_refuses_a_start_over_the_limit() -> None:
    stage = a_stage(rateLimitConfig={**LIMITED, "policy": "REJECT"})
    start(stage, input={"customer": "ada"})
    with pytest.raises(Refused) as refused:
        start(stage, input={"customer": "ada"})
    assert refused.value.status == 409


def test_waiting_executions_are_let_in_in_the_order_of_their_start() -> None:
    stage = a_stage(rateLimitConfig=LIMITED)
    first, second, third = (start(stage, input={"customer": "ada"}) for _ in range(3))
    finish(stage, first)
    assert stage.execution(second)["rateLimited"] is False
    assert stage.execution(third)["rateLimited"] is True
