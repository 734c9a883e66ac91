"""The table of every task name that the samples use, with the function that does its work.

A worker takes the task's input and returns its output. An exception is a failure that may be
tried again; `GivenUp` is one that may not. Workers know nothing of the engine or the studio.
"""

from collections.abc import Callable
from typing import Any

from sample_workflows.account_opening import workers as account_opening
from sample_workflows.export_polling import workers as export_polling
from sample_workflows.failures import GivenUp
from sample_workflows.hello_reprise import workers as hello_reprise
from sample_workflows.incident_repair import workers as incident_repair
from sample_workflows.order_saga import workers as order_saga
from sample_workflows.photo_batch import workers as photo_batch
from sample_workflows.purchase_approval import workers as purchase_approval
from sample_workflows.support_agent import workers as support_agent
from sample_workflows.trip_quote import workers as trip_quote

__all__ = ["WORKERS", "GivenUp", "Worker"]

Worker = Callable[[dict[str, Any]], dict[str, Any]]

WORKERS: dict[str, Worker] = {
    **hello_reprise.WORKERS,
    **order_saga.WORKERS,
    **trip_quote.WORKERS,
    **purchase_approval.WORKERS,
    **export_polling.WORKERS,
    **photo_batch.WORKERS,
    **support_agent.WORKERS,
    **incident_repair.WORKERS,
    **account_opening.WORKERS,
}
