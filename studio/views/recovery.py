"""What a recovery would do, before it is done: runs again, is reused, is cancelled, cannot be known.

The engine's own preview goes first; without one the same is read from the outline and the shape of
the definition, and said to be an estimate. Which actions a state allows is a table. No request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from studio.graph import layout
from studio.graph.outline import DONE, OPEN, forked_children
from studio.graph.structure import Flow
from studio.views import wording
from studio.views.execution import Entry, ExecutionView, latest_attempts, task_of

RETRY, RERUN, RESTART = "retry", "rerun", "restart"
PAUSE, RESUME, TERMINATE, SKIP = "pause", "resume", "terminate", "skip"


@dataclass(frozen=True, slots=True)
class Action:
    """An action's word, what it means in a few, and the key that opens its plan."""

    name: str
    word: str
    meaning: str
    icon: str
    key: str = ""


ACTIONS: Final[Mapping[str, Action]] = {
    RETRY: Action(RETRY, "Retry", "only what failed", "refresh", "T"),
    RERUN: Action(RERUN, "Rerun from", "a task and all after it", "undo", "U"),
    RESTART: Action(RESTART, "Restart", "all from the beginning", "restart_alt"),
    PAUSE: Action(PAUSE, "Pause", "nothing new begins", "pause", "P"),
    RESUME: Action(RESUME, "Resume", "go on where it stands", "play_arrow", "P"),
    SKIP: Action(SKIP, "Skip", "pass over a task", "keyboard_double_arrow_right"),
    TERMINATE: Action(TERMINATE, "Terminate", "give up, with a reason", "block"),
}

_ALLOWED: Final[Mapping[str, tuple[str, ...]]] = {
    "RUNNING": (PAUSE, SKIP, TERMINATE),
    "PAUSED": (RESUME, TERMINATE),
    "FAILED": (RETRY, RERUN, RESTART),
    "TIMED_OUT": (RETRY, RERUN, RESTART),
    "TERMINATED": (RETRY, RERUN, RESTART),
    "COMPLETED": (RERUN, RESTART),
}


def allowed(status: str) -> tuple[str, ...]:
    """The actions a status allows, the safest first."""
    return _ALLOWED.get(status, ())


@dataclass(frozen=True, slots=True)
class Plan:
    """Four lists, and where they come from. `blocked` says why it cannot be done at all."""

    action: str
    ref: str
    again: tuple[str, ...] = ()
    reused: tuple[str, ...] = ()
    cancelled: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    estimated: bool = True
    blocked: str = ""
    call: str = ""

    @property
    def confirm(self) -> str:
        """What the confirming button says: what it does."""
        count = len(self.again)
        if self.action in (RETRY, RERUN) and count:
            verb = "Retry" if self.action == RETRY else "Rerun"
            return f"{verb} {wording.plural(count, 'task')}"
        if self.action == SKIP:
            return f"Skip {self.ref}" if self.ref else "Skip the task"
        return f"{ACTIONS[self.action].word} the execution" if self.action in ACTIONS else "Confirm"


def plan_of(
    view: ExecutionView, action: str, ref: str = "", preview: Mapping[str, Any] | None = None
) -> Plan:
    """The plan of an action, at a task where the action needs one."""
    call = call_of(view.id, action, ref)
    if action not in allowed(view.status):
        words = ACTIONS[action].word if action in ACTIONS else action
        return Plan(
            action, ref, blocked=f"{words} is not possible while it is {view.status}.", call=call
        )
    if preview is not None:
        return _previewed(action, ref, preview, call)
    makers = {RETRY: _retry, RERUN: _rerun, RESTART: _restart, SKIP: _skip}
    if action in makers:
        return makers[action](view, ref, call)
    running = tuple(entry["ref"] for entry in view.outline if entry["status"] in OPEN)
    if action == TERMINATE:
        return Plan(action, ref, reused=(), cancelled=running, call=call)
    goes_on = ("What runs now goes on to its end",) if action == PAUSE and running else ()
    return Plan(action, ref, unknown=goes_on, call=call)


def call_of(id_: str, action: str, ref: str) -> str:
    """The request behind an action."""
    path = f"/api/workflow/{id_}"
    return {
        PAUSE: f"PUT {path}/pause",
        RESUME: f"PUT {path}/resume",
        TERMINATE: f"DELETE {path}",
        SKIP: f"PUT {path}/skiptask/{ref}",
    }.get(action, f"POST {path}/{action}")


def _previewed(action: str, ref: str, preview: Mapping[str, Any], call: str) -> Plan:
    def names(key: str) -> tuple[str, ...]:
        listed: Any = preview.get(key)
        return tuple(str(one) for one in listed) if isinstance(listed, list) else ()

    told = len(names("told"))
    return Plan(
        action,
        ref,
        again=tuple(dict.fromkeys([*names("runsAgain"), *names("begins")])),
        reused=names("reused"),
        cancelled=names("cancelled"),
        unknown=(f"{wording.plural(told, 'other execution')} will be told",) if told else (),
        estimated=False,
        blocked=str(preview.get("refused") or ""),
        call=call,
    )


def _retry(view: ExecutionView, ref: str, call: str) -> Plan:
    last = latest_attempts(view.outline)
    again = [entry for entry in last if entry["status"] not in DONE]
    own = [
        entry["ref"]
        for entry in again
        if entry["status"] != "CANCELED" or view.status == "TERMINATED"
    ]
    after = _after(view, own)
    unreached = [name for name in after if name not in {entry["ref"] for entry in last}]
    joins = [entry["ref"] for entry in again if entry["ref"] not in own]
    return Plan(
        RETRY,
        ref,
        again=_unique([*own, *joins]),
        reused=_unique(
            entry["ref"]
            for entry in last
            if entry["status"] in DONE and entry["ref"] not in {*own, *joins}
        ),
        unknown=_later(unreached),
        blocked=""
        if own
        else "No task has failed: there is nothing to try again. Restart instead.",
        call=call,
    )


def _rerun(view: ExecutionView, ref: str, call: str) -> Plan:
    last = latest_attempts(view.outline)
    ran = _unique(entry["ref"] for entry in last)
    if not ref:
        return Plan(RERUN, ref, again=ran, call=call, blocked="Choose the task to start from.")
    if ref not in ran:
        return Plan(
            RERUN, ref, blocked=f"{ref} has not run: there is nothing to run again.", call=call
        )
    after = set(_after(view, [ref]))
    bad = {entry["ref"] for entry in last if entry["status"] not in DONE}
    again = [name for name in ran if name == ref or name in after or name in bad]
    return Plan(
        RERUN,
        ref,
        again=tuple(again),
        reused=tuple(name for name in ran if name not in again),
        unknown=_later([name for name in after if name not in ran]),
        call=call,
    )


def _restart(view: ExecutionView, ref: str, call: str) -> Plan:
    ran = _unique(entry["ref"] for entry in latest_attempts(view.outline))
    return Plan(RESTART, ref, again=ran, unknown=("Switches may choose another way",), call=call)


def _skip(view: ExecutionView, ref: str, call: str) -> Plan:
    reached = {entry["ref"] for entry in view.outline}
    blocked = ""
    if not ref:
        blocked = "Choose the task to skip."
    elif ref in reached:
        blocked = f"{ref} has been reached already; only a task still to come can be skipped."
    elif task_of(view.definition, ref) is None:
        blocked = f"This definition has no task {ref}."
    return Plan(SKIP, ref, reused=_unique(reached), blocked=blocked, call=call)


def _after(view: ExecutionView, refs: Sequence[str]) -> list[str]:
    """Tasks that can run once these have; nothing when the definition cannot be read."""
    if not view.definition:
        return []
    drawn = layout.place(view.definition, forked=forked_children(view.outline))
    flow = Flow(drawn)
    ids = {node.ref: node.id for node in drawn.nodes if node.ref}
    found: list[str] = []
    for ref in refs:
        if ref in ids:
            found += [drawn.by_id[id_].ref for id_ in flow.after(ids[ref])]
    return list(dict.fromkeys(found))


def _later(refs: Sequence[str]) -> tuple[str, ...]:
    if not refs:
        return ()
    if len(refs) == 1:
        return (f"Whether {refs[0]} will run",)
    return (f"Which of {len(refs)} later tasks will run",)


def _unique(refs: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(refs))


def rerun_choices(view: ExecutionView) -> list[str]:
    """The tasks a rerun may start from, newest last."""
    return list(_unique(entry["ref"] for entry in latest_attempts(view.outline)))


def skip_choices(view: ExecutionView) -> list[str]:
    """The tasks that have not been reached."""
    reached = {entry["ref"] for entry in view.outline}
    drawn = layout.place(view.definition)
    return [node.ref for node in drawn.nodes if node.path and node.ref and node.ref not in reached]


def task_id_of(view: ExecutionView, ref: str) -> str | None:
    """The newest attempt of a task, by which a rerun names it."""
    found: Entry | None = None
    for entry in latest_attempts(view.outline):
        if entry["ref"] == ref:
            found = entry
    return str(found.get("taskId")) if found and found.get("taskId") else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an action: `recovered` only once the execution has ended well."""

    status: str
    words: str
    settled: bool


def outcome_of(view: ExecutionView, action: str, accepted_ms: int, now_ms: int) -> Outcome:
    """Accepted, recovered or not recovered, told by the state as it is now."""
    word = ACTIONS[action].word if action in ACTIONS else action
    since = wording.took(max(now_ms - accepted_ms, 0))
    if action in (PAUSE, RESUME, TERMINATE, SKIP):
        wanted = {PAUSE: "PAUSED", TERMINATE: "TERMINATED"}.get(action)
        if wanted and view.status != wanted:
            return Outcome(view.status, f"{word} accepted, not seen yet.", settled=not view.live)
        return Outcome(
            view.status, f"{word}: verified, the execution is {view.status}.", settled=True
        )
    if view.status == "COMPLETED":
        took = wording.took(max(view.ended_ms - accepted_ms, 0))
        return Outcome("COMPLETED", f"Recovered and verified after {took}.", settled=True)
    if view.live:
        return Outcome("RUNNING", f"{word} accepted {since} ago, not recovered yet.", settled=False)
    return Outcome(
        view.status, f"{word} accepted, not recovered: {view.status} again.", settled=True
    )
