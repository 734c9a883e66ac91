"""A definition while somebody works on it: revisions, undo and redo, the browser's operations
taken exactly once, and the code view's text kept as it was typed. Where it is stored is the desk's.
"""

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

from studio.editor import json_text
from studio.editor.history import Difference, Splice, applied, difference, inverse
from studio.editor.json_text import TextProblem
from studio.editor.operations import Result, apply, scope_of
from studio.editor.places import carried_over, read_place
from studio.editor.tree import ImpossibleOperation, JsonObject, all_refs, copied, same, task_at

# How many revisions back an operation may have been aimed at; a browser is one or two behind.
_TRAIL = 64


class UnreadableDraft(ValueError):
    """A saved draft cannot be read back."""

    code = "unreadable_draft"


@dataclass(frozen=True, slots=True)
class Revision:
    """One step of the history. `text` is set when the code view wrote this state its own way."""

    label: str
    change: Difference
    text: str | None = None
    text_before: str | None = None
    select: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An operation that was taken from the outbox but could not be carried out."""

    cid: str
    seq: int
    message: str


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of an outbox. `opened` is a task the person wants to look into."""

    applied: int = 0
    select: str | None = None
    opened: str | None = None
    notes: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()


@dataclass(slots=True)
class Draft:
    definition: JsonObject
    base: JsonObject | None = None
    base_version: int | None = None
    revision: int = 0
    acknowledged: dict[str, int] = field(default_factory=dict)
    pending_text: str | None = None
    problem: TextProblem | None = None
    _text: str | None = None
    _done: list[Revision] = field(default_factory=list)
    _undone: list[Revision] = field(default_factory=list)
    _trail: deque[Difference] = field(default_factory=lambda: deque(maxlen=_TRAIL))

    @classmethod
    def of(cls, published: JsonObject) -> "Draft":
        """A draft of a published version."""
        version = published.get("version")
        known = version if isinstance(version, int) and not isinstance(version, bool) else 1
        return cls(copied(published), copied(published), known)

    @classmethod
    def new(cls, definition: JsonObject) -> "Draft":
        """A draft of something that was never published."""
        return cls(copied(definition))

    @classmethod
    def blank(cls, name: str) -> "Draft":
        """A draft of a workflow that has a name and nothing else."""
        return cls(
            {
                "name": name,
                "description": "",
                "version": 1,
                "schemaVersion": 2,
                "tasks": [],
                "inputParameters": [],
                "outputParameters": {},
                "timeoutPolicy": "ALERT_ONLY",
                "timeoutSeconds": 0,
            }
        )

    @property
    def is_dirty(self) -> bool:
        """Something here is not published: a change, or text that is not JSON yet."""
        changed = self.base is None or not same(self.base, self.definition)
        return changed or self.pending_text is not None

    @property
    def text(self) -> str:
        """What the code view shows: as typed, as long as the text was the last to speak."""
        if self.pending_text is not None:
            return self.pending_text
        return self._text if self._text is not None else json_text.written(self.definition)

    @property
    def undo_label(self) -> str | None:
        return self._done[-1].label if self._done else None

    @property
    def redo_label(self) -> str | None:
        return self._undone[-1].label if self._undone else None

    @property
    def labels(self) -> list[str]:
        """The whole history in words, oldest first."""
        return [revision.label for revision in self._done]

    def apply(self, op: JsonObject) -> Result:
        """Carry out one operation as a new revision. Impossible ones raise and change nothing."""
        if self.pending_text is not None:
            line = self.problem.line if self.problem else None
            where = f" (line {line})" if line else ""
            raise ImpossibleOperation(
                f"The code view holds text that is no definition yet{where}. Mend or discard it first."
            )
        result = apply(self.definition, op)
        if result.changed:
            self._record(result.definition, result.label, None, result.select)
        return result

    def edit_text(self, text: str) -> TextProblem | None:
        """Take the code view's text. Text that cannot be read is kept; the definition then stays."""
        definition, self.problem = json_text.read(text)
        if definition is None:
            self.pending_text = text
            return self.problem
        self.pending_text = None
        if not same(definition, self.definition) or text != self.text:
            self._record(definition, "Edit as text", text, None)
        return None

    def discard_text(self) -> None:
        """Give up text that could not be read; the definition is the last good one."""
        self.pending_text = self.problem = None

    def undo(self) -> Revision | None:
        """Take back the last revision. Unreadable text counts as the last thing done."""
        if self.pending_text is not None:
            self.discard_text()
            return Revision("Edit as text", ())
        if not self._done:
            return None
        revision = self._done.pop()
        self._undone.append(revision)
        self._step(inverse(revision.change), revision.text_before)
        return revision

    def redo(self) -> Revision | None:
        if self.pending_text is not None or not self._undone:
            return None
        revision = self._undone.pop()
        self._done.append(revision)
        self._step(revision.change, revision.text)
        return revision

    def take(self, outbox: Any) -> Taken:
        """Take a browser's outbox. It is sent again until acknowledged, so each operation counts
        once, by its sequence number; refused ones are acknowledged too."""
        taken = Taken()
        for op in sorted(
            filter(_is_numbered, outbox if isinstance(outbox, list) else []), key=_seq
        ):
            cid, seq = op["cid"], op["seq"]
            if seq <= self.acknowledged.get(cid, 0):
                continue
            self.acknowledged[cid] = seq
            try:
                taken = self._take_one(op, taken)
            except ImpossibleOperation as refused:
                refusal = Refusal(cid, seq, str(refused))
                taken = replace(taken, refusals=(*taken.refusals, refusal))
        return taken

    def _take_one(self, op: JsonObject, taken: Taken) -> Taken:
        word = op.get("op")
        if word == "open":
            ref = op.get("ref")
            return replace(taken, opened=ref if isinstance(ref, str) else None)
        if word in ("undo", "redo"):
            step = self.undo() if word == "undo" else self.redo()
            if step is None:
                raise ImpossibleOperation(f"There is nothing to {word}.")
            known = step.select in all_refs(self.definition)
            return replace(taken, applied=taken.applied + 1, select=step.select if known else None)
        result = self.apply(self._aimed_at_now(op))
        return replace(
            taken,
            applied=taken.applied + result.changed,
            select=result.select,
            notes=(*taken.notes, *result.notes),
        )

    def _aimed_at_now(self, op: JsonObject) -> JsonObject:
        """An operation that was aimed at an older revision, with its paths brought up to date."""
        rev = op.get("rev")
        by_path = op.get("place") is not None or op.get("at") is not None or op.get("within")
        if not isinstance(rev, int) or rev == self.revision or not by_path:
            return op
        then = self._as_of(rev)
        if then is None or scope_of(op):
            raise ImpossibleOperation("The graph has changed since. Choose the place again.")
        moved = dict(op)
        if op.get("place") is not None:
            place = read_place(op["place"])
            moved["place"] = carried_over(place, then, self.definition).to_json()
        if op.get("at") is not None:
            moved.update(at=None, ref=task_at(then, op["at"]).ref)
        return moved

    def _as_of(self, revision: int) -> JsonObject | None:
        back = self.revision - revision
        if not 0 <= back <= len(self._trail):
            return None
        definition = self.definition
        for change in [*reversed(self._trail)][:back]:
            definition = applied(definition, inverse(change))
        return definition

    def mark_published(self, version: int) -> None:
        """What is here now is that version; the history stays."""
        self.base = copied(self.definition)
        self.base_version = version

    def _record(
        self, definition: JsonObject, label: str, text: str | None, select: str | None
    ) -> None:
        change = difference(self.definition, definition)
        if text == json_text.written(definition):
            text = None
        self._done.append(Revision(label, change, text, self._text, select))
        self._undone.clear()
        self._go(definition, change, text)

    def _step(self, change: Difference, text: str | None) -> None:
        self._go(applied(self.definition, change), change, text)

    def _go(self, definition: JsonObject, change: Difference, text: str | None) -> None:
        self.definition = definition
        self._text = text
        self._trail.append(change)
        self.revision += 1

    def to_json(self) -> JsonObject:
        """Everything but the trail, which serves only a browser that is open now."""
        return {
            "definition": copied(self.definition),
            "base": copied(self.base),
            "baseVersion": self.base_version,
            "revision": self.revision,
            "acknowledged": dict(self.acknowledged),
            "pendingText": self.pending_text,
            "text": self._text,
            "done": [_revision_to_json(revision) for revision in self._done],
            "undone": [_revision_to_json(revision) for revision in self._undone],
        }

    @classmethod
    def from_json(cls, document: JsonObject) -> "Draft":
        try:
            pending = document["pendingText"]
            return cls(
                definition=copied(document["definition"]),
                base=copied(document["base"]),
                base_version=document["baseVersion"],
                revision=document["revision"],
                acknowledged=dict(document["acknowledged"]),
                pending_text=pending,
                problem=None if pending is None else json_text.read(pending)[1],
                _text=document["text"],
                _done=[_revision_from_json(raw) for raw in document["done"]],
                _undone=[_revision_from_json(raw) for raw in document["undone"]],
            )
        except (KeyError, TypeError, ValueError) as broken:
            raise UnreadableDraft(
                "The saved draft was written in a form that is not known here. "
                "Start again from the published version; the saved one is kept until you save."
            ) from broken


def _is_numbered(op: Any) -> bool:
    return (
        isinstance(op, dict)
        and isinstance(op.get("cid"), str)
        and isinstance(op.get("seq"), int)
        and not isinstance(op["seq"], bool)
    )


def _seq(op: JsonObject) -> int:
    return int(op["seq"])


def _revision_to_json(revision: Revision) -> JsonObject:
    return {
        "label": revision.label,
        "change": [splice.to_json() for splice in revision.change],
        "text": revision.text,
        "textBefore": revision.text_before,
        "select": revision.select,
    }


def _revision_from_json(raw: JsonObject) -> Revision:
    change = tuple(Splice.from_json(splice) for splice in raw["change"])
    return Revision(raw["label"], change, raw["text"], raw["textBefore"], raw["select"])
