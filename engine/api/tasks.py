"""/tasks: what workers and people ask about tasks, queues and logs. Polls and reports are in
`hot.py`."""

from typing import Any

from starlette.concurrency import run_in_threadpool

from engine.api.answers import NO_CONTENT, Text
from engine.api.waiting import stand_still
from engine.api.wire import Call, Route
from engine.model.errors import InvalidInput, NotFound
from engine.model.record import Json
from engine.services.house import House
from engine.services.queues import queue_name
from engine.services.signals import return_strategy

SIGNAL_WAIT_MS = 5000
LONGEST_SIGNAL_WAIT_MS = 600_000


class TaskRoutes:
    """Answers about tasks."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._tasks = house.tasks
        self._queues = house.queues

    def routes(self) -> list[Route]:
        """Fixed words first, then what is variable."""
        return [
            Route("GET", "/tasks/queue/sizes", self.sizes, ("taskType*",)),
            Route("GET", "/tasks/queue/size", self.size, _QUEUE),
            Route("GET", "/tasks/queue/all", self.all_sizes),
            Route("GET", "/tasks/queue/all/verbose", self.all_sizes_verbose),
            Route("GET", "/tasks/queue/polldata", self.polls, ("taskType",)),
            Route("GET", "/tasks/queue/polldata/all", self.all_polls),
            Route("POST", "/tasks/queue/requeue/{type}", self.requeue, gives="text"),
            Route("GET", "/tasks/{id}/log", self.log),
            Route("POST", "/tasks/{id}/log", self.add_log, (), "text", "none"),
            Route("POST", "/tasks/{id}/{status}/signal/sync", self.signal_and_wait, _SIGNAL, "map"),
            Route("POST", "/tasks/{id}/{status}/signal", self.signal, (), "map", "none"),
            Route("POST", "/tasks/{id}/{ref}/{status}/sync", self.update_and_show, _WORKER, "map"),
            Route("POST", "/tasks/{id}/{ref}/{status}", self.update, _WORKER, "map", "text"),
            Route("GET", "/tasks/{id}", self.get),
        ]

    # Queues

    def sizes(self, call: Call) -> dict[str, int]:
        """How many tasks of each type wait for a worker."""
        call.need("taskType")
        return self._queues.sizes_of(call.texts("taskType"))

    def size(self, call: Call) -> int:
        """How many tasks wait in one queue."""
        name = queue_name(call.need("taskType"), call.text("domain"))
        if call.text("isolationGroupId") or call.text("executionNamespace"):
            # Isolated tasks have no queues of their own here, so in such a queue nothing waits.
            return 0
        return self._queues.sizes_of([name])[name]

    def all_sizes(self, call: Call) -> dict[str, int]:
        """How many tasks wait in each queue."""
        return self._queues.sizes()

    def all_sizes_verbose(self, call: Call) -> dict[str, Json]:
        """The same with what is handed out, by shard; there is one shard."""
        taken = self._queues.handed_out()
        sizes = self._queues.sizes()
        names = sorted(sizes.keys() | taken.keys())
        return {
            name: {"a": {"size": sizes.get(name, 0), "uacked": taken.get(name, 0)}}
            for name in names
        }

    def polls(self, call: Call) -> list[dict[str, Json]]:
        """Who asked for tasks of a type, and when last."""
        task_type = call.text("taskType")
        if task_type is None:
            raise InvalidInput("TaskType cannot be null or empty.")
        return self._queues.latest_polls(task_type)

    def all_polls(self, call: Call) -> list[dict[str, Json]]:
        """Who asked for which tasks, and when last."""
        return self._queues.polls()

    def requeue(self, call: Call) -> Text:
        """Put tasks of a type that workers have in hand back into its queue; how many are in it."""
        return Text(self._queues.requeue(call.path["type"], call.person))

    # Logs

    def log(self, call: Call) -> Any:
        """The log of a task."""
        lines = self._house.logs.of(call.path["id"])
        return lines or NO_CONTENT

    def add_log(self, call: Call) -> None:
        """Add a line to the log of a task: the body, as it is."""
        text = call.raw()
        if not text:
            raise InvalidInput("The body is empty: send the line of the log as text.")
        self._house.logs.add(call.path["id"], text)

    # Reports

    def update(self, call: Call) -> Text | None:
        """Report on the open task of a reference name; its output is merged."""
        task_id = self._updated(call)
        return None if task_id is None else Text(task_id)

    def update_and_show(self, call: Call) -> dict[str, Json]:
        """The same; the whole execution as it is then."""
        workflow_id, ref = call.path["id"], call.path["ref"]
        if self._updated(call) is None:
            raise NotFound(f"Found no running task {ref} of workflow {workflow_id} to update")
        return self._house.executions.get(workflow_id)

    def _updated(self, call: Call) -> str | None:
        return self._tasks.update_by_ref(
            call.path["id"],
            call.path["ref"],
            call.path["status"],
            call.map(),
            call.text("workerid"),
            call.person,
        )

    def signal(self, call: Call) -> None:
        """Report on the WAIT that blocks an execution, or one inside its running children."""
        self._house.signals.signal(call.path["id"], call.path["status"], call.map(), call.person)

    async def signal_and_wait(self, call: Call) -> dict[str, Json]:
        """The same, then wait until the execution comes to rest again."""
        strategy = return_strategy(call.text("returnStrategy"))
        milliseconds = min(call.number("timeoutMillis", SIGNAL_WAIT_MS), LONGEST_SIGNAL_WAIT_MS)
        workflow_id, output = call.path["id"], call.map()
        signals = self._house.signals
        reached = await run_in_threadpool(
            signals.signal, workflow_id, call.path["status"], output, call.person
        )
        if not reached:
            raise NotFound(f"Found no blocked task in workflow {workflow_id} to signal")
        stand, late = await stand_still(signals, workflow_id, (), milliseconds / 1000, call.gone)
        return await run_in_threadpool(
            signals.answer, stand, strategy, call.text("requestId"), late
        )

    # Read

    def get(self, call: Call) -> dict[str, Json]:
        """A task."""
        return self._house.executions.task(call.path["id"])


_QUEUE = ("taskType", "domain", "isolationGroupId", "executionNamespace")
_WORKER = ("workerid",)
_SIGNAL = ("returnStrategy", "timeoutMillis:int")
