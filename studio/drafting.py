"""The draft that a person has open: taken from the desk or the server, changed, and kept at each step.

One room a definition in the session. It holds plain values only; whatever must survive a reload
is on the desk, whatever must survive a click is here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import streamlit as st

from studio.client.errors import Missing
from studio.components import graph_canvas
from studio.components.visit import Visit, now_ms
from studio.desk.desk import DeskError, DraftConflict
from studio.desk.place import desk
from studio.editor.draft import Draft, UnreadableDraft
from studio.editor.patterns import PATTERNS
from studio.editor.plain import plain
from studio.editor.tree import ImpossibleOperation, JsonObject, Spot, all_refs, same, spots
from studio.graph.layout import place
from studio.graph.picture import Layout
from studio.views.compare import Comparison, compare
from studio.views.problems import Problem

_PATTERN: Final = "pattern:"
_REVISIONS_KNOWN: Final = 50


@dataclass
class Room:
    """A draft and what a person is looking at in it. `key` is its name on the desk."""

    key: str
    owner: str
    draft: Draft
    saves: int = 0
    saved_at: int = 0
    selected: str | None = None
    problem: int = 0
    drawn: Layout | None = None
    drawn_at: int = -1
    compared: Comparison | None = None
    compared_at: int = -1
    checked: tuple[Problem, ...] = ()
    checked_at: tuple[int, str | None] | None = None
    publishing: bool = False
    published: bool = False
    picks: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    trouble: str = ""
    conflict: bool = False
    revisions: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the definition is called now; a draft may be renamed."""
        return str(self.draft.definition.get("name") or self.key)

    def act(self, op: JsonObject) -> bool:
        """Carry out one operation and keep the draft; whether it could be done."""
        self.published = False
        try:
            result = self.draft.apply(op)
        except ImpossibleOperation as refused:
            self.refusals.append(str(refused))
            return False
        self.notes += result.notes
        if result.select is not None:
            self.selected = result.select
        self.keep()
        return True

    def stop_publishing(self) -> None:
        self.publishing = False

    def undo(self) -> None:
        self._step(self.draft.undo())

    def redo(self) -> None:
        self._step(self.draft.redo())

    def _step(self, revision: Any) -> None:
        if revision is None:
            return
        if revision.select in all_refs(self.draft.definition):
            self.selected = revision.select
        self.keep()

    def edit_text(self, text: str) -> None:
        """Take what the code view holds; text that cannot be read is kept as it is."""
        if text != self.draft.text:
            self.draft.edit_text(text)
            self.keep()

    def keep(self, *, over: bool = False) -> None:
        """Save to the desk. If it was saved elsewhere meanwhile, nothing is written and the conflict
        shown; `over` writes all the same."""
        after = None if over else self.saves
        try:
            saved = desk().save_draft(
                self.key,
                self.draft.to_json(),
                base_version=self.draft.base_version,
                owner=self.owner,
                after=after,
            )
        except DraftConflict as conflict:
            self.conflict, self.trouble = True, str(conflict)
        except DeskError as error:
            self.trouble = f"This change is not saved yet. {error}"
        else:
            self.saves, self.saved_at = saved.saves, saved.updated_at
            self.conflict, self.trouble = False, ""

    def drawing(self) -> Layout:
        """The picture of the draft, laid out once a revision."""
        if self.drawn is None or self.drawn_at != self.draft.revision:
            self.drawn = place(self.draft.definition, editing=True)
            self.drawn_at = self.draft.revision
        return self.drawn

    def comparison(self) -> Comparison | None:
        """The draft against the version it began from, worked out once a revision."""
        if self.draft.base is None:
            return None
        if self.compared is None or self.compared_at != self.draft.revision:
            self.compared = compare(self.draft.base, self.draft.definition)
            self.compared_at = self.draft.revision
        return self.compared

    def spot(self, ref: str | None) -> Spot | None:
        """Where the task of a reference name stands, if there is one."""
        if ref is None:
            return None
        return next((spot for spot in spots(self.draft.definition) if spot.ref == ref), None)

    def shows(self, layout: Layout) -> None:
        """Remember which revision a picture is of, so that edits aimed at it find their place."""
        self.revisions[graph_canvas.revision_of(layout)] = self.draft.revision
        while len(self.revisions) > _REVISIONS_KNOWN:
            del self.revisions[next(iter(self.revisions))]

    def take(self, key: str, event: graph_canvas.CanvasEvent, layout: Layout) -> str | None:
        """What the canvas `key` reports: a choice and edits. Gives the task to look into."""
        if event.picks > self.picks.get(key, 0):
            self.picks[key] = event.picks
            node = layout.by_id.get(event.selected or "")
            self.selected = node.ref if node is not None and node.ref else None
        if not event.ops:
            return None
        taken = self.draft.take([self._aimed(op) for op in event.ops])
        self.refusals += [refusal.message for refusal in taken.refusals]
        self.notes += taken.notes
        if taken.select is not None:
            self.selected = taken.select
        if taken.applied:
            self.keep()
        return taken.opened

    def _aimed(self, op: Mapping[str, Any]) -> JsonObject:
        """A canvas's intent as an operation: a pattern is several tasks, a path names a task that
        has no name of its own."""
        aimed: JsonObject = {k: op[k] for k in ("cid", "seq", "op", "type", "place") if k in op}
        if op["rev"] in self.revisions:
            aimed["rev"] = self.revisions[op["rev"]]
        if op.get("ref"):
            aimed["ref"] = op["ref"]
        elif op.get("path"):
            aimed["at"] = op["path"]
        chosen = str(op.get("type") or "")
        if op["op"] == "insert" and chosen.startswith(_PATTERN):
            pattern = next(p for p in PATTERNS if p.name == chosen.removeprefix(_PATTERN))
            aimed |= pattern.operation(op["place"])
        return aimed


def room(visit: Visit, name: str, version: int | None) -> Room:
    """The room of a definition: as it was left in this session, else on the desk, else published."""
    held = st.session_state.get(_at(name))
    if isinstance(held, Room):
        return held
    found = _from_desk(visit, name) or _published(visit, name, version)
    st.session_state[_at(name)] = found
    return found


def begin(visit: Visit, definition: JsonObject) -> Room:
    """A room for something new, kept on the desk at once under a name that is free there."""
    taken = {saved.name for saved in desk().list_drafts(owner=visit.person)}
    name = str(definition.get("name") or "untitled")
    key, number = name, 1
    while key in taken or is_published(visit, key):
        number += 1
        key = f"{name}_{number}"
    found = Room(key, visit.person, Draft.new({**definition, "name": key, "version": 1}))
    found.keep()
    st.session_state[_at(key)] = found
    return found


def is_published(visit: Visit, name: str) -> bool:
    try:
        visit.client.definition(name)
    except Missing:
        return False
    return True


def again(visit: Visit, name: str, version: int | None) -> None:
    """Gives the draft up for a published version."""
    fresh = _published(visit, name, version)
    desk().delete_draft(name, owner=visit.person)
    st.session_state[_at(name)] = fresh


def reload(visit: Visit, name: str) -> None:
    """Forget what this session holds; the next look reads the desk."""
    st.session_state.pop(_at(name), None)


def discard(visit: Visit, name: str) -> None:
    desk().delete_draft(name, owner=visit.person)
    st.session_state.pop(_at(name), None)


def drafts(person: str) -> Sequence[Any]:
    """What this person has begun, the newest first."""
    return desk().list_drafts(owner=person)


def unpublished(person: str, name: str) -> JsonObject | None:
    """The definition in this person's draft, when it says anything that is not published."""
    saved = desk().load_draft(name, owner=person)
    document = saved.document if saved is not None else None
    if not isinstance(document, dict) or not isinstance(document.get("definition"), dict):
        return None
    definition: JsonObject = document["definition"]
    return None if same(definition, document.get("base")) else definition


def _at(name: str) -> str:
    return f"draft/{name}"


def _from_desk(visit: Visit, name: str) -> Room | None:
    saved = desk().load_draft(name, owner=visit.person)
    if saved is None:
        return None
    try:
        draft = Draft.from_json(saved.document)
    except UnreadableDraft as error:
        st.warning(str(error))
        return None
    return Room(name, visit.person, draft, saved.saves, saved.updated_at)


def _published(visit: Visit, name: str, version: int | None) -> Room:
    definition = plain(visit.client.definition(name, version))
    saved = desk().load_draft(name, owner=visit.person)
    return Room(name, visit.person, Draft.of(definition), saved.saves if saved else 0, now_ms())
