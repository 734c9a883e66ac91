"""What a server can do, and why not: our own engine has additions, a Conductor cluster has none.

Asked once a connection. Pages ask `can` before they show a control; nobody asks which product it is
to decide anything else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

CONDUCTOR: Final = "conductor"
REPRISE: Final = "reprise"

# What our additions are for, in the words in which their absence is told.
ADDITIONS: Final[Mapping[str, str]] = {
    "outline": "a light outline of an execution",
    "task": "one task without the whole execution",
    "ledger": "the story of an execution",
    "diagnosis": "why an execution stopped or what it waits for",
    "overview": "counts over all executions in one answer",
    "preview": "the engine's own preview of a recovery",
    "text": "a definition as text",
}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """`known` is False when the server did not say; then everything is tried the plain way."""

    product: str
    version: str
    offered: frozenset[str]
    known: bool = True

    def can(self, addition: str) -> bool:
        return addition in self.offered

    def why_not(self, addition: str) -> str:
        """Why something is missing; empty when it is there."""
        if self.can(addition):
            return ""
        what = ADDITIONS.get(addition, addition)
        server = "A Conductor server" if self.product == CONDUCTOR else "This server"
        return f"{server} does not offer {what}."


def of_conductor(version: str = "") -> Capabilities:
    """A server without our additions."""
    return Capabilities(CONDUCTOR, version, frozenset())


def read(document: object) -> Capabilities:
    """What a server says of itself; features as a list of names, or as names with yes or no."""
    if not isinstance(document, Mapping):
        return Capabilities(REPRISE, "", frozenset(), known=False)
    listed: Any = document.get("features", document.get("capabilities", ()))
    if isinstance(listed, Mapping):
        offered = frozenset(str(name) for name, there in listed.items() if there)
    elif isinstance(listed, list):
        offered = frozenset(str(name) for name in listed)
    else:
        offered = frozenset()
    product = str(document.get("product") or REPRISE)
    return Capabilities(product, str(document.get("version") or ""), offered)
