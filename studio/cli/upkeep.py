"""`backup` and `verify`: care for a database itself, not through a server. Nothing is changed."""

import functools
import os
from pathlib import Path
from urllib.parse import urlsplit

import click

from engine.store import upkeep
from engine.store.database import open_beside
from studio.cli.asking import Command
from studio.cli.failures import FAILED, Told
from studio.cli.output import Output, plain, say
from studio.views import wording


def beside(command: Command) -> Command:
    """The command gets a database first; one who names a server is told that it is not asked."""

    @click.option(
        "--database",
        metavar="URL",
        envvar="REPRISE_DATABASE",
        default="sqlite:///reprise.db",
        show_default=True,
        help="Which database; else REPRISE_DATABASE.",
    )
    @click.option("--server", hidden=True)
    @click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs.")
    @functools.wraps(command)
    def reading(database: str, server: str | None, as_json: bool, **more: object) -> None:
        context = click.get_current_context()
        if server or context.find_root().params.get("server"):
            raise click.UsageError(
                f"`{context.command_path}` reads a database, not a server: leave out --server, and "
                "run it where the database is, with --database URL."
            )
        command(database, Output(as_json), **more)

    return reading


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@beside
def backup(database: str, out: Output, file: Path) -> None:
    """Copy the database into a new FILE. The engine may go on: it is a copy of one moment."""
    _writable(file)
    store = open_beside(database)
    try:
        upkeep.backup(store, file)
    finally:
        store.close()
    size = file.stat().st_size
    out.one({"file": str(file), "bytes": size}, [f"{file}  {wording.size(size)}"])


def _writable(file: Path) -> None:
    folder = file.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise click.UsageError(f"{folder} is no folder that can be written to. Name another FILE.")


@click.command()
@beside
def verify(database: str, out: Output) -> None:
    """Check everything in a database that must agree; exit code 1 if something is wrong."""
    say(f"Reading the whole of {_without_password(database)}...")
    store = open_beside(database)
    try:
        wrong = upkeep.verify(store)
    finally:
        store.close()
    out.many(
        [{"problem": one} for one in wrong],
        ("PROBLEM",),
        lambda one: (plain(one["problem"]),),
        "All is well.",
    )
    if wrong:
        raise Told(f"{wording.plural(len(wrong), 'problem')} found. Go back to a backup.", FAILED)


def _without_password(database: str) -> str:
    password = urlsplit(database).password
    return database.replace(f":{password}@", ":***@") if password else database
