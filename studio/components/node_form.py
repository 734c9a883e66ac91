"""The form of the chosen task: its fields by group, its input, its branches, its JSON, what it is for.

Each change is said at once as one operation; nothing has to be applied, and everything can be
undone. Which fields a type has, and what an operation does, is the editor's business.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import streamlit as st

from studio.components import branch_rows, coded, field_widgets, map_rows, markup
from studio.components.field_widgets import Offer
from studio.editor import field_text, json_text
from studio.editor.field_text import EMPTY
from studio.editor.fields import IDENTITY, WORKFLOW_FIELDS, fields_of, other_inputs, own_fields
from studio.editor.form_field import ADVANCED, BASIC, Field, Kind
from studio.editor.system_fields import INPUTS
from studio.editor.task_types import TASK_TYPES, task_type
from studio.editor.tree import JsonObject, Spot, branches_of, type_of
from studio.views.problems import Problem
from studio.views.readable import Value

Act = Callable[[JsonObject], Any]

_TASK_TABS: Final = ("Basics", "Input", "Advanced", "JSON", "Help")
_WORKFLOW_TABS: Final = ("Workflow", "Input and output", "Advanced")
_IN_AND_OUT: Final = frozenset(
    {"inputParameters", "inputTemplate", "outputParameters", "inputSchema", "outputSchema"}
)
_SIGNS: Final = {
    "error": (":material/disabled_by_default:", "red"),
    "warning": (":material/warning:", "yellow"),
    "info": (":material/info:", "gray"),
}
_MAPS: Final = frozenset({Kind.MAP})
_NEED_NO_WRAP: Final = ("JOIN", "EXCLUSIVE_JOIN")


@dataclass(frozen=True, slots=True)
class Context:
    """What the form needs to know besides the task: choices, readable values, problems."""

    offer: Offer
    values: Sequence[Value] = ()
    problems: Sequence[Problem] = ()


def for_task(spot: Spot, context: Context, act: Act) -> None:
    """The form of one task."""
    _head(spot, act)
    for problem in context.problems:
        _problem(problem, act)
    tabs = st.tabs(_TASK_TABS, key="task_tab", on_change="rerun")
    for tab, draw in zip(tabs, (_basics, _input, _advanced, _json, _help), strict=True):
        if tab.open:
            with tab:
                draw(spot, context, act)


def for_workflow(definition: JsonObject, context: Context, act: Act) -> None:
    """The form of the workflow itself, shown while no task is chosen."""
    title = markup.tag("h2", "Workflow")
    hint = markup.dim("Choose a task in the picture to edit it.")
    markup.show(markup.tag("div", title, hint, css="rp-two"))
    for problem in context.problems:
        _problem(problem, act)
    groups = _grouped(WORKFLOW_FIELDS, definition)
    for tab, fields in zip(
        st.tabs(_WORKFLOW_TABS, key="workflow_tab", on_change="rerun"), groups, strict=True
    ):
        if tab.open:
            with tab:
                for field in fields:
                    told = partial(_set_workflow, act)
                    _field(field, definition, "workflow", told, context.offer)


def _grouped(fields: Iterable[Field], definition: JsonObject) -> list[list[Field]]:
    """First what identifies it, then its contract, then the rest."""
    groups: list[list[Field]] = [[], [], []]
    for field in fields:
        contract = field.path[0] in _IN_AND_OUT
        groups[1 if contract else 2 if field.group == ADVANCED else 0].append(field)
    return groups


def _head(spot: Spot, act: Act) -> None:
    kind = task_type(type_of(spot.task))
    with st.container(horizontal=True, vertical_alignment="center", key="task_head"):
        title = markup.tag("h2", markup.code(spot.called))
        word = markup.span(kind.label, css="rp-dim rp-small")
        with st.container(width="stretch"):
            markup.show(markup.tag("div", title, word, css="rp-title"))
        entries = _actions(spot)
        st.menu_button(
            ":material/more_horiz:",
            list(entries),
            key="task_menu",
            type="tertiary",
            help="What can be done with this task",
            on_click=partial(_chosen, entries, act),
        )
    if kind.replaced_by:
        st.caption(f"{kind.type} is an older form; {kind.replaced_by} took its place.")


def _chosen(entries: Mapping[str, JsonObject], act: Act) -> None:
    op = entries.get(str(st.session_state.get("task_menu")))
    if op is not None:
        act(op)


def _actions(spot: Spot) -> dict[str, JsonObject]:
    """The menu of a task: its words and the operation behind each."""
    about = _about(spot)
    found: dict[str, JsonObject] = {
        "Move up": {"op": "move", **about, "direction": "up"},
        "Move down": {"op": "move", **about, "direction": "down"},
        "Move out": {"op": "move", **about, "direction": "out"},
        "Move into the one before": {"op": "move", **about, "direction": "into"},
        "Duplicate": {"op": "duplicate", **about},
    }
    if spot.ref and type_of(spot.task) not in _NEED_NO_WRAP:
        for word, type_ in (
            ("a fork", "FORK_JOIN"),
            ("a switch", "SWITCH"),
            ("a loop", "DO_WHILE"),
        ):
            found[f"Wrap in {word}"] = {"op": "wrap", "refs": [spot.ref], "type": type_}
    if type_of(spot.task) in ("DECISION", "LAMBDA"):
        found[f"Convert to {TASK_TYPES[type_of(spot.task)].replaced_by}"] = {
            "op": "convert",
            **about,
        }
    if any(branch.tasks for branch in branches_of(spot.task)):
        found["Delete, keep what is inside"] = {"op": "delete", **about, "keep": "children"}
    found["Delete"] = {"op": "delete", **about}
    return found


def _about(spot: Spot) -> JsonObject:
    """How an operation names this task: by its name, or by its path where it has none."""
    return {"ref": spot.ref} if spot.ref else {"at": list(spot.path)}


def _problem(problem: Problem, act: Act) -> None:
    icon, colour = _SIGNS[problem.level]
    text = f":{colour}[{icon} {coded.markdown(problem.text)}]"
    if problem.advice:
        text += f" :small[{coded.markdown(problem.advice)}]"
    st.markdown(text)
    if problem.fix is not None:
        label, op = problem.fix
        st.button(label, key=f"fix/{problem.key}", on_click=partial(act, op))


def _basics(spot: Spot, context: Context, act: Act) -> None:
    own = set(own_fields(spot.task))
    for field in fields_of(spot.task):
        if field.group == BASIC and field != INPUTS and (field in own or field in IDENTITY):
            _field(field, spot.task, _key(spot), partial(_update, spot, act), context.offer)
    branch_rows.show(spot, _key(spot), act)


def _advanced(spot: Spot, context: Context, act: Act) -> None:
    shown = [field for field in fields_of(spot.task) if field.group == ADVANCED]
    for field in shown:
        _field(field, spot.task, _key(spot), partial(_update, spot, act), context.offer)
    if not shown:
        st.caption("This type has no further settings.")


def _input(spot: Spot, context: Context, act: Act) -> None:
    put = partial(_update_in, spot, act, ("inputParameters",))
    map_rows.show(other_inputs(spot.task), f"{_key(spot)}/input", put, noun="input")
    _values(spot, context, act)


def _values(spot: Spot, context: Context, act: Act) -> None:
    """What can be read here; choosing one puts it into an input."""
    if not context.values:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        names = list(other_inputs(spot.task))
        st.selectbox(
            "Put a value into",
            names,
            key=f"{_key(spot)}/into",
            accept_new_options=True,
            placeholder="An input, old or new",
            index=None,
        )
        st.selectbox(
            "which reads",
            [value.expression for value in context.values],
            key=f"{_key(spot)}/reads",
            index=None,
            placeholder="A value",
            on_change=partial(_put_value, spot, act),
        )
    rows = [
        markup.Row((markup.code(_short(value.expression)), _sample(value)))
        for value in context.values[:40]
    ]
    table = markup.table(
        (markup.Column("Values this task can read"), markup.Column("Last run", cut=True)), rows
    )
    markup.show(markup.bordered(table))


def _put_value(spot: Spot, act: Act) -> None:
    into = st.session_state.get(f"{_key(spot)}/into")
    reads = st.session_state.get(f"{_key(spot)}/reads")
    if reads:
        name = into or str(reads).strip("${}").rsplit(".", 1)[-1]
        _update_in(spot, act, ("inputParameters",), str(name), reads)


def _short(expression: str) -> str:
    return expression.removeprefix("${").removesuffix("}")


def _sample(value: Value) -> markup.Html:
    words = "" if value.sample is None else field_text.shown(value.sample)
    shown = (
        markup.code(words if len(words) <= 40 else words[:39] + "…", title=words) if words else ""
    )
    return markup.joined(shown, "" if value.sure else markup.dim(" may not have run"))


def _json(spot: Spot, context: Context, act: Act) -> None:
    key, fault_key = f"{_key(spot)}/json", f"{_key(spot)}/json/fault"
    fault = st.session_state.get(fault_key)
    text = fault[0] if fault else json_text.written(spot.task)
    if st.session_state.get(key) != text:
        st.session_state[key] = text
    heard = partial(_replaced, spot, key, fault_key, act)
    st.text_area("JSON of this task", key=key, height=460, on_change=heard)
    if fault:
        st.markdown(f":red[:small[{fault[1]}]]")


def _replaced(spot: Spot, key: str, fault_key: str, act: Act) -> None:
    text = str(st.session_state[key])
    task, problem = json_text.read(text)
    if task is None:
        where = (
            f"Line {problem.line}, column {problem.column}: " if problem and problem.line else ""
        )
        said = f"{problem.message} {problem.next_step}" if problem else ""
        st.session_state[fault_key] = (text, where + said)
        return
    st.session_state.pop(fault_key, None)
    act({"op": "replace", **_about(spot), "task": task})


def _help(spot: Spot, context: Context, act: Act) -> None:
    kind = task_type(type_of(spot.task))
    st.markdown(kind.help)
    if kind.needs:
        st.caption(kind.needs)
    found = [(field.label, field.help) for field in fields_of(spot.task) if field.help]
    markup.show(markup.pairs(found))


def _key(spot: Spot) -> str:
    return f"task/{spot.ref or '/'.join(map(str, spot.path))}"


def _field(field: Field, held: JsonObject, key: str, told: Any, offer: Offer) -> None:
    """One field, or a row for each key when it is a map of plain values."""
    value, at = field.value_in(held), f"{key}/{'.'.join(field.path)}/{field.label}"
    if field.kind in _MAPS and (value is None or isinstance(value, dict)):
        st.markdown(f":small[**{field.label}**]", help=field.help)
        map_rows.show(value, at, partial(_map_told, told, field.path), noun="entry")
        return
    field_widgets.ask(field, value, at, partial(told, field.path), offer)


def _map_told(told: Any, path: tuple[str, ...], key: str, value: Any) -> None:
    told((*path, key), value)


def _update_in(spot: Spot, act: Act, path: tuple[str, ...], key: str, value: Any) -> None:
    _update(spot, act, (*path, key), value)


def _update(spot: Spot, act: Act, path: tuple[str, ...], value: Any) -> None:
    act({"op": "update", **_about(spot), **_change(path, value)})


def _set_workflow(act: Act, path: tuple[str, ...], value: Any) -> None:
    act({"op": "set_workflow", **_change(path, value)})


def _change(path: tuple[str, ...], value: Any) -> JsonObject:
    if value is EMPTY:
        return {"unset": [list(path)]}
    return {"set": [{"path": list(path), "value": value}]}
