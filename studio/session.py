"""Who looks at which server: one client a process, one person and one clock a visit.

The address of the server comes from the environment (`REPRISE_SERVER`), which the supervisor sets;
`--one-process`, notebooks and tests put an ASGI app or a client in its place.
"""

import getpass
import os
import threading
from collections.abc import Callable
from datetime import UTC, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from studio.client.client import Client
from studio.client.transport import over_network
from studio.components.visit import Visit, now_ms

__all__ = ["PERSON", "SERVER", "TOKEN", "Visit", "client", "enter", "now_ms", "use"]

SERVER: Final = "REPRISE_SERVER"
TOKEN: Final = "REPRISE_TOKEN"
PERSON: Final = "REPRISE_PERSON"
DEFAULT_SERVER: Final = "http://127.0.0.1:8080"

_lock: Final = threading.Lock()
_made: dict[str, Client] = {}
_instead: list[Callable[[], Client]] = []


def enter() -> Visit:
    """Every page begins with this."""
    theme = st.context.theme
    return Visit(
        client=client(),
        person=_person(),
        zone=_zone(st.context.timezone),
        now_ms=now_ms(),
        dark=theme is not None and theme.type == "dark",
    )


def client() -> Client:
    """The process's client; connections are kept and shared by all visits."""
    with _lock:
        server = os.environ.get(SERVER, DEFAULT_SERVER)
        if server not in _made:
            make = _instead[-1] if _instead else lambda: _network_client(server)
            _made[server] = make()
        return _made[server]


def use(make: Callable[[], Client]) -> None:
    """Asks another way from now on: an app in this process, or a test's client."""
    with _lock:
        _instead.append(make)
        _made.clear()


def _network_client(server: str) -> Client:
    return Client(over_network(server, os.environ.get(TOKEN)))


def _person() -> str:
    """Nobody signs in on one's own machine: the name is that of the account."""
    named = os.environ.get(PERSON)
    if named:
        return named
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "local"


def _zone(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
