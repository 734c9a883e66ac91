"""The mocks of one case, task by task: what each attempt answers, and what came of it.

Every change gives a new case at once; keeping and playing it is decided elsewhere.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from studio.components import markup
from studio.editor import field_text
from studio.editor.field_text import EMPTY, FieldFault
from studio.editor.form_field import Field, Kind
from studio.editor.tree import JsonObject, copied
from studio.graph import marks
from studio.views.mock_cases import mock

Keep = Callable[[JsonObject], None]
"""Hears the changed case."""

ANSWERS: Final = (
    "COMPLETED",
    "FAILED",
    "FAILED_WITH_TERMINAL_ERROR",
    "TIMED_OUT",
    "IN_PROGRESS",
)
_MOST_COLUMNS: Final = 4
_SPENT: Final = (("Queue", "queueWaitTime"), ("Run", "executionTime"))
_FAULTS: Final = "mock faults"
_JSON: Final = Field(("json",), "This", Kind.MAP, "")


def table(case: Mapping[str, Any], chosen: str) -> None:
    """All mocks of a case, one line a task."""
    mocks = {
        key: found for key, found in (case.get("mocks") or {}).items() if isinstance(found, list)
    }
    if not mocks:
        markup.show(markup.bordered(markup.empty("This case mocks nothing yet.")))
        return
    width = min(max(len(found) for found in mocks.values()), _MOST_COLUMNS)
    columns = [markup.Column("Task")]
    columns += [markup.Column(f"Try {at + 1}", cut=at == width - 1) for at in range(width)]
    spent = [
        (title, field)
        for title, field in _SPENT
        if any(_spent(each, field) for each in mocks.values())
    ]
    columns += [markup.Column(title, "right", wide=True) for title, _ in spent]
    fields = [field for _, field in spent]
    rows = [
        markup.Row(_cells(key, found, width, fields), on=key == chosen)
        for key, found in mocks.items()
    ]
    markup.show(markup.bordered(markup.table(columns, rows)))


def _cells(key: str, answers: Sequence[Any], width: int, spent: Sequence[str]) -> list[object]:
    cells: list[object] = [markup.code(key)]
    for number in range(width):
        if number < len(answers):
            more = (
                f" +{len(answers) - width}" if number == width - 1 and len(answers) > width else ""
            )
            cells.append(markup.joined(_answer(answers[number]), more))
        else:
            cells.append("")
    cells += [marks.duration_words(_spent(answers, field)) for field in spent]
    return cells


def _spent(answers: Sequence[Any], field: str) -> int:
    return sum(int(each.get(field) or 0) for each in answers if isinstance(each, dict))


def _answer(answer: Any) -> markup.Html:
    """What one attempt says: the status when it is bad, else a taste of the output."""
    given = answer if isinstance(answer, dict) else {}
    status = str(given.get("status") or "COMPLETED")
    output = given.get("output")
    words = field_text.shown(output) if output else ""
    short = words if len(words) <= 46 else words[:45] + "…"
    if status == "COMPLETED":
        return markup.code(short, title=words) if short else markup.status(status, "no output")
    return markup.status(status)


def attempts(case: JsonObject, key: str, at: str, keep: Keep) -> None:
    """The answers of one key, editable. `at` names the widgets of this case."""
    answers = (case.get("mocks") or {}).get(key)
    found = answers if isinstance(answers, list) else []
    for number, answer in enumerate(found):
        _attempt(case, key, number, answer, f"{at}/{key}/{number}", keep)
    with st.container(horizontal=True):
        st.button(
            "Add an answer" if found else "Mock this task",
            icon=":material/add:",
            key=f"{at}/{key}/add",
            on_click=partial(_add, case, key, keep),
        )
        presets = _presets(found)
        st.menu_button(
            "Let it",
            list(presets),
            key=f"{at}/{key}/preset",
            on_click=partial(_preset, case, key, f"{at}/{key}/preset", presets, keep),
        )
        if found:
            st.button(
                "Remove all",
                key=f"{at}/{key}/clear",
                type="tertiary",
                on_click=partial(_put, case, key, None, keep),
            )


def _attempt(case: JsonObject, key: str, number: int, answer: Any, at: str, keep: Keep) -> None:
    given: JsonObject = answer if isinstance(answer, dict) else mock("COMPLETED", {})
    with st.container(border=True, key=f"box/{at}"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            status = str(given.get("status") or "COMPLETED")
            options = list(dict.fromkeys([*ANSWERS, status]))
            _hold(f"{at}/status", status)
            st.selectbox(
                f"Try {number + 1}",
                options,
                key=f"{at}/status",
                format_func=lambda raw: marks.mark_of(raw).word,
                on_change=partial(_status, case, key, number, at, keep),
            )
            with st.popover(":material/timer:", help="How long it waits and runs"):
                _times(case, key, number, given, at, keep)
            st.button(
                ":material/close:",
                key=f"{at}/remove",
                type="tertiary",
                help="Remove this answer",
                on_click=partial(_remove, case, key, number, keep),
            )
        told = partial(_set, case, key, number, "output", keep)
        json_area("Output", given.get("output") or {}, f"{at}/output", told)
        if status not in ("COMPLETED", "IN_PROGRESS"):
            _hold(f"{at}/reason", str(given.get("reason") or ""))
            st.text_input(
                "Reason",
                key=f"{at}/reason",
                on_change=partial(_typed, case, key, number, "reason", f"{at}/reason", keep),
            )


def _times(case: JsonObject, key: str, number: int, given: JsonObject, at: str, keep: Keep) -> None:
    for label, field in (("Queued, ms", "queueWaitTime"), ("Runs, ms", "executionTime")):
        key_ = f"{at}/{field}"
        _hold(key_, int(given.get(field) or 0))
        st.number_input(
            label,
            min_value=0,
            step=1,
            key=key_,
            on_change=partial(_typed, case, key, number, field, key_, keep),
        )


def json_area(
    label: str, value: Any, key: str, told: Callable[[Any], None], height: int = 96
) -> None:
    """A map as JSON; text that is none stays where it was typed, with a word about it."""
    faults: dict[str, tuple[str, str]] = st.session_state.setdefault(_FAULTS, {})
    fault = faults.get(key)
    text = fault[0] if fault else field_text.shown_in(_JSON, value)
    _hold(key, text)
    rows = text.count("\n") + 1
    st.text_area(
        label,
        key=key,
        height=max(height, min(rows * 20 + 24, 340)),
        on_change=partial(_json_typed, key, told),
    )
    if fault:
        st.markdown(f":red[:small[{fault[1]}]]")


def _json_typed(key: str, told: Callable[[Any], None]) -> None:
    text = str(st.session_state[key])
    faults: dict[str, tuple[str, str]] = st.session_state.setdefault(_FAULTS, {})
    try:
        value = field_text.read_in(_JSON, text)
    except FieldFault as fault:
        faults[key] = (text, str(fault))
        return
    faults.pop(key, None)
    told({} if value is EMPTY else value)


def _presets(found: Sequence[Any]) -> dict[str, list[JsonObject]]:
    """The common ways of a task to go wrong, each ending in what it answers now."""
    good = [each for each in found if isinstance(each, dict) and each.get("status") == "COMPLETED"]
    last = good[-1:] or [mock("COMPLETED", {})]
    failed = mock("FAILED", {})
    return {
        "complete": copied(last),
        "fail once, then complete": [failed, *copied(last)],
        "fail twice, then complete": [failed, copied(failed), *copied(last)],
        "fail for good": [mock("FAILED_WITH_TERMINAL_ERROR", {})],
        "time out": [mock("TIMED_OUT", {})],
        "take five seconds": [{**copied(each), "executionTime": 5_000} for each in last],
    }


def _preset(
    case: JsonObject, key: str, at: str, presets: Mapping[str, list[JsonObject]], keep: Keep
) -> None:
    chosen = presets.get(str(st.session_state.get(at)))
    if chosen is not None:
        _put(case, key, chosen, keep)


def _add(case: JsonObject, key: str, keep: Keep) -> None:
    answers = (case.get("mocks") or {}).get(key)
    found = list(answers) if isinstance(answers, list) else []
    _put(case, key, [*found, copied(found[-1]) if found else mock("COMPLETED", {})], keep)


def _remove(case: JsonObject, key: str, number: int, keep: Keep) -> None:
    left = [each for at, each in enumerate(case["mocks"][key]) if at != number]
    _put(case, key, left or None, keep)


def _status(case: JsonObject, key: str, number: int, at: str, keep: Keep) -> None:
    _set(case, key, number, "status", keep, st.session_state[f"{at}/status"])


def _typed(case: JsonObject, key: str, number: int, field: str, at: str, keep: Keep) -> None:
    _set(case, key, number, field, keep, st.session_state[at] or None)


def _set(case: JsonObject, key: str, number: int, field: str, keep: Keep, value: Any) -> None:
    answers = copied(case["mocks"][key])
    given = answers[number] if isinstance(answers[number], dict) else {}
    answers[number] = {k: v for k, v in {**given, field: value}.items() if v is not None}
    _put(case, key, answers, keep)


def _put(case: JsonObject, key: str, answers: list[JsonObject] | None, keep: Keep) -> None:
    mocks = dict(case.get("mocks") or {})
    if answers is None:
        mocks.pop(key, None)
    else:
        mocks[key] = answers
    keep({**case, "mocks": mocks})


def _hold(key: str, value: Any) -> None:
    if st.session_state.get(key) != value:
        st.session_state[key] = value
