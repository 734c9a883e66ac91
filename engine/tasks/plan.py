"""A definition compiled once: what follows each task, what encloses it, which joins it feeds.

Compiled per content hash and shared by every execution of that version.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.expressions.templates import Template, compile_template
from engine.model.definitions import TaskDef, WorkflowDef, WorkflowTask
from engine.model.record import Json
from engine.tasks.words import is_system

TEMPLATED = frozenset(
    [
        "SIMPLE",
        "DYNAMIC",
        "HTTP",
        "KAFKA_PUBLISH",
        "INLINE",
        "LAMBDA",
        "JSON_JQ_TRANSFORM",
        "DO_WHILE",
    ]
)
"""The built-in types whose inputs are completed from the task definition's inputTemplate."""

AD_HOC_WORKER = TaskDef()
"""How a worker task without a definition is treated: 3 retries, 60 seconds apart."""
AD_HOC_SYSTEM = TaskDef(retry_count=0, response_timeout_seconds=0)
"""How a task of any other type without a definition is treated: no retries, no timeout."""


@dataclass(slots=True)
class Node:
    """One task of a plan."""

    ref: str
    task: WorkflowTask
    template: Template
    defaults: dict[str, Json]
    """The task definition's inputTemplate, where this type uses it."""
    task_def: TaskDef
    next: str | None
    """What follows it, seen from where it stands: behind its list, its switch, its fork."""
    loop: str | None
    """The DO_WHILE around it."""
    feeds: tuple[str, ...] = ()
    """The joins that wait for it."""
    fork: str | None = None
    """The FORK_JOIN_DYNAMIC that made it."""
    shown: bytes = b""
    """The task as JSON, encoded when it is first shown; see `shown_task`."""
    shown_policy: bytes = b""
    """Likewise its task definition; see `shown_task_def`."""
    items: Template | None = None
    """The list that a loop goes over, where it has one."""


class Plan:
    """The nodes of one definition by reference name."""

    __slots__ = ("_shown", "definition", "first", "nodes", "output")

    def __init__(self, definition: WorkflowDef) -> None:
        self.definition = definition
        self.nodes: dict[str, Node] = compile_tasks(definition.tasks, None, None)
        self.first = definition.tasks[0].ref if definition.tasks else None
        self.output = compile_template(definition.output_parameters)
        self._shown = b""

    @property
    def shown(self) -> bytes:
        """The definition as JSON, encoded once for all its executions."""
        if not self._shown:
            self._shown = self.definition.json_bytes()
        return self._shown


_plans: dict[str, Plan] = {}
_PLANS_KEPT = 512


def plan_of(definition: WorkflowDef, content_hash: str) -> Plan:
    """The plan of a snapshot; compiled at the first call for its hash."""
    plan = _plans.get(content_hash)
    if plan is None:
        if len(_plans) >= _PLANS_KEPT:
            _plans.clear()
        plan = _plans[content_hash] = Plan(definition)
    return plan


def compile_tasks(
    tasks: Sequence[WorkflowTask], after: str | None, loop: str | None
) -> dict[str, Node]:
    """Nodes for a list of tasks and all inside it; `after` follows the list's end."""
    nodes: dict[str, Node] = {}
    _compile_list(nodes, tasks, after, loop)
    for node in list(nodes.values()):
        for ref in joined(node.task):
            if ref in nodes:
                nodes[ref].feeds += (node.ref,)
    return nodes


def joined(task: WorkflowTask) -> tuple[str, ...]:
    """The reference names that a join waits for, each once."""
    if task.type not in ("JOIN", "EXCLUSIVE_JOIN"):
        return ()
    return tuple(dict.fromkeys(task.join_on + task.default_exclusive_join_task))


def _compile_list(
    nodes: dict[str, Node], tasks: Sequence[WorkflowTask], after: str | None, loop: str | None
) -> None:
    for place, task in enumerate(tasks):
        follower = tasks[place + 1].ref if place + 1 < len(tasks) else after
        nodes[task.ref] = compile_node(task, follower, loop)
        for branch in (*task.decision_cases.values(), task.default_case, *task.fork_tasks):
            _compile_list(nodes, branch, follower, loop)
        if task.loop_over:
            _compile_list(nodes, task.loop_over, None, task.ref)


def compile_node(task: WorkflowTask, follower: str | None, loop: str | None) -> Node:
    """One node, without what is inside it."""
    task_def = task.task_definition
    if task_def is None:
        task_def = AD_HOC_SYSTEM if is_system(task.type) else AD_HOC_WORKER
    uses_template = task.type in TEMPLATED or not is_system(task.type)
    return Node(
        ref=task.ref,
        task=task,
        template=compile_template(task.input_parameters),
        defaults=task_def.input_template if uses_template else {},
        task_def=task_def,
        next=None if task.type == "TERMINATE" else follower,
        loop=loop,
        items=items_of(task),
    )


def items_of(task: WorkflowTask) -> Template | None:
    """A loop's list: its `items`, else the older `_items` among its inputs."""
    if task.type != "DO_WHILE":
        return None
    if task.items is not None:
        return compile_template(task.items)
    given = task.input_parameters
    return compile_template(given["_items"]) if "_items" in given else None


def shown_task(node: Node) -> bytes:
    """The task's own JSON. It never changes, so it is encoded once for all its attempts."""
    if not node.shown:
        node.shown = node.task.json_bytes()
    return node.shown


def shown_task_def(node: Node) -> bytes:
    """The JSON of the task definition that stands behind it; empty where there is none."""
    policy = node.task.task_definition
    if policy is not None and not node.shown_policy:
        node.shown_policy = policy.json_bytes()
    return node.shown_policy
