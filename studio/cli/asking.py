"""What every command that asks a server shares: which server, for whom, written how.

`@asks` gives a command its options and its first argument. No question is known here.
"""

import functools
import getpass
import importlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import Any, Final

import click

from studio.cli.output import Output
from studio.client.client import Actor, Client
from studio.client.transport import over_network

SERVERS: Final = ("REPRISE_SERVER", "CONDUCTOR_SERVER_URL")
TOKEN: Final = "REPRISE_TOKEN"
PERSON: Final = "REPRISE_PERSON"
DEFAULT_SERVER: Final = "http://127.0.0.1:8080"

Connect = Callable[[str, str | None], Client]
Command = Callable[..., None]

SERVER_HELP: Final = (
    f"Address of the server; else {' or '.join(SERVERS)}, else {DEFAULT_SERVER}. "
    "A Conductor cluster will do."
)


@dataclass(frozen=True, slots=True)
class Asking:
    """One command's client, person and output."""

    client: Client
    out: Output
    alone: bool = False

    def actor(self, reason: str | None = None) -> Actor:
        return Actor(_person(), reason or "")


def asks(command: Command) -> Command:
    """The command gets an `Asking` first, and the options that say which server."""

    @_about_the_server
    @functools.wraps(command)
    def asking(
        *given: Any, server: str | None, token: str | None, as_json: bool, **more: Any
    ) -> None:
        context = click.get_current_context()
        with closing(connected(context, server_of(context, server), token)) as client:
            command(Asking(client, Output(as_json)), *given, **more)

    return asking


def asks_even_alone(command: Command) -> Command:
    """The same for a command that needs no history: with `--alone` it needs no server either."""

    @_about_the_server
    @click.option(
        "--alone",
        is_flag=True,
        help="Ask no server: an engine with an empty memory is started for this command.",
    )
    @functools.wraps(command)
    def asking(
        *given: Any,
        server: str | None,
        token: str | None,
        as_json: bool,
        alone: bool,
        **more: Any,
    ) -> None:
        context = click.get_current_context()
        if alone:
            # An engine is heavy to load, and most commands never want one.
            room: Any = importlib.import_module("studio.cli.alone")
            opened: AbstractContextManager[Client] = room.engine_of_our_own()
        else:
            opened = closing(connected(context, server_of(context, server), token))
        with opened as client:
            command(Asking(client, Output(as_json), alone), *given, **more)

    return asking


def _about_the_server(command: Command) -> Command:
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs."),
        click.option("--token", metavar="TEXT", envvar=TOKEN, help=f"Access token; else {TOKEN}."),
        click.option("--server", metavar="URL", help=SERVER_HELP),
    ):
        command = option(command)
    return command


def reasoned(command: Command) -> Command:
    """The option with which a person says why."""
    words = "Why; the ledger keeps it beside your name."
    return click.option("--reason", metavar="TEXT", help=words)(command)


def server_of(context: click.Context, given: str | None) -> str:
    """The address that goes first: of the command, of `reprise` itself, of the environment."""
    found = [given, context.find_root().params.get("server")]
    found += [os.environ.get(name) for name in SERVERS]
    return next((place for place in found if place), DEFAULT_SERVER)


def connected(context: click.Context, server: str, token: str | None) -> Client:
    """A client; a test puts another way to make one in the place of ours."""
    connect: Connect = context.find_root().obj or _over_network
    return connect(server, token)


def _over_network(server: str, token: str | None) -> Client:
    return Client(over_network(server, token))


def _person() -> str:
    named = os.environ.get(PERSON)
    if named:
        return named
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "local"
