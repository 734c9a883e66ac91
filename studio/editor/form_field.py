"""What one field of a form is: where its value lives, how it is asked for, what it means.

The tables of fields per task type are beside this file; widgets are made elsewhere.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

FieldPath = tuple[str, ...]


class Kind(StrEnum):
    """How a value is asked for. `expression` is a value that may hold placeholders."""

    TEXT = "text"
    INT = "int"
    NUMBER = "number"
    BOOL = "bool"
    CHOICE = "choice"
    EXPRESSION = "expression"
    JSON = "json"
    JAVASCRIPT = "code:javascript"
    JQ = "code:jq"
    SQL = "code:sql"
    MAP = "map"
    LIST = "list"
    REFS = "ref-multi"
    WORKFLOW = "workflow-picker"
    VERSION = "version-picker"
    TASK_DEFINITION = "task-definition-picker"
    DURATION = "duration"
    DATE = "date"
    SECONDS = "seconds"
    MILLISECONDS = "milliseconds"


BASIC, ADVANCED = "basic", "advanced"


@dataclass(frozen=True, slots=True)
class Field:
    """`shown_when` is (path, values): the field is asked for only while that value is one of them.

    `default` is what the engine takes when the key is absent, so leaving the field empty means it.
    """

    path: FieldPath
    label: str
    kind: Kind
    help: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    group: str = BASIC
    shown_when: tuple[FieldPath, tuple[Any, ...]] | None = None

    def value_in(self, task: Any) -> Any:
        """The value as the task holds it; None when it is absent."""
        for step in self.path:
            task = task.get(step) if isinstance(task, dict) else None
        return task


def given(name: str) -> FieldPath:
    """A key of the inputParameters."""
    return ("inputParameters", name)
