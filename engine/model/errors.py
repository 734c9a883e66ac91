"""Every error that is raised on purpose, each with a code and the HTTP status it answers with.

    EngineError
    ├── InvalidInput        400   the request can never succeed as it is
    ├── NotFound            404   no such execution, task, definition ...
    ├── Conflict            409   the state of the thing does not allow it
    ├── TooLarge            413   a payload above its limit
    ├── NotTaken            503   nothing was stored; the same request may be sent again
    └── BadDatabase         500   the file or server is not ours, or not readable

A class's docstring is its default message. Expected outcomes are values, not errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Violation:
    """One thing that is wrong with a request: where, what, and the value given."""

    path: str
    message: str
    invalid_value: str | None = None


class EngineError(Exception):
    """Something went wrong."""

    code = "engine_error"
    status = 500
    retryable = False

    def __init__(self, message: str | None = None) -> None:
        self.message = message or (self.__doc__ or "").strip()
        super().__init__(self.message)


class InvalidInput(EngineError):
    """The request cannot be understood."""

    code = "invalid_input"
    status = 400
    violations: tuple[Violation, ...] = ()

    @classmethod
    def of(cls, found: Sequence[Violation]) -> Self:
        """One error for all that was found."""
        error = cls("Validation failed, check below errors for detail.")
        error.violations = tuple(found)
        return error


class NotFound(EngineError):
    """There is no such thing."""

    code = "not_found"
    status = 404


class Conflict(EngineError):
    """The present state does not allow this."""

    code = "conflict"
    status = 409


class TooLarge(EngineError):
    """The payload is larger than its limit."""

    code = "too_large"
    status = 413


class NotTaken(EngineError):
    """Nothing was stored; the same request may be sent again."""

    code = "not_taken"
    status = 503
    retryable = True


class BadDatabase(EngineError):
    """The database cannot be used."""

    code = "bad_database"
