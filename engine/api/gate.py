"""Who may come in. No content is looked at here."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from engine.api.answers import Forbidden

_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_ELSEWHERE = frozenset({"cross-site", "same-site"})


def admit(method: str, headers: Mapping[str, str]) -> None:
    """Refuse what a browser sends on behalf of a strange page: it can neither be asked nor answered
    here, but without this a page could still retry or end executions blindly."""
    if method in _READS:
        # Only links lead here from elsewhere; an image that polls would take a worker's task.
        if "sec-fetch-site" in headers and headers.get("sec-fetch-mode") != "navigate":
            admit_change(headers)
        return
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
        raise Forbidden(f"Invalid CORS request: pages of {origin} may change nothing here.")


def admit_change(headers: Mapping[str, str]) -> None:
    """Refuse a GET that changes something when a browser sends it for a page of another place; it
    names no origin then."""
    site = headers.get("sec-fetch-site")
    if site in _ELSEWHERE:
        raise Forbidden(f"A page of another place ({site}) may not ask for this.")


def admit_preflight(headers: Mapping[str, str]) -> None:
    """Refuse what a browser asks before it lets a strange page send a request."""
    if "access-control-request-method" in headers:
        origin = headers.get("origin")
        raise Forbidden(f"Invalid CORS request: pages of {origin} may ask nothing here.")
