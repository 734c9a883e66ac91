"""Operations on the branches of one task: cases of a switch, branches of a fork."""

from collections.abc import Iterable
from typing import Any

from studio.editor.edit import Edit, Operation, number, optional_text, text
from studio.editor.references import fresh_ref
from studio.editor.tree import ImpossibleOperation, Spot, refs_in, type_of

_SWITCHES = ("SWITCH", "DECISION")


def add_case(edit: Edit, op: Operation) -> None:
    """{"op": "add_case", "ref", "case"?, "index"?}"""
    spot, cases = _cases(edit, op)
    case = optional_text(op, "case") or fresh_ref(f"case_{len(cases) + 1}", cases)
    if case in cases:
        raise ImpossibleOperation(f"`{spot.called}` already has a case `{case}`.")
    keys = list(cases)
    keys.insert(_index(op, "index", len(keys)), case)
    _set_cases(spot, {**cases, case: []}, keys)
    _about(edit, spot, f"Add case {case} to {spot.called}")


def rename_case(edit: Edit, op: Operation) -> None:
    """{"op": "rename_case", "ref", "case", "to"}; its place among the others stays."""
    spot, cases = _cases(edit, op)
    case, to = _known(spot, cases, op), text(op, "to")
    if to != case and to in cases:
        raise ImpossibleOperation(f"`{spot.called}` already has a case `{to}`.")
    spot.task["decisionCases"] = {to if key == case else key: cases[key] for key in cases}
    _about(edit, spot, f"Rename case {case} of {spot.called} to {to}")


def delete_case(edit: Edit, op: Operation) -> None:
    """{"op": "delete_case", "ref", "case"}; case null empties the default case."""
    if "case" in op and op["case"] is None:
        spot = edit.task(op)
        _need(spot, _SWITCHES, "cases")
        held = spot.task.get("defaultCase")
        spot.task["defaultCase"] = []
        _about(edit, spot, f"Empty the default case of {spot.called}")
    else:
        spot, cases = _cases(edit, op)
        case = _known(spot, cases, op)
        held = cases[case]
        _set_cases(spot, cases, [key for key in cases if key != case])
        _about(edit, spot, f"Delete case {case} of {spot.called}")
        if len(cases) == 1:
            edit.say(f"`{spot.called}` has no case left; a switch needs at least one.")
    _say_lost(edit, held)


def move_case(edit: Edit, op: Operation) -> None:
    """{"op": "move_case", "ref", "case", "to": index among the cases}"""
    spot, cases = _cases(edit, op)
    case = _known(spot, cases, op)
    keys = [key for key in cases if key != case]
    keys.insert(_index(op, "to", len(keys)), case)
    _set_cases(spot, cases, keys)
    _about(edit, spot, f"Move case {case} of {spot.called}")


def add_branch(edit: Edit, op: Operation) -> None:
    """{"op": "add_branch", "ref", "index"?}"""
    spot, branches = _fork_branches(edit, op)
    branches.insert(_index(op, "index", len(branches)), [])
    _about(edit, spot, f"Add a branch to {spot.called}")


def delete_branch(edit: Edit, op: Operation) -> None:
    """{"op": "delete_branch", "ref", "branch": index}"""
    spot, branches = _fork_branches(edit, op)
    branch = _branch(spot, branches, op)
    if len(branches) == 1:
        raise ImpossibleOperation(
            f"`{spot.called}` needs at least one branch. Delete the fork, or unwrap it."
        )
    held = branches.pop(branch)
    _about(edit, spot, f"Delete branch {branch + 1} of {spot.called}")
    _say_lost(edit, held)


def move_branch(edit: Edit, op: Operation) -> None:
    """{"op": "move_branch", "ref", "branch": index, "to": index}"""
    spot, branches = _fork_branches(edit, op)
    branch = _branch(spot, branches, op)
    to = _index(op, "to", len(branches) - 1)
    branches.insert(to, branches.pop(branch))
    _about(edit, spot, f"Move branch {branch + 1} of {spot.called}")


def _cases(edit: Edit, op: Operation) -> tuple[Spot, dict[str, Any]]:
    spot = edit.task(op)
    _need(spot, _SWITCHES, "cases")
    cases = spot.task.get("decisionCases")
    if cases is not None and not isinstance(cases, dict):
        raise ImpossibleOperation(
            f"The cases of `{spot.called}` are no map; mend them in its JSON."
        )
    return spot, cases or {}


def _fork_branches(edit: Edit, op: Operation) -> tuple[Spot, list[Any]]:
    spot = edit.task(op)
    _need(spot, ("FORK_JOIN",), "branches")
    branches = spot.task.get("forkTasks")
    if branches is None:
        branches = spot.task["forkTasks"] = []
    if not isinstance(branches, list):
        raise ImpossibleOperation(
            f"The branches of `{spot.called}` are no list; mend them in its JSON."
        )
    return spot, branches


def _need(spot: Spot, words: tuple[str, ...], what: str) -> None:
    if type_of(spot.task) not in words:
        raise ImpossibleOperation(f"`{spot.called}` is a {type_of(spot.task)}: it has no {what}.")


def _known(spot: Spot, cases: dict[str, Any], op: Operation) -> str:
    case = op.get("case")
    # A case may be the empty text, which a plain text argument may not.
    if isinstance(case, str) and case in cases:
        return case
    raise ImpossibleOperation(f"`{spot.called}` has no case `{case}`.")


def _branch(spot: Spot, branches: list[Any], op: Operation) -> int:
    branch = number(op, "branch")
    if not 0 <= branch < len(branches):
        raise ImpossibleOperation(f"`{spot.called}` has no branch {branch + 1}.")
    return branch


def _set_cases(spot: Spot, cases: dict[str, Any], keys: Iterable[str]) -> None:
    spot.task["decisionCases"] = {key: cases[key] for key in keys}


def _index(op: Operation, key: str, most: int) -> int:
    if op.get(key) is None and key == "index":
        return most
    return max(0, min(number(op, key), most))


def _about(edit: Edit, spot: Spot, label: str) -> None:
    edit.select = spot.ref
    edit.label = label


def _say_lost(edit: Edit, held: Any) -> None:
    if lost := refs_in(held):
        edit.say(f"With it went {', '.join(f'`{ref}`' for ref in lost)}.")
