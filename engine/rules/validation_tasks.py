"""What Conductor demands of a task of each type before it takes a definition, in its own words."""

from collections.abc import Callable, Iterator

from engine.expressions.durations import InvalidDuration, InvalidUntil, duration_ms, until_ms
from engine.expressions.scripts import Language, ScriptAnswer, ScriptJob
from engine.model.definitions import TaskDef, WorkflowTask

Check = Callable[[ScriptJob], ScriptAnswer]
"""Reads a script without running it; the answer has an error if it cannot be read."""

TaskDefOf = Callable[[str], TaskDef | None]


def type_complaints(task: WorkflowTask, task_def: TaskDefOf, check: Check | None) -> Iterator[str]:
    """Why a task is not sound for its type."""
    if task.type in ("SWITCH", "DECISION"):
        yield from _choice(task, check)
    elif task.type in _KEYS_IN_INPUT:
        yield from _keys_in_input(task, task_def)
    elif task.type in _RULES:
        yield from _RULES[task.type](task)


def _required(task: WorkflowTask, field: str) -> str:
    return f"{field} field is required for taskType: {task.type} taskName: {task.name}"


def _choice(task: WorkflowTask, check: Check | None) -> Iterator[str]:
    script = None
    if task.type == "SWITCH":
        if task.evaluator_type is None:
            yield _required(task, "evaluatorType")
        elif task.expression is None:
            yield _required(task, "expression")
        elif task.evaluator_type == Language.JAVASCRIPT:
            script = task.expression
    else:
        if task.case_value_param is None and task.case_expression is None:
            yield _required(task, "caseValueParam or caseExpression")
        script = task.case_expression
    if not task.decision_cases:
        yield (
            "decisionCases should have atleast one task for "
            f"taskType: {task.type} taskName: {task.name}"
        )
    if script is not None and check is not None:
        error = check(ScriptJob(Language.JAVASCRIPT, script, {}, check_only=True)).error
        if error is not None:
            yield (
                f"Expression is not well formatted: {error}, "
                f"taskType: {task.type} taskName {task.name}"
            )


_KEYS_IN_INPUT = {
    "HTTP": (
        ("http_request", "uri", "method"),
        "inputParameters.http_request or inputParameters.uri",
    ),
    "KAFKA_PUBLISH": (("kafka_request",), "inputParameters.kafka_request"),
    "JSON_JQ_TRANSFORM": (("queryExpression",), "inputParameters.queryExpression"),
}
"""Which of these keys must be there, and how Conductor calls them. The first of them may come from
the task definition's inputTemplate."""


def _keys_in_input(task: WorkflowTask, task_def: TaskDefOf) -> Iterator[str]:
    keys, name = _KEYS_IN_INPUT[task.type]
    policy = task.task_definition or task_def(task.name or "")
    template = {} if policy is None else policy.input_template
    if keys[0] not in template and not any(key in task.input_parameters for key in keys):
        yield _required(task, name)


def _event(task: WorkflowTask) -> Iterator[str]:
    if task.sink is None:
        yield _required(task, "sink")


def _dynamic(task: WorkflowTask) -> Iterator[str]:
    if task.dynamic_task_name_param is None:
        yield _required(task, "dynamicTaskNameParam")


def _fork(task: WorkflowTask) -> Iterator[str]:
    if not task.fork_tasks:
        yield (
            "forkTasks should have atleast one task for "
            f"taskType: {task.type} taskName: {task.name}"
        )
    for number, branch in enumerate(task.fork_tasks):
        if not branch:
            yield (
                f"forkTasks[{number}] is empty for taskType: {task.type} taskName: {task.name}: "
                "give the branch a task, or remove it"
            )


def _dynamic_fork(task: WorkflowTask) -> Iterator[str]:
    if "forkTaskInputs" in task.input_parameters:
        return
    pair = {
        "dynamicForkTasksParam": task.dynamic_fork_tasks_param,
        "dynamicForkTasksInputParamName": task.dynamic_fork_tasks_input_param_name,
    }
    given = [name for name, value in pair.items() if value is not None]
    if task.dynamic_fork_join_tasks_param is None:
        yield from (_required(task, name) for name in pair if name not in given)
    elif given:
        yield (
            "dynamicForkJoinTasksParam or combination of dynamicForkTasksInputParamName and "
            f"dynamicForkTasksParam cam be used for taskType: {task.type} taskName: {task.name}"
        )


def _loop(task: WorkflowTask) -> Iterator[str]:
    by_items = task.items is not None or "_items" in task.input_parameters
    if task.loop_condition is None and not by_items:
        yield _required(task, "loopCondition")
    if not task.loop_over:
        yield _required(task, "loopOver")


def _sub_workflow(task: WorkflowTask) -> Iterator[str]:
    if task.sub_workflow_param is None:
        yield _required(task, "subWorkflowParam")


def _terminate(task: WorkflowTask) -> Iterator[str]:
    if task.optional:
        yield f"terminate task cannot be optional, taskName: {task.name}"
    status = task.input_parameters.get("terminationStatus")
    by_expression = isinstance(status, str) and "${" in status
    if status not in ("COMPLETED", "FAILED", "TERMINATED") and not by_expression:
        yield (
            "terminate task must have an terminationStatus parameter and must be set to "
            f"COMPLETED or FAILED, taskName: {task.name}"
        )


def _wait(task: WorkflowTask) -> Iterator[str]:
    duration, until = (_text(task, name) for name in ("duration", "until"))
    if duration.strip() and until.strip():
        yield "Both 'duration' and 'until' specified. Please provide only one input"
    try:
        if duration.strip():
            if not duration.startswith("${"):
                duration_ms(duration)
        elif until.strip() and not until.startswith("${"):
            until_ms(until)
    except InvalidDuration:
        yield "Either date or duration is passed as null "
    except InvalidUntil:
        yield "Unable to parse date "


def _text(task: WorkflowTask, name: str) -> str:
    value = task.input_parameters.get(name)
    return "" if value is None else str(value)


_RULES: dict[str, Callable[[WorkflowTask], Iterator[str]]] = {
    "EVENT": _event,
    "DYNAMIC": _dynamic,
    "FORK_JOIN": _fork,
    "FORK_JOIN_DYNAMIC": _dynamic_fork,
    "DO_WHILE": _loop,
    "SUB_WORKFLOW": _sub_workflow,
    "TERMINATE": _terminate,
    "WAIT": _wait,
}
