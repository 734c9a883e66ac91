"""The story of an execution: lines that are only added to, each bound to the one before it."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlmodel import Session, col, select

from engine.model.record import Json, decode, encode
from engine.store.contract import LedgerLine
from engine.store.payloads import stored_value
from engine.store.tables import Ledger


def chained(before: str, execution: int, line: LedgerLine) -> str:
    """The hash that binds a line to its place in the story."""
    head = encode([before, execution, line.line, line.at, line.cause, line.by, line.why])
    return hashlib.blake2b(head + b"\n" + line.body, digest_size=16).hexdigest()


def story(session: Session, key: int, after: int = 0, limit: int = 1000) -> list[LedgerLine]:
    """The lines of an execution after a line, oldest first."""
    asked = (
        select(Ledger)
        .where(Ledger.execution == key, Ledger.line > after)
        .order_by(col(Ledger.line))
        .limit(limit)
    )
    return [_line(session, row) for row in session.exec(asked)]


@dataclass(slots=True)
class Past:
    """Where an execution stood after a line."""

    line: int = 0
    at: int = 0
    status: str = "RUNNING"
    reason: str | None = None
    runs: dict[int, dict[str, Json]] = field(default_factory=dict)
    """Seq -> `ref`, `status` and `attempt`."""


def state_at(session: Session, key: int, line: int) -> Past:
    """The state after a line: the lines up to it, folded."""
    past = Past()
    for item in story(session, key, limit=line):
        if item.line > line:
            break
        body = decode(item.body)
        past.line, past.at = item.line, item.at
        past.status = body.get("status", past.status)
        past.reason = body.get("reason", past.reason)
        for seq in body.get("removed", ()):
            past.runs.pop(seq, None)
        past.runs.update({int(seq): run for seq, run in body.get("runs", {}).items()})
    return past


def _line(session: Session, row: Ledger) -> LedgerLine:
    body = stored_value(session, row.body) or b"{}"
    return LedgerLine(row.line, row.at, row.cause, row.by, row.why, body, row.chain)


def broken_chains(session: Session, key: int | None = None) -> Iterator[str]:
    """Lines that do not follow from those before them, a sentence each; of one execution or all."""
    lines = select(Ledger).order_by(col(Ledger.execution), col(Ledger.line))
    if key is not None:
        lines = lines.where(Ledger.execution == key)
    execution, before = None, ""
    for row in session.exec(lines.execution_options(yield_per=500)):
        if row.execution != execution:
            execution, before = row.execution, ""
        line = _line(session, row)
        if chained(before, row.execution, line) != row.chain:
            yield f"The story of execution number {row.execution} was changed at line {row.line}"
        before = row.chain
