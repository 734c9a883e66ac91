"""Advice on `${...}`: does it name something, will that be there, and is it filled in at all?"""

import re
from collections.abc import Iterator
from difflib import get_close_matches

from engine.expressions.paths import InvalidPath, compile_path
from engine.expressions.roots import SYSTEM_NAMES
from engine.expressions.secrets import SECRETS
from engine.expressions.templates import TemplateTooDeep, compile_template
from engine.model.definitions import WorkflowDef
from engine.model.record import Json
from engine.rules.validation_findings import Finding, Path, Severity, Site
from engine.rules.validation_flow import Flow, Moment

TASK_FIELDS = frozenset(
    [
        "input",
        "output",
        "taskType",
        "status",
        "referenceTaskName",
        "retryCount",
        "correlationId",
        "pollCount",
        "taskDefName",
        "scheduledTime",
        "startTime",
        "endTime",
        "workflowInstanceId",
        "taskId",
        "reasonForIncompletion",
        "callbackAfterSeconds",
        "workerId",
        "iteration",
    ]
)
WORKFLOW_FIELDS = frozenset(
    [
        "input",
        "output",
        "status",
        "workflowId",
        "parentWorkflowId",
        "parentWorkflowTaskId",
        "workflowType",
        "version",
        "correlationId",
        "reasonForIncompletion",
        "schemaVersion",
        "variables",
        "secrets",
        "env",
    ]
)

_EXPRESSION = re.compile(r"(?<!\$)\$\{([^{}]*)\}")
_FIELD = re.compile(r"([A-Za-z_][\w-]*)\.([A-Za-z_]\w*)")
_LOOKS_FILLED = re.compile(r"(?<!\$)\$\{\s*[\w-]+\.(input|output|variables)\b")


def reference_findings(
    definition: WorkflowDef, all_sites: list[Site], flow: Flow
) -> Iterator[Finding]:
    """About every expression of a definition."""
    known = {site.ref: site for site in all_sites}
    open_ended = any(site.task.type == "FORK_JOIN_DYNAMIC" for site in all_sites)
    for site in all_sites:
        view = _Viewpoint(known, open_ended, flow.moments[site.path], site)
        for steps, value in _filled_parts(site):
            yield from view.findings(value, site.path + steps)
        yield from _never_filled(site)
    at_end = _Viewpoint(known, open_ended, flow.end, None)
    yield from at_end.findings(definition.output_parameters, ("outputParameters",))
    for name, value in (
        ("variables", definition.variables),
        ("inputTemplate", definition.input_template),
    ):
        for path, text in _texts(value, (name,)):
            if _LOOKS_FILLED.search(text):
                yield _not_filled(path, None, text)


def _filled_parts(site: Site) -> Iterator[tuple[Path, Json]]:
    task, param = site.task, site.task.sub_workflow_param
    yield ("inputParameters",), task.input_parameters
    yield ("sink",), task.sink
    yield ("items",), task.items
    if param is not None:
        for name, value in (
            ("name", param.name),
            ("priority", param.priority),
            ("taskToDomain", param.task_to_domain),
            ("idempotencyKey", param.idempotency_key),
        ):
            yield ("subWorkflowParam", name), value
        if isinstance(param.workflow_definition, str):
            yield ("subWorkflowParam", "workflowDefinition"), param.workflow_definition


def _never_filled(site: Site) -> Iterator[Finding]:
    task = site.task
    parts: list[tuple[str, Json]] = [
        ("joinOn", list(task.join_on)),
        ("loopCondition", task.loop_condition),
        ("expression", task.expression),
        ("caseExpression", task.case_expression),
    ]
    if task.task_definition is not None:
        written = {**task.task_definition.json_value(), "inputTemplate": None}
        parts.append(("taskDefinition", written))
    for name, value in parts:
        for path, text in _texts(value, (*site.path, name)):
            if _LOOKS_FILLED.search(text):
                yield _not_filled(path, site.ref, text)


def _not_filled(path: Path, ref: str | None, text: str) -> Finding:
    return Finding(
        "not_filled",
        Severity.WARNING,
        path,
        ref,
        f"Expressions are not filled in here: {text!r} stays as it is written.",
        "Put the expression into inputParameters and read it from there.",
    )


def _texts(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))


class _Viewpoint:
    """The texts of one task (or of the workflow's output), seen from the moment it is reached."""

    def __init__(
        self, known: dict[str, Site], open_ended: bool, moment: Moment, site: Site | None
    ) -> None:
        self._known = known
        self._open_ended = open_ended
        self._moment = moment
        self._site = site
        self._ref = None if site is None else site.ref

    def findings(self, value: Json, path: Path) -> Iterator[Finding]:
        """About every text in a value."""
        for place, text in _texts(value, path):
            if "${" in text:
                yield from self._of_text(text, place)

    def _finding(
        self, code: str, severity: Severity, path: Path, message: str, fix: str
    ) -> Finding:
        return Finding(code, severity, path, self._ref, message, fix)

    def _of_text(self, text: str, path: Path) -> Iterator[Finding]:
        for inner in _EXPRESSION.findall(text):
            yield from self._of_expression(inner, path)
        try:
            names = sorted(compile_template(text).reads)
        except TemplateTooDeep as error:
            fix = "Take it apart, perhaps over a SET_VARIABLE task."
            yield self._finding("too_deep", Severity.ERROR, path, f"{error}.", fix)
            return
        for name in names:
            if name != "workflow" and name not in SYSTEM_NAMES:
                yield from self._of_name(name, text, path)
        if SECRETS in text:
            yield from self._of_secret(path)

    def _of_expression(self, inner: str, path: Path) -> Iterator[Finding]:
        shown = "${" + inner + "}"
        try:
            compile_path(inner)
        except InvalidPath:
            yield self._finding(
                "bad_path",
                Severity.ERROR,
                path,
                f"{shown} is no valid path; it is always null.",
                "Write it like ${ref.output.key}, ${ref.output.list[0]} or ${ref.output['a key']}; "
                "a script's own ${...} is written $${...}.",
            )
            return
        field = _FIELD.match(inner)
        if field is not None:
            yield from self._of_field(field[1], field[2], shown, path)
        if inner.endswith(".length"):
            yield self._finding(
                "length_without_call",
                Severity.WARNING,
                path,
                f"{shown} reads a key called length; it does not count.",
                "Write .length() to count the members.",
            )
        if re.search(r"\)\]\[\d+\]", inner):
            yield self._finding(
                "filter_then_index",
                Severity.WARNING,
                path,
                f"{shown}: an index behind a filter does not pick one of its hits.",
                "Pick it in a JSON_JQ_TRANSFORM or INLINE task.",
            )

    def _of_field(self, name: str, field: str, shown: str, path: Path) -> Iterator[Finding]:
        if name == "workflow":
            fields = WORKFLOW_FIELDS
        elif name in self._known:
            fields = TASK_FIELDS
        else:
            return
        if field not in fields:
            near = get_close_matches(field, fields, 1, 0.5)
            yield self._finding(
                "unknown_field",
                Severity.WARNING,
                path,
                f"{shown}: there is no {field} in {name}; this is always null.",
                f"Did you mean {near[0] if near else 'output'}? There are "
                f"{', '.join(sorted(fields))}.",
            )

    def _of_name(self, name: str, text: str, path: Path) -> Iterator[Finding]:
        moment = self._moment
        if name not in self._known:
            yield self._unknown(name, path)
        elif name == self._ref:
            yield self._finding(
                "reads_itself",
                Severity.WARNING,
                path,
                f"{name} reads itself: what it finds is its own attempt, without an output yet.",
                "Read the task that has the value.",
            )
        elif self._site is not None and name in self._site.loops:
            if re.search(r"\$\{" + re.escape(name) + r"(\.output)?\}", text):
                yield self._grows(name, path)
        elif name not in moment.certain:
            yield self._not_certain(name, path)

    def _unknown(self, name: str, path: Path) -> Finding:
        near = get_close_matches(name, self._known, 1)
        meant = f"Did you mean {near[0]}? " if near else ""
        generated = (
            " Unless a FORK_JOIN_DYNAMIC makes one of that name, this is null."
            if self._open_ended
            else " It is always null."
        )
        return self._finding(
            "unknown_ref",
            Severity.WARNING if self._open_ended else Severity.ERROR,
            path,
            f"No task has the reference name {name}.{generated}",
            f"{meant}Use a reference name of this definition, or workflow.input / "
            "workflow.variables.",
        )

    def _grows(self, name: str, path: Path) -> Finding:
        return self._finding(
            "loop_reads_itself",
            Severity.WARNING,
            path,
            f"The body of {name} takes in the whole output of {name}, which holds all rounds so "
            "far: it doubles with every round until the payload limit.",
            f"Read one value, such as ${{{name}.output.iteration}}, or a task of the body.",
        )

    def _not_certain(self, name: str, path: Path) -> Finding:
        moment, site = self._moment, self._site
        in_same_loop = site is not None and bool(
            set(site.loops) & set(self._known[name].loops) and name in moment.possible
        )
        if name in moment.beside or name in moment.coming:
            return self._finding(
                "parallel_ref",
                Severity.WARNING,
                path,
                f"{name} runs in parallel: whether it has ended by now is a matter of luck.",
                f"Read it behind a JOIN that waits for {name}.",
            )
        if in_same_loop and self._known[name].path > (() if site is None else site.path):
            return self._finding(
                "earlier_round",
                Severity.INFO,
                path,
                f"{name} comes later in the loop: this is null in the first round, then the value "
                "of the round before.",
                "Keep it if that is meant; else move the task up.",
            )
        if name in moment.possible:
            return self._finding(
                "maybe_ref",
                Severity.WARNING,
                path,
                f"{name} does not run on every path that leads here; where it does not, this is "
                "null.",
                "Make sure that null will do, or carry the value in a workflow variable.",
            )
        return self._finding(
            "later_ref",
            Severity.ERROR,
            path,
            f"{name} cannot have run by now: this is always null.",
            f"Move this task behind {name}, or read something that comes before.",
        )

    def _of_secret(self, path: Path) -> Iterator[Finding]:
        type_ = None if self._site is None else self._site.task.type
        if type_ is None or type_ in ("SET_VARIABLE", "TERMINATE"):
            yield self._finding(
                "secret_in_output",
                Severity.WARNING,
                path,
                "A secret is not filled in here: what is stored is the reference to it.",
                "Name the secret in the input of the task that needs it.",
            )
        elif type_ in ("SWITCH", "DECISION", "DO_WHILE", "INLINE", "LAMBDA", "JSON_JQ_TRANSFORM"):
            yield self._finding(
                "secret_in_script",
                Severity.WARNING,
                path,
                "A script may put the secret into its output, which is stored.",
                "Hand the secret to a worker or an HTTP task instead.",
            )
