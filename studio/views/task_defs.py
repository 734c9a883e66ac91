"""Task definitions in words: what happens when a worker fails, and what a change would change."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from studio.graph import marks
from studio.graph.outline import number
from studio.views import wording

DEFAULTS: Final[Mapping[str, Any]] = {
    "description": "",
    "retryCount": 3,
    "retryLogic": "FIXED",
    "retryDelaySeconds": 60,
    "maxRetryDelaySeconds": 0,
    "backoffScaleFactor": 1,
    "timeoutSeconds": 0,
    "timeoutPolicy": "TIME_OUT_WF",
    "responseTimeoutSeconds": 3600,
    "pollTimeoutSeconds": 0,
    "concurrentExecLimit": 0,
    "rateLimitPerFrequency": 0,
    "rateLimitFrequencyInSeconds": 1,
}
LOGICS: Final = ("FIXED", "LINEAR_BACKOFF", "EXPONENTIAL_BACKOFF")
POLICIES: Final = ("TIME_OUT_WF", "RETRY", "ALERT_ONLY")
_SHOWN: Final = 6


def delays(task_def: Mapping[str, Any]) -> list[int]:
    """Seconds before each further try."""
    first = number(task_def.get("retryDelaySeconds"))
    scale = max(number(task_def.get("backoffScaleFactor")), 1)
    most = number(task_def.get("maxRetryDelaySeconds"))
    logic = task_def.get("retryLogic")
    found = []
    for attempt in range(min(number(task_def.get("retryCount")), 100)):
        wait = first
        if logic == "LINEAR_BACKOFF":
            wait = first * scale * (attempt + 1)
        elif logic == "EXPONENTIAL_BACKOFF":
            wait = first * 2**attempt
        found.append(min(wait, most) if most else wait)
    return found


def in_words(task_def: Mapping[str, Any]) -> list[str]:
    """What the numbers come to."""
    waits = delays(task_def)
    lines = []
    if waits:
        shown = ", ".join(marks.duration_words(wait * 1_000) for wait in waits[:_SHOWN])
        more = " …" if len(waits) > _SHOWN else ""
        total = marks.duration_words(sum(waits) * 1_000)
        tries = wording.plural(len(waits) + 1, "try", "tries")
        lines.append(f"At most {tries}, with waits of {shown}{more}: {total} of waiting in all.")
    else:
        lines.append("A failure is final: there is one try.")
    silent = number(task_def.get("responseTimeoutSeconds"))
    if silent:
        lines.append(
            f"A worker that says nothing for {marks.duration_words(silent * 1_000)} has lost it; "
            "it is handed out again."
        )
    whole = number(task_def.get("timeoutSeconds"))
    if whole:
        after = {
            "RETRY": "then it is tried again",
            "ALERT_ONLY": "then it is only noted",
        }.get(str(task_def.get("timeoutPolicy")), "then the whole execution times out")
        lines.append(f"One try may take {marks.duration_words(whole * 1_000)}, {after}.")
    limit = number(task_def.get("concurrentExecLimit"))
    if limit:
        lines.append(f"At most {limit} at the same time.")
    rate = number(task_def.get("rateLimitPerFrequency"))
    if rate:
        window = number(task_def.get("rateLimitFrequencyInSeconds"))
        lines.append(f"At most {rate} in {marks.duration_words(window * 1_000)}.")
    return lines


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """The fields that a change would change."""
    keys = dict.fromkeys([*DEFAULTS, *after])
    return [
        (key, before.get(key, DEFAULTS.get(key)), after.get(key))
        for key in keys
        if key in after and before.get(key, DEFAULTS.get(key)) != after[key]
    ]


def users_of(name: str, definitions: Iterable[tuple[str, Iterable[str]]]) -> list[str]:
    """The workflow definitions that use a task, given each with the names of its tasks."""
    return sorted({flow for flow, tasks in definitions if name in set(tasks)})
