"""What a notebook cell shows: executions, pictures, failure cards and mock runs, as HTML and as text.

Made without a server and without Streamlit; every foreign text is escaped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

from studio.graph import layout, marks, progress, svg
from studio.graph.outline import forked_children, outline_of
from studio.views import recovery, wording
from studio.views.execution import ExecutionView, root_failure, view_of
from studio.views.mock_run import Check, Report

_FRAME: Final = (
    "border:1px solid #c5ccd6;border-radius:6px;padding:10px 14px;max-width:760px;"
    "font:13px/19px system-ui,sans-serif"
)


@dataclass(frozen=True)
class Picture:
    """A graph; a notebook draws it, `text` is the SVG to be kept in a file."""

    text: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.text

    def save(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)


@dataclass(frozen=True)
class Execution:
    """An execution as it stood when it was asked for."""

    id: str
    name: str
    status: str
    input: Any
    output: Any
    reason: str
    tasks: Sequence[Mapping[str, Any]] = field(repr=False)
    graph: Picture = field(repr=False)

    @property
    def completed(self) -> bool:
        return self.status == "COMPLETED"

    def task(self, ref: str) -> Mapping[str, Any]:
        """The last attempt at a task, with its input and output. KeyError when it has not run."""
        found = [task for task in self.tasks if task.get("referenceTaskName") == ref]
        if not found:
            ran = ", ".join(dict.fromkeys(str(t.get("referenceTaskName")) for t in self.tasks))
            raise KeyError(f"{ref!r} has not run. Tasks that have: {ran or 'none'}.")
        return found[-1]

    def task_id(self, ref: str) -> str:
        return str(self.task(ref)["taskId"])

    def _repr_html_(self) -> str:
        title = f"<b>{escape(self.name)}</b> {_status(self.status)} <code>{escape(self.id)}</code>"
        why = f"<div>{escape(self.reason)}</div>" if self.reason else ""
        return f'<div style="{_FRAME}">{title}{why}{self.graph.text}</div>'

    def __str__(self) -> str:
        return self.id


def execution_of(document: Mapping[str, Any]) -> Execution:
    """From the JSON of any server."""
    view = view_of(document)
    outline = outline_of(document)
    drawing = layout.place(view.definition, forked=forked_children(outline))
    picture = Picture(svg.render(drawing, progress.of_execution(drawing, outline), title=view.name))
    tasks = [task for task in document.get("tasks") or () if isinstance(task, Mapping)]
    return Execution(
        view.id, view.name, view.status, view.input, view.output, view.reason, tasks, picture
    )


@dataclass(frozen=True)
class Card:
    """Why an execution failed. `steps` are what can be done, the safest first."""

    id: str
    status: str
    ref: str
    reason: str
    tries: int
    consequences: tuple[str, ...]
    steps: tuple[str, ...]

    def _repr_html_(self) -> str:
        if not self.ref:
            body = f"<div>{escape(self.reason or 'Nothing failed.')}</div>"
        else:
            tried = wording.plural(self.tries, "try", "tries")
            body = (
                f"<div>Root failure in <code>{escape(self.ref)}</code>, {tried}</div>"
                f"<div><b>{escape(self.reason or 'No reason was given.')}</b></div>"
            )
            if self.consequences:
                body += f"<div>Consequence: {escape(', '.join(self.consequences))}</div>"
        steps = "".join(f"<li>{escape(step)}</li>" for step in self.steps)
        next_ = f"<div>Next:</div><ul>{steps}</ul>" if steps else ""
        colour = marks.mark_of(self.status).light
        style = f"{_FRAME};border-left:3px solid {colour}"
        return f'<div style="{style}">{_status(self.status)}{body}{next_}</div>'

    def __str__(self) -> str:
        lines = [f"{self.status}: {self.ref}: {self.reason}" if self.ref else self.status]
        return "\n".join([*lines, *(f"- {step}" for step in self.steps)])


def card_of(view: ExecutionView) -> Card:
    """The card of an execution; one that did not fail has no root and no step that mends."""
    root = root_failure(view) if view.failed else None
    steps = tuple(_step(view, action) for action in recovery.allowed(view.status))
    return Card(
        id=view.id,
        status=view.status,
        ref=root.ref if root else "",
        reason=(root.reason if root else "") or view.reason,
        tries=root.tries if root else 0,
        consequences=root.consequences if root else (),
        steps=steps if view.failed else (),
    )


def _step(view: ExecutionView, action: str) -> str:
    about = recovery.ACTIONS[action]
    words = f"{about.word}: {about.meaning}"
    if action == recovery.RETRY:
        plan = recovery.plan_of(view, action)
        again = wording.plural(len(plan.again), "task")
        words += f"; {again} again, {len(plan.reused)} reused. studio.retry(id, why)"
    elif action == recovery.RERUN:
        words += ". studio.rerun(id, why, from_ref=...)"
    return words


@dataclass(frozen=True)
class MockRun:
    """A definition played on mocks: what happened, what was expected, and the picture."""

    report: Report = field(repr=False)
    checks: tuple[Check, ...] = field(repr=False)
    graph: Picture = field(repr=False)

    @property
    def status(self) -> str:
        return self.report.status

    @property
    def output(self) -> Any:
        return self.report.output

    @property
    def passed(self) -> bool:
        """Every expectation met, no mock left over, and the run came to its end."""
        return self.report.ended and all(check.met for check in self.checks)

    @property
    def stopped(self) -> str:
        """Why it did not complete, in a sentence."""
        return self.report.stopped.replace("`", "")

    def __repr__(self) -> str:
        met = sum(check.met for check in self.checks)
        return f"MockRun({self.status}, {met} of {len(self.checks)} as expected)"

    def _repr_html_(self) -> str:
        lines = "".join(_line(check) for check in self.checks)
        why = f"<div>{_coded(self.report.stopped)}</div>" if self.report.stopped else ""
        head = f"{_status(self.status)}{why}<ul>{lines}</ul>"
        return f'<div style="{_FRAME}">{head}{self.graph.text}</div>'


def _line(check: Check) -> str:
    sign = _status("COMPLETED" if check.met else "FAILED", "met" if check.met else "differs")
    more = f" {_coded(check.why)}" if check.why else ""
    if not check.met and check.expected is not None:
        more += f" Expected {escape(repr(check.expected))}, got {escape(repr(check.actual))}."
    return f"<li>{sign} {_coded(check.text)}{more}</li>"


def _status(raw: str, word: str | None = None) -> str:
    mark = marks.mark_of(raw)
    text = escape(mark.word if word is None else word)
    return f'<span style="color:{mark.light};font-weight:600">[{escape(mark.letter)}] {text}</span>'


def _coded(text: str) -> str:
    """Names in backticks as code, all else escaped."""
    parts = text.split("`")
    return "".join(
        f"<code>{escape(part)}</code>" if number % 2 else escape(part)
        for number, part in enumerate(parts)
    )
