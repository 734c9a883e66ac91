"""`watch`, and what waits for an execution: asks again and again, calmly, and tells what changed.

Works on our engine's light outline and on a whole execution alike, whichever the server has.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import click

from studio.cli.asking import Asking, asks
from studio.cli.failures import FAILED, Told
from studio.cli.output import plain, say
from studio.cli.output import status as coloured
from studio.client.client import Client, Document
from studio.client.errors import Busy, TooSlow, Unreachable
from studio.graph.outline import outline_of
from studio.views import wording

ENDED: Final = frozenset({"COMPLETED", "FAILED", "TIMED_OUT", "TERMINATED"})
_FIRST_PAUSE_SECONDS: Final = 0.05
_LONGEST_PAUSE_SECONDS: Final = 2.0
_MOST_MISSED: Final = 40
"""How many looks in a row may fail: a minute or so, time enough for a server to be started again."""

Entry = Mapping[str, Any]


@dataclass
class Seen:
    """What has been told already."""

    status: str = ""
    tasks: dict[str, str] = field(default_factory=dict)

    def changes(self, execution: Document) -> Iterator[Document]:
        """Tasks that moved since the last look, then the execution itself."""
        for entry in entries(execution):
            key = str(entry.get("taskId") or f"{entry.get('ref')}/{entry.get('seq')}")
            if self.tasks.get(key) != entry.get("status"):
                self.tasks[key] = str(entry.get("status"))
                yield {
                    "task": entry.get("ref"),
                    "status": entry.get("status"),
                    "type": entry.get("type"),
                    "iteration": entry.get("iteration") or 0,
                    "retryCount": entry.get("retryCount") or 0,
                    "took": took(entry),
                    "reason": entry.get("reason"),
                }
        if self.status != execution.get("status"):
            self.status = str(execution.get("status"))
            yield {
                "workflowId": execution.get("workflowId"),
                "status": self.status,
                "reason": execution.get("reasonForIncompletion"),
            }


def entries(execution: Document) -> list[Entry]:
    """The tasks as an outline, oldest first."""
    listed = [one for one in execution.get("tasks") or () if isinstance(one, dict)]
    return [*listed] if listed and "ref" in listed[0] else [*outline_of(execution)]


def took(entry: Entry) -> str:
    """How long an attempt ran; nothing while it does."""
    start, end = entry.get("startTime") or 0, entry.get("endTime") or 0
    return wording.took(int(end) - int(start)) if start and end else ""


def follow(
    client: Client,
    id_: str,
    tell: Callable[[Document], None],
    timeout: float | None = None,
    rest: Callable[[float], None] = time.sleep,
) -> bool:
    """Looks until the execution ends; whether it did before the time was over."""
    seen = Seen()
    over = None if timeout is None else time.monotonic() + timeout
    pause, missed = _FIRST_PAUSE_SECONDS, 0
    while True:
        execution = _looked(client, id_, may_miss=bool(seen.status) and missed < _MOST_MISSED)
        missed = 0 if execution else missed + 1
        if missed == 1:
            say("The server does not answer; asking on.")
        changes = list(seen.changes(execution)) if execution else []
        for change in changes:
            tell(change)
        if seen.status in ENDED:
            return True
        # Much happens at the start and after every move; else nobody needs to be asked often.
        pause = _FIRST_PAUSE_SECONDS if changes else min(pause * 1.5, _LONGEST_PAUSE_SECONDS)
        if over is not None and time.monotonic() + pause > over:
            return False
        rest(pause)


def _looked(client: Client, id_: str, may_miss: bool) -> Document | None:
    """The execution now. A server that is started again loses nothing, so it may be missed."""
    try:
        return client.outline(id_)
    except (Unreachable, TooSlow, Busy):
        if not may_miss:
            raise
        return None


@click.command()
@click.argument("id_", metavar="ID")
@click.option("--timeout", type=click.FloatRange(min=0), help="Seconds to watch at most.")
@asks
def watch(ask: Asking, id_: str, timeout: float | None) -> None:
    """Follow an execution until it ends: a line for every task that moves.

    The exit code is 1 unless it completes.
    """
    last: list[Document] = []

    def tell(change: Document) -> None:
        last[:] = [change]
        ask.out.event(change, _line(change))

    if not follow(ask.client, id_, tell, timeout):
        raise Told(f"{id_} goes on; the time to watch is over.", FAILED)
    if last[0]["status"] != "COMPLETED":
        raise Told(
            f"{id_} is {last[0]['status']}: {last[0]['reason'] or 'no reason given'}", FAILED
        )


def _line(change: Document) -> str:
    if "workflowId" in change:
        return f"{plain(change['workflowId'])}  {coloured(change['status'])}"
    name = plain(change["task"])
    if change["iteration"]:
        name += f" #{change['iteration']}"
    if change["retryCount"]:
        name += f" (retry {change['retryCount']})"
    parts = (f"  {name}", coloured(change["status"]), change["took"], plain(change["reason"]))
    return "  ".join(part for part in parts if part)
