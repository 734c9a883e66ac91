"""Which fields the form of a task asks for: first its type's own, then those common to all.

The tables say it per type word; here they are put together for one task as it stands.
"""

from collections.abc import Iterator

from studio.editor.ai_fields import AI_FIELDS
from studio.editor.form_field import ADVANCED, Field, Kind
from studio.editor.system_fields import INPUTS, REQUEST, SYSTEM_FIELDS, http_fields
from studio.editor.tree import JsonObject, type_of

IDENTITY = (
    Field(("name",), "Name", Kind.TASK_DEFINITION,
          "For a worker task the type that workers poll for; else whose retry and timeout policy applies.", required=True),
    Field(("taskReferenceName",), "Reference name", Kind.TEXT,
          "Unique in the workflow; others read this task by it.", required=True),
    Field(("description",), "Description", Kind.TEXT, "For readers; it has no effect."),
)  # fmt: skip

_START_DELAY = Field(("startDelay",), "Start delay", Kind.SECONDS,
                     "How long the task waits before it is first handed out.", default=0, group=ADVANCED)  # fmt: skip

POLICY = (
    Field(("optional",), "Optional", Kind.BOOL,
          "When it fails for good, the workflow goes on.", default=False, group=ADVANCED),
    Field(("permissive",), "Permissive", Kind.BOOL,
          "When it fails for good, its siblings go on and the workflow fails at the end.", default=False, group=ADVANCED),
    Field(("retryCount",), "Retries", Kind.INT,
          "Wins over the task definition; a plain number.", group=ADVANCED),
    _START_DELAY,
    Field(("taskDefinition",), "Task definition in place", Kind.JSON,
          "Retry, timeout and limits written here; they win over the registered ones.", group=ADVANCED),
)  # fmt: skip

WORKFLOW_FIELDS = (
    Field(("name",), "Name", Kind.TEXT, "Together with the version it identifies the workflow.", required=True),
    Field(("description",), "Description", Kind.TEXT, "For readers; it has no effect."),
    Field(("ownerEmail",), "Owner", Kind.TEXT, "Who to ask; some servers require it."),
    Field(("inputParameters",), "Input names", Kind.LIST, "The inputs it expects; for readers and completion, not enforced."),
    Field(("inputTemplate",), "Default input", Kind.MAP, "Fills missing keys when an execution starts with some input."),
    Field(("outputParameters",), "Output", Kind.MAP, "The output of the execution, worked out at its end."),
    Field(("failureWorkflow",), "Failure workflow", Kind.WORKFLOW, "Started when an execution fails, times out or terminates itself."),
    Field(("failureWorkflowVersion",), "Failure workflow version", Kind.VERSION, "Empty means the latest.", group=ADVANCED),
    Field(("timeoutSeconds",), "Timeout", Kind.SECONDS, "How long an execution may take; 0 is no limit.", default=0),
    Field(("timeoutPolicy",), "On timeout", Kind.CHOICE, "End the execution, or only say so.",
          default="ALERT_ONLY", choices=("TIME_OUT_WF", "ALERT_ONLY")),
    Field(("restartable",), "Restartable", Kind.BOOL, "Otherwise a restart is refused.", default=True, group=ADVANCED),
    Field(("variables",), "Variables", Kind.MAP, "Their first values, taken as they stand; placeholders are not resolved here.", group=ADVANCED),
    Field(("inputSchema",), "Input schema", Kind.JSON, "What the input has to look like.", group=ADVANCED),
    Field(("outputSchema",), "Output schema", Kind.JSON, "What the output has to look like.", group=ADVANCED),
    Field(("workflowStatusListenerEnabled",), "Status listener", Kind.BOOL, "Tells the configured listener about changes of status.", default=False, group=ADVANCED),
    Field(("metadata",), "Metadata", Kind.MAP, "Free keys for tools.", group=ADVANCED),
)  # fmt: skip

# What Conductor refuses or never looks at is not asked for.
_NEVER_RETRIED = frozenset({
    "SWITCH", "DECISION", "FORK_JOIN", "FORK_JOIN_DYNAMIC", "JOIN", "EXCLUSIVE_JOIN", "DO_WHILE", "TERMINATE",
    "NOOP", "SET_VARIABLE",
})  # fmt: skip
_DELAYED_NEVER = _NEVER_RETRIED | {"INLINE", "LAMBDA", "JSON_JQ_TRANSFORM", "HUMAN", "EVENT"}


def fields_of(task: JsonObject) -> tuple[Field, ...]:
    """Every field of this task's form that is asked for as its values stand now."""
    word = type_of(task)
    return tuple(
        field
        for field in (*IDENTITY, *own_fields(task), *_policy_of(word))
        if is_shown(field, task)
    )


def own_fields(task: JsonObject) -> tuple[Field, ...]:
    """The fields that only this type has; a word that is not listed is a worker with inputs."""
    word = type_of(task)
    if word == "HTTP":
        inputs = task.get("inputParameters")
        flat = isinstance(inputs, dict) and inputs.get("http_request") is None and inputs
        return http_fields(REQUEST[:1] if flat else REQUEST)
    if word in AI_FIELDS:
        return AI_FIELDS[word]
    return SYSTEM_FIELDS.get(word, (INPUTS,))


def is_shown(field: Field, task: JsonObject) -> bool:
    if field.shown_when is None:
        return True
    path, values = field.shown_when
    return Field(path, "", Kind.TEXT, "").value_in(task) in values


def other_inputs(task: JsonObject) -> JsonObject:
    """The inputParameters that no field of the form asks for by name."""
    inputs = task.get("inputParameters")
    named = {field.path[1] for field in own_fields(task) if len(field.path) > 1}
    return {k: v for k, v in inputs.items() if k not in named} if isinstance(inputs, dict) else {}


def missing(task: JsonObject) -> list[Field]:
    """The required fields that are still empty. An empty text counts, zero and false do not."""
    return [
        field
        for field in fields_of(task)
        if field.required
        and field.value_in(task) in (None, "")
        # A loop over a list needs the key, but not a condition.
        and not (
            field.path == ("loopCondition",) and task.get("items") and field.value_in(task) == ""
        )
    ]


def _policy_of(word: str) -> Iterator[Field]:
    for field in POLICY:
        if field.path == ("optional",) and word == "TERMINATE":
            continue
        if field.path == ("retryCount",) and word in _NEVER_RETRIED:
            continue
        if field is _START_DELAY and word in _DELAYED_NEVER:
            continue
        yield field
