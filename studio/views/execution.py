"""One execution: its head, its tasks as an outline, why it failed, and each task with its attempts.

Made from what our engine's outline says or from the whole execution as Conductor gives it; both give
the same view. Unknown statuses stay as they are. No request, no Streamlit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from studio.graph import marks
from studio.graph.outline import OPEN, age, base_ref, number, outline_of
from studio.views import wording

LIVE: Final = frozenset({"RUNNING", "PAUSED"})
_NEVER_ROOT: Final = frozenset({"CANCELED", "SKIPPED"})
# Containers fail because something inside them failed.
_CONSEQUENCE: Final = frozenset({"JOIN", "EXCLUSIVE_JOIN", "DO_WHILE", "FORK_JOIN"})

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ExecutionView:
    """What the page shows. `outline` has the keys of `studio.graph.outline`."""

    id: str
    name: str
    version: int
    status: str
    reason: str
    correlation: str
    started_ms: int
    ended_ms: int
    started_by: str
    parent_id: str
    rerun_from: str
    stuck: str
    input: Any
    output: Any
    variables: Any
    definition: dict[str, Any]
    outline: list[Entry]

    @property
    def live(self) -> bool:
        return self.status in LIVE

    @property
    def failed(self) -> bool:
        return marks.mark_of(self.status).bad or self.status == "TERMINATED"

    def ran_ms(self, now_ms: int) -> int | None:
        return (self.ended_ms or now_ms) - self.started_ms if self.started_ms else None


def view_of(execution: Mapping[str, Any], tasks: Mapping[str, Any] | None = None) -> ExecutionView:
    """`tasks` is an outline or an execution that is newer than `execution` and has its tasks."""
    newer = tasks or execution
    definition = execution.get("workflowDefinition")
    definition = dict(definition) if isinstance(definition, Mapping) else {}

    def of(key: str) -> Any:
        return newer.get(key, execution.get(key))

    return ExecutionView(
        id=str(execution.get("workflowId") or ""),
        name=str(of("workflowName") or of("workflowType") or definition.get("name") or ""),
        version=number(of("workflowVersion") or of("version") or definition.get("version")),
        status=str(of("status") or ""),
        reason=wording.reason_said(str(of("reasonForIncompletion") or of("reason") or "")),
        correlation=str(of("correlationId") or ""),
        started_ms=wording.millis(of("startTime") or of("createTime")),
        ended_ms=wording.millis(of("endTime")),
        started_by=str(of("createdBy") or ""),
        parent_id=str(of("parentWorkflowId") or ""),
        rerun_from=str(of("reRunFromWorkflowId") or ""),
        stuck=str(of("stuck") or ""),
        input=execution.get("input") or {},
        output=execution.get("output") or {},
        variables=execution.get("variables") or {},
        definition=definition,
        outline=entries_of(newer),
    )


def entries_of(document: Mapping[str, Any]) -> list[Entry]:
    """The outline of a document with `tasks`, whichever server it comes from."""
    tasks = document.get("tasks")
    rows = [task for task in tasks if isinstance(task, Mapping)] if isinstance(tasks, list) else []
    foreign = any("referenceTaskName" in row for row in rows)
    entries = outline_of(document) if foreign else [_own_entry(row) for row in rows]
    for entry in entries:
        if entry.get("reason"):
            entry["reason"] = wording.reason_said(str(entry["reason"]))
    return entries


def _own_entry(row: Mapping[str, Any]) -> Entry:
    """Our engine's words for an attempt, in those of the pictures."""
    iteration = number(row.get("iteration"))
    reference = str(row.get("reference") or row.get("ref") or "")
    entry = dict(row)
    # A worker task's type is its own name in Conductor; the pictures know it as SIMPLE.
    if row.get("type") == row.get("name") and str(row.get("type")) not in marks.TYPES:
        entry["type"] = "SIMPLE"
    entry["ref"] = str(row.get("ref") or base_ref(reference, iteration))
    entry["reference"] = reference
    entry["iteration"] = iteration
    entry["retryCount"] = number(row.get("retryCount", row.get("attempt")))
    entry["status"] = str(row.get("status") or "")
    entry["forkRef"] = row.get("forkRef") or row.get("fork")
    return entry


@dataclass(frozen=True, slots=True)
class RootFailure:
    """The first thing that went wrong, and what followed from it."""

    ref: str
    status: str
    reason: str
    type: str
    name: str
    iteration: int
    tries: int
    at_ms: int
    seq: int | None
    task_id: str
    worker: str
    child_id: str
    consequences: tuple[str, ...]


def root_failure(view: ExecutionView) -> RootFailure | None:
    """The task whose last attempt ended badly first; None when no task has."""
    last = latest_attempts(view.outline)
    bad = [
        entry
        for entry in last
        if marks.mark_of(entry["status"]).bad and entry["status"] not in _NEVER_ROOT
    ]
    if not bad:
        return None
    own = [entry for entry in bad if entry.get("type") not in _CONSEQUENCE] or bad
    root = min(own, key=lambda entry: (number(entry.get("endTime")) or 1 << 62, age(entry)))
    followed = [
        f"{entry['ref']} {marks.mark_of(entry['status']).word.lower()}"
        for entry in last
        if entry is not root
        and (entry["status"] == "CANCELED" or marks.mark_of(entry["status"]).bad)
    ]
    same = attempts_of(view.outline, root["ref"], number(root.get("iteration")))
    return RootFailure(
        ref=root["ref"],
        status=root["status"],
        reason=str(root.get("reason") or view.reason),
        type=str(root.get("type") or ""),
        name=str(root.get("name") or ""),
        iteration=number(root.get("iteration")),
        tries=max(len(same), number(root.get("retryCount")) + 1),
        at_ms=number(root.get("endTime")),
        seq=_seq(root),
        task_id=str(root.get("taskId") or ""),
        worker=str(root.get("workerId") or ""),
        child_id=str(root.get("subWorkflowId") or ""),
        consequences=tuple(dict.fromkeys(followed)),
    )


def _seq(entry: Mapping[str, Any]) -> int | None:
    seq = entry.get("seq")
    return seq if isinstance(seq, int) else None


def latest_attempts(outline: Iterable[Entry]) -> list[Entry]:
    """The newest attempt of every task and iteration, in the order of their beginning."""
    newest: dict[tuple[str, int], Entry] = {}
    for entry in sorted(outline, key=age):
        newest[entry["ref"], number(entry.get("iteration"))] = entry
    return sorted(newest.values(), key=lambda entry: number(entry.get("seq")))


def attempts_of(outline: Iterable[Entry], ref: str, iteration: int) -> list[Entry]:
    """All attempts at a task in one iteration, oldest first."""
    same = [
        entry
        for entry in outline
        if entry["ref"] == ref and number(entry.get("iteration")) == iteration
    ]
    return sorted(same, key=age)


def iterations_of(outline: Iterable[Entry], ref: str) -> dict[int, str]:
    """The iterations in which a task has run, with the status of each."""
    found: dict[int, str] = {}
    for entry in sorted((entry for entry in outline if entry["ref"] == ref), key=age):
        found[number(entry.get("iteration"))] = entry["status"]
    return found


def task_of(definition: Mapping[str, Any], ref: str) -> dict[str, Any] | None:
    """The task of a reference name, wherever in the definition it is."""
    stack: list[Any] = [definition.get("tasks")]
    while stack:
        found = stack.pop()
        if isinstance(found, list):
            stack += found
        elif isinstance(found, Mapping):
            if found.get("taskReferenceName") == ref:
                return dict(found)
            stack += [found.get(key) for key in ("defaultCase", "loopOver", "forkTasks")]
            cases = found.get("decisionCases")
            stack += list(cases.values()) if isinstance(cases, Mapping) else []
    return None


def in_short(view: ExecutionView, address: str, now_ms: int) -> str:
    """An execution in a few lines of Markdown."""
    head = f"**{view.name} v{view.version}** is {marks.mark_of(view.status).word.lower()}"
    lines = [f"{head}, started {wording.ago(view.started_ms, now_ms)}."]
    root = root_failure(view)
    if root is not None:
        tries = wording.plural(root.tries, "try", "tries")
        lines.append(f"Failed at `{root.ref}` after {tries}: {wording.reason_line(root.reason)}")
    if view.correlation:
        lines.append(f"Correlation id {view.correlation}")
    return "\n".join([*lines, f"<{address}>"])


def waiting_for(view: ExecutionView) -> list[Entry]:
    """The attempts that are open now."""
    return [entry for entry in latest_attempts(view.outline) if entry["status"] in OPEN]


@dataclass(frozen=True, slots=True)
class StoryLine:
    """One thing that happened: when, what, which tasks stood how then, by whom and why."""

    at_ms: int
    words: str
    about: tuple[tuple[str, str], ...] = ()
    status: str = ""
    person: str = ""
    reason: str = ""


# What an event of the engine is called on screen; any other keeps its own name.
_CAUSES: Final[Mapping[str, str]] = {
    "Start": "Started",
    "Result": "A worker answered",
    "Answer": "An evaluator answered",
    "Claim": "A worker took it",
    "Due": "Its time had come",
    "ExtendLease": "A worker asked for more time",
    "Admitted": "Its turn came",
    "GiveBack": "A worker gave it back",
    "ChildRefused": "A child could not start",
    "Decide": "Looked at again",
    "ResetCallbacks": "Waits were ended",
    "ChildEnded": "A child ended",
    "ChildRevived": "A child runs again",
    "Pause": "Paused",
    "Resume": "Resumed",
    "Terminate": "Terminated",
    "Retry": "Retried",
    "Rerun": "Rerun",
    "Restart": "Restarted",
    "Skip": "Skipped",
    "SetVariables": "Variables were set",
    "Post": "A message came",
}


def story_of(lines: Iterable[Mapping[str, Any]]) -> list[StoryLine]:
    """The ledger in words, newest first."""
    told = []
    for line in lines:
        touched = line.get("runs")
        runs = touched.values() if isinstance(touched, Mapping) else ()
        cause = str(line.get("cause") or "")
        told.append(
            StoryLine(
                at_ms=wording.millis(line.get("at")),
                words=_CAUSES.get(cause, cause or "Changed"),
                about=tuple(
                    (str(run.get("ref") or ""), str(run.get("status") or ""))
                    for run in runs
                    if isinstance(run, Mapping)
                ),
                status=str(line.get("status") or ""),
                person=str(line.get("by") or ""),
                reason=str(line.get("why") or wording.reason_line(str(line.get("reason") or ""))),
            )
        )
    return list(reversed(told))
