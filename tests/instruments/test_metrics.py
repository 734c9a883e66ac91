"""What is counted, and how Prometheus reads it."""

from typing import Any

from engine.instruments.metrics import Metrics
from engine.model.definitions import WorkflowDef
from engine.model.execution import Execution, Run
from engine.model.status import TaskStatus


def a_run(status: TaskStatus, **times: int) -> Run:
    return Run(1, "id", "a", "a", 'ship"it', "a", status, **times)


def ended() -> Run:
    return a_run(TaskStatus.COMPLETED, queued_at=1000, started_at=1200, ended_at=3200)


def heard(*told: tuple[str, dict[str, Any]]) -> list[str]:
    metrics = Metrics()
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


def test_each_series_is_headed_once_and_gauges_are_added() -> None:
    lines = heard(
        ("store.failed", {}), ("row.refused", {}), ("task.moved", {"run": ended(), "was": None})
    )
    assert lines.count("# TYPE reprise_event_total counter") == 1
    assert lines.count("# TYPE task_execution_seconds histogram") == 1
    assert lines[-2:] == ["# TYPE reprise_inbox gauge", "reprise_inbox 3"]
