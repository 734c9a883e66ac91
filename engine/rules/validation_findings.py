"""What the advice on a definition is made of: findings, and the sites of its tasks."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.model.definitions import WorkflowTask
from engine.model.record import Json

Path = tuple[str | int, ...]
"""The steps from the top of the definition's JSON: ("tasks", 0, "decisionCases", "gold", 1)."""

LIST_OWNERS: dict[str | int, tuple[str, ...]] = {
    "decisionCases": ("SWITCH", "DECISION"),
    "defaultCase": ("SWITCH", "DECISION"),
    "forkTasks": ("FORK_JOIN",),
    "loopOver": ("DO_WHILE",),
}
"""Which types carry out which lists of tasks."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Severity(StrEnum):
    """How much it matters."""

    ERROR = "error"
    """It will be refused, or cannot work."""
    WARNING = "warning"
    """It may go wrong on some day or some path."""
    INFO = "info"
    """Worth knowing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One piece of advice."""

    code: str
    severity: Severity
    path: Path
    ref: str | None
    message: str
    fix: str
    """What to do about it, in words."""

    @property
    def place(self) -> str:
        """The path as text: `tasks[0].decisionCases.gold[1]`."""
        return place_text(self.path)

    def json_value(self) -> dict[str, Json]:
        """For the wire."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "path": list(self.path),
            "place": self.place,
            "ref": self.ref,
            "message": self.message,
            "fix": self.fix,
        }


def place_text(path: Path) -> str:
    """Steps as text."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"['{step}']"
    return text


@dataclass(frozen=True, slots=True)
class Site:
    """A task and where it stands."""

    task: WorkflowTask
    raw: Mapping[str, Any]
    """The task as it was written."""
    path: Path
    siblings: tuple[WorkflowTask, ...]
    index: int
    loops: tuple[str, ...] = ()
    """The loops around it, outermost first."""

    @property
    def ref(self) -> str:
        """Its reference name."""
        return self.task.ref

    def following(self) -> WorkflowTask | None:
        """The next task of its list."""
        place = self.index + 1
        return self.siblings[place] if place < len(self.siblings) else None

    def preceding(self) -> WorkflowTask | None:
        """The task before it in its list."""
        return self.siblings[self.index - 1] if self.index else None

    def finding(
        self, code: str, severity: Severity, message: str, fix: str, *below: str | int
    ) -> Finding:
        """A finding about it, or about something below it."""
        return Finding(code, severity, self.path + below, self.ref or None, message, fix)


def lists_in(task: WorkflowTask) -> Iterator[tuple[Path, tuple[WorkflowTask, ...]]]:
    """The task lists inside a task, each with the steps to it."""
    for case, tasks in task.decision_cases.items():
        yield ("decisionCases", case), tasks
    if task.default_case:
        yield ("defaultCase",), task.default_case
    for number, tasks in enumerate(task.fork_tasks):
        yield ("forkTasks", number), tasks
    if task.loop_over:
        yield ("loopOver",), task.loop_over


def sites(
    tasks: tuple[WorkflowTask, ...], raw: Any, path: Path, loops: tuple[str, ...] = ()
) -> Iterator[Site]:
    """Every task of a list and of the lists inside; embedded definitions are worlds of their own."""
    for index, task in enumerate(tasks):
        written = step_into(raw, (index,))
        site = Site(
            task, written if isinstance(written, dict) else {}, (*path, index), tasks, index, loops
        )
        yield site
        for steps, inner in lists_in(task):
            around = (*loops, task.ref) if steps == ("loopOver",) else loops
            yield from sites(inner, step_into(written, steps), site.path + steps, around)


def step_into(raw: Any, steps: Path) -> Any:
    """What lies at the end of these steps, if anything does."""
    for step in steps:
        if isinstance(step, int):
            raw = raw[step] if isinstance(raw, list) and step < len(raw) else None
        else:
            raw = raw.get(step) if isinstance(raw, dict) else None
    return raw
