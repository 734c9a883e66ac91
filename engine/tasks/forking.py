"""The three ways in which the input of a FORK_JOIN_DYNAMIC describes its branches."""

from typing import Any

from engine.model.definitions import WorkflowTask
from engine.model.errors import InvalidInput
from engine.model.record import Json, encode
from engine.tasks.words import is_system


class BadFork(ValueError):
    """The input describes no branches; the text says why."""


def forked_tasks(task: WorkflowTask, given: dict[str, Json], another: bool) -> list[WorkflowTask]:
    """The tasks to fork. `another`: a dynamic fork has run before, so generated reference names
    carry the fork's own."""
    if isinstance(given.get("forkTaskInputs"), list):
        return _from_inputs(task, given, another)
    if task.dynamic_fork_tasks_param is not None:
        return _from_tasks_and_inputs(task, given)
    if task.dynamic_fork_join_tasks_param is not None:
        return _from_one_object(task, given)
    raise BadFork("Dynamic tasks could not be created")


def _from_inputs(task: WorkflowTask, given: dict[str, Json], another: bool) -> list[WorkflowTask]:
    """One kind of task, a list of inputs."""
    workflow = given.get("forkTaskWorkflow")
    type_ = "SUB_WORKFLOW" if workflow else str(given.get("forkTaskType") or "SIMPLE")
    name = given.get("forkTaskName")
    if not name:
        name = type_ if is_system(type_) and not workflow else task.ref
    stem = f"_{task.ref}_{name}" if another else f"_{name}"
    children = []
    for index, element in enumerate(given["forkTaskInputs"]):
        inputs = dict(element) if isinstance(element, dict) else {"input": element}
        described = _said_about_task(inputs)
        described |= {
            "name": str(name),
            "taskReferenceName": f"{stem}_{index}",
            "type": type_,
            "inputParameters": {**inputs, "__index": index},
        }
        if task.optional:
            described["optional"] = True
        if workflow:
            described["subWorkflowParam"] = {
                "name": str(workflow),
                "version": _version(given.get("forkTaskWorkflowVersion")),
                "taskToDomain": inputs.get("taskToDomain"),
            }
        children.append(WorkflowTask.read(described))
    return children


_OWN = frozenset({"name", "taskReferenceName", "type", "inputParameters"})
"""What the fork says about each of its tasks."""
_SAYABLE = frozenset(str(item.alias) for item in WorkflowTask.model_fields.values()) - _OWN


def _said_about_task(element: dict[str, Json]) -> dict[str, Any]:
    """An element is the task's input, and read as a workflow task as well: its `optional` or `sink`
    take effect. What could be no such field is input alone."""
    said = {}
    for key in element.keys() & _SAYABLE:
        try:
            WorkflowTask.read({key: element[key]})
        except InvalidInput:
            continue
        said[key] = element[key]
    return said


def _version(value: Json) -> int | None:
    """A number or its text; anything else means the latest."""
    try:
        return None if value is None or isinstance(value, bool) else int(value)
    except (TypeError, ValueError):
        return None


def _from_tasks_and_inputs(task: WorkflowTask, given: dict[str, Json]) -> list[WorkflowTask]:
    """A list of workflow tasks, and a map of inputs by reference name."""
    param = task.dynamic_fork_tasks_param or ""
    described = given.get(param)
    if not isinstance(described, list):
        raise BadFork(_unreadable(param, described))
    try:
        children = [WorkflowTask.read(item, f"{param}[{i}]") for i, item in enumerate(described)]
    except InvalidInput:
        raise BadFork(_unreadable(param, described)) from None
    inputs = given.get(task.dynamic_fork_tasks_input_param_name or "")
    if not isinstance(inputs, dict):
        shown = encode(inputs).decode()
        raise BadFork(
            "Input to the dynamically forked tasks is not a map -> expecting a map of K,V  "
            f"but found {shown}"
        )
    for child in children:
        if not child.ref:
            raise BadFork(f"Input '{param}' is invalid. A task has no taskReferenceName")
    return [
        child.but(input_parameters={**child.input_parameters, **_map(inputs.get(child.ref))})
        for child in children
    ]


def _unreadable(param: str, value: Json) -> str:
    return (
        f"Input '{param}' is invalid. Cannot deserialize a list of Workflow Tasks from "
        f"'{encode(value).decode()}'"
    )


def _map(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _from_one_object(task: WorkflowTask, given: dict[str, Json]) -> list[WorkflowTask]:
    """The oldest form: one object with tasks and their inputs."""
    param = task.dynamic_fork_join_tasks_param or ""
    holder = given.get(param)
    described = holder.get("dynamicTasks") if isinstance(holder, dict) else None
    if not isinstance(described, list):
        raise BadFork(
            f"Dynamic tasks could not be created. The value of {param} from task's input "
            f"{encode(given).decode()} has no dynamic tasks to be scheduled"
        )
    children = []
    for item in described:
        if not isinstance(item, dict):
            raise BadFork(_unreadable(param, described))
        workflow = item.get("workflowName")
        child = {
            "name": item.get("taskName") or workflow,
            "taskReferenceName": item.get("referenceName"),
            "type": "SUB_WORKFLOW" if workflow else item.get("type") or "SIMPLE",
            "inputParameters": _map(item.get("input")),
        }
        if workflow:
            child["subWorkflowParam"] = {"name": workflow}
        children.append(WorkflowTask.read(child))
    return children
