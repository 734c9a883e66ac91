"""A process that carries out executions whose payloads are files, until it is killed: by others, or
by itself when a file is written and nothing refers to it yet."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from engine.model.requests import StartWorkflowRequest, TaskResult
from engine.services.payloads import Payloads
from engine.store import files
from engine.store.database import open_store
from engine.store.folder import Folder
from tests.services.engine_room import EngineRoom

NOW = 1_700_000_000_000
FLOW = {"name": "work", "taskReferenceName": "work", "inputParameters": {"in": "${workflow.input}"}}


class Deadly(Folder):
    """Ends its process as soon as a file is on the disk."""

    def keep(self, path: str, data: bytes) -> None:
        super().keep(path, data)
        os.kill(os.getpid(), signal.SIGKILL)


def large(number: int) -> dict[str, Any]:
    return {"number": number, "text": f"{number:06d}" * 4_000}


def main(url: str, place: str, dies: str) -> None:
    store = open_store(url)
    store.folder = files.folder_of(store, place)
    if store.folder is None:
        raise LookupError("no folder")
    if dies == "yes":
        store.folder = Deadly(Path(store.folder.place))
    payloads = Payloads(store.folder, task_threshold=9_000, workflow_threshold=9_000)
    room = EngineRoom(store, NOW, payloads=payloads)
    room.register("flow", FLOW)
    number = 0
    while True:
        number += 1
        workflow_id = room.executions.start(StartWorkflowRequest(name="flow", input=large(number)))
        task = room.tasks.poll("work")[0]
        report = {"taskId": task["taskId"], "status": "COMPLETED", "outputData": large(-number)}
        room.tasks.update(TaskResult.read({**report, "workflowInstanceId": workflow_id}))
        print(workflow_id, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
