"""Advice on how tasks hang together: what is never reached, joins that wait in vain, forks without
a join, loops without an end, choices that fall through."""

import re
from collections.abc import Iterator

from engine.expressions.scripts import EVALUATORS, VALUE_PARAM
from engine.model.definitions import WorkflowDef
from engine.rules.validation_findings import LIST_OWNERS, Finding, Severity, Site, step_into
from engine.rules.validation_flow import Flow

_LITERAL = re.compile(r"(true|false|[0-9.]+|!0|!1|!true|!false)\s*;?")
_ENDLESS = re.compile(r"(true|[1-9][0-9.]*|!0|!false)\s*;?")


def shape_findings(definition: WorkflowDef, all_sites: list[Site], flow: Flow) -> Iterator[Finding]:
    """About every task of a definition."""
    known = {site.ref: site for site in all_sites}
    for site in all_sites:
        yield from _lists_nobody_runs(site)
        if site.index and not flow.moments[site.path].reachable:
            before = (*site.path[:-1], site.index - 1)
            if flow.moments[before].reachable:
                yield _unreachable(site)
        if site.task.type in ("FORK_JOIN", "FORK_JOIN_DYNAMIC"):
            yield from _fork(site)
        elif site.task.type in ("JOIN", "EXCLUSIVE_JOIN"):
            yield from _join(site, known, flow)
        elif site.task.type == "DO_WHILE":
            yield from _loop(site, known)
        elif site.task.type in ("SWITCH", "DECISION"):
            yield from _choice(site)
        elif site.task.type == "SUB_WORKFLOW":
            yield from _sub_workflow(site, definition)


def _unreachable(site: Site) -> Finding:
    rest = len(site.siblings) - site.index
    others = f" and the {rest - 1} behind it" if rest > 1 else ""
    return site.finding(
        "unreachable",
        Severity.WARNING,
        f"{site.ref}{others} can never run: the workflow has ended before on every path.",
        "Remove it, or let a path go round the TERMINATE task.",
    )


def _lists_nobody_runs(site: Site) -> Iterator[Finding]:
    for name, owners in LIST_OWNERS.items():
        if site.task.type not in owners and step_into(site.raw, (name,)):
            yield site.finding(
                "ignored_tasks",
                Severity.WARNING,
                f"A {site.task.type} task does not run what is in {name}.",
                f"Make it a {owners[0]} task, or move the tasks out.",
                name,
            )


def _fork(site: Site) -> Iterator[Finding]:
    join = site.following()
    task = site.task
    if join is None or join.type not in ("JOIN", "EXCLUSIVE_JOIN"):
        yield site.finding(
            "fork_without_join",
            Severity.ERROR,
            f"{task.type} {site.ref} is not followed by a JOIN; the workflow fails there.",
            "Put a JOIN directly behind it that names the last task of each branch.",
        )
        return
    for number, branch in enumerate(task.fork_tasks):
        last = branch[-1] if branch else None
        if last is None:
            yield site.finding(
                "empty_branch",
                Severity.ERROR,
                f"Branch {number + 1} of {site.ref} is empty.",
                "Give it a task, or remove the branch.",
                "forkTasks",
                number,
            )
        elif last.ref not in join.join_on and last.type != "TERMINATE":
            yield site.finding(
                "branch_not_joined",
                Severity.WARNING,
                f"{join.ref} does not wait for {last.ref}, the end of branch {number + 1}: the "
                "workflow may go on, and even end, before that branch has.",
                f"Add {last.ref} to joinOn of {join.ref}, unless that is meant.",
                "forkTasks",
                number,
            )


def _join(site: Site, known: dict[str, Site], flow: Flow) -> Iterator[Finding]:
    task, before = site.task, site.preceding()
    moment = flow.moments[site.path]
    if before is not None and before.type == "FORK_JOIN_DYNAMIC":
        return
    if not task.join_on:
        yield site.finding(
            "join_on_nothing",
            Severity.WARNING,
            f"{site.ref} waits for nothing: joinOn is empty.",
            "Name the last task of each branch in joinOn.",
            "joinOn",
        )
    for index, ref in enumerate(task.join_on):
        place = ("joinOn", index)
        awaited = known.get(ref)
        if awaited is None:
            yield site.finding(
                "join_unknown",
                Severity.ERROR,
                f"{site.ref} waits for {ref}, and no task has that reference name.",
                "Name a task of a branch before the join.",
                *place,
            )
        elif awaited.loops != site.loops:
            yield site.finding(
                "join_across_loop",
                Severity.ERROR,
                f"{site.ref} waits for {ref}, which is in another loop's body and gets another "
                "reference name each round.",
                "Wait for the DO_WHILE task itself.",
                *place,
            )
        elif ref in moment.certain or ref in moment.coming:
            continue
        elif ref in moment.possible and task.type == "JOIN":
            yield site.finding(
                "join_maybe",
                Severity.WARNING,
                f"{site.ref} waits for {ref}, which does not run on every path: where it does "
                "not, the join fails in the end.",
                "Wait for the SWITCH around it instead, or for a task that every path reaches.",
                *place,
            )
        elif ref not in moment.possible:
            yield site.finding(
                "join_never",
                Severity.ERROR,
                f"{site.ref} waits for {ref}, which cannot have begun before the join ends.",
                "Name a task that comes before the join.",
                *place,
            )


def _loop(site: Site, known: dict[str, Site]) -> Iterator[Finding]:
    task, condition = site.task, (site.task.loop_condition or "").strip()
    over_items = task.items is not None or "_items" in task.input_parameters
    body = [inner.ref for inner in known.values() if site.ref in inner.loops]
    if site.loops:
        yield site.finding(
            "nested_loop",
            Severity.WARNING,
            f"The loop {site.ref} stands inside the loop {site.loops[-1]}, whose rounds have no "
            "loops of their own: it does not begin anew in the second round.",
            "Put the inner loop into a SUB_WORKFLOW.",
        )
    for ref in (site.ref, *body):
        if "__" in ref:
            yield known[ref].finding(
                "double_underscore",
                Severity.WARNING,
                f"{ref} has two underscores in a row, which in a loop separate the name from the "
                "round.",
                "Rename it with single underscores.",
                "taskReferenceName",
            )
    if not condition:
        if not over_items:
            yield site.finding(
                "loop_once",
                Severity.INFO,
                f"{site.ref} has no condition: its body runs once.",
                f"Give it one, such as $.{site.ref}['iteration'] < 3, or a list in items.",
                "loopCondition",
            )
    elif _ENDLESS.fullmatch(condition) or not (
        _LITERAL.fullmatch(condition)
        or any(name in condition for name in (site.ref, *body, *task.input_parameters))
    ):
        yield site.finding(
            "loop_without_end",
            Severity.WARNING,
            f"The condition of {site.ref} looks at nothing that changes: the loop ends at the "
            "limit of rounds, as a failure.",
            f"Compare $.{site.ref}['iteration'], or an output of the body.",
            "loopCondition",
        )


def _choice(site: Site) -> Iterator[Finding]:
    task = site.task
    key = task.case_value_param
    if task.type == "SWITCH":
        key = task.expression if task.evaluator_type == VALUE_PARAM else None
        if task.evaluator_type not in (None, VALUE_PARAM, *EVALUATORS):
            yield site.finding(
                "unknown_evaluator",
                Severity.ERROR,
                f"There is no evaluator {task.evaluator_type}; the workflow fails there.",
                f"Use {VALUE_PARAM} or javascript.",
                "evaluatorType",
            )
    if key and key not in task.input_parameters:
        yield site.finding(
            "value_not_given",
            Severity.WARNING,
            f"{site.ref} looks for {key!r} among its inputParameters, and it is not there: the "
            "case is always 'null'.",
            f"Add {key!r} to inputParameters, or name one that is there.",
        )
    if not task.default_case:
        yield site.finding(
            "no_default",
            Severity.INFO,
            f"A value that no case of {site.ref} names is passed over in silence.",
            "Give it a defaultCase, perhaps with a TERMINATE task.",
        )
    for case, tasks in task.decision_cases.items():
        if not tasks:
            goes = "goes on behind it" if task.type == "SWITCH" else "takes the default"
            yield site.finding(
                "empty_case",
                Severity.INFO,
                f"The case {case!r} of {site.ref} has no tasks; the workflow {goes}.",
                "Keep it if that is meant.",
                "decisionCases",
                case,
            )


def _sub_workflow(site: Site, definition: WorkflowDef) -> Iterator[Finding]:
    param = site.task.sub_workflow_param
    if param is None or param.workflow_definition is not None:
        return
    if not param.name:
        yield site.finding(
            "no_sub_workflow",
            Severity.ERROR,
            f"{site.ref} names no workflow; its task fails.",
            "Give subWorkflowParam.name, or a workflowDefinition.",
            "subWorkflowParam",
        )
    elif param.name == definition.name:
        yield site.finding(
            "runs_itself",
            Severity.WARNING,
            f"{site.ref} runs {param.name} again as its own sub-workflow.",
            "Make sure that a SWITCH ends the descent.",
            "subWorkflowParam",
            "name",
        )
