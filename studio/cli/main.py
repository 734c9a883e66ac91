"""`reprise`: the commands and where each lives. Without a command it starts engine and studio.

A command's room is loaded when it is asked for, so that a question does not wait for a database or
an engine it has no use for.
"""

import difflib
import importlib
import os
import sys
from typing import Any, Final, NoReturn

import click

from engine.model.errors import EngineError
from studio.cli import doors
from studio.cli.asking import SERVER_HELP
from studio.cli.failures import EXIT_CODES, FAILED, Told, told
from studio.cli.output import plain, say
from studio.client.errors import ServerError

COMMANDS: Final = {
    "serve": "doors:serve",
    "studio": "doors:studio",
    "definitions": "definitions:definitions",
    "task-definitions": "task_definitions:task_definitions",
    "start": "executions:start",
    "status": "executions:status",
    "get-execution": "executions:get_execution",
    "search": "executions:search",
    "watch": "progress:watch",
    "pause": "verbs:pause",
    "resume": "verbs:resume",
    "retry": "verbs:retry",
    "rerun": "verbs:rerun",
    "restart": "verbs:restart",
    "terminate": "verbs:terminate",
    "skip": "verbs:skip",
    "bulk": "bulk:bulk",
    "test": "mock_tests:test",
    "workers": "workers:workers",
    "backup": "upkeep:backup",
    "verify": "upkeep:verify",
    "completion": "completion:completion",
}
"""Command -> file and name, in the order of the help."""


class Root(click.Group):
    """Loads commands late, and turns what servers and engines refuse into one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = COMMANDS.get(cmd_name)
        if place is None:
            return None
        room, _, name = place.partition(":")
        found: click.Command = getattr(importlib.import_module(f"studio.cli.{room}"), name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = difflib.get_close_matches(name, COMMANDS, 3)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"There is no command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (ServerError, EngineError) as error:
            self._end(ctx, told(error))
        except Told as end:
            self._end(ctx, end)

    def _end(self, ctx: click.Context, end: Told) -> NoReturn:
        say(f"reprise: {plain(end.message)}")
        ctx.exit(end.exit_code)


@click.group(
    cls=Root,
    invoke_without_command=True,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--server", metavar="URL", help=SERVER_HELP)
@click.option("--host", help="Start: the address to listen on.")
@click.option("--port", type=int, help="Start: the studio's port.")
@click.option("--engine-port", type=int, help="Start: the engine's port.")
@click.option("--database", metavar="URL", help="Start: sqlite:///FILE or postgresql://...")
@click.option("--no-samples", is_flag=True, help="Start: do not register the samples.")
@click.option("--no-browser", is_flag=True, help="Start: do not open a browser.")
@click.option("--one-process", is_flag=True, help="Start: engine and studio in one process.")
@click.pass_context
def cli(context: click.Context, /, **given: Any) -> None:
    """Durable workflows: an engine, a studio, and the commands to ask and steer them.

    Without a command the engine and the studio are started, with the options below. Everything
    else asks a server: ours, or a Conductor cluster.

    Tables are for people; with --json a single thing is one JSON document and a list is one
    document a line. Progress goes to standard error.
    """
    if os.environ.get("NO_COLOR"):
        context.color = False
    if context.invoked_subcommand is None:
        doors.enter(doors.SUPERVISOR, doors.flags(given))
    misplaced = doors.flags({name: value for name, value in given.items() if name != "server"})
    if misplaced:
        raise click.UsageError(
            f"{misplaced[0]} belongs to `reprise` without a command; "
            f"see `reprise {context.invoked_subcommand} --help`."
        )


def main() -> None:
    """The console script."""
    try:
        cli.main(prog_name="reprise")
    except OSError as error:
        say(f"reprise: {error.strerror or error}")
        # What could not be written is not tried again at the end.
        sys.stdout = None
        sys.exit(FAILED)


if __name__ == "__main__":
    main()
