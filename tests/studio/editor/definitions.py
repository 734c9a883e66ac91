"""Definitions and operations for tests of the editor: a few by hand, any number at random."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from studio.editor.joins import branch_ends
from studio.editor.tree import JsonObject, Spot, branches_of, ref_of, spots, type_of


def a_task(ref: str, word: str = "SIMPLE", **fields: Any) -> JsonObject:
    return {"name": ref, "taskReferenceName": ref, "type": word, "inputParameters": {}, **fields}


def a_fork(
    ref: str, *branches: list[JsonObject], join: str, on: list[str] | None = None
) -> list[Any]:
    fork = a_task(ref, "FORK_JOIN", forkTasks=list(branches))
    return [fork, a_task(join, "JOIN", joinOn=branch_ends(fork) if on is None else on)]


def a_switch(ref: str, default: list[JsonObject] | None = None, **cases: Any) -> JsonObject:
    return a_task(
        ref,
        "SWITCH",
        evaluatorType="value-param",
        expression="case",
        decisionCases=cases,
        defaultCase=default or [],
    )


def a_loop(ref: str, *body: JsonObject, condition: str | None = None) -> JsonObject:
    text = condition if condition is not None else f"$.{ref}.iteration < 3"
    return a_task(ref, "DO_WHILE", loopCondition=text, loopOver=list(body))


def a_definition(*tasks: JsonObject, **fields: Any) -> JsonObject:
    return {"name": "pay", "version": 1, "schemaVersion": 2, "tasks": list(tasks), **fields}


def gap(index: int, *path: str | int) -> JsonObject:
    return {"list": list(path) or ["tasks"], "index": index}


@st.composite
def definitions(draw: st.DrawFn) -> JsonObject:
    """Nested definitions with unique names; some joins are written by hand."""
    names = iter(range(1_000))

    def name() -> str:
        return f"t{next(names)}"

    def tasks(depth: int, least: int = 0) -> list[JsonObject]:
        listed: list[JsonObject] = []
        words = ["SIMPLE", "HTTP", "TERMINATE", "SUB_WORKFLOW"]
        words += ["SWITCH", "FORK_JOIN", "DO_WHILE", "FORK_JOIN_DYNAMIC"] if depth else []
        for word in draw(st.lists(st.sampled_from(words), min_size=least, max_size=3)):
            ref = name()
            if word == "SWITCH":
                keys = draw(st.lists(st.sampled_from(["a", "b", "c", ""]), unique=True, max_size=3))
                cases = {key: tasks(depth - 1) for key in keys}
                listed.append(a_switch(ref, tasks(depth - 1)) | {"decisionCases": cases})
            elif word == "FORK_JOIN":
                branches = [tasks(depth - 1) for _ in range(draw(st.integers(1, 3)))]
                on = draw(st.sampled_from([None, None, [], ["t0"]]))
                listed += a_fork(ref, *branches, join=name(), on=on)
            elif word == "FORK_JOIN_DYNAMIC":
                listed += [a_task(ref, word), a_task(name(), "JOIN", joinOn=[])]
            elif word == "DO_WHILE":
                listed.append(a_loop(ref, *tasks(depth - 1)))
            else:
                read = draw(st.sampled_from(["t0", "t1", "t2", "workflow"]))
                listed.append(a_task(ref, word, inputParameters={"x": f"${{{read}.output.y}}"}))
        return listed

    return a_definition(*tasks(2, 1), outputParameters={"all": "${t0.output}"})


def all_gaps(definition: JsonObject) -> list[JsonObject]:
    """Every list of tasks with every index in it, those between a fork and its join included."""
    lists: list[tuple[Any, Any]] = [(("tasks",), definition["tasks"])]
    for spot in spots(definition):
        lists += [(branch.path, branch.tasks) for branch in branches_of(spot.task, spot.path)]
    return [
        {"list": list(path), "index": index}
        for path, tasks in lists
        for index in range(len(tasks) + 1)
    ]


_CONTAINERS = st.sampled_from(["FORK_JOIN", "SWITCH", "DO_WHILE"])
_WORDS = st.sampled_from(["SIMPLE", "FORK_JOIN", "FORK_JOIN_DYNAMIC", "SWITCH", "DO_WHILE"])
_NEEDED_TYPE = {"case": "SWITCH", "branch": "FORK_JOIN"}


@st.composite
def operations(draw: st.DrawFn, definition: JsonObject) -> JsonObject:
    """An operation that a person could ask for; some of them are impossible."""
    word = draw(st.sampled_from(sorted(_ARGUMENTS)))
    needed = _NEEDED_TYPE.get(word.split("_")[-1])
    everybody = list(spots(definition))
    fitting = [spot for spot in everybody if needed in (None, type_of(spot.task))] or everybody
    if not fitting:
        return {"op": "insert", "place": gap(0), "type": draw(_WORDS)}
    spot = draw(st.sampled_from(fitting))
    op = {"op": word, "ref": spot.ref}
    return op | _ARGUMENTS[word](draw, definition, spot)


def _a_gap(draw: st.DrawFn, definition: JsonObject) -> JsonObject:
    return draw(st.sampled_from(all_gaps(definition)))


def _a_case(draw: st.DrawFn, spot: Spot) -> str:
    return draw(st.sampled_from([*spot.task.get("decisionCases", {}), "c"]))


def _an_index(draw: st.DrawFn) -> int:
    return draw(st.integers(0, 2))


def _inserted(draw: st.DrawFn, definition: JsonObject, spot: Spot) -> JsonObject:
    pasted = [a_task(str(spot.ref)), a_loop("pasted", a_task("t1"))]
    what = draw(st.just({"tasks": pasted}) | st.builds(lambda word: {"type": word}, _WORDS))
    return {"place": _a_gap(draw, definition)} | what


def _moved(draw: st.DrawFn, definition: JsonObject, spot: Spot) -> JsonObject:
    if draw(st.booleans()):
        return {"place": _a_gap(draw, definition)}
    return {"direction": draw(st.sampled_from(["up", "down", "out", "into"]))}


def _wrapped(draw: st.DrawFn, definition: JsonObject, spot: Spot) -> JsonObject:
    neighbours = [ref for task in spot.siblings[spot.index :][:2] if (ref := ref_of(task))]
    each = draw(st.sampled_from([{}, {"as": "a_branch_each"}]))
    return {"refs": neighbours, "type": draw(_CONTAINERS)} | each


_ARGUMENTS: dict[str, Callable[[st.DrawFn, JsonObject, Spot], JsonObject]] = {
    "insert": _inserted,
    "duplicate": lambda draw, definition, spot: {},
    "move": _moved,
    "delete": lambda draw, definition, spot: draw(st.sampled_from([{}, {"keep": "children"}])),
    "wrap": _wrapped,
    "add_case": lambda draw, definition, spot: {"index": _an_index(draw)},
    "rename_case": lambda draw, definition, spot: {
        "case": _a_case(draw, spot),
        "to": draw(st.sampled_from(["a", "new"])),
    },
    "delete_case": lambda draw, definition, spot: {
        "case": draw(st.sampled_from([None, _a_case(draw, spot)]))
    },
    "move_case": lambda draw, definition, spot: {
        "case": _a_case(draw, spot),
        "to": _an_index(draw),
    },
    "add_branch": lambda draw, definition, spot: {"index": _an_index(draw)},
    "delete_branch": lambda draw, definition, spot: {"branch": _an_index(draw)},
    "move_branch": lambda draw, definition, spot: {
        "branch": _an_index(draw),
        "to": _an_index(draw),
    },
    "update": lambda draw, definition, spot: {
        "set": [{"path": ["optional"], "value": draw(st.booleans())}]
    },
    "rename": lambda draw, definition, spot: {"to": draw(st.sampled_from(["fresh", "t0"]))},
    "replace": lambda draw, definition, spot: {
        "task": spot.task | {"optional": True, "taskReferenceName": "fresh"}
    },
    "set_workflow": lambda draw, definition, spot: {
        "set": [{"path": ["description"], "value": "x"}]
    },
    "set_definition": lambda draw, definition, spot: {
        "definition": a_definition(a_task(str(spot.ref)))
    },
}
