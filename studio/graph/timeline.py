"""An execution's outline -> rows of queued, running, backoff and waiting time, and a plotly figure.

Rows are plain values that a table can show as well; the figure is made of them alone. Idle time may
be cut out: the axis then says how much is hidden. No Streamlit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

import plotly.graph_objects as go

from studio.graph import marks
from studio.graph.outline import OPEN, OutlineEntry, age, number

# Nobody works while these run: they wait for a person, a timer, a message or other tasks.
_WAITING: Final = frozenset({"WAIT", "HUMAN", "JOIN", "EXCLUSIVE_JOIN", "PULL_WORKFLOW_MESSAGES"})
_CONTAINERS: Final = frozenset({"DO_WHILE", "SUB_WORKFLOW"})
_HIDDEN_WIDTH: Final = 0.03
_ROW_HEIGHT: Final = 32


class Segment(NamedTuple):
    """A stretch of one kind: queued, running, backoff, waiting, around (a container)."""

    kind: str
    from_ms: int
    to_ms: int
    status: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Row:
    """One task in one iteration, with all its attempts."""

    ref: str
    iteration: int
    type: str
    status: str
    tries: int
    segments: tuple[Segment, ...]

    @property
    def label(self) -> str:
        return f"{self.ref} · iteration {self.iteration}" if self.iteration else self.ref

    @property
    def took_ms(self) -> int:
        if not self.segments:
            return 0
        return self.segments[-1].to_ms - self.segments[0].from_ms


def rows_of(outline: Iterable[OutlineEntry], *, now_ms: int | None = None) -> list[Row]:
    """One row for each task and iteration, in the order in which they began."""
    groups: dict[tuple[str, int], list[OutlineEntry]] = {}
    for entry in outline:
        key = str(entry.get("ref") or ""), number(entry.get("iteration"))
        groups.setdefault(key, []).append(entry)
    rows = []
    for (ref, iteration), entries in groups.items():
        entries.sort(key=age)
        last = entries[-1]
        type_, status = str(last.get("type") or ""), str(last.get("status") or "")
        segments = _segments(entries, type_, now_ms)
        rows.append(Row(ref, iteration, type_, status, len(entries), segments))
    rows.sort(key=lambda row: row.segments[0].from_ms if row.segments else 1 << 62)
    return rows


def _segments(
    entries: Sequence[OutlineEntry], type_: str, now_ms: int | None
) -> tuple[Segment, ...]:
    found: list[Segment] = []
    before = 0
    for attempt, entry in enumerate(entries, 1):
        status = str(entry.get("status") or "")
        start, end = number(entry.get("startTime")), number(entry.get("endTime"))
        queued = number(entry.get("scheduledTime"))
        until = end or (now_ms or 0 if status in OPEN else 0)
        if before and (queued or start) > before:
            # The next attempt may be queued at once and held back: all of that is backoff.
            found.append(Segment("backoff", before, start or until, status, attempt))
        elif queued and (start or until) > queued:
            kind = "backoff" if before else "queued"
            found.append(Segment(kind, max(queued, before), start or until, status, attempt))
        if start and until >= start:
            kind = "waiting" if type_ in _WAITING else "running"
            kind = "around" if type_ in _CONTAINERS else kind
            found.append(Segment(kind, start, until, status, attempt))
        before = max(until, before)
    return tuple(segment for segment in found if segment.to_ms >= segment.from_ms)


def figure(
    rows: Sequence[Row],
    *,
    dark: bool = False,
    hide_idle: bool = True,
    selected: str | None = None,
) -> go.Figure:
    """The timeline as a plotly figure; `customdata` of a bar is reference name and iteration."""
    ink = marks.INK["dark" if dark else "light"]
    scale = _Scale(rows, hide_idle)
    chart = go.Figure()
    for kind in ("around", "waiting", "queued", "running"):
        _add_bars(chart, rows, scale, kind, dark)
    _add_backoff(chart, rows, scale, ink)
    for at, hidden in scale.cuts:
        words = f"{marks.duration_words(hidden)} hidden"
        style = {"color": ink["line-2"], "width": 1, "dash": "dot"}
        note = {"text": words, "textangle": -90, "font": {"size": 11}, "y": 0, "yanchor": "bottom"}
        chart.add_vline(x=at, line=style, annotation=note, annotation_position="bottom right")
    positions = list(range(len(rows)))
    names = [escape(marks.shortened(row.label, 34)) for row in rows]
    bold = [f"<b>{n}</b>" if row.ref == selected else n for n, row in zip(names, rows, strict=True)]
    ticks, words_ = scale.ticks()
    axis = {"gridcolor": ink["line"], "zeroline": False, "color": ink["ink-3"]}
    chart.update_layout(
        barmode="overlay",
        height=80 + _ROW_HEIGHT * max(len(rows), 1),
        margin={"l": 8, "r": 16, "t": 64, "b": 8},
        paper_bgcolor=ink["bg"],
        plot_bgcolor=ink["bg"],
        font={"color": ink["ink-2"], "size": 12},
        legend={"orientation": "h", "y": 1, "yanchor": "top", "yref": "container", "x": 0},
        xaxis={**axis, "side": "top", "tickvals": ticks, "ticktext": words_},
        yaxis={**axis, "tickvals": positions, "ticktext": bold, "autorange": "reversed"},
    )
    return chart


def _add_bars(
    chart: go.Figure, rows: Sequence[Row], scale: "_Scale", kind: str, dark: bool
) -> None:
    found = [(n, row, s) for n, row in enumerate(rows) for s in row.segments if s.kind == kind]
    if not found:
        return
    ink = marks.INK["dark" if dark else "light"]
    fill = {"waiting": ink["line-2"], "around": ink["ink-3"]}.get(kind, ink["bg"])
    line = ink["ink-3"] if kind == "queued" else fill
    fills, lines = [fill] * len(found), [line] * len(found)
    if kind == "running":
        fills = lines = [marks.mark_of(segment.status).colour(dark) for _, _, segment in found]
    starts = [scale.at(segment.from_ms) for _, _, segment in found]
    ends = [scale.at(segment.to_ms) for _, _, segment in found]
    least = scale.width * 0.004
    chart.add_bar(
        orientation="h",
        name=kind.capitalize() if kind != "around" else "Loop or sub-workflow",
        y=[n for n, _, _ in found],
        base=starts,
        x=[max(end - start, least) for start, end in zip(starts, ends, strict=True)],
        width=[{"running": 0.4, "queued": 0.4, "waiting": 0.2, "around": 0.06}[kind]] * len(found),
        marker={"color": fills, "line": {"color": lines, "width": 1}},
        customdata=[[row.ref, row.iteration] for _, row, _ in found],
        hovertext=[_hover(row, segment) for _, row, segment in found],
        hoverinfo="text",
    )


def _hover(row: Row, segment: Segment) -> str:
    took = marks.duration_words(segment.to_ms - segment.from_ms)
    parts = [row.label, f"{segment.kind} {took}"]
    if segment.kind in ("running", "waiting"):
        parts.append(marks.mark_of(segment.status).word)
    if row.tries > 1:
        parts.append(f"try {segment.attempt} of {row.tries}")
    return escape(", ".join(parts))


def _add_backoff(
    chart: go.Figure, rows: Sequence[Row], scale: "_Scale", ink: dict[str, str]
) -> None:
    xs: list[float | None] = []
    ys: list[int | None] = []
    for n, row in enumerate(rows):
        for segment in row.segments:
            if segment.kind == "backoff":
                xs += [scale.at(segment.from_ms), scale.at(segment.to_ms), None]
                ys += [n, n, None]
    if xs:
        line = {"color": ink["ink-3"], "width": 1.5, "dash": "dot"}
        chart.add_scatter(x=xs, y=ys, mode="lines", name="Backoff", line=line, hoverinfo="skip")


class _Scale:
    """Milliseconds -> seconds on the axis, with long idle stretches cut out."""

    def __init__(self, rows: Sequence[Row], hide_idle: bool) -> None:
        segments = [segment for row in rows for segment in row.segments]
        self._start = min((segment.from_ms for segment in segments), default=0)
        end = max((segment.to_ms for segment in segments), default=self._start)
        total = max(end - self._start, 1)
        busy = sorted((s.from_ms, s.to_ms) for s in segments if s.kind in ("running", "queued"))
        self._gaps = _idle(busy, total // 8) if hide_idle else []
        hidden = sum(to - from_ for from_, to in self._gaps)
        self._kept_ms = round((total - hidden) * _HIDDEN_WIDTH)
        self.width = (total - hidden + self._kept_ms * len(self._gaps)) / 1_000
        self._end = end

    @property
    def cuts(self) -> list[tuple[float, int]]:
        """Where idle time was cut out, and how much."""
        return [(self.at((from_ + to) // 2), to - from_) for from_, to in self._gaps]

    def at(self, ms: int) -> float:
        shift = 0.0
        for from_, to in self._gaps:
            if ms >= to:
                shift += (to - from_) - self._kept_ms
            elif ms > from_:
                share = (ms - from_) / (to - from_)
                return (from_ - self._start - shift + share * self._kept_ms) / 1_000
        return (ms - self._start - shift) / 1_000

    def ticks(self) -> tuple[list[float], list[str]]:
        """A handful of moments, each with its true time since the start."""
        inside = [ms for gap in self._gaps for ms in gap]
        even = [self._start + (self._end - self._start) * n // 6 for n in range(7)]
        visible = [m for m in even if not any(from_ < m < to for from_, to in self._gaps)]
        spots: list[tuple[float, int]] = []
        for ms in sorted({*visible, *inside}):
            at = self.at(ms)
            if not spots or at - spots[-1][0] > self.width * 0.06:
                spots.append((at, ms - self._start))
        return [at for at, _ in spots], [
            marks.duration_words(ms) if ms else "0 s" for _, ms in spots
        ]


def _idle(busy: Sequence[tuple[int, int]], least: int) -> list[tuple[int, int]]:
    """Stretches in which nobody worked, long enough to be worth cutting out."""
    found: list[tuple[int, int]] = []
    if not busy:
        return found
    until = busy[0][1]
    for from_, to in busy[1:]:
        if from_ - until > max(least, 1_000):
            found.append((until, from_))
        until = max(until, to)
    return found
