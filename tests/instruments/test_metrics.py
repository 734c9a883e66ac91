"""What is counted, and how Prometheus reads it."""

from dataclasses import replace
from typing import Any

import pytest

from engine.instruments.metrics import MOST_NAMES, Metrics
from engine.model.definitions import WorkflowDef
from engine.model.events import Restart, Result, Start
from engine.model.execution import Execution, Run
from engine.model.status import ExecutionStatus, TaskStatus


def a_run(status: TaskStatus, kind: str = 'ship"it', **more: Any) -> Run:
    return Run(1, "id", "a", "a", kind, "a", status, **more)


def moved(run: Run) -> tuple[str, dict[str, Any]]:
    return "task.moved", {"run": run, "was": a_run(TaskStatus.IN_PROGRESS)}


def ended() -> Run:
    return a_run(TaskStatus.COMPLETED, queued_at=1000, started_at=1200, ended_at=3200)


def heard(*told: tuple[str, dict[str, Any]]) -> list[str]:
    metrics = Metrics(store="sqlite")
    for what, facts in told:
        metrics.hear(what, facts)
    return metrics.render({"reprise_inbox": 3.0}).splitlines()


def test_an_ended_task_is_counted_once_however_often_it_is_touched() -> None:
    run, open_ = ended(), a_run(TaskStatus.IN_PROGRESS)
    lines = heard(
        ("task.moved", {"run": open_, "was": None}),
        ("task.moved", {"run": run, "was": open_}),
        ("task.moved", {"run": run, "was": run}),
    )
    assert 'reprise_task_total{type="ship\\"it",status="COMPLETED"} 1' in lines
    assert (
        'task_execution_seconds_sum{taskType="a",includeRetries="false",status="COMPLETED"} 2.000000'
        in lines
    )
    assert (
        'task_execution_seconds_bucket{taskType="a",includeRetries="false",status="COMPLETED",le="1"} 0'
        in lines
    )
    assert (
        'task_execution_seconds_bucket{taskType="a",includeRetries="false",status="COMPLETED",le="2.5"} 1'
        in lines
    )
    assert (
        'task_execution_seconds_bucket{taskType="a",includeRetries="false",status="COMPLETED",le="+Inf"} 1'
        in lines
    )
    assert 'task_queue_wait_seconds_count{taskType="a"} 1' in lines


def test_workflows_are_counted_by_name_and_what_happened() -> None:
    execution = Execution(1, "id", WorkflowDef(name="order"), "")
    lines = heard(*[("workflow.completed", {"execution": execution})] * 2)
    assert 'reprise_workflow_total{workflow="order",what="completed"} 2' in lines


def test_steps_are_counted_by_outcome_and_those_that_reach_outside_once_more() -> None:
    lines = heard(
        moved(a_run(TaskStatus.COMPLETED, "SIMPLE", ended_at=5)),
        moved(a_run(TaskStatus.FAILED, "SIMPLE", ended_at=5)),
        moved(a_run(TaskStatus.TIMED_OUT, "SIMPLE", ended_at=5, attempt=1)),
        moved(a_run(TaskStatus.COMPLETED, "SWITCH", ended_at=5, attempt=1)),
    )
    simple, switch = 'task_type="SIMPLE",task_name="a"', 'task_type="SWITCH",task_name="a"'
    for line in (
        f'step_execution_total{{{simple},outcome="COMPLETED"}} 1',
        f'step_execution_total{{{switch},outcome="COMPLETED"}} 1',
        f'step_failure_total{{{simple},outcome="FAILED"}} 1',
        f'step_failure_total{{{simple},outcome="TIMED_OUT"}} 1',
        f'step_retry_total{{{simple},outcome="TIMED_OUT"}} 1',
        f'activity_execution_total{{{simple},outcome="COMPLETED"}} 1',
        f'activity_retry_total{{{simple},outcome="TIMED_OUT"}} 1',
    ):
        assert line in lines
    assert not [line for line in lines if line.startswith("activity") and "SWITCH" in line]
    assert not [line for line in lines if line.startswith("step_failure") and "COMPLETED" in line]


def test_workflows_are_counted_and_timed_under_the_names_of_agents_too() -> None:
    done = Execution(1, "id", WorkflowDef(name="order"), "", created_at=1000, ended_at=3000)
    done = replace(done, status=ExecutionStatus.COMPLETED)
    failed = replace(done, status=ExecutionStatus.FAILED)
    lines = heard(
        ("workflow.started", {"execution": done}),
        ("workflow.completed", {"execution": done}),
        ("workflow.failed", {"execution": failed}),
    )
    order = 'workflow="order",version="1"'
    for line in (
        f"workflow_started_total{{{order}}} 1",
        f'workflow_completed_total{{{order},status="COMPLETED"}} 1',
        f'workflow_failed_total{{{order},status="FAILED"}} 1',
        f'workflow_duration_seconds_sum{{{order},status="FAILED"}} 2.000000',
        'workflow_start_success_total{workflowName="order",version="1",ownerApp="unknown"} 1',
        'workflow_failure_total{workflowName="order",status="FAILED",ownerApp="unknown"} 1',
    ):
        assert line in lines


def test_a_silent_worker_is_told_apart_from_a_slow_one() -> None:
    silent = "responseTimeout: 3 exceeded for the taskId: 1 with Task Definition: a"
    lines = heard(
        moved(a_run(TaskStatus.TIMED_OUT, ended_at=5, reason=silent)),
        moved(a_run(TaskStatus.TIMED_OUT, ended_at=5, reason="Task timed out after 5 seconds.")),
    )
    assert 'task_response_timeout_total{taskType="a"} 1' in lines
    assert 'task_timeout_total{taskType="a"} 1' in lines


def test_polls_and_late_reports_have_conductors_names() -> None:
    execution = Execution(1, "id", WorkflowDef(name="order"), "")
    execution.runs[1] = a_run(TaskStatus.COMPLETED)
    late = Result(seq=1, status=TaskStatus.FAILED)
    lines = heard(
        ("task.polled", {"task_type": "a", "domain": None}),
        ("task.polled", {"task_type": "a", "domain": "eu"}),
        ("task.update_conflict", {"execution": execution, "event": late}),
    )
    assert 'task_poll_total{taskType="a"} 2' in lines
    assert 'task_poll_count_total{taskType="a",domain="NO_DOMAIN"} 1' in lines
    assert 'task_poll_count_total{taskType="a",domain="eu"} 1' in lines
    conflict = 'workflowName="order",taskType="a",taskStatus="COMPLETED"'
    assert f"task_update_conflict_total{{{conflict}}} 1" in lines


def test_commits_and_recoveries_are_counted_and_timed() -> None:
    lines = heard(("group.committed", {"seconds": 0.003}), ("core.recovered", {"seconds": 1.5}))
    for line in (
        'checkpoint_write_total{store="sqlite"} 1',
        'checkpoint_write_latency_bucket{store="sqlite",le="0.005"} 1',
        'checkpoint_recovery_total{cause="start"} 1',
        'checkpoint_recovery_latency_sum{cause="start"} 1.500000',
    ):
        assert line in lines


def test_each_series_is_headed_once_and_gauges_are_added() -> None:
    lines = heard(
        ("outbox.filled", {}),
        ("outbox.relieved", {}),
        ("task.moved", {"run": ended(), "was": None}),
    )
    assert lines.count("# TYPE reprise_event_total counter") == 1
    assert lines.count("# TYPE task_execution_seconds histogram") == 1
    assert lines[-2:] == ["# TYPE reprise_inbox gauge", "reprise_inbox 3"]


def test_the_attempts_of_a_workflow_are_counted_when_it_ends() -> None:
    done = Execution(1, "id", WorkflowDef(name="order"), "", status=ExecutionStatus.COMPLETED)
    done.runs.update({seq: a_run(TaskStatus.COMPLETED) for seq in (1, 2, 3)})
    lines = heard(
        ("workflow.started", {"execution": done}), ("workflow.completed", {"execution": done})
    )
    order = 'workflowName="order",version="1"'
    assert f"tasks_in_workflow_sum{{{order}}} 3.000000" in lines
    assert f'tasks_in_workflow_bucket{{{order},le="2"}} 0' in lines
    assert f'tasks_in_workflow_bucket{{{order},le="5"}} 1' in lines


def test_a_start_that_the_core_refuses_is_an_error_and_no_other_refusal_is() -> None:
    definition = WorkflowDef(name="order", owner_app="shop")
    lines = heard(
        ("event.refused", {"event": Start(definition=definition, definition_hash="h")}),
        ("event.refused", {"event": Restart()}),
        ("start.refused", {"name": "lost", "owner": None}),
    )
    assert 'workflow_start_error_total{workflowName="order",ownerApp="shop"} 1' in lines
    assert 'workflow_start_error_total{workflowName="lost",ownerApp="unknown"} 1' in lines
    assert 'reprise_event_total{what="event.refused"} 1' in lines


_EVENT = {"event": "conductor:in", "handler": "h", "action": "start_workflow"}
_HOOK = {"topic": "WORKFLOW", "name": "order", "status": "FAILED"}


@pytest.mark.parametrize(
    ("what", "facts", "line"),
    [
        ("action.done", _EVENT, 'event_execution_success_total{event="conductor:in",handler="h",action="start_workflow"} 1'),
        ("action.failed", {**_EVENT, "entity": "order", "exception": "NotFound"}, 'event_execution_error_total{event="conductor:in",handler="h",action="start_workflow",exception="NotFound"} 1'),
        ("action.failed", {**_EVENT, "entity": "order", "exception": "NotFound"}, 'event_action_error_total{action="start_workflow",entityName="order",event="conductor:in"} 1'),
        ("hook.delivered", _HOOK, 'webhook_publish_success_total{notificationType="WORKFLOW",name="order",status="FAILED"} 1'),
        ("hook.failed", {**_HOOK, "error_type": "Undelivered"}, 'webhook_publish_failure_total{notificationType="WORKFLOW",name="order",errorType="Undelivered"} 1'),
        ("tokens.used", {"model": "m", "kind": "prompt", "amount": 11}, 'tokens_total{model="m",kind="prompt"} 11'),
        ("schedule.served", {"seconds": 0.02}, 'scheduler_handler_seconds_bucket{le="0.025"} 1'),
        ("schedules.fired", {"slots": 7}, "scheduler_handler_batch_sum 7.000000"),
        ("schedule.failed", {}, "scheduler_handler_error_total 1"),
        ("egress.denied", {}, "egress_denied_total 1"),
        ("request.failed", {"place": "/api/x"}, 'workflow_server_error_total{class="request",methodName="failed"} 1'),
    ],
)  # fmt: skip
def test_what_is_rare_has_its_own_names(what: str, facts: dict[str, Any], line: str) -> None:
    assert line in heard((what, facts))


def test_what_is_no_fault_is_no_server_error() -> None:
    assert not [line for line in heard(("outbox.filled", {})) if "server_error" in line]


def test_names_beyond_many_are_counted_together_and_leave_other_metrics_alone() -> None:
    asked = [("task.polled", {"task_type": f"t{n}", "domain": None}) for n in range(MOST_NAMES + 3)]
    lines = heard(*asked, ("start.refused", {"name": "late", "owner": None}))
    assert 'task_poll_total{taskType="t0"} 1' in lines
    assert 'task_poll_total{taskType="other"} 3' in lines
    assert 'workflow_start_error_total{workflowName="late",ownerApp="unknown"} 1' in lines
