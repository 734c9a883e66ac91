"""What every version of the Python SDK is played with. A story is a function; its name is what it
says. Each begins executions of its own."""

import uuid
from typing import Any

from conductor.client.http.models import RerunWorkflowRequest, SkipTaskRequest, StartWorkflowRequest
from conductor.client.http.models.correlation_ids_search_request import CorrelationIdsSearchRequest
from conductor.client.http.models.task_def import TaskDef
from conductor.client.http.models.task_result import TaskResult
from conductor.client.http.models.workflow_test_request import WorkflowTestRequest

from tests.clients.python.shop import NOBODY, Shop, last, refused, statuses


def a_definition_is_registered_once_and_read_back(shop: Shop) -> None:
    found = shop.metadata.get_workflow_def("leaflet")
    refs = [task.task_reference_name for task in found.tasks]
    assert refs == ["layout", "print", "approval", "deliver"]
    again = shop.leaflet().to_workflow_def()
    refused(409, lambda: shop.metadata.register_workflow_def(again, overwrite=False))
    assert shop.metadata.get_task_def("shaky").retry_delay_seconds == 1


def a_worker_ends_an_execution_for_good_and_its_log_is_kept(shop: Shop) -> None:
    failed = shop.broken()
    assert '"' not in failed.workflow_id
    task = last(failed, "print")
    assert task.status == "FAILED_WITH_TERMINAL_ERROR"
    assert "out of order" in task.reason_for_incompletion
    log = shop.tasks.get_task_logs(last(failed, "layout").task_id)
    assert [line.log for line in log] == ["laying out A"]


def a_retry_runs_only_what_failed(shop: Shop) -> None:
    failed = shop.broken()
    shop.repaired.touch()
    shop.workflows.retry_workflow(failed.workflow_id)
    waiting = shop.until_approval(failed.workflow_id)
    assert last(waiting, "layout").task_id == last(failed, "layout").task_id
    assert last(waiting, "print").status == "COMPLETED"
    shop.workflows.terminate_workflow(failed.workflow_id, "looked at")


def a_task_that_asks_for_a_callback_is_polled_again(shop: Shop) -> None:
    assert last(shop.delivered(), "deliver").poll_count >= 2


def a_restart_keeps_the_id_and_a_synchronous_update_shows_the_execution(shop: Shop) -> None:
    workflow_id = shop.delivered().workflow_id
    shop.workflows.restart_workflow(workflow_id)
    shop.until_approval(workflow_id)
    shown = shop.tasks.update_task_sync(workflow_id, "approval", "COMPLETED", {"by": "bob"})
    assert shown.workflow_id == workflow_id
    shop.until_status(workflow_id, "COMPLETED")


def a_rerun_keeps_what_came_before(shop: Shop) -> None:
    done = shop.delivered()
    request = RerunWorkflowRequest(re_run_from_task_id=last(done, "print").task_id)
    assert shop.workflows.rerun_workflow(done.workflow_id, request) == done.workflow_id
    again = shop.until_approval(done.workflow_id)
    assert last(again, "layout").task_id == last(done, "layout").task_id
    shop.workflows.terminate_workflow(done.workflow_id, "looked at")


def a_task_ahead_is_skipped(shop: Shop) -> None:
    shop.repaired.touch()
    workflow_id = shop.start("leaflet", input={"title": "K", "copies": 1})
    shop.until_approval(workflow_id)
    shop.workflows.skip_task_from_workflow(workflow_id, "deliver", SkipTaskRequest())
    assert last(shop.approve(workflow_id), "deliver").status == "SKIPPED"


def pausing_resuming_and_ending_show_at_once(shop: Shop) -> None:
    shop.repaired.touch()
    workflow_id = shop.workflows.start_workflow_by_name(
        "leaflet", {"title": "P", "copies": 1}, version=1
    )
    for act, status in (
        (lambda: shop.workflows.pause_workflow(workflow_id), "PAUSED"),
        (lambda: shop.workflows.resume_workflow(workflow_id), "RUNNING"),
        (lambda: shop.workflows.terminate_workflow(workflow_id, reason="enough"), "TERMINATED"),
    ):
        act()
        assert shop.workflows.get_workflow_status(workflow_id).status == status


def a_failed_attempt_is_followed_by_another(shop: Shop) -> None:
    done = shop.until_status(shop.start("shaky"), "COMPLETED")
    assert statuses(done) == ["FAILED", "COMPLETED"]
    assert done.tasks[1].retry_count == 1
    assert "never works" in done.tasks[0].reason_for_incompletion


def a_synchronous_start_answers_with_the_run(shop: Shop) -> None:
    shop.repaired.touch()
    run = shop.executor.execute(
        "leaflet", version=1, workflow_input={"title": "X", "copies": 1}, wait_for_seconds=8
    )
    assert run.workflow_id and run.status == "RUNNING"
    assert last(shop.execution(run.workflow_id), "approval").status == "IN_PROGRESS"
    shop.workflows.terminate_workflow(run.workflow_id, "looked at")


def an_execution_is_found_by_query(shop: Shop) -> None:
    mark = uuid.uuid4().hex
    workflow_id = shop.start("shaky", correlation_id=mark)
    query = (
        f"workflowType IN (shaky) AND status IN (RUNNING,COMPLETED) AND correlationId = '{mark}'"
    )
    found = shop.workflows.search(0, 10, "*", query).results
    assert [row.workflow_id for row in found] == [workflow_id]
    plain = shop.executor.search(query=query).results
    assert [row.workflow_id for row in plain] == [workflow_id]
    shop.until_status(workflow_id, "COMPLETED")


def executions_are_found_by_correlation_ids(shop: Shop) -> None:
    marks = [uuid.uuid4().hex for _ in range(2)]
    ids = [shop.start("shaky", correlation_id=mark) for mark in marks]
    asked = [*marks, "never used"]
    found = shop.workflows.get_by_correlation_ids("shaky", asked, include_completed=True)
    assert [[row.workflow_id for row in found[mark]] for mark in marks] == [[one] for one in ids]
    batch = CorrelationIdsSearchRequest(correlation_ids=asked, workflow_names=["shaky", "leaflet"])
    several = shop.workflows.get_by_correlation_ids_in_batch(batch, include_completed=True)
    assert [row.workflow_id for row in several[marks[0]]] == [ids[0]]


def a_definition_is_played_on_mocks(shop: Shop) -> None:
    mocks: dict[str, list[dict[str, object]]] = {
        "layout": [{"status": "FAILED", "output": {}}, completed(pages=4)],
        "print": [completed(printed=4)],
        "approval": [completed()],
        "deliver": [completed(delivered=4)],
    }
    definition = shop.leaflet().to_workflow_def()
    definition.tasks[0].retry_count = 1
    tested = shop.workflows.test_workflow(
        WorkflowTestRequest(
            name="leaflet",
            version=1,
            workflow_def=definition,
            task_ref_to_mock_output=mocks,
            input={"title": "T", "copies": 1},
        )
    )
    assert (tested.status, tested.output["delivered"]) == ("COMPLETED", 4)
    assert statuses(tested)[:2] == ["FAILED", "COMPLETED"]


def completed(**output: object) -> dict[str, object]:
    """A mocked attempt."""
    return {"status": "COMPLETED", "output": output}


def tasks_are_polled_and_reported_on_by_hand(shop: Shop) -> None:
    kind = f"hand_{uuid.uuid4().hex[:6]}"
    shop.one_task(kind)
    one, two = shop.start(kind), shop.start(kind)
    blue = shop.start(kind, task_to_domain={kind: "blue"})
    assert shop.tasks.get_queue_size_for_task(kind) == 2
    mine = shop.tasks.poll_task(kind, worker_id="me", domain="blue")
    assert mine.workflow_instance_id == blue
    polled = [shop.tasks.poll_task(kind, worker_id="me")]
    polled += shop.tasks.batch_poll_tasks(kind, worker_id="me", count=5, timeout_in_millisecond=200)
    assert {task.workflow_instance_id for task in polled} == {one, two}
    assert shop.tasks.get_queue_size_for_task(kind) == 0
    assert getattr(shop.tasks.poll_task(kind, worker_id="me"), "task_id", None) is None
    assert shop.tasks.batch_poll_tasks(kind, count=2, timeout_in_millisecond=1) == []
    for task in polled:
        result = completed_result(task)
        assert shop.tasks.update_task(result) == task.task_id
        assert shop.tasks.update_task(result) == task.task_id
    assert shop.until_status(one, "COMPLETED").output["x"] == 1
    shop.tasks.add_task_log(polled[0].task_id, "by hand")
    assert "by hand" in shop.tasks.get_task_logs(polled[0].task_id)[-1].log


def completed_result(task: Any) -> TaskResult:
    """What a worker reports that has done its work."""
    return TaskResult(
        workflow_instance_id=task.workflow_instance_id,
        task_id=task.task_id,
        status="COMPLETED",
        output_data={"x": 1},
    )


def refusals_have_a_status_and_a_message(shop: Shop) -> None:
    assert NOBODY in refused(404, lambda: shop.workflows.get_workflow(NOBODY))
    refused(404, lambda: shop.metadata.get_task_def("nobody"))
    assert "nobody" in refused(404, lambda: shop.metadata.get_workflow_def("nobody"))
    refused(404, lambda: shop.metadata.unregister_workflow_def("nobody", 1))
    refused(404, lambda: shop.start("nobody"))
    refused(400, lambda: shop.start("leaflet", priority=100))
    short = TaskDef(name="short", timeout_seconds=60)
    refused(400, lambda: shop.metadata.register_task_def(short))
    workflow_id = shop.until_status(shop.start("shaky"), "COMPLETED").workflow_id
    refused(409, lambda: shop.workflows.pause_workflow(workflow_id))
    refused(409, lambda: shop.workflows.terminate_workflow(workflow_id))
    shop.repaired.touch()
    running = shop.start("leaflet", input={"title": "R", "copies": 1})
    refused(409, lambda: shop.workflows.restart_workflow(running))
    shop.workflows.terminate_workflow(running, "looked at")


def what_is_removed_is_gone_and_a_run_outlives_its_definition(shop: Shop) -> None:
    name = f"gone_{uuid.uuid4().hex[:6]}"
    shop.one_task(name)
    shop.metadata.register_task_def(TaskDef(name=name))
    workflow_id = shop.start(name)
    shop.metadata.unregister_workflow_def(name, 1)
    shop.metadata.unregister_task_def(name)
    refused(404, lambda: shop.metadata.get_workflow_def(name))
    refused(404, lambda: shop.metadata.get_task_def(name))
    assert shop.workflows.get_workflow(workflow_id).workflow_id == workflow_id
    shop.workflows.delete_workflow(workflow_id, archive_workflow=False)
    refused(404, lambda: shop.workflows.get_workflow(workflow_id))


def several_are_started_at_once(shop: Shop) -> None:
    asked = [StartWorkflowRequest(name="shaky", version=1) for _ in range(6)]
    ids = shop.executor.start_workflows(*asked)
    assert len(set(ids)) == 6
    for workflow_id in ids:
        shop.until_status(workflow_id, "COMPLETED")
        assert shop.workflows.get_workflow_status(workflow_id, False, False).status == "COMPLETED"


def a_worker_of_a_domain_runs_what_was_started_for_it(shop: Shop) -> None:
    shop.one_task("parcel")
    plain = shop.start("parcel")
    express = shop.start("parcel", task_to_domain={"parcel": "express"})
    assert last(shop.until_status(plain, "COMPLETED"), "only").output_data["by"] == "anyone"
    task = last(shop.until_status(express, "COMPLETED"), "only")
    assert (task.domain, task.output_data["by"]) == ("express", "express")


def a_task_without_a_sign_of_life_times_out(shop: Shop) -> None:
    ended = shop.until_status(shop.begun["silent"], "FAILED", "TIMED_OUT")
    assert statuses(ended) == ["TIMED_OUT"]


ALL = (
    a_definition_is_registered_once_and_read_back,
    a_worker_ends_an_execution_for_good_and_its_log_is_kept,
    a_retry_runs_only_what_failed,
    a_task_that_asks_for_a_callback_is_polled_again,
    a_restart_keeps_the_id_and_a_synchronous_update_shows_the_execution,
    a_rerun_keeps_what_came_before,
    a_task_ahead_is_skipped,
    pausing_resuming_and_ending_show_at_once,
    a_failed_attempt_is_followed_by_another,
    a_synchronous_start_answers_with_the_run,
    an_execution_is_found_by_query,
    executions_are_found_by_correlation_ids,
    a_definition_is_played_on_mocks,
    tasks_are_polled_and_reported_on_by_hand,
    refusals_have_a_status_and_a_message,
    what_is_removed_is_gone_and_a_run_outlives_its_definition,
    several_are_started_at_once,
    a_worker_of_a_domain_runs_what_was_started_for_it,
    a_task_without_a_sign_of_life_times_out,
)
