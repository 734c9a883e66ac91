"""A definition as its author would have written it: without what a server fills in.

Only keys go away whose absence says the same, so nothing that runs is changed by it.
"""

from typing import Any, Final

from studio.editor.tree import JsonObject, branches_of, copied, type_of

# What a server adds of its own accord, and nobody edits.
_KEPT_BY_SERVER: Final = ("createTime", "updateTime", "createdBy", "updatedBy")
_EMPTY: Final[tuple[Any, ...]] = (None, [], {}, "")
_FALSE: Final = ("optional", "permissive", "asyncComplete", "workflowStatusListenerEnabled")
# The keys that say what a type is about stay even when they are empty.
_OWN: Final = {
    "SWITCH": ("decisionCases", "defaultCase"),
    "DECISION": ("decisionCases", "defaultCase"),
    "FORK_JOIN": ("forkTasks",),
    "JOIN": ("joinOn",),
    "EXCLUSIVE_JOIN": ("joinOn",),
    "DO_WHILE": ("loopOver", "loopCondition"),
}
_WORKFLOW_MAY_BE_EMPTY: Final = ("description", "inputParameters", "outputParameters", "tasks")


def plain(definition: JsonObject) -> JsonObject:
    """A copy without the defaults that were written out."""
    whole: JsonObject = copied(definition)
    for key in list(whole):
        value = whole[key]
        said_nothing = value in _EMPTY and key not in _WORKFLOW_MAY_BE_EMPTY
        if key in _KEPT_BY_SERVER or said_nothing or (key in _FALSE and value is False):
            del whole[key]
    _plain_list(whole.get("tasks"))
    return whole


def _plain_list(tasks: Any) -> None:
    for task in tasks if isinstance(tasks, list) else ():
        if isinstance(task, dict):
            _plain_task(task)


def _plain_task(task: JsonObject) -> None:
    for branch in branches_of(task):
        _plain_list(branch.tasks)
    own = (*_OWN.get(type_of(task), ()), "inputParameters", "description", "name", "type")
    for key in list(task):
        value = task[key]
        nothing = value in _EMPTY or (key in _FALSE and value is False)
        if key not in own and (nothing or (key == "startDelay" and value == 0)):
            del task[key]
