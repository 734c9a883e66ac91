"""Mock tests over the wire: the request's definition, or a registered one, played on a core of its
own."""

from engine.api.wire import Call
from engine.model.requests import WorkflowTestRequest
from engine.services.house import House
from engine.services.schemas import schema_complaint
from engine.testing.mock_run import MockRun, play


def played(house: House, call: Call) -> MockRun:
    """Play what a request describes."""
    request = call.record(WorkflowTestRequest)
    if request.external_input_payload_storage_path:
        # What is named by path counts as if it were inline; the test itself knows no folder.
        given = house.executions.input_of(request)
        request = request.but(input=given, external_input_payload_storage_path=None)
    engine = house.engine
    return play(
        request,
        engine.core.knowledge.task_def,
        house.definitions.find,
        engine.evaluators.evaluate,
        now=house.clock.now(),
        limits=engine.settings.limits,
        environment=engine.settings.environment(),
        schema_complaint=schema_complaint,
        sound=house.definitions.require_sound,
    )
