"""Definitions as their authors wrote them, letter by letter. Cold, by session."""

from sqlmodel import Session

from engine.store.tables import DefinitionText


def keep(session: Session, name: str, version: int, text: str | None) -> None:
    """The text of a definition that has just been registered; None if it has none of its own."""
    row = session.get(DefinitionText, (name, version))
    if text is None:
        if row is not None:
            session.delete(row)
        return
    row = row or DefinitionText(name=name, version=version, text="")
    row.text = text
    session.add(row)


def of(session: Session, name: str, version: int) -> str | None:
    """The text of a definition, if its author's is known."""
    row = session.get(DefinitionText, (name, version))
    return None if row is None else row.text
