"""Conductor's own Python SDK, as it is installed, against a real server process: what a team that
changes over relies on. Workers run in a process of their own."""

import os
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from conductor.client.configuration.configuration import Configuration
from conductor.client.http.models import RerunWorkflowRequest, SkipTaskRequest, StartWorkflowRequest
from conductor.client.http.models.task_def import TaskDef
from conductor.client.http.models.task_result import TaskResult
from conductor.client.http.models.workflow_test_request import WorkflowTestRequest
from conductor.client.http.rest import ApiException
from conductor.client.orkes_clients import OrkesClients
from conductor.client.workflow.conductor_workflow import ConductorWorkflow
from conductor.client.workflow.task.simple_task import SimpleTask
from conductor.client.workflow.task.wait_task import WaitTask

from tests.api.sdk.served import serving, working

pytestmark = pytest.mark.filterwarnings("ignore")

NOBODY = "00000000-0000-0000-0000-000000000000"
PATIENCE_SECONDS = 90
Value = TypeVar("Value")


class Shop:
    """The SDK's clients, the workers' switch, and definitions that tests share."""

    def __init__(self, url: str, switch: Path) -> None:
        clients = OrkesClients(Configuration(server_api_url=url))
        self.executor = clients.get_workflow_executor()
        self.workflows = clients.get_workflow_client()
        self.tasks = clients.get_task_client()
        self.metadata = clients.get_metadata_client()
        self.switch = switch
        self._pause = threading.Event()
        for name, retries in (("sdk_shaky", 2), ("sdk_slow", 0)):
            self.metadata.register_task_def(
                TaskDef(
                    name=name,
                    retry_count=retries,
                    retry_delay_seconds=1,
                    response_timeout_seconds=4,
                    timeout_seconds=60,
                )
            )
        self.leaflet().register(overwrite=True)
        for name, kind in (("sdk_shaky_flow", "sdk_shaky"), ("sdk_slow_flow", "sdk_slow")):
            self.one_task(name, kind)

    def leaflet(self) -> Any:
        """Layout, print, an approval, delivery."""
        flow = ConductorWorkflow(executor=self.executor, name="sdk_leaflet", version=1)
        lay_out = SimpleTask("sdk_layout", "layout")
        lay_out.input(key="title", value="${workflow.input.title}")
        lay_out.input(key="copies", value="${workflow.input.copies}")
        flow >> lay_out
        flow >> SimpleTask("sdk_print", "print").input(key="pages", value="${layout.output.pages}")
        flow >> WaitTask("approval", wait_until=None, wait_for_seconds=None)
        printed = "${print.output.printed}"
        flow >> SimpleTask("sdk_deliver", "deliver").input(key="printed", value=printed)
        flow.output_parameters({"delivered": "${deliver.output.delivered}"})
        return flow

    def one_task(self, name: str, kind: str) -> None:
        """A definition of a single task."""
        flow = ConductorWorkflow(executor=self.executor, name=name, version=1)
        flow >> SimpleTask(kind, "only")
        flow.register(overwrite=True)

    def start(self, name: str, **request: Any) -> str:
        """Start an execution; its id."""
        asked = StartWorkflowRequest(name=name, version=1, **request)
        workflow_id: str = self.executor.start_workflow(asked)
        return workflow_id

    def until(self, look: Callable[[], Value | None]) -> Value:
        """Ask again until there is an answer."""
        for _ in range(PATIENCE_SECONDS * 5):
            found = look()
            if found:
                return found
            self._pause.wait(0.2)
        raise AssertionError(f"not within {PATIENCE_SECONDS} s: {look.__doc__}")

    def until_status(self, workflow_id: str, status: str) -> Any:
        """The execution, once it is in this state."""

        def look() -> Any:
            found = self.workflows.get_workflow(workflow_id, include_tasks=True)
            return found if found.status == status else None

        return self.until(look)

    def until_approval(self, workflow_id: str) -> Any:
        """The execution, once it waits for its approval."""

        def look() -> Any:
            found = self.workflows.get_workflow(workflow_id, include_tasks=True)
            waits = [task for task in found.tasks if task.reference_task_name == "approval"]
            return found if waits and waits[-1].status == "IN_PROGRESS" else None

        return self.until(look)


def last(execution: Any, ref: str) -> Any:
    """The newest attempt of a task."""
    return [task for task in execution.tasks if task.reference_task_name == ref][-1]


def refused(status: int, call: Callable[[], object]) -> str:
    """The message of a refusal, as the SDK tells it."""
    with pytest.raises(ApiException) as caught:
        call()
    assert caught.value.status == status and caught.value.message
    return str(caught.value.message)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("sdk")
    switch = folder / "repaired"
    for name in ("CONDUCTOR_AUTH_KEY", "CONDUCTOR_AUTH_SECRET"):
        os.environ.pop(name, None)
    with serving(folder) as url:
        shop = Shop(url, switch)
        with working(url, switch):
            yield shop


@pytest.fixture
def repaired(shop: Shop) -> Shop:
    shop.switch.touch()
    return shop


def approved(shop: Shop) -> str:
    """A leaflet that has been delivered."""
    workflow_id = shop.start("sdk_leaflet", input={"title": "A", "copies": 2})
    shop.until_approval(workflow_id)
    shop.tasks.update_task_by_ref_name(workflow_id, "approval", "COMPLETED", {"by": "ann"})
    done = shop.until_status(workflow_id, "COMPLETED")
    assert done.output["delivered"] == 8
    return workflow_id


def test_a_definition_of_the_builder_is_registered_and_read_back(shop: Shop) -> None:
    found = shop.metadata.get_workflow_def("sdk_leaflet")
    refs = [task.task_reference_name for task in found.tasks]
    assert refs == ["layout", "print", "approval", "deliver"]
    again = shop.leaflet().to_workflow_def()
    refused(409, lambda: shop.metadata.register_workflow_def(again, overwrite=False))
    assert shop.metadata.get_task_def("sdk_shaky").retry_delay_seconds == 1


def test_a_worker_fails_a_workflow_for_good_and_a_retry_runs_only_what_failed(shop: Shop) -> None:
    shop.switch.unlink(missing_ok=True)
    workflow_id = shop.start("sdk_leaflet", input={"title": "A", "copies": 2})
    assert '"' not in workflow_id
    failed = shop.until_status(workflow_id, "FAILED")
    task = last(failed, "print")
    assert task.status == "FAILED_WITH_TERMINAL_ERROR"
    assert "out of order" in task.reason_for_incompletion
    first = last(failed, "layout").task_id
    assert shop.tasks.get_task_logs(first)[0].log == "laying out A"
    shop.switch.touch()
    shop.workflows.retry_workflow(workflow_id)
    assert last(shop.until_approval(workflow_id), "layout").task_id == first


def test_a_task_that_asks_for_a_callback_is_polled_again(repaired: Shop) -> None:
    workflow_id = approved(repaired)
    done = repaired.workflows.get_workflow(workflow_id, include_tasks=True)
    assert last(done, "deliver").poll_count >= 2


def test_a_restart_keeps_the_id_and_a_synchronous_update_shows_the_workflow(repaired: Shop) -> None:
    workflow_id = approved(repaired)
    repaired.workflows.restart_workflow(workflow_id)
    repaired.until_approval(workflow_id)
    shown = repaired.tasks.update_task_sync(workflow_id, "approval", "COMPLETED", {"by": "bob"})
    assert shown.workflow_id == workflow_id
    repaired.until_status(workflow_id, "COMPLETED")


def test_a_rerun_keeps_what_came_before_and_a_skip_passes_over_a_task(repaired: Shop) -> None:
    workflow_id = approved(repaired)
    done = repaired.workflows.get_workflow(workflow_id, include_tasks=True)
    request = RerunWorkflowRequest(re_run_from_task_id=last(done, "print").task_id)
    assert repaired.workflows.rerun_workflow(workflow_id, request) == workflow_id
    again = repaired.until_approval(workflow_id)
    assert last(again, "layout").task_id == last(done, "layout").task_id
    repaired.workflows.skip_task_from_workflow(workflow_id, "deliver", SkipTaskRequest())
    repaired.tasks.update_task_by_ref_name(workflow_id, "approval", "COMPLETED", {})
    assert last(repaired.until_status(workflow_id, "COMPLETED"), "deliver").status == "SKIPPED"


def test_signals_are_answered_or_not_as_it_is_asked_for(repaired: Shop) -> None:
    workflow_id = repaired.start("sdk_leaflet", input={"title": "S", "copies": 1})
    repaired.until_approval(workflow_id)
    answer = repaired.executor.signal(
        workflow_id, "COMPLETED", {"by": "ann"}, return_strategy="TARGET_WORKFLOW"
    )
    assert answer.response_type == "TARGET_WORKFLOW"
    assert answer.target_workflow_id == workflow_id
    repaired.until_status(workflow_id, "COMPLETED")
    repaired.workflows.restart_workflow(workflow_id)
    repaired.until_approval(workflow_id)
    repaired.executor.signal_async(workflow_id, "COMPLETED", {})
    repaired.until_status(workflow_id, "COMPLETED")


def test_pausing_resuming_and_ending_show_at_once(shop: Shop) -> None:
    workflow_id = shop.workflows.start_workflow_by_name(
        "sdk_leaflet", {"title": "P", "copies": 1}, version=1
    )
    for act, status in (
        (lambda: shop.workflows.pause_workflow(workflow_id), "PAUSED"),
        (lambda: shop.workflows.resume_workflow(workflow_id), "RUNNING"),
        (lambda: shop.workflows.terminate_workflow(workflow_id, reason="enough"), "TERMINATED"),
    ):
        act()
        assert shop.workflows.get_workflow_status(workflow_id).status == status


def test_a_failed_attempt_is_followed_by_another(shop: Shop) -> None:
    done = shop.until_status(shop.start("sdk_shaky_flow"), "COMPLETED")
    assert [task.status for task in done.tasks] == ["FAILED", "COMPLETED"]
    assert done.tasks[1].retry_count == 1
    assert "never works" in done.tasks[0].reason_for_incompletion


def test_a_worker_that_extends_its_lease_may_take_its_time(shop: Shop) -> None:
    done = shop.until_status(shop.start("sdk_slow_flow"), "COMPLETED")
    assert [task.status for task in done.tasks] == ["COMPLETED"]


def test_a_synchronous_execution_answers_with_the_run(repaired: Shop) -> None:
    run = repaired.executor.execute(
        "sdk_leaflet", version=1, workflow_input={"title": "X", "copies": 1}, wait_for_seconds=5
    )
    assert run.workflow_id and run.status in ("RUNNING", "COMPLETED")
    repaired.workflows.terminate_workflow(run.workflow_id, "looked at")


def test_executions_are_found_by_query_and_by_correlation_id(repaired: Shop) -> None:
    mark = uuid.uuid4().hex
    workflow_id = repaired.start("sdk_shaky_flow", correlation_id=mark)
    repaired.until_status(workflow_id, "COMPLETED")
    query = f"workflowType IN (sdk_shaky_flow) AND correlationId = '{mark}'"
    found = repaired.workflows.search(0, 10, "*", query).results
    assert [row.workflow_id for row in found] == [workflow_id]
    plain = repaired.executor.search(query=query).results
    assert [row.workflow_id for row in plain] == [workflow_id]
    related = repaired.workflows.get_by_correlation_ids(
        "sdk_shaky_flow", [mark], include_completed=True
    )
    assert [row.workflow_id for row in related[mark]] == [workflow_id]


def test_a_definition_is_played_on_mocks(shop: Shop) -> None:
    outputs: dict[str, dict[str, object]] = {
        "layout": {"pages": 4},
        "print": {"printed": 4},
        "approval": {},
        "deliver": {"delivered": 4},
    }
    mocks = {ref: [{"status": "COMPLETED", "output": out}] for ref, out in outputs.items()}
    tested = shop.workflows.test_workflow(
        WorkflowTestRequest(
            name="sdk_leaflet",
            version=1,
            workflow_def=shop.leaflet().to_workflow_def(),
            task_ref_to_mock_output=mocks,
            input={"title": "T", "copies": 1},
        )
    )
    assert (tested.status, tested.output["delivered"]) == ("COMPLETED", 4)


def test_a_client_polls_and_reports_by_hand(shop: Shop) -> None:
    kind = f"sdk_hand_{uuid.uuid4().hex[:6]}"
    shop.one_task(kind, kind)
    one, two = shop.start(kind), shop.start(kind)
    blue = shop.start(kind, task_to_domain={kind: "blue"})
    assert shop.tasks.get_queue_size_for_task(kind) == 2
    mine = shop.tasks.poll_task(kind, worker_id="me", domain="blue")
    assert mine.workflow_instance_id == blue
    polled = [shop.tasks.poll_task(kind, worker_id="me")]
    polled += shop.tasks.batch_poll_tasks(kind, worker_id="me", count=5, timeout_in_millisecond=200)
    assert {task.workflow_instance_id for task in polled} == {one, two}
    assert shop.tasks.batch_poll_tasks(kind, count=2, timeout_in_millisecond=1) == []
    for task in polled:
        result = TaskResult(
            workflow_instance_id=task.workflow_instance_id,
            task_id=task.task_id,
            status="COMPLETED",
            output_data={"x": 1},
        )
        assert shop.tasks.update_task(result) == task.task_id
        assert shop.tasks.update_task(result) == task.task_id
    assert shop.until_status(one, "COMPLETED").output["x"] == 1
    shop.tasks.add_task_log(polled[0].task_id, "by hand")
    assert "by hand" in shop.tasks.get_task_logs(polled[0].task_id)[-1].log


def test_refusals_have_the_status_and_the_message_that_the_sdk_reads(shop: Shop) -> None:
    assert NOBODY in refused(404, lambda: shop.workflows.get_workflow(NOBODY))
    refused(404, lambda: shop.metadata.get_task_def("sdk_nobody"))
    refused(404, lambda: shop.metadata.get_workflow_def("sdk_nobody"))
    refused(404, lambda: shop.metadata.unregister_workflow_def("sdk_nobody", 1))
    refused(404, lambda: shop.start("sdk_nobody"))
    refused(400, lambda: shop.start("sdk_leaflet", priority=100))
    short = TaskDef(name="sdk_short", timeout_seconds=60)
    refused(400, lambda: shop.metadata.register_task_def(short))
    workflow_id = shop.until_status(shop.start("sdk_shaky_flow"), "COMPLETED").workflow_id
    refused(409, lambda: shop.workflows.pause_workflow(workflow_id))
    refused(409, lambda: shop.workflows.terminate_workflow(workflow_id))


def test_what_is_removed_is_gone_and_runs_outlive_their_definition(shop: Shop) -> None:
    name = f"sdk_gone_{uuid.uuid4().hex[:6]}"
    shop.one_task(name, name)
    workflow_id = shop.start(name)
    shop.metadata.unregister_workflow_def(name, 1)
    refused(404, lambda: shop.metadata.get_workflow_def(name))
    assert shop.workflows.get_workflow(workflow_id).workflow_id == workflow_id
    shop.workflows.delete_workflow(workflow_id, archive_workflow=False)
    refused(404, lambda: shop.workflows.get_workflow(workflow_id))
