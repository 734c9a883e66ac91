"""Words, actions and addresses, explained; made from the same tables that the pages use."""

import streamlit as st

from studio.components import markup
from studio.graph import marks
from studio.views.recovery import ACTIONS

_WHEN = {
    "retry": "Something outside was down and answers again. Finished tasks are not repeated.",
    "rerun": "A task had wrong input, or a finished task must happen again.",
    "restart": "The definition was wrong and has been mended, or nothing done so far may stay.",
    "pause": "Nothing new may begin while you look. What runs goes on to its end.",
    "resume": "The reason to wait is gone.",
    "skip": "A task that is still to come must not happen; give an output in its place.",
    "terminate": "It must not go on. A failure workflow can undo what was done.",
}
_WORDS = (
    ("Definition", "A workflow as it is written: tasks, their order, their input."),
    ("Execution", "One run of a definition, with its own id."),
    ("Task", "A step of a definition; its reference name is unique in it."),
    ("Try", "One attempt at a task; a retry makes the next one."),
    ("Worker", "A program that asks for tasks of a name and answers them."),
    ("Queue", "Tasks of one name that wait for a worker."),
    ("Domain", "A part of a queue that only certain workers ask for."),
    ("Correlation id", "Your own number for an execution, for example an order."),
)
_ADDRESSES = (
    ("executions?status=FAILED&from=-24h", "what failed in the last day"),
    ("executions?wf=NAME&q=words", "runs of a definition with these words in them"),
    ("execution?id=ID&task=REF", "an execution, opened at a task"),
    ("definitions?wf=NAME", "a definition"),
    ("start?wf=NAME&like=ID", "a start with the input of an earlier run"),
)


def show() -> None:
    left, right = st.columns([1.3, 1])
    with left:
        _actions()
        _addresses()
    with right:
        _statuses()
        _words()


def _actions() -> None:
    columns = (markup.Column("Action"), markup.Column("When"), markup.Column("Key", wide=True))
    rows = [
        markup.Row(
            [
                markup.two_lines(action.word, action.meaning),
                _WHEN[name],
                markup.code(action.key) if action.key else "",
            ]
        )
        for name, action in ACTIONS.items()
    ]
    markup.show(markup.box("Which action when", _wrapping(markup.table(columns, rows))))


def _wrapping(table: markup.Html) -> markup.Html:
    return markup.tag("div", table, css="rp-wrap")


def _statuses() -> None:
    lines = []
    seen: set[str] = set()
    for raw, mark in marks.STATUSES.items():
        if mark.shape in seen:
            continue
        seen.add(mark.shape)
        same = [name for name, other in marks.STATUSES.items() if other.shape == mark.shape]
        words = ", ".join(marks.mark_of(name).word for name in same)
        lines.append(markup.item("", markup.status(raw, words), markup.code(", ".join(same))))
    markup.show(markup.box("Shapes", markup.items(lines)))


def _words() -> None:
    body = markup.tag("div", markup.pairs(list(_WORDS)), css="rp-body")
    markup.show(markup.box("Words", body))


def _addresses() -> None:
    lines = [markup.item("", markup.code(address), words) for address, words in _ADDRESSES]
    note = "what a page shows stands in its address"
    markup.show(markup.box("Addresses", markup.items(lines), note=note))
