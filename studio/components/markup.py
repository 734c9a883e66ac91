"""The parts of a page that are only read: tables, boxes, counts, lists, as HTML text.

Everything foreign is escaped here, once. A part is text until `show` draws it; widgets are the
business of the other rooms.
"""

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote, urlencode

import streamlit as st

from studio.graph import marks

_CSS: Final = Path(__file__).with_name("frame.css")
Align = Literal["", "right"]


class Html(str):
    """Text that is HTML already; everything else is escaped."""


def escaped(text: object) -> Html:
    return text if isinstance(text, Html) else Html(html.escape(str(text), quote=True))


def joined(*parts: object) -> Html:
    """Parts one after the other, each escaped unless it is HTML already."""
    return Html("".join(escaped(part) for part in parts))


def tag(name: str, *inner: object, css: str = "", title: str = "") -> Html:
    about = f' class="{escaped(css)}"' if css else ""
    about += f' title="{escaped(title)}"' if title else ""
    return Html(f"<{name}{about}>{joined(*inner)}</{name}>")


def code(text: object, title: str = "") -> Html:
    return tag("code", text, title=title)


def span(*inner: object, css: str = "", title: str = "") -> Html:
    return tag("span", *inner, css=css, title=title)


def dim(*inner: object) -> Html:
    return span(*inner, css="rp-dim")


def address(page: str, **parameters: object) -> str:
    """The address of a page of the studio, to be used in a link of the same tab."""
    given = {key: value for key, value in parameters.items() if value not in (None, "", [])}
    query = urlencode(given, doseq=True)
    return f"{page or '.'}?{query}" if query else page or "."


def link(text: object, href: str, css: str = "rp-link", title: str = "") -> Html:
    about = f' title="{escaped(title)}"' if title else ""
    return Html(
        f'<a class="{escaped(css)}" href="{escaped(href)}" target="_self"{about}>{escaped(text)}</a>'
    )


def button(text: object, href: str) -> Html:
    """A link that looks like a small button."""
    return link(text, href, css="rp-btn")


def identifier(id_: str, href: str = "") -> Html:
    """An id, shortened in its middle and whole on hover."""
    short = code(marks.shortened(id_, 11))
    return link(short, href, title=id_) if href else span(short, title=id_)


def status(raw: str, text: str | None = None, *, chip: bool = False) -> Html:
    """The shape and the word of a status."""
    mark = marks.mark_of(raw)
    css = f"rp-st rp-c-{mark.tone} rp-m-{mark.shape}"
    css += " rp-turning" if mark.shape == "turning_arc" else ""
    css += " rp-chip" if chip else ""
    words = mark.word if text is None else text
    return span(words, css=css, title=raw if raw != words else "")


def tone(raw: str) -> str:
    """The class that gives `--c` the colour of a status."""
    return f"rp-c-{marks.mark_of(raw).tone}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. `wide` is left out on a phone, `cut` takes the room that is left."""

    title: str
    align: Align = ""
    wide: bool = False
    cut: bool = False

    def css(self) -> str:
        found = ["rp-r"] if self.align == "right" else []
        found += ["rp-wide"] if self.wide else []
        found += ["rp-cut"] if self.cut else ["rp-nw"]
        return " ".join(found)


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row. `id` makes it choosable, `on` marks it."""

    cells: Sequence[object]
    id: str = ""
    on: bool = False
    hints: Mapping[int, str] = field(default_factory=dict)


def table(columns: Sequence[Column], rows: Iterable[Row], *, choosable: bool = False) -> Html:
    tick = '<th class="rp-tick"><input type="checkbox" data-all aria-label="Select all"></th>'
    heads = "".join(tag("th", column.title, css=column.css()) for column in columns)
    body = "".join(_row(columns, row, choosable) for row in rows)
    head = f"<thead><tr>{tick if choosable else ''}{heads}</tr></thead>"
    return Html(f'<div class="rp-scroll"><table>{head}<tbody>{body}</tbody></table></div>')


def _row(columns: Sequence[Column], row: Row, choosable: bool) -> str:
    cells = "".join(
        tag("td", cell, css=column.css(), title=row.hints.get(number, ""))
        for number, (column, cell) in enumerate(zip(columns, row.cells, strict=True))
    )
    about = ' class="rp-on"' if row.on else ""
    if not choosable:
        return f"<tr{about}>{cells}</tr>"
    id_ = escaped(row.id)
    box = f'<input type="checkbox" data-id="{id_}" aria-label="Select {id_}">'
    return f'<tr{about} data-row="{id_}"><td class="rp-tick">{box}</td>{cells}</tr>'


def two_lines(first: object, second: object) -> Html:
    return tag("div", tag("b", first), span(second), css="rp-two")


def box(title: object, body: object, *, note: object = "", end: object = "") -> Html:
    """A bordered group with its title; `end` stands at the right of the title."""
    head = [tag("h2", title)]
    head += [span(note, css="rp-dim rp-small")] if note else []
    head += [span(end, css="rp-end rp-small")] if end else []
    return Html(
        f'<section class="rp-box"><header>{joined(*head)}</header>{escaped(body)}</section>'
    )


def bordered(body: object) -> Html:
    return tag("section", body, css="rp-box")


def empty(*words: object) -> Html:
    return tag("p", *words, css="rp-empty")


@dataclass(frozen=True, slots=True)
class Fact:
    """A number and what it counts. `on` marks the chosen one."""

    value: object
    words: object
    href: str = ""
    on: bool = False


def facts(found: Iterable[Fact]) -> Html:
    parts = []
    for fact in found:
        inner = joined(tag("b", fact.value), span(fact.words))
        css = "rp-on" if fact.on else ""
        parts.append(link(inner, fact.href, css=css) if fact.href else tag("div", inner, css=css))
    return tag("div", *parts, css="rp-facts")


def item(lead: object, first: object, second: object = "", end: object = "") -> Html:
    """A line of a list: what it is about, two lines of words, something at the right."""
    words = tag("div", tag("b", first), span(second), css="rp-grow rp-two")
    parts = [span(lead, css="rp-lead")] if lead else []
    return tag("li", *parts, words, span(end, css="rp-end") if end else "")


def items(found: Iterable[Html]) -> Html:
    return tag("ul", *found, css="rp-list")


def meta(pairs: Iterable[tuple[str, object]]) -> Html:
    """Names and values in one flowing line."""
    return tag("div", *(span(tag("b", name), value) for name, value in pairs), css="rp-meta")


def pairs(found: Iterable[tuple[str, object]]) -> Html:
    """Names and values under each other."""
    return tag(
        "dl", *(joined(tag("dt", name), tag("dd", value)) for name, value in found), css="rp-kv"
    )


def ticks(statuses: Sequence[str]) -> Html:
    """The last runs as ticks, oldest first: tall failed, low running."""
    bars = []
    for raw in statuses:
        mark = marks.mark_of(raw)
        height = " rp-tall" if mark.bad else " rp-low" if raw in ("RUNNING", "PAUSED") else ""
        bars.append(Html(f'<i class="rp-c-{mark.tone}{height}" title="{escaped(mark.word)}"></i>'))
    return tag("span", *bars, css="rp-ticks")


def show(*parts: object) -> None:
    st.html(f'<div class="rp">{joined(*parts)}</div>')


@cache
def styles() -> str:
    """The frame's CSS: the two inks in one table, a colour for each tone, a mask for each shape."""
    light, dark = marks.INK["light"] | marks.tones(False), marks.INK["dark"] | marks.tones(True)
    names = [name for name in light if name != "tint"]
    inks = "".join(f"--{name}: light-dark({light[name]}, {dark[name]});" for name in names)
    mono = 'ui-monospace, SFMono-Regular, "JetBrains Mono", Menlo, Consolas, monospace'
    tones = "".join(f".rp-c-{tone} {{ --c: var(--{tone}); }}\n" for tone in marks.tones(False))
    shapes = "".join(
        f'.rp-m-{name} {{ --shape: url("{_mask(strokes)}"); }}\n'
        for name, strokes in marks.SHAPES.items()
    )
    return f":root {{ {inks} --mono: {mono}; }}\n{tones}{shapes}{_CSS.read_text('utf-8')}"


def _mask(strokes: Sequence[marks.Stroke]) -> str:
    """A shape as a mask: what is cut out of a filled shape lets the paper through."""
    cap = 'stroke-linecap="round" stroke-linejoin="round" stroke-width="1.5"'
    drawn, cuts = [], []
    for stroke in strokes:
        dash = f' stroke-dasharray="{stroke.dash}"' if stroke.dash else ""
        if stroke.role == "full":
            drawn.append(f'<path d="{stroke.d}"/>')
        elif stroke.role == "cut":
            cuts.append(f'<path d="{stroke.d}" fill="none" stroke="#000" {cap}/>')
        else:
            drawn.append(f'<path d="{stroke.d}" fill="none" stroke="#000" {cap}{dash}/>')
    hole = f'<mask id="m"><path d="M0 0h14v14H0z" fill="#fff"/>{"".join(cuts)}</mask>'
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 14 14">'
        f'{hole}<g mask="url(#m)">{"".join(drawn)}</g></svg>'
    )
    return "data:image/svg+xml," + quote(svg)
