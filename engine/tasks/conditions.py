"""What the text of a loop's condition looks at, so that an evaluator is sent no more than that.

It errs on one side only: a text that cannot be read with certainty looks at everything. Nothing
here runs a script.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from engine.tasks.rounds import is_round

_ROOT = re.compile(r"(?<![\w$])\$(?![\w$])")
_MEMBER = re.compile(
    r"""\s*(?:\??\.\s*([\w$]+)|(?:\?\.)?\s*\[\s*(?:'([^'\\]*)'|"([^"\\]*)"|(\d+))\s*\])"""
)
_CALLED = re.compile(r"\s*(?:\?\.\s*)?[(`]")
_BY_OTHER_WAYS = re.compile(
    r"\\|\b(?:this|globalThis|eval|Function|constructor|with|import|fromCharCode|fromCodePoint)\b"
)
"""Words by which a script may come to `$` without writing it down."""

_OWN = frozenset({"iteration", "loopIndex", "loopItem"})


@dataclass(frozen=True, slots=True)
class Sight:
    """What a condition sees of `$`."""

    names: frozenset[str] | None
    """Members of `$`; None: perhaps all."""
    rounds: frozenset[str] | None
    """Rounds in the loop's own output, by their keys; None: perhaps all."""

    def sees(self, name: str) -> bool:
        """May the condition look at this member of `$`?"""
        return self.names is None or name in self.names


EVERYTHING = Sight(None, None)


@lru_cache(maxsize=1024)
def sight_of(condition: str, loop: str) -> Sight:
    """What a condition looks at; `loop` is the reference name of the loop it belongs to."""
    if _BY_OTHER_WAYS.search(condition):
        return EVERYTHING
    names: set[str] = set()
    rounds: set[str] | None = set()
    for root in _ROOT.finditer(condition):
        member = _MEMBER.match(condition, root.end())
        if member is None or _CALLED.match(condition, member.end()):
            return EVERYTHING
        name = _name(member)
        names.add(name)
        if name == loop and rounds is not None:
            key = _MEMBER.match(condition, member.end())
            read = None if key is None else _name(key)
            if read is None or not (read in _OWN or is_round(read)):
                rounds = None
            elif is_round(read):
                rounds.add(read)
    return Sight(frozenset(names), None if rounds is None else frozenset(rounds))


def _name(member: re.Match[str]) -> str:
    return next(group for group in member.groups() if group is not None)
