"""What the Python SDK builds and registers, in every version that is played with."""

import uuid
from typing import Any

from conductor.client.http.api.metadata_resource_api import MetadataResourceApi
from conductor.client.http.api_client import ApiClient
from conductor.client.http.models.save_schedule_request import SaveScheduleRequest
from conductor.client.http.models.schema_def import SchemaDef, SchemaType
from conductor.client.http.models.start_workflow_request import StartWorkflowRequest
from conductor.client.http.models.task_def import TaskDef
from conductor.client.http.models.workflow_def import WorkflowDef
from conductor.client.http.models.workflow_task import WorkflowTask
from conductor.client.workflow.task.do_while_task import LoopTask
from conductor.client.workflow.task.fork_task import ForkTask
from conductor.client.workflow.task.http_task import HttpInput, HttpTask
from conductor.client.workflow.task.javascript_task import JavascriptTask
from conductor.client.workflow.task.join_task import JoinTask
from conductor.client.workflow.task.json_jq_task import JsonJQTask
from conductor.client.workflow.task.set_variable_task import SetVariableTask
from conductor.client.workflow.task.simple_task import SimpleTask
from conductor.client.workflow.task.sub_workflow_task import InlineSubWorkflowTask, SubWorkflowTask
from conductor.client.workflow.task.switch_task import SwitchTask
from conductor.client.workflow.task.terminate_task import TerminateTask, WorkflowStatus

from tests.clients.python.shop import Shop, refused

AUTHOR = "ann@example.com"


def a_call_may_be_made_in_a_thread_of_the_client(shop: Shop) -> None:
    api = MetadataResourceApi(ApiClient(shop.configuration))
    api.register_task_def(body=[TaskDef(name="in_a_thread")])
    asked = [api.get_task_def(async_req=True, tasktype="in_a_thread") for _ in range(3)]
    for thread in asked:
        thread.wait()
        assert "in_a_thread" in str(thread.get())


def every_client_of_the_sdk_can_be_made(shop: Shop) -> None:
    makers = [name for name in dir(shop.clients) if name.startswith("get_")]
    assert "get_schema_client" in makers
    for name in makers:
        assert getattr(shop.clients, name)() is not None


def a_task_definition_keeps_its_schemas_and_is_changed(shop: Shop) -> None:
    schema = SchemaDef(name="page", version=1, type=SchemaType.JSON, data={"type": "object"})
    name = f"schema_{uuid.uuid4().hex[:6]}"
    full = TaskDef(name=name, retry_count=3, timeout_seconds=3600, timeout_policy="TIME_OUT_WF")
    full.response_timeout_seconds = 600
    full.input_schema, full.output_schema, full.enforce_schema = schema, schema, True
    shop.metadata.register_task_def(full)
    found = shop.metadata.get_task_def(name)
    assert (found.input_schema.name, found.output_schema.type) == ("page", "JSON")
    assert (found.enforce_schema, found.timeout_policy) == (True, "TIME_OUT_WF")
    found.description, found.input_keys = "changed", ["a", "b", "c"]
    shop.metadata.update_task_def(found)
    assert shop.metadata.get_task_def(name).input_keys == ["a", "b", "c"]
    shop.metadata.register_task_def(TaskDef(name=name))
    plain = shop.metadata.get_task_def(name)
    assert plain.input_schema is None and not plain.enforce_schema


def a_workflow_definition_comes_back_as_it_was_sent(shop: Shop) -> None:
    schema = SchemaDef(name="page", version=1, type=SchemaType.JSON, data={"type": "object"})
    name = f"kept_{uuid.uuid4().hex[:6]}"
    step = WorkflowTask(name="layout", task_reference_name="step", type="SIMPLE")
    full = WorkflowDef(name=name, version=1, tasks=[step], owner_email=AUTHOR)
    full.input_schema, full.enforce_schema = schema, True
    shop.metadata.register_workflow_def(full, overwrite=True)
    found = shop.metadata.get_workflow_def(name)
    assert (found.input_schema.name, found.enforce_schema) == ("page", True)
    assert found.tasks[0].task_definition is None
    step.task_definition = TaskDef(name="layout", retry_count=1)
    again = WorkflowDef(name=name, version=1, tasks=[step])
    shop.metadata.register_workflow_def(again, overwrite=True)
    found = shop.metadata.get_workflow_def(name)
    assert found.tasks[0].task_definition.retry_count == 1
    assert found.tasks[0].task_definition.input_schema is None and found.input_schema is None


def all_that_the_builder_builds_is_taken_and_starts(shop: Shop) -> None:
    strict = TaskDef(name="count", timeout_seconds=3, response_timeout_seconds=2)
    shop.metadata.register_task_def(strict)
    shop.flow("shelf", SetVariableTask("keep").input(key="kept", value=True)).register(True)
    catalogue = shop.flow(
        "catalogue",
        SetVariableTask("begin").input(key="number", value=12),
        JsonJQTask("join_lists", ".left + .right").input(key="left", value=["a"]),
        JavascriptTask("double", "(function(){ return $.n * 2; })()", {"n": 2}),
        *branches(shop),
        SubWorkflowTask("shelve", workflow_name="shelf", version=1),
        HttpTask("ask", HttpInput(uri="http://127.0.0.1:9/never")),
    )
    catalogue >> [SimpleTask("count", "count_left"), SimpleTask("count", "count_right")]
    catalogue.owner_email(AUTHOR).register(overwrite=True)
    found = shop.metadata.get_workflow_def("catalogue")
    kinds = {task.type for task in found.tasks}
    assert {"JSON_JQ_TRANSFORM", "INLINE", "FORK_JOIN", "JOIN", "SUB_WORKFLOW", "HTTP"} <= kinds
    workflow_id = shop.start("catalogue", input={"number": 3}, correlation_id="catalogue")
    assert isinstance(workflow_id, str) and workflow_id
    shop.workflows.terminate_workflow(workflow_id, reason="looked at")
    assert shop.workflows.get_workflow_status(workflow_id).status == "TERMINATED"


def branches(shop: Shop) -> list[Any]:
    """A fork of a loop around a switch, and a sub-workflow in line; and its join."""
    choice = SwitchTask("size", "$.number < 15 ? 'SMALL' : 'LARGE'", use_javascript=True)
    choice.input(key="number", value="${workflow.input.number}")
    choice.switch_case("SMALL", [SimpleTask("count", "count_small")])
    choice.default_case(
        [TerminateTask("too_large", status=WorkflowStatus.FAILED, termination_reason="too large")]
    )
    inline = InlineSubWorkflowTask("aside", shop.flow("aside", SimpleTask("count", "count_aside")))
    fork = ForkTask(
        "both", [[LoopTask("twice", iterations=2, tasks=[choice]), inline], [wait_for_count()]]
    )
    return [fork, JoinTask("both_done", join_on=fork.to_workflow_task().join_on)]


def wait_for_count() -> SimpleTask:
    """A task that nobody works on."""
    return SimpleTask("count", "count_other")


def a_missing_definition_is_no_obstacle_to_registering_it(shop: Shop) -> None:
    flow = shop.flow(f"new_{uuid.uuid4().hex[:6]}", SimpleTask("shaky", "only"))
    api = shop.executor.metadata_client
    refused(404, lambda: api.unregister_workflow_def_with_http_info(flow.name, 1))
    flow.register(overwrite=True)
    shop.executor.register_workflow(flow.to_workflow_def(), overwrite=True)
    shop.until_status(shop.start(flow.name), "COMPLETED")


def a_schedule_is_kept_paused_resumed_and_removed(shop: Shop) -> None:
    schedules = shop.clients.get_scheduler_client()
    cron = "0 0 0 1 1 ?"
    start = StartWorkflowRequest(name="shaky", version=1)
    name = f"yearly_{uuid.uuid4().hex[:6]}"
    schedules.save_schedule(
        SaveScheduleRequest(name=name, start_workflow_request=start, cron_expression=cron)
    )
    schedules.pause_schedule(name)
    listed = {row.name: row.paused for row in schedules.get_all_schedules("shaky")}
    assert listed[name] is True
    schedules.resume_schedule(name)
    listed = {row.name: row.paused for row in schedules.get_all_schedules("shaky")}
    assert not listed[name]
    assert len(schedules.get_next_few_schedule_execution_times(cron, limit=1)) == 1
    schedules.delete_schedule(name)
    assert name not in {row.name for row in schedules.get_all_schedules("shaky") or []}


ALL = (
    a_call_may_be_made_in_a_thread_of_the_client,
    every_client_of_the_sdk_can_be_made,
    a_task_definition_keeps_its_schemas_and_is_changed,
    a_workflow_definition_comes_back_as_it_was_sent,
    all_that_the_builder_builds_is_taken_and_starts,
    a_missing_definition_is_no_obstacle_to_registering_it,
    a_schedule_is_kept_paused_resumed_and_removed,
)
