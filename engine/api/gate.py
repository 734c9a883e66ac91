"""Who may come in. No content is looked at here."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from engine.api.wire import Forbidden

_READS = frozenset({"GET", "HEAD", "OPTIONS"})


def admit(method: str, headers: Mapping[str, str]) -> None:
    """Refuse what a browser sends on behalf of a strange page: it can neither be asked nor answered
    here, but without this a page could still retry or end executions blindly."""
    origin = headers.get("origin")
    if origin is None or method in _READS:
        return
    if urlsplit(origin).netloc != headers.get("host", ""):
        raise Forbidden(f"Invalid CORS request: pages of {origin} may change nothing here.")
