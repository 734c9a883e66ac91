"""What stands at this moment, under Conductor's names for it."""

from engine.model.status import EXECUTION_LIVE
from engine.services.queues import queue_name
from engine.store import reading
from engine.store.rowstore import RowStore

OWNER = 'ownerApp="unknown"'


def gauges(store: RowStore) -> dict[str, float]:
    """Running workflows, tasks that wait, tasks that workers have in hand."""
    shown: dict[str, float] = {}
    running: dict[str, int] = {}
    for (name, status), count in store.read(reading.counts).items():
        if status in EXECUTION_LIVE:
            running[name] = running.get(name, 0) + count
    for name, count in running.items():
        shown[f'workflow_running{{workflowName="{_escaped(name)}",{OWNER}}}'] = count
    for (carrier, domain), count in store.read(reading.queue_sizes).items():
        name = _escaped(queue_name(carrier, domain))
        shown[f'task_queue_depth{{taskType="{name}",{OWNER}}}'] = count
    for name, count in store.taken(()).items():
        shown[f'task_in_progress{{taskType="{_escaped(name)}",{OWNER}}}'] = count
    return shown


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
