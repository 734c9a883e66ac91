"""Many executions: the filters of a search, the query they make, and the rows that come back.

Filters are what the address of the page says; unknown or broken values are dropped and named. No
request is made here.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from studio.graph import marks
from studio.views import wording

STATUSES: Final = ("RUNNING", "COMPLETED", "FAILED", "TIMED_OUT", "TERMINATED", "PAUSED")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]+")
PAGE_SIZE: Final = 50

# The quick ranges, by their word in the address.
RANGES: Final[Mapping[str, tuple[str, int]]] = {
    "-15m": ("Last 15 min", 15 * 60_000),
    "-1h": ("Last hour", 3_600_000),
    "-24h": ("Last 24 h", 86_400_000),
    "-7d": ("Last 7 days", 7 * 86_400_000),
    "": ("Any time", 0),
}

SORTS: Final[Mapping[str, str]] = {
    "startTime:DESC": "Newest first",
    "startTime:ASC": "Oldest first",
    "updateTime:DESC": "Last changed first",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What is searched for. `dropped` says which values of the address were not understood."""

    q: str = ""
    wf: str = ""
    corr: str = ""
    status: tuple[str, ...] = ()
    since: str = ""
    sort: str = "startTime:DESC"
    page: int = 1
    top: bool = False
    dropped: tuple[str, ...] = ()

    @property
    def narrowed(self) -> bool:
        return bool(self.q or self.wf or self.corr or self.status or self.since)

    def parameters(self) -> dict[str, Any]:
        """The same as parameters of an address; what is as usual is left out."""
        usual = Filters()
        given: dict[str, Any] = {
            "q": self.q,
            "wf": self.wf,
            "corr": self.corr,
            "status": list(self.status),
            "from": self.since,
            "sort": self.sort if self.sort != usual.sort else "",
            "page": self.page if self.page > 1 else "",
            "top": "1" if self.top else "",
        }
        return {key: value for key, value in given.items() if value}


def filters_of(parameters: Mapping[str, Sequence[str]]) -> Filters:
    """The filters an address names."""
    dropped = []
    status = []
    for word in parameters.get("status", ()):
        if word.upper() in STATUSES:
            status.append(word.upper())
        else:
            dropped.append(f"status {word}")
    since = _one(parameters, "from")
    if since not in RANGES:
        dropped.append(f"from {since}")
        since = ""
    sort = _one(parameters, "sort") or "startTime:DESC"
    if sort not in SORTS:
        dropped.append(f"sort {sort}")
        sort = "startTime:DESC"
    page = _one(parameters, "page") or "1"
    if not page.isdigit() or int(page) < 1:
        dropped.append(f"page {page}")
        page = "1"
    return Filters(
        q=_one(parameters, "q"),
        wf=_one(parameters, "wf"),
        corr=_one(parameters, "corr"),
        status=tuple(dict.fromkeys(status)),
        since=since,
        sort=sort,
        page=int(page),
        top=_one(parameters, "top") == "1",
        dropped=tuple(dropped),
    )


def _one(parameters: Mapping[str, Sequence[str]], name: str) -> str:
    values = parameters.get(name, ())
    return values[-1].strip() if values else ""


def is_query(text: str) -> bool:
    """Whether free words are meant as query words: they compare something."""
    return any(sign in text for sign in ("=", ">", "<")) or " IN " in text


def written(value: str) -> str:
    """A value as the query language reads it back; what is no plain word stands in quotes. Of a
    value with both kinds of quotes nothing can be made: it finds nothing."""
    if _PLAIN.fullmatch(value):
        return value
    return f"'{value}'" if '"' in value else f'"{value}"'


def query_of(filters: Filters, now_ms: int) -> tuple[str, str]:
    """The query and the free text, in Conductor's words."""
    terms = []
    if filters.status:
        terms.append(f"status IN ({','.join(filters.status)})")
    if filters.wf:
        terms.append(f"workflowType = {written(filters.wf)}")
    if filters.corr:
        terms.append(f"correlationId = {written(filters.corr)}")
    if filters.since:
        terms.append(f"startTime > {now_ms - RANGES[filters.since][1]}")
    free = "*"
    if is_query(filters.q):
        terms.append(filters.q)
    elif filters.q:
        free = filters.q
    return " AND ".join(terms), free


def without(filters: Filters, name: str) -> Filters:
    """The same search with one filter less."""
    empty: dict[str, Any] = {"status": ()} if name == "status" else {name: ""}
    return replace(filters, page=1, **empty)


@dataclass(frozen=True, slots=True)
class ExecutionRow:
    """One execution in a list."""

    id: str
    status: str
    name: str
    version: int
    correlation: str = ""
    failed_at: str = ""
    reason: str = ""
    started_ms: int = 0
    ended_ms: int = 0
    ran_ms: int | None = None

    @property
    def failed(self) -> bool:
        return marks.mark_of(self.status).bad


def rows_of(summaries: Iterable[Mapping[str, Any]], now_ms: int) -> list[ExecutionRow]:
    return [_row(summary, now_ms) for summary in summaries]


def _row(summary: Mapping[str, Any], now_ms: int) -> ExecutionRow:
    status = str(summary.get("status") or "")
    started, ended = (wording.millis(summary.get(key)) for key in ("startTime", "endTime"))
    refs = str(summary.get("failedReferenceTaskNames") or "").strip("[]")
    return ExecutionRow(
        id=str(summary.get("workflowId") or ""),
        status=status,
        name=str(summary.get("workflowType") or summary.get("workflowName") or ""),
        version=int(summary.get("version") or 0),
        correlation=str(summary.get("correlationId") or ""),
        failed_at="" if status == "COMPLETED" else refs.split(",")[0].strip(),
        reason=wording.reason_line(str(summary.get("reasonForIncompletion") or "")),
        started_ms=started,
        ended_ms=ended,
        ran_ms=(ended or now_ms) - started if started else None,
    )


@dataclass(frozen=True, slots=True)
class FailingGroup:
    """Executions that failed alike: the same definition, at the same task."""

    name: str
    failed_at: str
    status: str
    reason: str
    rows: tuple[ExecutionRow, ...]
    per_slot: tuple[int, ...] = field(default=())

    @property
    def first_ms(self) -> int:
        return min(row.ended_ms or row.started_ms for row in self.rows)

    @property
    def last_ms(self) -> int:
        return max(row.ended_ms or row.started_ms for row in self.rows)


def failing_groups(
    rows: Iterable[ExecutionRow], now_ms: int, *, slots: int = 12, slot_ms: int = 300_000
) -> list[FailingGroup]:
    """Failed executions by definition and task, the largest group first."""
    found: dict[tuple[str, str], list[ExecutionRow]] = {}
    for row in rows:
        if row.failed:
            found.setdefault((row.name, row.failed_at), []).append(row)
    groups = []
    for (name, failed_at), alike in found.items():
        newest = max(alike, key=lambda row: row.ended_ms)
        counts = [0] * slots
        for row in alike:
            slot = (now_ms - (row.ended_ms or row.started_ms)) // slot_ms
            if 0 <= slot < slots:
                counts[slots - 1 - slot] += 1
        groups.append(
            FailingGroup(name, failed_at, newest.status, newest.reason, tuple(alike), tuple(counts))
        )
    return sorted(groups, key=lambda group: (-len(group.rows), -group.last_ms))
