"""Conductor's search language: text in, a tree of conditions out. No tables here.

status IN (RUNNING, FAILED) AND (workflowType = 'order*' OR correlationId != "a b")
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from engine.model.errors import InvalidInput

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted>'[^']*'|"[^"]*")
      | (?P<operator><=|>=|!=|<>|=|<|>)
      | (?P<mark>[(),])
      | (?P<word>[^\s'"=!<>(),]+)
    )""",
    re.VERBOSE,
)
_JOINERS = frozenset(["AND", "OR"])


@dataclass(frozen=True, slots=True)
class Compare:
    """One field against one value, or against several."""

    field: str
    operator: str
    """`=`, `!=`, `<`, `>`, `<=`, `>=`, `IN` or `NOT IN`."""
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Both:
    """All of the parts hold."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of the parts holds."""

    parts: tuple["Condition", ...]


Condition = Compare | Both | Either


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text.upper() in words


_END = _Token("end", "")


def parse(query: str) -> Condition | None:
    """The conditions of a query; None when it has none."""
    if not query.strip():
        return None
    return _Parser(query).whole()


class _Parser:
    """Reads a query from left to right; AND binds closer than OR."""

    def __init__(self, query: str) -> None:
        self._query = query
        self._tokens = list(self._split(query))
        self._at = 0

    def whole(self) -> Condition:
        found = self._either()
        if self._now is not _END:
            self._wrong(f"{self._now.text!r} is not expected here")
        return found

    def _split(self, query: str) -> Iterator[_Token]:
        at, end = 0, len(query.rstrip())
        while at < end:
            found = _TOKEN.match(query, at)
            if found is None or found.lastgroup is None:
                self._wrong(f"{query[at:].strip()!r} cannot be read")
            text = found[found.lastgroup]
            yield _Token(found.lastgroup, text[1:-1] if found.lastgroup == "quoted" else text)
            at = found.end()

    @property
    def _now(self) -> _Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _END

    def _next(self) -> _Token:
        token = self._now
        self._at += 1
        return token

    def _either(self) -> Condition:
        parts = [self._both()]
        while self._now.is_word("OR"):
            self._next()
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _both(self) -> Condition:
        parts = [self._one()]
        while self._now.is_word("AND"):
            self._next()
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def _one(self) -> Condition:
        token = self._next()
        if token == _Token("mark", "("):
            inside = self._either()
            self._expect(")")
            return inside
        if token.kind != "word" or token.is_word(*_JOINERS):
            self._wrong(f"a field is expected, not {token.text!r}")
        operator = self._next()
        if operator.kind == "operator":
            sign = "!=" if operator.text == "<>" else operator.text
            return Compare(token.text, sign, (self._value(token.text),))
        if operator.is_word("IN"):
            return Compare(token.text, "IN", self._list(token.text))
        if operator.is_word("NOT") and self._next().is_word("IN"):
            return Compare(token.text, "NOT IN", self._list(token.text))
        self._wrong(f"after {token.text!r} one of = != < > <= >= IN, NOT IN is expected")

    def _value(self, name: str) -> str:
        """A value in quotes, or words up to the next joiner or mark."""
        if self._now.kind == "quoted":
            return self._next().text
        words: list[str] = []
        while self._now.kind == "word" and not self._now.is_word(*_JOINERS):
            words.append(self._next().text)
        if not words:
            self._wrong(f"the value of {name!r} is missing")
        return " ".join(words)

    def _list(self, name: str) -> tuple[str, ...]:
        self._expect("(")
        values: list[str] = []
        while self._now != _Token("mark", ")"):
            if values:
                self._expect(",")
            values.append(self._value(name))
        self._next()
        return tuple(values)

    def _expect(self, mark: str) -> None:
        token = self._next()
        if token != _Token("mark", mark):
            self._wrong(f"{mark!r} is expected, not {token.text or 'the end'!r}")

    def _wrong(self, why: str) -> NoReturn:
        raise InvalidInput(f"Incorrectly formatted query string: {self._query} ({why})")
