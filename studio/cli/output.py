"""How answers are written: tables and lines for a person, JSON for a program.

Whatever comes from a server is cleaned of control characters first. Progress and questions belong
on standard error; standard output holds the answer alone.
"""

import json
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import click

Document = Mapping[str, Any]
Row = Sequence[object]

_GAP: Final = "  "
_NARROWEST: Final = 12
_ID_AND_MORE: Final = 40
_COLOURS: Final[Mapping[str, str]] = {
    "COMPLETED": "green",
    "COMPLETED_WITH_ERRORS": "yellow",
    "RUNNING": "cyan",
    "IN_PROGRESS": "cyan",
    "PAUSED": "yellow",
    "FAILED": "red",
    "FAILED_WITH_TERMINAL_ERROR": "red",
    "TIMED_OUT": "red",
    "TERMINATED": "red",
}


@dataclass(frozen=True, slots=True)
class Output:
    """`json`: a single thing is one document, a list is one document a line."""

    json: bool = False

    def one(self, document: Any, lines: Iterable[str]) -> None:
        """A single thing."""
        if self.json:
            click.echo(dumped(document, pretty=_to_person()))
            return
        for line in lines:
            click.echo(line)

    def many(
        self,
        documents: Iterable[Any],
        columns: Sequence[str],
        row: Callable[[Any], Row],
        none: str,
    ) -> None:
        """A list; `none` is what a person is told when it is empty."""
        if self.json:
            for document in documents:
                click.echo(dumped(document))
            return
        rows = [row(document) for document in documents]
        for line in table(columns, rows) if rows else (none,):
            click.echo(line)

    def event(self, document: Document, line: str) -> None:
        """One of a row of things that come one after the other."""
        click.echo(dumped(document) if self.json else line)


def say(line: str) -> None:
    """Something beside the answer."""
    click.echo(line, err=True)


def dumped(document: Any, *, pretty: bool = False) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2 if pretty else None)


def plain(value: object) -> str:
    """Foreign text in one line: a control character could steer the terminal."""
    text = " ".join(("" if value is None else str(value)).split())
    return "".join("�" if unicodedata.category(sign) in ("Cc", "Cf") else sign for sign in text)


def status(word: object) -> str:
    """A status in its colour; click takes the colour away where nobody sees it."""
    text = plain(word)
    colour = _COLOURS.get(text)
    return click.style(text, fg=colour) if colour else text


def table(columns: Sequence[str], rows: Sequence[Row], width: int | None = None) -> list[str]:
    """Aligned columns, cut to a width, which is the terminal's if there is one; in a pipe nothing
    is cut."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(title), *(len(row[at]) for row in cells)) for at, title in enumerate(columns)]
    if width is None and _to_person():
        width = shutil.get_terminal_size().columns
    if width is not None:
        widths = _cut(widths, width)
    numeric = [
        all(isinstance(row[at], int) for row in rows if row[at] not in ("", None))
        for at in range(len(columns))
    ]
    lines = [_line(columns, widths, numeric, coloured=False)]
    return lines + [_line(row, widths, numeric, coloured=True) for row in cells]


def _cut(widths: list[int], width: int) -> list[int]:
    """The last column gives way first; others only if they are longer than an id."""
    first, last = widths[:-1], widths[-1]
    room = width - len(_GAP) * len(first)
    if sum(first) + min(last, _NARROWEST) > room:
        first = [min(one, _ID_AND_MORE) for one in first]
    return [*first, min(last, max(room - sum(first), _NARROWEST))]


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else plain(value)


def _line(
    cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool], *, coloured: bool
) -> str:
    parts = []
    for text, width, right in zip(cells, widths, numeric, strict=True):
        shown = text if len(text) <= width else f"{text[: width - 1]}…"
        padding = " " * (width - len(shown))
        shown = status(shown) if coloured else shown
        parts.append(padding + shown if right else shown + padding)
    return _GAP.join(parts).rstrip()


def facts(pairs: Iterable[tuple[str, object]]) -> list[str]:
    """Names and values one below the other; what has no value is left out."""
    given = [(name, value) for name, value in pairs if value not in (None, "", {}, [])]
    width = max((len(name) for name, _ in given), default=0)
    return [f"{name:<{width}}{_GAP}{status(_cell(value))}" for name, value in given]


def _to_person() -> bool:
    # Python has none where it was closed before the start.
    return sys.stdout is not None and sys.stdout.isatty()
