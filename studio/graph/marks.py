"""How a status and a task type look: colour, shape, icon, letter, word. One table for everybody.

The canvas, the static SVG, the timeline and the pages all read it here, so that a status can never
look different in two places. No drawing, no layout, no Streamlit.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple


class Stroke(NamedTuple):
    """One line of a shape. `role`: line (outline), full (filled), cut (drawn out of a filled one)."""

    role: str
    d: str
    dash: str = ""


def _circle(x: float, y: float, r: float) -> str:
    return f"M{x - r} {y}a{r} {r} 0 1 1 {2 * r} 0a{r} {r} 0 1 1 {-2 * r} 0z"


def _square(x: float, side: float, r: float) -> str:
    run = side - 2 * r
    corners = f"h{run}a{r} {r} 0 0 1 {r} {r}v{run}a{r} {r} 0 0 1 {-r} {r}"
    return f"M{x + r} {x}{corners}h{-run}a{r} {r} 0 0 1 {-r} {-r}v{-run}a{r} {r} 0 0 1 {r} {-r}z"


# Each shape fills a 14 px square and is told apart without colour.
SHAPES: Final[dict[str, tuple[Stroke, ...]]] = {
    "dashed_ring": (Stroke("line", _circle(7, 7, 5.2), "2 2.1"),),
    "turning_arc": (
        Stroke("turn", _circle(7, 7, 5.2), "24 9"),
        Stroke("full", _circle(7, 7, 1.8)),
    ),
    "disc_tick": (Stroke("full", _circle(7, 7, 6)), Stroke("cut", "M4.3 7.2l1.9 1.9 3.5-4")),
    "triangle_bar": (
        Stroke("full", "M7 .9 13.5 12.6H.5z"),
        Stroke("cut", "M7 5.2v3.2M7 10.5v.05"),
    ),
    "square_cross": (
        Stroke("full", _square(1, 12, 2.5)),
        Stroke("cut", "M4.6 4.6l4.8 4.8M9.4 4.6 4.6 9.4"),
    ),
    "octagon_bar": (
        Stroke("full", "M4.3.8h5.4l3.5 3.5v5.4l-3.5 3.5H4.3L.8 9.7V4.3z"),
        Stroke("cut", "M4 7h6"),
    ),
    "clock": (Stroke("line", _circle(7, 7, 5.4)), Stroke("line", "M7 4v3.2l2 1.3")),
    "ring_slash": (Stroke("line", _circle(7, 7, 5.4)), Stroke("line", "M3.3 10.7l7.4-7.4")),
    "square_bars": (
        Stroke("line", _square(1.6, 10.8, 2.5)),
        Stroke("line", "M5.5 5v4M8.5 5v4"),
    ),
    "double_arrow": (Stroke("line", "M2.5 3.5 6 7l-3.5 3.5M7.5 3.5 11 7l-3.5 3.5"),),
    "ring_question": (
        Stroke("line", _circle(7, 7, 5.4)),
        Stroke("line", "M7 9.8v.1M5.6 5.6c0-1.9 2.8-1.9 2.8 0 0 1-1.4 1-1.4 2"),
    ),
    # Outlined squares say what a version changed; a status is never an outlined square with these.
    "square_plus": (
        Stroke("line", _square(1.2, 11.6, 2.5)),
        Stroke("line", "M7 4.2v5.6M4.2 7h5.6"),
    ),
    "square_equals": (
        Stroke("line", _square(1.2, 11.6, 2.5)),
        Stroke("line", "M4.2 5.6h5.6M4.2 8.4h5.6"),
    ),
    "square_minus": (Stroke("line", _square(1.2, 11.6, 2.5)), Stroke("line", "M4.2 7h5.6")),
}


@dataclass(frozen=True, slots=True)
class StatusMark:
    """How one status is shown. `tone` is the stem of the CSS class and of the colour token."""

    tone: str
    light: str
    dark: str
    icon: str
    shape: str
    letter: str
    word: str
    bad: bool = False

    def colour(self, dark: bool) -> str:
        return self.dark if dark else self.light


_SCHEDULED = ("#4b5a6d", "#a3b1c2", "schedule", "dashed_ring", "S")
_RUNNING = ("#1660c4", "#6fb0ff", "progress_activity", "turning_arc", "R")
_CANCELED = ("#6b4fa0", "#b9a3ee", "block", "ring_slash", "N")
_GREY = ("#5f6672", "#98a1ae")

STATUSES: Final[dict[str, StatusMark]] = {
    "SCHEDULED": StatusMark("scheduled", *_SCHEDULED, "Scheduled"),
    "RUNNING": StatusMark("running", *_RUNNING, "Running"),
    "IN_PROGRESS": StatusMark("running", *_RUNNING, "In progress"),
    "COMPLETED": StatusMark(
        "completed", "#1b7a3d", "#5ccb85", "check_circle", "disc_tick", "C", "Completed"
    ),
    "COMPLETED_WITH_ERRORS": StatusMark(
        "errors", "#8a5a00", "#e2b53f", "warning", "triangle_bar", "E", "Completed with errors"
    ),
    "FAILED": StatusMark(
        "failed", "#c02626", "#ff8a80", "disabled_by_default", "square_cross", "F", "Failed", True
    ),
    "FAILED_WITH_TERMINAL_ERROR": StatusMark(
        "terminal", "#96172e", "#ff7a99", "dangerous", "octagon_bar", "X", "Failed for good", True
    ),
    "TIMED_OUT": StatusMark(
        "timedout", "#b4490b", "#ffa35c", "timer", "clock", "T", "Timed out", True
    ),
    "CANCELED": StatusMark("canceled", *_CANCELED, "Cancelled"),
    "TERMINATED": StatusMark("canceled", *_CANCELED, "Terminated"),
    "PAUSED": StatusMark(
        "paused", "#0b7285", "#5fc6d8", "pause_presentation", "square_bars", "P", "Paused"
    ),
    "SKIPPED": StatusMark(
        "skipped", *_GREY, "keyboard_double_arrow_right", "double_arrow", "K", "Skipped"
    ),
}


def mark_of(status: str) -> StatusMark:
    """The mark of a status; one that nobody knows is grey and keeps its raw name."""
    known = STATUSES.get(status)
    return known or StatusMark("skipped", *_GREY, "help", "ring_question", "?", status)


# What a version did to a task: tone of the colour, shape, word.
CHANGES: Final[dict[str, tuple[str, str, str]]] = {
    "added": ("completed", "square_plus", "Added"),
    "changed": ("errors", "square_equals", "Changed"),
    "removed": ("failed", "square_minus", "Removed"),
}

# Ink and paper of the two themes; everything that is not a status is drawn with these.
INK: Final[dict[str, dict[str, str]]] = {
    "light": {
        "bg": "#ffffff",
        "panel": "#f6f7f9",
        "node": "#ffffff",
        "hover": "#eceff3",
        "line": "#e1e5ea",
        "line-2": "#c5ccd6",
        "ink": "#18202a",
        "ink-2": "#465160",
        "ink-3": "#5f6672",
        "tint": "7%",
    },
    "dark": {
        "bg": "#11141a",
        "panel": "#151920",
        "node": "#1a1f27",
        "hover": "#232a34",
        "line": "#2a313c",
        "line-2": "#414b59",
        "ink": "#e6eaf0",
        "ink-2": "#b6bfcb",
        "ink-3": "#98a1ae",
        "tint": "12%",
    },
}


def tones(dark: bool) -> dict[str, str]:
    """Colour of every tone in one theme."""
    return {mark.tone: mark.colour(dark) for mark in STATUSES.values()}


_TERMINAL_ICON = "M3 3.5h10v9H3zM5.5 6.5l1.7 1.5-1.7 1.5M8.7 9.7h2"
_GLOBE = (
    "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM2.5 8h11"
    "M8 2.5c-3 3.5-3 7.5 0 11 3-3.5 3-7.5 0-11z"
)
_PERSON = "M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5c.4-2.6 2.3-4 5-4s4.6 1.4 5 4"
_BOLT = "M9 2 4 9h3.5L7 14l5-7H8.5z"
_SQUARES = "M2.5 2.5h11v11h-11zM5.5 5.5h5v5h-5z"
_HOURGLASS = (
    "M4.5 2.5h7M4.5 13.5h7M5 2.5c0 3 3 3.5 3 5.5s-3 2.5-3 5.5M11 2.5c0 3-3 3.5-3 5.5s3 2.5 3 5.5"
)
_CODE = "M6 4.5 2.5 8 6 11.5M10 4.5 13.5 8 10 11.5"
_BRACES = (
    "M6.5 2.8c-2 0-1.6 1.4-1.6 2.8S4.3 8 3.2 8c1.1 0 1.7 1 1.7 2.4s-.4 2.8 1.6 2.8"
    "M9.5 2.8c2 0 1.6 1.4 1.6 2.8s.6 2.4 1.7 2.4c-1.1 0-1.7 1-1.7 2.4s.4 2.8-1.6 2.8"
)
_VARIABLE = "M4 3c-1.3 3.3-1.3 6.7 0 10M12 3c1.3 3.3 1.3 6.7 0 10M6 6l4 4.5M10 6l-4 4.5"
_STOP = "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM6 6h4v4H6z"
_LOOP = "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3"
_DIAMOND = "M8 2.5 13.5 8 8 13.5 2.5 8z"
_FORK = "M2.5 4h11M4.5 4v8M11.5 4v8"
_JOIN = "M2.5 12h11M4.5 4v8M11.5 4v8"
_PLAY = "M5 3.5 12.5 8 5 12.5z"
_DOTTED = "M4 8h.01M8 8h.01M12 8h.01"


class TypeMark(NamedTuple):
    """How a task type is shown: its word, its 16 px icon (SVG path) and its Material icon."""

    word: str
    path: str
    icon: str


TYPES: Final[dict[str, TypeMark]] = {
    "SIMPLE": TypeMark("Worker", _TERMINAL_ICON, "terminal"),
    "HTTP": TypeMark("HTTP", _GLOBE, "public"),
    "HUMAN": TypeMark("Human", _PERSON, "person"),
    "EVENT": TypeMark("Event", _BOLT, "bolt"),
    "KAFKA_PUBLISH": TypeMark("Kafka", _BOLT, "bolt"),
    "SUB_WORKFLOW": TypeMark("Sub-workflow", _SQUARES, "select_all"),
    "START_WORKFLOW": TypeMark("Start workflow", _PLAY, "play_arrow"),
    "WAIT": TypeMark("Wait", _HOURGLASS, "hourglass_top"),
    "INLINE": TypeMark("Inline", _CODE, "code"),
    "LAMBDA": TypeMark("Lambda", _CODE, "code"),
    "JSON_JQ_TRANSFORM": TypeMark("jq", _BRACES, "data_object"),
    "SET_VARIABLE": TypeMark("Set variable", _VARIABLE, "variables"),
    "TERMINATE": TypeMark("Terminate", _STOP, "stop_circle"),
    "DYNAMIC": TypeMark("Dynamic", _TERMINAL_ICON, "terminal"),
    "NOOP": TypeMark("No-op", _DOTTED, "more_horiz"),
    "SWITCH": TypeMark("Switch", _DIAMOND, "call_split"),
    "DECISION": TypeMark("Decision", _DIAMOND, "call_split"),
    "FORK_JOIN": TypeMark("Fork", _FORK, "fork_right"),
    "FORK_JOIN_DYNAMIC": TypeMark("Dynamic fork", _FORK, "fork_right"),
    "JOIN": TypeMark("Join", _JOIN, "merge"),
    "EXCLUSIVE_JOIN": TypeMark("Exclusive join", _JOIN, "merge"),
    "DO_WHILE": TypeMark("Loop", _LOOP, "repeat"),
}


def type_mark(type_: str) -> TypeMark:
    """The mark of a task type; an own worker type keeps its raw name."""
    return TYPES.get(type_) or TypeMark(type_ or "No type", _TERMINAL_ICON, "terminal")


def duration_words(ms: int) -> str:
    """A duration as a person reads it: 86 ms, 1.2 s, 1 min 9 s, 2 h 14 min, 3 d 4 h."""
    if ms < 1_000:
        return f"{max(ms, 0)} ms"
    if ms < 10_000:
        return f"{ms // 100 / 10:.1f} s"
    seconds = ms // 1_000
    if seconds < 60:
        return f"{seconds} s"
    for size, unit, part, small in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min")):
        if seconds >= size:
            rest = seconds % size // part
            return f"{seconds // size} {unit}" + (f" {rest} {small}" if rest else "")
    rest = seconds % 60
    return f"{seconds // 60} min" + (f" {rest} s" if rest else "")


def shortened(text: str, limit: int) -> str:
    """A machine's name cut in the middle, since both its ends tell names apart."""
    if len(text) <= limit:
        return text
    head = limit // 2
    tail = limit - 1 - head
    return text[:head] + "…" + (text[-tail:] if tail > 0 else "")


def cut(text: str, limit: int) -> str:
    """A sentence or a condition cut at its end."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)].rstrip() + "…"
