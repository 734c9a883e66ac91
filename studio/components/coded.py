"""Sentences whose names stand in backticks, as Markdown or as HTML; all else in them is plain text."""

from studio.components import markup
from studio.views import theme


def markdown(text: str) -> str:
    """For Streamlit's own places, such as a warning."""
    return "".join(f"`{part}`" if is_code else _plain(part) for part, is_code in _parts(text))


def html(text: str) -> markup.Html:
    """For the parts of `markup`."""
    return markup.joined(
        *(markup.code(part) if is_code else part for part, is_code in _parts(text))
    )


def _parts(text: str) -> list[tuple[str, bool]]:
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return [(text.replace("`", "'"), False)]
    return [(piece, bool(number % 2)) for number, piece in enumerate(pieces) if piece]


def _plain(text: str) -> str:
    """`theme.plain`, with the blanks at both ends kept: they part the words from the names."""
    head = " " if text[:1].isspace() else ""
    tail = " " if text[-1:].isspace() and text.strip() else ""
    return f"{head}{theme.plain(text)}{tail}"
