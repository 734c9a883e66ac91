"""A definition as an execution runs by it: task definitions embedded, child versions pinned; and the
input that it begins with.

What is registered later does not change a running execution.
"""

from collections.abc import Callable

from engine.expressions.templates import TemplateTooDeep, with_input_template
from engine.model.definitions import SchemaDef, WorkflowDef, WorkflowTask
from engine.model.errors import InvalidInput
from engine.model.facts import Facts, Snapshot
from engine.model.ids import content_hash
from engine.model.record import Json
from engine.tasks.plan import plan_of


def snapshot(definition: WorkflowDef, facts: Facts) -> Snapshot:
    """The snapshot of a definition with the catalogue as it is now.

    A SUB_WORKFLOW without a version is pinned to the latest one (0 stays: the latest when it is
    launched), unless its name or definition
    is an expression; a name that nobody has registered is refused.
    """
    changed = {}
    for task in definition.all_tasks():
        prepared = _with_child_version(_with_task_def(task, facts), facts)
        if prepared is not task:
            changed[task.ref] = prepared
    if changed:
        definition = definition.with_tasks(changed)
    digest = content_hash(definition.json_bytes())
    try:
        plan_of(definition, digest)
    except TemplateTooDeep as error:
        raise InvalidInput(f"An expression of {definition.name} cannot be read: {error}") from None
    return Snapshot(definition, digest)


def _with_task_def(task: WorkflowTask, facts: Facts) -> WorkflowTask:
    if task.task_definition is not None:
        return task
    found = facts.task_def(task.name or "")
    return task if found is None else task.but(task_definition=found)


def _with_child_version(task: WorkflowTask, facts: Facts) -> WorkflowTask:
    param = task.sub_workflow_param
    if task.type != "SUB_WORKFLOW" or param is None or param.version not in (None, ""):
        return task
    name = param.name or ""
    if param.workflow_definition is not None or "${" in name or not name:
        return task
    found = facts.definition(name, None)
    if found is None:
        raise InvalidInput(
            f"No such workflow defined. name={name}, version=null. Task {task.ref} runs it as a "
            "sub-workflow: register it first, or give subWorkflowParam.workflowDefinition."
        )
    pinned = param.but(version=found.definition.version)
    return task.but(sub_workflow_param=pinned)


def inline_snapshot(described: Json, facts: Facts) -> Snapshot:
    """The snapshot of a definition that comes within another or with a request."""
    if not isinstance(described, dict):
        raise InvalidInput(f"workflowDefinition is not an object: {described!r}")
    return snapshot(WorkflowDef.read(described, "workflowDefinition"), facts)


def input_for(
    definition: WorkflowDef,
    given: dict[str, Json],
    complain: Callable[[SchemaDef, Json], str | None],
) -> dict[str, Json]:
    """The input with the definition's defaults. InvalidInput: it breaks the schema that the
    definition enforces; `complain` says how a value breaks one."""
    completed = with_input_template(given, definition.input_template)
    schema = definition.input_schema
    if schema is not None and definition.enforce_schema:
        complaint = complain(schema, completed)
        if complaint is not None:
            raise InvalidInput(
                f"The input does not fit the inputSchema of {definition.name}: {complaint}"
            )
    return completed
