"""What can go wrong between the studio and a server, each with the next step for a person.

    ServerError
    ├── Unreachable    nobody answers at the address
    ├── TooSlow        no answer in time; what happened is unknown
    ├── NotAllowed     401, 403
    ├── Missing        404: no such execution, task, definition
    ├── Refused        409: the present state does not allow it
    ├── Invalid        400, 413, 422: the request can never succeed as it is
    ├── Busy           429, 503: nothing was stored, it may be sent again
    ├── Broken         any other answer that is no success
    └── NotOffered     this server has no such thing

No words of the screen beyond `message` and `next_step`, no Streamlit.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One field the server did not accept."""

    path: str
    message: str
    value: str | None = None


class ServerError(Exception):
    """The server answered with an error."""

    next_step = "Look at the server's log, then try again."

    def __init__(self, message: str, violations: tuple[Violation, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.violations = violations


class Unreachable(ServerError):
    """No connection."""

    next_step = "Check that the server runs and that the address is right, then reload."


class TooSlow(ServerError):
    """The time for an answer is over."""

    next_step = "What happened is unknown: look at the execution before sending it again."


class NotAllowed(ServerError):
    """The person or the token may not do this."""

    next_step = "Ask for the role that may do this, or use another token."


class Missing(ServerError):
    """There is no such thing."""

    next_step = "Check the id or the name; it may have been removed."


class Refused(ServerError):
    """The state of the thing does not allow it."""

    next_step = "Reload to see the present state, then choose another action."


class Invalid(ServerError):
    """The request is wrong."""

    next_step = "Change what is named and send it again."


class Busy(ServerError):
    """Nothing was stored."""

    next_step = "Nothing was changed. Send it again in a moment."


class Broken(ServerError):
    """The server failed."""


class NotOffered(ServerError):
    """This server has no such endpoint."""

    next_step = "The rest of the page works without it."
