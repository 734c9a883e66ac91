"""A layout and its overlay -> SVG text, for notebooks and downloads; light and dark.

Every text is escaped and every colour is an attribute: the picture can be put into any page, next
to another one, without styles leaking and without a name becoming markup.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import Final

from studio.graph import marks
from studio.graph.overlay import NodeState, Overlay
from studio.graph.picture import Edge, Layout, Node, Point

_SANS: Final = "Inter,'Segoe UI',system-ui,sans-serif"
_MONO: Final = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
_MARGIN: Final = 16
_MONO_WIDTH: Final = 7.3
_SANS_WIDTH: Final = 5.9
# What XML 1.0 cannot carry at all, not even escaped.
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Line -> (token of the colour, width, dashes).
_LINES: Final[dict[str, tuple[str, float, str]]] = {
    "taken": ("ink-3", 1.5, ""),
    "pending": ("line-2", 1.5, ""),
    "not": ("line-2", 1.25, "4 4"),
    "tested": ("completed", 1.5, ""),
    "untested": ("errors", 1.5, "4 4"),
    "added": ("completed", 1.5, ""),
    "removed": ("failed", 1.25, "4 4"),
}


def render(
    layout: Layout, overlay: Overlay | None = None, *, dark: bool = False, title: str = "Workflow"
) -> str:
    """The whole picture as one SVG element."""
    return _Pen(layout, overlay, dark).picture(title)


def rounded(points: Sequence[Point], radius: float = 8) -> str:
    """A right-angled way as an SVG path with rounded corners."""
    path = f"M{points[0][0]} {points[0][1]}"
    last = len(points) - 2
    for number in range(1, len(points) - 1):
        before, corner, after = points[number - 1 : number + 2]
        shares = (1 if number == 1 else 2, 1 if number == last else 2)
        come = _towards(corner, before, min(radius, _length(corner, before) / shares[0]))
        leave = _towards(corner, after, min(radius, _length(corner, after) / shares[1]))
        path += f"L{come}Q{corner[0]} {corner[1]} {leave}"
    return path + f"L{points[-1][0]} {points[-1][1]}"


def _length(a: Point, b: Point) -> int:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def _towards(a: Point, b: Point, distance: float) -> str:
    length = _length(a, b) or 1
    x = a[0] + (b[0] - a[0]) * distance / length
    y = a[1] + (b[1] - a[1]) * distance / length
    return f"{x:g} {y:g}"


def _mix(over: str, share: float, under: str) -> str:
    """One colour laid thinly over another."""
    pairs = zip(bytes.fromhex(over[1:]), bytes.fromhex(under[1:]), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def _safe(text: str) -> str:
    return escape(_UNPRINTABLE.sub("�", text), quote=True)


class _Pen:
    def __init__(self, layout: Layout, overlay: Overlay | None, dark: bool) -> None:
        self._layout = layout
        self._overlay = overlay
        self._colour = {**marks.INK["dark" if dark else "light"], **marks.tones(dark)}
        self._tint = 0.12 if dark else 0.07
        self._plain = NodeState()

    def picture(self, title: str) -> str:
        layout = self._layout
        width, height = layout.width, layout.height + 2 * _MARGIN
        body = [f"<title>{_safe(title)}</title>"]
        body.append(f'<rect width="{width}" height="{height}" fill="{self._colour["panel"]}"/>')
        body.append(f'<g transform="translate(0 {_MARGIN})">')
        frames = [node for node in layout.nodes if node.kind in ("loop", "fan")]
        body += [self._frame(node) for node in frames]
        # Shared ways show what was taken: it is drawn last.
        strength = {"not": 0, "untested": 0, "removed": 0, "pending": 1}
        body += [
            self._edge(edge)
            for edge in sorted(layout.edges, key=lambda edge: strength.get(self._line(edge), 2))
        ]
        body += [self._node(node) for node in layout.nodes if node not in frames]
        body += [self._case(edge) for edge in layout.edges if edge.case]
        body += [self._corner(node) for node in layout.nodes]
        head = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        kind = f'xmlns="http://www.w3.org/2000/svg" role="img" font-family="{_safe(_SANS)}"'
        return f"<svg {kind} {head}>" + "".join(body) + "</g></svg>"

    def _state(self, node: Node) -> NodeState:
        if self._overlay is None:
            word = marks.type_mark(node.type).word
            return NodeState(note=word.lower() if node.kind in ("fork", "join") else word)
        return self._overlay.nodes.get(node.id) or NodeState(note=marks.type_mark(node.type).word)

    def _line(self, edge: Edge) -> str:
        return self._overlay.edges.get(edge.id, "taken") if self._overlay else "taken"

    def _text(
        self, at: tuple[float, float], text: str, ink: str, *, mono: bool = False, more: str = ""
    ) -> str:
        size = f'font-family="{_safe(_MONO)}" font-size="12"' if mono else 'font-size="11"'
        fill = self._colour.get(ink, ink)
        return f'<text x="{at[0]:g}" y="{at[1]:g}" {size} fill="{fill}" {more}>{_safe(text)}</text>'

    def _edge(self, edge: Edge) -> str:
        token, width, dash = _LINES[self._line(edge)]
        colour = self._colour[token]
        points = list(edge.points)
        x, y = points[-1]
        head = ""
        if edge.arrow:
            points[-1] = (x, y - 4)
            head = f'<path d="M{x} {y}l-4 -6h8z" fill="{colour}"/>'
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        way = rounded(points, 6 if edge.back else 8)
        line = f'<path d="{way}" fill="none" stroke="{colour}" stroke-width="{width}"{dashes}/>'
        return line + head

    def _case(self, edge: Edge) -> str:
        room = max(3, int((edge.label_room - 8) / _SANS_WIDTH))
        note = self._overlay.case_notes.get(edge.id) if self._overlay else None
        text = marks.cut(f"{edge.case} {note}" if note else edge.case, room)
        width, (x, y) = len(text) * _SANS_WIDTH + 10, edge.label_at
        box = f'x="{x - width / 2:g}" y="{y - 8}" width="{width:g}" height="16"'
        pill = f'<rect {box} rx="3" fill="{self._colour["panel"]}"/>'
        ink = "ink-3" if self._line(edge) == "not" else "ink-2"
        more = 'text-anchor="middle" font-weight="500"'
        return pill + self._text((x, y + 4), text, ink, more=more)

    def _frame(self, node: Node) -> str:
        state, colour = self._state(node), self._colour
        unsure = state.away or (node.kind == "fan" and not node.children)
        dash = ' stroke-dasharray="3 3"' if unsure else ""
        box = f'x="{node.x}" y="{node.y}" width="{node.w}" height="{node.h}" rx="8"'
        paper = _mix(colour["ink"], 0.025, colour["panel"])
        parts = [f'<rect {box} fill="{paper}" stroke="{colour["line-2"]}"{dash}/>']
        if node.kind == "loop":
            parts.append(self._icon(node.x + 9, node.y + 6, marks.type_mark("DO_WHILE").path))
            parts += self._loop_header(node, state)
        else:
            parts += self._fan(node, state)
        return "".join(parts)

    def _loop_header(self, node: Node, state: NodeState) -> list[str]:
        ref = marks.shortened(node.title, 22)
        at = node.x + 29 + len(ref) * _MONO_WIDTH + 7
        parts = [self._text((node.x + 29, node.y + 17), ref, "ink", mono=True)]
        room = node.x + node.w - 12 - at
        shown = min(len(state.squares), 12, int(room // 13))
        room -= shown * 13
        note = marks.cut(node.detail, int(room / _SANS_WIDTH))
        if note and room > 40:
            parts.append(self._text((at, node.y + 17), note, "ink-2"))
        newest = state.squares[len(state.squares) - shown :]
        for number, status in enumerate(newest):
            x = node.x + node.w - 9 - 13 * (shown - number)
            parts.append(self._square(x, node.y + 8, status))
        return parts

    def _square(self, x: float, y: float, status: str) -> str:
        colour = self._colour[marks.mark_of(status).tone]
        return f'<rect x="{x:g}" y="{y:g}" width="10" height="10" rx="2" fill="{colour}"/>'

    def _fan(self, node: Node, state: NodeState) -> list[str]:
        ink = "ink-3" if state.away else "ink-2"
        note = state.note if state.squares else node.detail
        if not node.children:
            spots = [(node.x + 100, node.y + 23)]
            return [self._text(at, note, ink, more='text-anchor="middle"') for at in spots]
        parts = [self._text((node.x + 14, node.y + 17), node.detail, ink)]
        if node.children[0] in self._layout.by_id:
            return parts
        words = (f"{count} {marks.mark_of(s).word.lower()}" for s, count in state.counts.items())
        parts.append(self._text((node.x + 14, node.y + 35), ", ".join(words), ink))
        most = 240
        for number, status in enumerate(state.squares[:most]):
            row, column = divmod(number, 24)
            parts.append(self._square(node.x + 14 + column * 13, node.y + 48 + row * 13, status))
        return parts

    def _node(self, node: Node) -> str:
        if node.kind == "merge":
            return ""
        if node.kind in ("start", "end"):
            return self._term(node)
        if node.kind in ("fork", "join"):
            return self._bar(node)
        return self._diamond(node) if node.kind == "switch" else self._card(node)

    def _term(self, node: Node) -> str:
        runs = self._overlay is not None and self._overlay.kind == "execution"
        off = runs and not self._state(node).status
        fill = self._colour["node" if off else "ink-3"]
        stroke = self._colour["line-2" if off else "ink-3"]
        at = f'cx="{node.axis}" cy="{node.y + 6}" r="5.5"'
        return f'<circle {at} fill="{fill}" stroke="{stroke}" stroke-width="1.5"/>'

    def _bar(self, node: Node) -> str:
        state = self._state(node)
        away = bool(state.away) or state.status not in ("", "COMPLETED", "COMPLETED_WITH_ERRORS")
        box = f'x="{node.x}" y="{node.y}" width="{node.w}" height="{node.h}" rx="2"'
        bar = f'<rect {box} fill="{self._colour["line-2" if away else "ink-3"]}"/>'
        return bar + self._beside(node, state.note, state)

    def _beside(self, node: Node, note: str, state: NodeState) -> str:
        """The reference name beside a bar or a diamond, which have no room for one."""
        ref = marks.shortened(node.title, max(4, int(node.label_room / _MONO_WIDTH)))
        ink = "ink-3" if state.away else "ink"
        anchor = 'text-anchor="end"' if node.label_left else ""
        out = self._text(node.label_at, ref, ink, mono=True, more=anchor)
        after = len(ref) * _MONO_WIDTH + 7
        if note and after + len(note) * _SANS_WIDTH < node.label_room:
            out += self._text((node.label_at[0] + after, node.label_at[1]), note, "ink-2")
        return out

    def _diamond(self, node: Node) -> str:
        state, r = self._state(node), node.w // 2 + 1
        stroke = self._colour["line-2" if state.away else "ink-2"]
        dash = ' stroke-dasharray="3 3"' if state.away else ""
        way = f"M{node.axis} {node.y - 1}l{r} {r}-{r} {r}-{r}-{r}z"
        fill = self._colour["node"]
        out = f'<path d="{way}" fill="{fill}" stroke="{stroke}" stroke-width="1.5"{dash}/>'
        return out + self._beside(node, "", state)

    def _card(self, node: Node) -> str:
        state, colour = self._state(node), self._colour
        mark = marks.mark_of(state.status)
        tone = colour[mark.tone]
        fill, stroke, dash = colour["node"], colour["line-2"], ""
        if state.change:
            tone = colour[marks.CHANGES[state.change][0]]
        if state.change in ("added", "changed") or mark.bad:
            fill, stroke = _mix(tone, self._tint, fill), _mix(tone, 0.55, fill)
        if state.away or state.change == "removed":
            fill, dash = "none", ' stroke-dasharray="3 3"'
            stroke = _mix(tone, 0.55, colour["node"]) if state.change else stroke
        x, y, w, h = node.x, node.y, node.w, node.h
        box = f'x="{x + 0.5}" y="{y + 0.5}" width="{w - 1}" height="{h - 1}" rx="6"'
        parts = [f'<rect {box} fill="{fill}" stroke="{stroke}"{dash}/>']
        if node.type == "SUB_WORKFLOW" or node.kind == "fold":
            box = f'x="{x + 3.5}" y="{y + 3.5}" width="{w - 7}" height="{h - 7}" rx="3.5"'
            parts.append(f'<rect {box} fill="none" stroke="{colour["line-2"]}"{dash}/>')
        if state.status:
            way = f"M{x + 6} {y}a6 6 0 0 0-6 6v{h - 12}a6 6 0 0 0 6 6h-2.5v-{h}z"
            parts.append(f'<path d="{way}" fill="{tone}"/>')
        return "".join(parts) + self._words(node, state, mark, tone)

    def _words(self, node: Node, state: NodeState, mark: marks.StatusMark, tone: str) -> str:
        x, y, off = node.x, node.y, bool(state.away)
        ref = marks.shortened(node.title, 18 if state.status else 20)
        strike = 'text-decoration="line-through"' if state.change == "removed" else ""
        ink = "ink-3" if off or strike else "ink"
        taken = len(state.badge) * 6 + 10 if state.badge else 26 if state.status else 6
        room = int((node.w - 38 - taken) / _SANS_WIDTH)
        parts = [
            self._icon(x + 13, y + node.h // 2 - 8, marks.type_mark(node.type).path, off=off),
            f"<title>{_safe(self._tooltip(node, state))}</title>",
            self._text((x + 38, y + 16), ref, ink, mono=True, more=f'font-weight="500" {strike}'),
            self._text((x + 38, y + 30), marks.cut(state.note, room), "ink-3" if off else "ink-2"),
        ]
        if state.badge:
            more = f'text-anchor="end" font-weight="{600 if mark.bad else 500}"'
            ink = tone if mark.bad else "ink-2"
            parts.append(self._text((x + node.w - 9, y + 30), state.badge, ink, more=more))
        if state.status:
            top, scale = (y + 5, 0.86) if state.badge else (y + node.h / 2 - 7, 1)
            parts.append(self._shape(x + node.w - 22, top, scale, mark.shape, tone))
        return "<g>" + "".join(parts) + "</g>"

    def _tooltip(self, node: Node, state: NodeState) -> str:
        word = marks.mark_of(state.status).word if state.status else state.away
        return ", ".join(part for part in (node.title, word, state.reason) if part)

    def _icon(self, x: float, y: float, way: str, *, off: bool = False) -> str:
        ink = self._colour["ink-3" if off else "ink-2"]
        caps = 'stroke-linecap="round" stroke-linejoin="round"'
        line = f'fill="none" stroke="{ink}" stroke-width="1.3" {caps}'
        return f'<path transform="translate({x:g} {y:g})" d="{way}" {line}/>'

    def _shape(self, x: float, y: float, scale: float, shape: str, colour: str) -> str:
        caps = 'stroke-linecap="round" stroke-linejoin="round"'
        parts = []
        for stroke in marks.SHAPES[shape]:
            ink = self._colour["bg"] if stroke.role == "cut" else colour
            paint = f'fill="none" stroke="{ink}" stroke-width="1.5" {caps}'
            if stroke.role == "full":
                paint = f'fill="{colour}"'
            dash = f' stroke-dasharray="{stroke.dash}"' if stroke.dash else ""
            parts.append(f'<path d="{stroke.d}" {paint}{dash}/>')
        return f'<g transform="translate({x:g} {y:g}) scale({scale:g})">{"".join(parts)}</g>'

    def _corner(self, node: Node) -> str:
        """The square of a change, or the shape of a problem, on the corner of a node."""
        change = self._state(node).change
        if change:
            tone, shape, word = marks.CHANGES[change]
        else:
            own = self._layout.problems if self._overlay is None else self._overlay.problems
            problems = own.get(node.id)
            if not problems:
                return ""
            worst = min(problems, key=lambda problem: problem.level)
            mark = marks.mark_of("FAILED" if worst.level == "error" else "COMPLETED_WITH_ERRORS")
            tone, shape = mark.tone, mark.shape
            word = "; ".join(problem.text for problem in problems)
        x, y, colour = node.x + node.w - 9, node.y - 6, self._colour
        paper = (
            f'<rect x="{x - 1}" y="{y - 1}" width="16" height="16" rx="4" fill="{colour["bg"]}"/>'
        )
        title = f"<title>{_safe(word)}</title>"
        return f"<g>{title}{paper}{self._shape(x, y, 1, shape, colour[tone])}</g>"
