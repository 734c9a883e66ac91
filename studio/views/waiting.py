"""What an execution waits for: in the sentences of a server that diagnoses, else its open tasks.

Made from an outline and a diagnosis that may be a moment apart. No request, no Streamlit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from studio.graph.outline import number
from studio.views import wording
from studio.views.execution import Entry, ExecutionView, latest_attempts, waiting_for


@dataclass(frozen=True, slots=True)
class Awaited:
    """One thing that could move an execution on. `ref` is empty where it is none of its tasks;
    `child_id` is the sub-workflow that `words` name."""

    status: str
    words: str
    ref: str = ""
    shown_ref: str = ""
    child_id: str = ""


@dataclass(frozen=True, slots=True)
class Waits:
    """All that is awaited, and what a person can do about it; of what is stuck its card says that."""

    awaited: tuple[Awaited, ...]
    steps: tuple[str, ...] = ()


def waits_of(
    view: ExecutionView, diagnosis: Mapping[str, Any] | None, now_ms: int, zone: tzinfo
) -> Waits:
    """What to show; a diagnosis that speaks of no waiting leaves it to the open tasks."""
    sentences = _sentences(diagnosis, "waiting")
    if not sentences:
        return Waits(tuple(_open(entry, now_ms, zone) for entry in waiting_for(view)))
    entries = {
        str(entry.get("reference") or entry["ref"]): entry
        for entry in latest_attempts(view.outline)
    }
    found = tuple(_told(one, entries, view.status) for one in sentences)
    return Waits(found, () if view.stuck else steps_of(diagnosis))


def steps_of(diagnosis: Mapping[str, Any] | None) -> tuple[str, ...]:
    """What a person can do, the likeliest first."""
    return _sentences(diagnosis, "nextSteps")


def _sentences(diagnosis: Mapping[str, Any] | None, key: str) -> tuple[str, ...]:
    found = (diagnosis or {}).get(key)
    given: Iterable[object] = found if isinstance(found, list) else ()
    return tuple(str(one) for one in given)


def _open(entry: Entry, now_ms: int, zone: tzinfo) -> Awaited:
    since = wording.ago(number(entry.get("scheduledTime")), now_ms, zone)
    return Awaited(entry["status"], f"since {since}", entry["ref"], entry["ref"])


def _told(sentence: str, entries: Mapping[str, Entry], status: str) -> Awaited:
    """A sentence begins with the name of the task that it is about, if it is about one."""
    name = next((name for name in _beginnings(sentence) if name in entries), "")
    if not name:
        return Awaited(status, sentence)
    entry = entries[name]
    child = str(entry.get("subWorkflowId") or "")
    return Awaited(
        status=entry["status"],
        words=sentence[len(name) :].lstrip(),
        ref=entry["ref"],
        shown_ref=name,
        child_id=child if child in sentence else "",
    )


def _beginnings(sentence: str) -> Iterable[str]:
    """What stands before a space, the longest first: a name may have spaces itself."""
    at = sentence.rfind(" ")
    while at > 0:
        yield sentence[:at]
        at = sentence.rfind(" ", 0, at)
