"""The long-running commands: the supervisor, the engine alone, the studio alone.

Each has an entry of its own; its arguments are passed on as they are, and only then is it loaded.
"""

import importlib
from collections.abc import Sequence
from typing import Any, Final, NoReturn

import click

from studio.cli.asking import server_of

SUPERVISOR: Final = "studio.supervisor"
ENGINE: Final = "engine.cli"

_PASSED_ON: Final = {"ignore_unknown_options": True, "help_option_names": []}


def enter(module: str, arguments: Sequence[str]) -> NoReturn:
    """Runs the `main` of an entry, and ends with its exit code."""
    room: Any = importlib.import_module(module)
    raise SystemExit(room.main([*arguments]))


@click.command(context_settings=_PASSED_ON, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def serve(arguments: tuple[str, ...]) -> None:
    """Run the engine alone: the REST API, no studio. `serve --help` lists its options."""
    room: Any = importlib.import_module(ENGINE)
    raise SystemExit(room.main(["serve", *arguments], typed="reprise"))


@click.command()
@click.option("--server", metavar="URL", help="The server the studio shows.")
@click.option("--host", help="The address to listen on.")
@click.option("--port", type=int, help="The port to listen on.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.pass_context
def studio(
    context: click.Context,
    server: str | None,
    host: str | None,
    port: int | None,
    no_browser: bool,
) -> None:
    """Run the studio alone, for a server that runs elsewhere; a Conductor cluster will do."""
    given = {"server": server_of(context, server), "host": host, "port": port}
    enter(SUPERVISOR, flags({**given, "no_browser": no_browser}))


def flags(given: dict[str, Any]) -> list[str]:
    """Values as the arguments of another command; what was not given is left out."""
    found: list[str] = []
    for name, value in given.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            found.append(flag)
        elif value is not None and value is not False:
            found += [flag, str(value)]
    return found
