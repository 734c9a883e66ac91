"""Large payloads leave for files before the group that refers to them is committed.

How a file is written is not known here: `keep` sees to it that one is on the disk, and says by which
name. Small payloads cost a look at their length.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.model.execution import Changes, Execution, Run

Keep = Callable[[bytes, str | None, int], str | None]
"""The name of the file that holds these bytes: the given one, if it does; else, for more bytes than
the number says, one that is written now. None: they stay inline."""

Told = Callable[[str, str], None]
"""Hears of a payload that is a file now: whose it is by name, and what it is in the words of the
storage endpoints."""

NONE_IS_LARGE = 2**62


def _inline(data: bytes, path: str | None, most: int) -> str | None:
    return None


def _unheard(name: str, payload_type: str) -> None:
    """Nobody counts."""


@dataclass(frozen=True, slots=True)
class Apart:
    """Which payloads are kept as files."""

    keep: Keep = _inline
    task_bytes: int = NONE_IS_LARGE
    """Inputs and outputs of attempts above this size."""
    workflow_bytes: int = NONE_IS_LARGE
    told: Told = _unheard

    def put(self, execution: Execution, changes: Changes, created: bool) -> None:
        """Write down in the changes of a decision where its large payloads are."""
        most = self.task_bytes
        for seq, run in changes.runs.items():
            data = run.input
            if data is not None and (len(data) > most or run.input_path is not None):
                self._put_one(execution.runs.get(seq), run, "input")
            data = run.output
            if data is not None and (len(data) > most or run.output_path is not None):
                self._put_one(execution.runs.get(seq), run, "output")
        for side in ("input", "output"):
            if created or side in changes.fields:
                self._put_own(execution, changes.fields, side)

    def _put_one(self, before: Run | None, run: Run, side: str) -> None:
        """An attempt's; what a decision has not touched stays where it is."""
        data, path = getattr(run, side), getattr(run, f"{side}_path")
        same = before is not None and getattr(before, side) is data
        if same and getattr(before, f"{side}_path") == path:
            return
        kept = self.keep(data, path, self.task_bytes)
        setattr(run, f"{side}_path", kept)
        if kept is not None:
            self.told(run.name, f"TASK_{side.upper()}")

    def _put_own(self, execution: Execution, fields: dict[str, Any], side: str) -> None:
        """The execution's own."""
        data: bytes | None = fields.get(side, getattr(execution, side))
        path: str | None = getattr(execution, f"{side}_path")
        if data is not None and (len(data) > self.workflow_bytes or path is not None):
            kept = fields[f"{side}_path"] = self.keep(data, path, self.workflow_bytes)
            if kept is not None:
                self.told(execution.definition.name or "", f"WORKFLOW_{side.upper()}")
