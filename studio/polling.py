"""A Python function as a worker of a server elsewhere: polls for one task, calls, reports.

Meant for notebooks. A worker for production is written with an SDK of Conductor's.
"""

import inspect
import os
import socket
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final, Self

from studio.client.client import Client
from studio.client.errors import ServerError

_IDLE_SECONDS: Final = 0.2
_TROUBLE_SECONDS: Final = 2.0
_LONGEST_REASON: Final = 500


class Poller:
    """One thread that fetches one task at a time."""

    def __init__(self, client: Client, task_name: str, function: Callable[..., Any]) -> None:
        self._client = client
        self._name = task_name
        self._function = function
        self._id = f"notebook-{socket.gethostname()}-{os.getpid()}"
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._work, name=f"reprise-worker-{task_name}", daemon=True
        )

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Lets the task in hand end, then returns."""
        self._stopped.set()
        self._thread.join(timeout=10)

    def _work(self) -> None:
        while not self._stopped.is_set():
            try:
                task = self._client.ask(
                    "GET", "tasks", "poll", self._name, query={"workerid": self._id}
                )
                if isinstance(task, dict) and task.get("taskId"):
                    self._client.ask("POST", "tasks", body=self._carried_out(task))
                else:
                    self._stopped.wait(_IDLE_SECONDS)
            except ServerError:
                self._stopped.wait(_TROUBLE_SECONDS)

    def _carried_out(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """What is reported: the output, or why there is none."""
        result: dict[str, Any] = {
            "workflowInstanceId": task.get("workflowInstanceId"),
            "taskId": task["taskId"],
            "workerId": self._id,
        }
        try:
            output = self._call(task.get("inputData") or {})
        except Exception as error:  # whatever a worker raises is the failure of its task
            terminal = getattr(error, "terminal", False) is True
            trace = traceback.format_exc()
            return {
                **result,
                "status": "FAILED_WITH_TERMINAL_ERROR" if terminal else "FAILED",
                "reasonForIncompletion": f"{error}"[:_LONGEST_REASON] or type(error).__name__,
                "logs": [{"log": trace, "taskId": task["taskId"]}],
            }
        data = output if isinstance(output, dict) else {"result": output}
        return {**result, "status": "COMPLETED", "outputData": data}

    def _call(self, given: Mapping[str, Any]) -> Any:
        """Called with the whole input if it takes one plain argument, else by its names."""
        parameters = list(inspect.signature(self._function).parameters.values())
        whole = len(parameters) == 1 and parameters[0].annotation in (
            inspect.Parameter.empty,
            dict,
            dict[str, Any],
        )
        if whole:
            return self._function(dict(given))
        wanted = {each.name for each in parameters}
        return self._function(**{key: value for key, value in given.items() if key in wanted})
