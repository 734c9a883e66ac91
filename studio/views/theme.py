"""Statuses and styles in the words of a page: badge colours, Material icons, cell pictures, CSS.

The table itself is `studio.graph.marks`, which the pictures share; nothing here draws a widget.
"""

from typing import Final
from urllib.parse import quote

from studio.graph import marks
from studio.graph.marks import StatusMark

# Streamlit's seven text colours, set to the statuses' own in .streamlit/config.toml. Three tones
# share a colour with a neighbour; their icon and word tell them apart.
_STREAMLIT: Final = {
    "scheduled": "gray",
    "running": "blue",
    "completed": "green",
    "errors": "yellow",
    "failed": "red",
    "terminal": "red",
    "timedout": "orange",
    "canceled": "violet",
    "paused": "blue",
    "skipped": "gray",
}

# What the theme file cannot say. If a selector stops matching, the page is only less pretty.
DARK_CSS: Final = """
[data-testid=stBaseButton-primary] { background: #5a6b82; border-color: #5a6b82; color: #fff; }
"""


def status(raw: str) -> StatusMark:
    """How a status of a task or an execution looks; an unknown one is grey with its raw name."""
    return marks.mark_of(raw)


def word(raw: str) -> str:
    return marks.mark_of(raw).word


def icon(raw: str) -> str:
    """The Material icon as Streamlit writes it."""
    return f":material/{marks.mark_of(raw).icon}:"


def colour_name(raw: str) -> str:
    """The Streamlit colour that the theme file sets to the colour of this status."""
    return _STREAMLIT[marks.mark_of(raw).tone]


def type_word(type_: str) -> str:
    return marks.type_mark(type_).word


def plain(text: str) -> str:
    """Foreign text for a Markdown place: every sign that Markdown knows loses its meaning."""
    kept = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()<>#+-.!|~$:&^=\"'" else sign for sign in kept)


def badge_markdown(raw: str, text: str | None = None) -> str:
    """A status as Markdown: shape and word in its colour, on a tint of it."""
    words = plain(marks.mark_of(raw).word if text is None else text)
    return f":{colour_name(raw)}-badge[{icon(raw)} {words}]"


def words_markdown(raw: str, text: str | None = None) -> str:
    """The same without the tint, for tables and counts."""
    words = plain(marks.mark_of(raw).word if text is None else text)
    return f":{colour_name(raw)}[{icon(raw)} {words}]"


def picture(raw: str, *, dark: bool = False) -> str:
    """The shape of a status as a data URI, for image columns, which fill the height of the row."""
    mark = marks.mark_of(raw)
    colour, paper = mark.colour(dark), marks.INK["dark" if dark else "light"]["bg"]
    caps = 'stroke-linecap="round" stroke-linejoin="round"'
    parts = []
    for stroke in marks.SHAPES[mark.shape]:
        ink = paper if stroke.role == "cut" else colour
        paint = f'fill="none" stroke="{ink}" stroke-width="1.5" {caps}'
        paint = f'fill="{colour}"' if stroke.role == "full" else paint
        dash = f' stroke-dasharray="{stroke.dash}"' if stroke.dash else ""
        parts.append(f'<path d="{stroke.d}" {paint}{dash}/>')
    size = 'viewBox="-8 -8 30 30" width="30" height="30"'
    text = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'
    return "data:image/svg+xml," + quote(text)
