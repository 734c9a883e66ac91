"""Exit codes, and every error as one line with the next step. Nothing is asked or printed here."""

from collections.abc import Iterable
from typing import Final

from engine.model.errors import EngineError
from studio.client import errors
from studio.client.errors import ServerError

FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
REFUSED: Final = 4
UNREACHABLE: Final = 5

EXIT_CODES: Final = """\b
Exit codes:
  0  done, and what was asked about is well
  1  what was asked about failed: an execution, a test, a check, a difference
  2  the command was not understood; nothing was done
  3  there is no such execution, task or definition
  4  refused: the server answered and did not do it, or you said no
  5  no answer: unreachable, too slow or too busy; try again"""

_CODES: Final = (
    (errors.Missing, NOT_FOUND),
    (errors.Unreachable, UNREACHABLE),
    (errors.TooSlow, UNREACHABLE),
    (errors.Busy, UNREACHABLE),
)
_NEXT: Final = (
    (errors.Missing, "Look for it with `reprise search` or `reprise definitions list`."),
    (errors.Unreachable, "Start one with `reprise serve`, or name it with --server."),
    (errors.TooSlow, "What happened is unknown: look with `reprise status` before you repeat it."),
    (errors.Busy, "Nothing was changed; try again in a moment."),
    (errors.NotAllowed, "Give a token with --token or REPRISE_TOKEN."),
    (errors.Refused, "Look at its present state with `reprise status`, then choose another way."),
    (errors.Invalid, "Correct what is named and send it again."),
    (errors.NotOffered, "This server lacks it; ask another one with --server."),
)


class Told(Exception):
    """An expected end that is no success: a line on standard error, and a code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


def told(error: ServerError | EngineError) -> Told:
    """What went wrong, for the one who typed the command."""
    if isinstance(error, EngineError):
        return Told(error.message, REFUSED)
    return Told(f"{sentence(error)} {next_step(error)}", code_of(error))


def code_of(error: ServerError) -> int:
    return next((code for kind, code in _CODES if isinstance(error, kind)), REFUSED)


def next_step(error: ServerError) -> str:
    return next((step for kind, step in _NEXT if isinstance(error, kind)), error.next_step)


def sentence(error: ServerError) -> str:
    """The server's words, with every field that it names."""
    message = error.message.strip()
    if error.violations:
        fields = "; ".join(f"{one.path}: {one.message}" for one in error.violations)
        message = f"{message.rstrip('.')} ({fields})"
    return message if message.endswith((".", "!", "?")) else f"{message}."


def together(codes: Iterable[int]) -> int:
    """One exit code for several results: their own if they agree, else that something failed."""
    bad = {code for code in codes if code}
    return bad.pop() if len(bad) == 1 else FAILED if bad else 0
