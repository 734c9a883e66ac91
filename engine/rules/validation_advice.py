"""What is wise, beyond what may be registered: findings about a definition, each with its place and
the way out. Looks everywhere, also into loops and embedded definitions."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from engine.expressions.scripts import EVALUATORS, Language, ScriptJob
from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.errors import InvalidInput
from engine.rules.validation import registration_errors, task_field_errors
from engine.rules.validation_findings import Finding, Path, Severity, Site, sites
from engine.rules.validation_flow import Flow
from engine.rules.validation_references import reference_findings
from engine.rules.validation_settings import definition_findings, setting_findings
from engine.rules.validation_shape import shape_findings
from engine.rules.validation_tasks import Check, TaskDefOf, type_complaints


def _no_task_def(name: str) -> TaskDef | None:
    return None


def findings(
    definition: Mapping[str, Any],
    *,
    task_def: TaskDefOf = _no_task_def,
    check: Check | None = None,
    environment: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Everything worth saying about a definition as JSON, errors first. `check` reads scripts
    without running them; without it they are not looked at."""
    found = list(_findings(definition, (), task_def, check, environment))
    rank = list(Severity)
    return tuple(sorted(found, key=lambda finding: rank.index(finding.severity)))


def _findings(
    raw: Mapping[str, Any],
    path: Path,
    task_def: TaskDefOf,
    check: Check | None,
    environment: Collection[str],
) -> Iterator[Finding]:
    try:
        definition = WorkflowDef.read(raw)
    except InvalidInput as error:
        yield from _unreadable(error, path)
        return
    all_sites = list(sites(definition.tasks, raw.get("tasks"), ("tasks",)))
    within = list(_refusals(definition, all_sites, task_def, environment))
    within += definition_findings(definition, raw)
    flow = Flow(definition)
    within += shape_findings(definition, all_sites, flow)
    within += reference_findings(definition, all_sites, flow)
    for site in all_sites:
        within += setting_findings(site)
        if check is not None:
            within += _scripts(site, check)
    for finding in within:
        yield _below(finding, path)
    for site in all_sites:
        embedded = _embedded(site)
        if embedded is not None:
            place = (*path, *site.path, "subWorkflowParam", "workflowDefinition")
            yield from _findings(embedded, place, task_def, check, environment)


def _below(finding: Finding, path: Path) -> Finding:
    if not path:
        return finding
    return Finding(
        finding.code,
        finding.severity,
        path + finding.path,
        finding.ref,
        finding.message,
        finding.fix,
    )


def _embedded(site: Site) -> Mapping[str, Any] | None:
    param = site.raw.get("subWorkflowParam")
    inner = param.get("workflowDefinition") if isinstance(param, dict) else None
    return inner if isinstance(inner, dict) else None


def _unreadable(error: InvalidInput, path: Path) -> Iterator[Finding]:
    for violation in error.violations:
        steps = _steps(violation.path)
        message = f"This cannot be read: {violation.message}."
        fix = "Give it the form that the field needs."
        yield Finding("unreadable", Severity.ERROR, path + steps, None, message, fix)


def _steps(text: str) -> Path:
    """`tasks[0].forkTasks` as steps."""
    parts: list[str | int] = []
    for part in text.replace("[", ".").replace("]", "").split("."):
        if part:
            parts.append(int(part) if part.isdigit() else part)
    return tuple(parts)


def _refusals(
    definition: WorkflowDef,
    all_sites: list[Site],
    task_def: TaskDefOf,
    environment: Collection[str],
) -> Iterator[Finding]:
    """What registration refuses, and the same rules where registration does not look."""
    whole = registration_errors(definition, "", task_def=task_def, environment=environment)
    for violation in whole:
        if not violation.path.startswith(".tasks["):
            path = _steps(violation.path)
            yield Finding("refused", Severity.ERROR, path, None, violation.message, _CORRECT)
    for site in all_sites:
        for violation in task_field_errors(site.task, ""):
            yield site.finding(
                "refused", Severity.ERROR, violation.message, _CORRECT, *_steps(violation.path)
            )
        for message in type_complaints(site.task, task_def, None):
            if site.loops:
                yield site.finding(
                    "refused_elsewhere",
                    Severity.WARNING,
                    f"{message} (registration does not look into loops, the run does)",
                    _CORRECT,
                )
            else:
                yield site.finding("refused", Severity.ERROR, message, _CORRECT)


_CORRECT = "Correct it; a definition with this is not registered."


def _scripts(site: Site, check: Check) -> Iterator[Finding]:
    for place, job in _jobs(site):
        error = check(job).error
        if error is not None:
            yield site.finding(
                "bad_script",
                Severity.ERROR,
                f"The script cannot be read: {error}",
                "Correct it where the message points.",
                *place,
            )


def _jobs(site: Site) -> Iterator[tuple[Path, ScriptJob]]:
    """The scripts of a task that are written out; one that an expression makes is not known yet."""
    task, given = site.task, site.task.input_parameters
    candidates: list[tuple[Path, Any, Language | None]] = []
    if task.type == "SWITCH":
        language = EVALUATORS.get(task.evaluator_type or "")
        candidates.append((("expression",), task.expression, language))
    elif task.type == "DECISION":
        candidates.append((("caseExpression",), task.case_expression, Language.JAVASCRIPT))
    elif task.type == "DO_WHILE":
        candidates.append((("loopCondition",), task.loop_condition, Language.JAVASCRIPT))
    elif task.type == "INLINE":
        language = EVALUATORS.get(str(given.get("evaluatorType") or "javascript"))
        candidates.append((("inputParameters", "expression"), given.get("expression"), language))
    elif task.type == "LAMBDA":
        script = given.get("scriptExpression")
        candidates.append((("inputParameters", "scriptExpression"), script, Language.LAMBDA))
    elif task.type == "JSON_JQ_TRANSFORM":
        program = given.get("queryExpression")
        candidates.append((("inputParameters", "queryExpression"), program, Language.JQ))
    for path, source, language in candidates:
        from_input = path[0] == "inputParameters"
        if language is None or not isinstance(source, str) or not source.strip():
            continue
        if not from_input or "${" not in source.replace("$${", ""):
            text = source.replace("$${", "${") if from_input else source
            yield path, ScriptJob(language, text, {}, check_only=True)
