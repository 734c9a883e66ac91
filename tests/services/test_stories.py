"""What is told about an execution stays the same when retention has put it away."""

from engine.engine import Engine
from engine.model.definitions import WorkflowDef
from engine.model.requests import StartWorkflowRequest, TaskResult
from engine.services.house import furnished
from engine.settings import Settings
from engine.store import retention


def test_an_archived_execution_tells_the_same_story() -> None:
    settings = Settings(database="memory:", evaluators=1, http_worker=False)
    with Engine(settings) as engine:
        house = furnished(engine)
        task = {"name": "print", "taskReferenceName": "one", "type": "SIMPLE"}
        house.definitions.register(WorkflowDef.read({"name": "story", "tasks": [task]}))
        workflow_id = house.executions.start(StartWorkflowRequest(name="story"), "ann")
        polled = house.tasks.poll("print", timeout_ms=5000)[0]
        logs = [{"log": "printing"}]
        report = {"workflowInstanceId": workflow_id, "taskId": polled["taskId"], "logs": logs}
        house.tasks.update(TaskResult.read({**report, "status": "COMPLETED"}))
        key = engine.store.key_of(workflow_id)
        assert key is not None

        def told() -> list[object]:
            return [
                house.stories.outline(workflow_id),
                house.stories.ledger(workflow_id, 0, 100),
                house.stories.task(workflow_id, 1)["logs"],
            ]

        before = told()
        now = engine.clock.now()
        engine.port.errand(lambda session: retention.remove(session, key, keep=True, now=now))
        assert engine.store.key_of(workflow_id) is None
        assert told() == before
