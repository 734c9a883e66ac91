"""Advice on single settings: names, timeouts, retries, types, fields that nothing reads."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from engine.model.definitions import (
    RetryLogic,
    SubWorkflowParams,
    TaskDef,
    TimeoutPolicy,
    WorkflowDef,
    WorkflowTask,
    WorkflowTimeoutPolicy,
)
from engine.model.record import Record
from engine.rules.validation import task_def_errors
from engine.rules.validation_findings import Finding, Path, Severity, Site, step_into
from engine.tasks.words import EXTERNAL, NEVER_RETRIED, QUEUED, SYSTEM, UNHANDLED

_AWKWARD = re.compile(r"[/\\?%]|__")
_SUCCESSORS = {"DECISION": "SWITCH", "LAMBDA": "INLINE", "EXCLUSIVE_JOIN": "JOIN"}
_DELAYABLE = EXTERNAL | QUEUED | {"SIMPLE", "DYNAMIC", "SUB_WORKFLOW", "START_WORKFLOW"}
_COMPLETED_LATER = frozenset({"EVENT", "HTTP", "KAFKA_PUBLISH"})
_OUR_FIELDS = {"TaskDef": {"enforceSchema"}, "WorkflowTask": {"workflowTaskType"}}


def definition_findings(definition: WorkflowDef, raw: Mapping[str, Any]) -> Iterator[Finding]:
    """About the workflow's own fields."""
    yield from _awkward_name(definition.name, "The workflow name", ("name",), None)
    yield from _ignored(raw, WorkflowDef, (), None)
    policy, seconds = definition.timeout_policy, definition.timeout_seconds
    if seconds > 0 and policy is WorkflowTimeoutPolicy.ALERT_ONLY:
        yield Finding(
            "timeout_without_policy",
            Severity.WARNING,
            ("timeoutSeconds",),
            None,
            f"timeoutSeconds is {seconds}, but timeoutPolicy is ALERT_ONLY (which is also what an "
            "absent one means): nothing ends the workflow.",
            "Set timeoutPolicy to TIME_OUT_WF.",
        )
    elif seconds <= 0 and policy is WorkflowTimeoutPolicy.TIME_OUT_WF:
        yield Finding(
            "policy_without_timeout",
            Severity.INFO,
            ("timeoutPolicy",),
            None,
            "timeoutPolicy is TIME_OUT_WF, but there is no timeoutSeconds: it never strikes.",
            "Set timeoutSeconds.",
        )
    if not definition.output_parameters:
        yield Finding(
            "no_output_parameters",
            Severity.INFO,
            ("outputParameters",),
            None,
            "Without outputParameters the output is that of whichever task was scheduled last.",
            "Name what callers need, such as {'total': '${sum.output.result}'}.",
        )
    if definition.failure_workflow and definition.failure_workflow == definition.name:
        yield Finding(
            "fails_into_itself",
            Severity.WARNING,
            ("failureWorkflow",),
            None,
            "The workflow is its own failureWorkflow: a failure that repeats starts it for ever.",
            "Write a workflow of its own that compensates.",
        )


def setting_findings(site: Site) -> Iterator[Finding]:
    """About one task's own fields."""
    task = site.task
    yield from _awkward_name(task.name, "The task name", (*site.path, "name"), site.ref)
    yield from _awkward_ref(site)
    yield from _ignored(site.raw, WorkflowTask, site.path, site.ref)
    param = step_into(site.raw, ("subWorkflowParam",))
    if isinstance(param, dict):
        place = (*site.path, "subWorkflowParam")
        yield from _ignored(param, SubWorkflowParams, place, site.ref)
    yield from _type(site)
    yield from _idle_settings(site)
    if task.task_definition is not None:
        place = (*site.path, "taskDefinition")
        written = step_into(site.raw, ("taskDefinition",))
        yield from _ignored(written or {}, TaskDef, place, site.ref)
        yield from policy_findings(task.task_definition, place, site.ref)


def policy_findings(policy: TaskDef, path: Path, ref: str | None = None) -> Iterator[Finding]:
    """About a task definition: what cannot be, and what contradicts itself."""
    for error in task_def_errors(policy.but(name=policy.name or "embedded"), ""):
        place = (*path, error.path.strip(".")) if error.path else path
        message = error.message
        yield Finding(
            "bad_task_definition", Severity.ERROR, place, ref, message, "Correct the value."
        )
    for field, message, fix in _contradictions(policy):
        yield Finding("contradicting_retry", Severity.WARNING, (*path, field), ref, message, fix)


def _contradictions(policy: TaskDef) -> Iterator[tuple[str, str, str]]:
    delay, longest = policy.retry_delay_seconds, policy.max_retry_delay_seconds
    if policy.retry_count == 0:
        if policy.timeout_policy is TimeoutPolicy.RETRY and (
            policy.timeout_seconds or policy.total_timeout_seconds or policy.poll_timeout_seconds
        ):
            yield (
                "timeoutPolicy",
                "timeoutPolicy is RETRY, but retryCount is 0: a timeout fails the workflow.",
                "Raise retryCount, or say TIME_OUT_WF.",
            )
        return
    if delay < 0:
        yield "retryDelaySeconds", f"retryDelaySeconds is {delay}.", "Give 0 or more seconds."
    if delay == 0 and policy.retry_logic is not RetryLogic.FIXED:
        yield (
            "retryLogic",
            f"{policy.retry_logic} grows from retryDelaySeconds, which is 0: all retries come at "
            "once.",
            "Give retryDelaySeconds at least 1.",
        )
    if 0 < longest < delay:
        yield (
            "maxRetryDelaySeconds",
            f"maxRetryDelaySeconds {longest} is below retryDelaySeconds {delay}: every delay is "
            f"{longest} seconds.",
            "Raise it, or lower retryDelaySeconds.",
        )
    if policy.backoff_scale_factor > 1 and policy.retry_logic is not RetryLogic.LINEAR_BACKOFF:
        yield (
            "backoffScaleFactor",
            f"backoffScaleFactor counts for LINEAR_BACKOFF alone, not for {policy.retry_logic}.",
            "Set retryLogic to LINEAR_BACKOFF, or leave the factor out.",
        )
    if policy.total_timeout_seconds and delay >= policy.total_timeout_seconds:
        yield (
            "totalTimeoutSeconds",
            f"totalTimeoutSeconds {policy.total_timeout_seconds} is over before the first retry, "
            f"{delay} seconds after a failure.",
            "Raise it, or lower retryDelaySeconds.",
        )


def _awkward_name(name: str | None, what: str, path: Path, ref: str | None) -> Iterator[Finding]:
    if name and "${" not in name and _AWKWARD.search(name):
        yield Finding(
            "awkward_name",
            Severity.WARNING,
            path,
            ref,
            f"{what} {name!r} has one of / \\ ? % or two underscores, which paths of the API and "
            "names of loop rounds give a meaning of their own.",
            "Use letters, digits, single underscores and hyphens.",
        )


def _awkward_ref(site: Site) -> Iterator[Finding]:
    ref = site.ref
    if "." in ref or " " in ref or _AWKWARD.search(ref.replace("__", "_")):
        yield site.finding(
            "awkward_ref",
            Severity.WARNING,
            f"The reference name {ref!r} cannot be written as ${{{ref}.output...}}.",
            "Use letters, digits and underscores.",
            "taskReferenceName",
        )


def _ignored(
    raw: Mapping[str, Any], record: type[Record], path: Path, ref: str | None
) -> Iterator[Finding]:
    known = {to_camel(name) for name in record.model_fields} | _OUR_FIELDS.get(
        record.__name__, set()
    )
    for key in raw:
        if key not in known:
            yield Finding(
                "ignored_field",
                Severity.WARNING,
                (*path, key),
                ref,
                f"Nothing reads the field {key!r}.",
                "Check its spelling and its place, or remove it.",
            )


def _type(site: Site) -> Iterator[Finding]:
    type_, name = site.task.type, site.task.name or ""
    if type_ in _SUCCESSORS:
        yield site.finding(
            "old_type",
            Severity.INFO,
            f"{type_} is the older form of {_SUCCESSORS[type_]}.",
            f"Use {_SUCCESSORS[type_]} in what you write anew.",
            "type",
        )
    elif type_ in EXTERNAL or type_ in UNHANDLED:
        yield site.finding(
            "needs_worker",
            Severity.INFO,
            f"{type_} is not carried out here: it waits for a worker that polls for {type_}.",
            "Run such a worker.",
            "type",
        )
    elif type_ not in SYSTEM and type_ not in ("SIMPLE", "DYNAMIC"):
        yield site.finding(
            "unknown_type",
            Severity.INFO,
            f"{type_} is no type of the engine: the task waits for a worker that polls for {type_}.",
            "If a worker is meant, fine; else check the spelling.",
            "type",
        )
    if type_ == "SIMPLE" and name in SYSTEM:
        yield site.finding(
            "named_like_a_type",
            Severity.WARNING,
            f"The SIMPLE task {site.ref} is called {name}: it waits for a worker of that name, "
            f"while Conductor would run it as {name}.",
            f"Set type to {name}, or choose another name.",
            "name",
        )


def _idle_settings(site: Site) -> Iterator[Finding]:
    task = site.task
    if (task.retry_count or 0) > 0 and task.type in NEVER_RETRIED:
        yield site.finding(
            "retry_without_effect",
            Severity.WARNING,
            f"A {task.type} task is never retried, whatever retryCount says.",
            "Put the retries on the tasks inside it, or leave them out.",
            "retryCount",
        )
    if task.start_delay > 0 and task.type in SYSTEM and task.type not in _DELAYABLE:
        yield site.finding(
            "delay_without_effect",
            Severity.WARNING,
            f"A {task.type} task does not heed startDelay.",
            "Put a WAIT task in front of it.",
            "startDelay",
        )
    if task.async_complete and task.type not in _COMPLETED_LATER:
        yield site.finding(
            "async_without_effect",
            Severity.WARNING,
            f"A {task.type} task does not heed asyncComplete.",
            "Leave it out; a worker keeps a task open by reporting IN_PROGRESS.",
            "asyncComplete",
        )
