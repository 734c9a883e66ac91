"""Every sample, played on the mocks that lie beside it, comes to the end it promises."""

from collections.abc import Iterator

import pytest

from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.requests import WorkflowTestRequest
from engine.testing.mock_run import MockRun, play
from engine.workers.evaluators import EvaluatorPool
from sample_workflows.catalogue import Play, Sample, samples

PLAYS = [
    pytest.param(sample, one, id=f"{sample.name}-{number}")
    for sample in samples()
    for number, one in enumerate((sample.happy, sample.failing, *sample.variants))
]


@pytest.fixture(scope="module")
def evaluators() -> Iterator[EvaluatorPool]:
    pool = EvaluatorPool(1)
    yield pool
    pool.close()


def played(sample: Sample, one: Play, evaluators: EvaluatorPool) -> MockRun:
    policies = {given["name"]: TaskDef.read(given) for given in sample.task_defs}
    known = {given["name"]: WorkflowDef.read(given) for given in sample.definitions}
    request = {
        "name": sample.definition["name"],
        "input": one.input,
        "taskRefToMockOutput": one.mocks,
        "subWorkflowTestRequest": one.sub_workflow_requests,
    }
    return play(
        WorkflowTestRequest.read(request),
        policies.get,
        lambda name, version: known.get(name),
        evaluators.evaluate,
    )


@pytest.mark.parametrize(("sample", "one"), PLAYS)
def test_a_sample_comes_to_the_end_it_promises(
    sample: Sample, one: Play, evaluators: EvaluatorPool
):
    run = played(sample, one, evaluators)
    assert [stop.ref for stop in run.report.stops] == []
    assert run.workflow["status"] == one.expect["status"]
    output = run.workflow["output"]
    assert {key: output.get(key) for key in one.expect.get("output_has", {})} == one.expect.get(
        "output_has", {}
    )
