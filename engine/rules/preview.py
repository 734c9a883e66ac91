"""What a person's verb would do to an execution, told before it is done: the very decision is made,
and thrown away."""

from dataclasses import dataclass

from engine.model.errors import EngineError
from engine.model.events import Event
from engine.model.execution import Changes, Execution, Run
from engine.model.facts import Facts
from engine.model.record import Json
from engine.model.status import ExecutionStatus
from engine.rules.decide import decide


@dataclass(frozen=True, slots=True)
class Preview:
    """Reference names, each once, in the order of their attempts."""

    runs_again: tuple[str, ...] = ()
    """Reopened, replaced, or taken out to be reached anew."""
    begins: tuple[str, ...] = ()
    """Reached for the first time, at once."""
    reused: tuple[str, ...] = ()
    """Ended, and left as they are."""
    cancelled: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    """Workflow ids of other executions that are told of it."""
    status: str = ""
    """The execution's status right after it."""
    refused: str | None = None
    """Why it is not possible."""

    def json_value(self) -> dict[str, Json]:
        """For the wire."""
        shown: dict[str, Json] = {
            "runsAgain": list(self.runs_again),
            "begins": list(self.begins),
            "reused": list(self.reused),
            "cancelled": list(self.cancelled),
            "told": list(self.children),
            "status": self.status,
        }
        if self.refused is not None:
            shown["refused"] = self.refused
        return shown


def preview(execution: Execution, event: Event, facts: Facts) -> Preview:
    """What an event would come to. The execution, which must be restored, is not changed."""
    try:
        changes = decide(execution, event, facts)
    except EngineError as error:
        return Preview(refused=error.message, status=execution.status.value)
    return _seen(execution, changes)


def _seen(execution: Execution, changes: Changes) -> Preview:
    before = execution.runs
    known = {run.reference for run in before.values()}
    again: list[Run] = []
    begins: list[Run] = []
    cancelled: list[Run] = []
    for run in changes.runs.values():
        was = before.get(run.seq)
        if was is None:
            (again if run.reference in known else begins).append(run)
        elif was.status.terminal and run.open:
            again.append(run)
        elif was.open and run.status.terminal:
            cancelled.append(run)
    again += [before[seq] for seq in changes.removed if seq in before]
    moved = {run.reference for run in again} | {run.reference for run in cancelled}
    reused = [run for run in before.values() if run.status.terminal and run.reference not in moved]
    status: ExecutionStatus = changes.fields.get("status", execution.status)
    return Preview(
        runs_again=_names(again),
        begins=_names(begins),
        reused=_names(reused),
        cancelled=_names(cancelled),
        children=tuple(dict.fromkeys(letter.to for letter in changes.letters)),
        status=status.value,
    )


def _names(runs: list[Run]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(run.reference for run in sorted(runs, key=lambda run: run.seq)))
