"""What the Python SDK can do since its version 1.3: signals, leases, workers that register what
they are, a look at what they do, and the next task in the answer to a report."""

import time
import uuid
from collections import Counter
from typing import Any

from conductor.client.http.models import StartWorkflowRequest
from conductor.client.workflow.task.simple_task import SimpleTask
from conductor.client.workflow.task.wait_task import WaitTask

from tests.clients.python.shop import Shop, last, statuses

CHAINS = 40
CHAINS_A_SECOND = 20
LINKS = (("stamp", 4), ("fold", 3))
LATE_MS = 2_000
"""A task whose worker is idle is in hand sooner than this, also on a busy machine."""
BRIEF_TASKS = 5
OVERHEAD_MS = 500


def signals_are_answered_as_they_are_asked(shop: Shop) -> None:
    gates = [WaitTask(f"gate_{n}", wait_until=None, wait_for_seconds=None) for n in range(6)]
    shop.flow("gates", *gates).register(overwrite=True)
    workflow_id = shop.start("gates")
    answer = shop.executor.signal(workflow_id, "COMPLETED", {"by": "ann"})
    assert answer.response_type == "TARGET_WORKFLOW"
    for strategy, shown in (
        ("TARGET_WORKFLOW", lambda it: it.get_workflow()["workflowId"] == workflow_id),
        ("BLOCKING_WORKFLOW", lambda it: it.get_workflow()["workflowId"] == workflow_id),
        ("BLOCKING_TASK", lambda it: it.get_blocking_task()["taskId"]),
        ("BLOCKING_TASK_INPUT", lambda it: it.get_task_input() is not None),
    ):
        answer = shop.executor.signal(workflow_id, "COMPLETED", {}, return_strategy=strategy)
        assert (answer.response_type, answer.target_workflow_id) == (strategy, workflow_id)
        assert shown(answer) and answer.to_dict()["responseType"] == strategy
    assert shop.executor.signal_async(workflow_id, "COMPLETED", {"by": "bob"}) is None
    done = shop.until_status(workflow_id, "COMPLETED")
    assert statuses(done) == ["COMPLETED"] * len(gates)
    assert last(done, "gate_0").output_data["by"] == "ann"


def a_synchronous_start_answers_in_the_way_that_is_asked_for(shop: Shop) -> None:
    request = StartWorkflowRequest(name="shaky", version=1)
    for consistency, strategy in (
        (None, None),
        ("DURABLE", "BLOCKING_WORKFLOW"),
        ("SYNCHRONOUS", "BLOCKING_TASK_INPUT"),
    ):
        run = shop.executor.execute_workflow_with_return_strategy(
            request=request,
            wait_until_task_ref="only",
            wait_for_seconds=20,
            consistency=consistency,
            return_strategy=strategy,
        )
        assert run.workflow_id and run.status in ("RUNNING", "COMPLETED")
        shop.until_status(run.workflow_id, "COMPLETED")


def a_lease_that_is_extended_outlives_its_response_timeout(shop: Shop) -> None:
    for kind in ("leased", "leased_async"):
        done = shop.until_status(shop.begun[kind], "COMPLETED")
        assert statuses(done) == ["COMPLETED"]
        task = last(done, "only")
        assert task.output_data["took"] > task.response_timeout_seconds


def an_async_worker_without_a_sign_of_life_loses_its_task(shop: Shop) -> None:
    ended = shop.until_status(shop.begun["silent_async"], "FAILED", "TIMED_OUT")
    assert statuses(ended) == ["TIMED_OUT"]


def extending_leases_costs_a_brief_task_nothing(shop: Shop) -> None:
    durations = {}
    for kind in ("brief_leased", "brief"):
        shop.one_task(kind)
        ids = [shop.start(kind) for _ in range(BRIEF_TASKS)]
        tasks = [last(shop.until_status(one, "COMPLETED"), "only") for one in ids]
        durations[kind] = sum(task.end_time - task.start_time for task in tasks) / len(tasks)
    assert durations["brief_leased"] - durations["brief"] < OVERHEAD_MS, durations


def workers_register_what_they_are(shop: Shop) -> None:
    for kind in ("layout", "measure", "stamp"):
        assert shop.metadata.get_task_def(kind).name == kind
    found = shop.metadata.get_task_def("measure")
    assert (found.retry_count, found.timeout_policy) == (2, "RETRY")
    step = SimpleTask("measure", "only")
    step.input(key="sheet", value={"name": "A5", "width": 14.8, "sides": ["front", "back"]})
    shop.flow("measured", step).register(overwrite=True)
    done = shop.until_status(shop.start("measured"), "COMPLETED")
    assert last(done, "only").output_data == {"name": "A5", "width": 14.8, "sides": 2}


def workers_tell_what_they_do(shop: Shop) -> None:
    shop.until_status(shop.broken().workflow_id, "FAILED")
    wanted = {"PollStarted", "PollCompleted", "TaskExecutionStarted", "TaskExecutionCompleted"}

    def told() -> bool:
        return wanted <= set((shop.folder / "events").read_text().split())

    shop.until("the events of a run are told", told)
    metrics = shop.folder / "metrics" / "metrics.prom"

    def measured() -> bool:
        text = metrics.read_text() if metrics.exists() else ""
        return all(name in text for name in ("task_poll", "task_execute", "http_api_client"))

    shop.until("the workers' metrics are written", measured)


def many_chains_pass_and_no_link_is_left_or_doubled(shop: Shop) -> None:
    links = [f"{kind}_{n}" for kind, count in LINKS for n in range(count)]
    tasks: list[Any] = [SimpleTask(link.rpartition("_")[0], link) for link in links]
    shop.flow("chain", *tasks).register(overwrite=True)
    mark = uuid.uuid4().hex
    began = time.monotonic()
    ids = []
    for n in range(CHAINS):
        ids.append(shop.start("chain", correlation_id=mark))
        time.sleep(max(0.0, began + n / CHAINS_A_SECOND - time.monotonic()))
    waits = []
    for workflow_id in ids:
        done = shop.until_status(workflow_id, "COMPLETED", "FAILED", "TIMED_OUT", "TERMINATED")
        assert done.status == "COMPLETED"
        ended = Counter((task.reference_task_name, task.status) for task in done.tasks)
        assert ended == Counter((link, "COMPLETED") for link in links)
        waits += [task.start_time - task.scheduled_time for task in done.tasks]
    waits.sort()
    assert waits[len(waits) * 9 // 10] < LATE_MS, waits[-20:]


ALL = (
    signals_are_answered_as_they_are_asked,
    a_synchronous_start_answers_in_the_way_that_is_asked_for,
    workers_register_what_they_are,
    workers_tell_what_they_do,
    many_chains_pass_and_no_link_is_left_or_doubled,
    extending_leases_costs_a_brief_task_nothing,
    a_lease_that_is_extended_outlives_its_response_timeout,
    an_async_worker_without_a_sign_of_life_loses_its_task,
)
