"""The versions page put together: the list of versions, two of them compared, and the way back."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import streamlit as st

from studio import drafting, published
from studio.components import coded, graph_canvas, markup, publish_dialog
from studio.components.visit import Visit
from studio.desk.place import desk
from studio.editor.tree import JsonObject
from studio.graph import layout, marks, overlay
from studio.views import wording
from studio.views.compare import Comparison, code, compare

DRAFT: Final = "draft"
_HEIGHT: Final = 600


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two compared: a version by its number, or the person's draft."""

    word: str
    definition: JsonObject

    @property
    def title(self) -> str:
        return "your draft" if self.word == DRAFT else f"v{self.word}"


def choose(visit: Visit) -> None:
    """No definition is named: all of them, the changed ones first."""
    found = published.versions(visit.client)
    begun = {saved.name for saved in drafting.drafts(visit.person)}
    rows = [
        markup.Row(
            (
                markup.link(markup.code(name), markup.address("versions", wf=name)),
                f"v{listed[-1].number}" if listed else "",
                wording.plural(len(listed), "version"),
                "draft" if name in begun else "",
                wording.ago(listed[-1].published_at, visit.now_ms, visit.zone) if listed else "",
            )
        )
        for name, listed in sorted(found.items(), key=lambda each: -_published_at(each[1]))
    ]
    columns = [markup.Column("Definition", cut=True), markup.Column("Newest")]
    columns += [
        markup.Column("Versions"),
        markup.Column("Yours"),
        markup.Column("Published", "right"),
    ]
    if rows:
        markup.show(markup.bordered(markup.table(columns, rows)))
    else:
        st.info("Nothing is published yet. Draw a definition in the editor and publish it.")
        st.page_link("../pages/editor.py", label="Open the editor")


def _published_at(listed: Sequence[published.Version]) -> int:
    return listed[-1].published_at if listed else 0


def show(visit: Visit, name: str, first: int | None, second: str | None) -> None:
    """The versions of one definition. `first` and `second` are those of the address."""
    listed = published.versions_of(visit.client, name)
    draft = drafting.unpublished(visit.person, name)
    words = [str(each.number) for each in reversed(listed)]
    words = ([DRAFT] if draft is not None else []) + words
    if not words:
        st.warning(f"{code(name)} is not published, and you have no draft of it.")
        st.page_link("../pages/definitions.py", label="All definitions")
        return
    new = second if second in words else words[0]
    older = [word for word in words[words.index(new) + 1 :]]
    old = str(first) if str(first) in words else older[0] if older else new
    sides = [_side(visit, name, word, draft) for word in (old, new)]
    if sides[0] is None or sides[1] is None:
        st.warning(f"{code(name)} has no version {old if sides[0] is None else new} any more.")
        return
    _page(visit, name, listed, words, sides[0], sides[1])


def _side(visit: Visit, name: str, word: str, draft: JsonObject | None) -> Side | None:
    if word == DRAFT:
        return Side(word, draft) if draft is not None else None
    found = published.definition(visit.client, name, int(word))
    return Side(word, found) if found is not None else None


def _page(
    visit: Visit,
    name: str,
    listed: Sequence[published.Version],
    words: Sequence[str],
    old: Side,
    new: Side,
) -> None:
    found = compare(old.definition, new.definition)
    _head(visit, name, old, new)
    left, middle, right = st.columns([1.5, 3.6, 1.6], gap="small")
    with left:
        _changes(found, old, new)
    with middle:
        _graph(name, found, old, new)
    with right:
        _choice(words, old, new)
        _list(visit, name, listed, new, words)


def _head(visit: Visit, name: str, old: Side, new: Side) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            title = markup.joined(markup.code(name), f" {old.title} and {new.title}")
            if old.word == new.word:
                title = markup.joined(markup.code(name), f" {new.title}")
            markup.show(
                markup.tag("div", markup.tag("h1", title), css="rp-title"),
                markup.meta(_about(visit, name, new)),
            )
        if new.word != DRAFT and new.word != _newest_word(visit, name):
            st.button(
                f"Bring v{new.word} back as a draft",
                icon=":material/history:",
                on_click=partial(_bring_back, visit, name, int(new.word)),
                help="Publishing it gives a new version with the old content.",
            )
        if st.button("Open in editor", icon=":material/edit:", type="primary"):
            wanted = {"wf": name}
            st.switch_page("../pages/editor.py", query_params=wanted)


def _newest_word(visit: Visit, name: str) -> str:
    listed = published.versions_of(visit.client, name)
    return str(listed[-1].number) if listed else ""


def _about(visit: Visit, name: str, side: Side) -> list[tuple[str, object]]:
    note = note_of(name, side.word)
    found: list[tuple[str, object]] = [("Owner", side.definition.get("ownerEmail") or "none")]
    if note:
        found.append((f"{side.title} by", note.get("person") or "somebody"))
        found.append(("Why", note.get("note") or ""))
    elif side.definition.get("description"):
        found.append(("About", side.definition["description"]))
    return found


def note_of(name: str, word: str) -> dict[str, Any]:
    """What was said when a version was published here."""
    note = desk().recall(f"version/{name}/{word}")
    return note if isinstance(note, dict) else {}


def _bring_back(visit: Visit, name: str, version: int) -> None:
    """The old content as the draft of today, so that publishing makes a new version of it."""
    old = published.definition(visit.client, name, version)
    room = drafting.room(visit, name, None)
    if old is not None:
        kept = {**old, "version": room.draft.definition.get("version", version)}
        label = f"Bring v{version} back"
        room.act({"op": "set_definition", "definition": kept, "label": label})
    st.query_params.from_dict({"wf": name, "b": DRAFT})


def _changes(found: Comparison, old: Side, new: Side) -> None:
    note = f"{old.title} → {new.title}"
    if not found.changes:
        words = "This is the only version." if old.word == new.word else "There is no difference."
        markup.show(markup.box("Changes in words", markup.empty(words), note=note))
        return
    body = publish_dialog.change_list(found.changes)
    markup.show(markup.box("Changes in words", body, note=note, end=len(found.changes)))


def _graph(name: str, found: Comparison, old: Side, new: Side) -> None:
    drawing = layout.place(found.definition)
    ids = {node.ref: node.id for node in drawing.nodes if node.ref}
    kinds = {ids[ref]: kind for ref, kind in found.marks.items() if ref in ids}
    key = f"versions/{name}/{old.word}/{new.word}"
    event = graph_canvas.show(
        drawing,
        overlay.of_changes(drawing, kinds),
        mode="diff",
        key=key,
        height=min(max(drawing.height + 40, 320), _HEIGHT),
        label=f"{old.title} and {new.title} of {name} in one graph",
    )
    chosen = drawing.by_id.get(event.selected or "")
    if chosen is None or not chosen.ref:
        st.caption("Choose a task to read what changed in it.")
        return
    about = [change for change in found.changes if change.ref == chosen.ref]
    lines = [publish_dialog.change_line(change) for change in about]
    body = markup.items(lines) if lines else markup.empty("Nothing changed in it.")
    markup.show(markup.box(markup.code(chosen.ref), body))


def _choice(words: Sequence[str], old: Side, new: Side) -> None:
    for label, key, side in (("Compare", "a", old), ("with", "b", new)):
        at = f"version_{key}"
        if st.session_state.get(at) != side.word:
            st.session_state[at] = side.word
        st.selectbox(
            label,
            list(words),
            key=at,
            format_func=lambda word: "Your draft" if word == DRAFT else f"v{word}",
            on_change=partial(_chosen, key),
        )


def _chosen(key: str) -> None:
    st.query_params[key] = st.session_state[f"version_{key}"]


def _list(
    visit: Visit, name: str, listed: Sequence[published.Version], new: Side, words: Sequence[str]
) -> None:
    rows = []
    if DRAFT in words:
        rows.append(_row(name, DRAFT, "Your draft", "not published", "", new))
    for each in reversed(listed):
        word = str(each.number)
        note = note_of(name, word).get("note") or "no note"
        when = wording.ago(each.published_at, visit.now_ms, visit.zone)
        rows.append(_row(name, word, f"v{word}", marks.cut(str(note), 120), when, new))
    markup.show(markup.box("Versions", markup.items(rows), end=len(listed)))


def _row(name: str, word: str, title: str, note: str, when: str, new: Side) -> markup.Html:
    link = markup.link(title, markup.address("versions", wf=name, b=word))
    first = markup.joined(link, markup.dim("  shown") if word == new.word else "")
    return markup.item("", first, coded.html(note), markup.dim(when))
