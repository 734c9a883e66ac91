"""`backup` and `verify`: care for a database itself, not through a server. Nothing is changed."""

import os
from pathlib import Path

import click

from engine.store import upkeep
from engine.store.database import open_beside
from studio.cli.failures import FAILED, Told
from studio.cli.output import Output, plain, say
from studio.views import wording

DATABASE = click.option(
    "--database",
    metavar="URL",
    envvar="REPRISE_DATABASE",
    default="sqlite:///reprise.db",
    show_default=True,
    help="Which database; else REPRISE_DATABASE.",
)


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@DATABASE
def backup(file: Path, database: str) -> None:
    """Copy the database into a new FILE. The engine may go on: it is a copy of one moment."""
    _writable(file)
    store = open_beside(database)
    try:
        upkeep.backup(store, file)
    finally:
        store.close()
    click.echo(f"{file}  {wording.size(file.stat().st_size)}")


def _writable(file: Path) -> None:
    folder = file.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise click.UsageError(f"{folder} is no folder that can be written to. Name another FILE.")


@click.command()
@DATABASE
@click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs.")
def verify(database: str, as_json: bool) -> None:
    """Check everything in a database that must agree; exit code 1 if something is wrong."""
    say("Reading the whole database...")
    store = open_beside(database)
    try:
        wrong = upkeep.verify(store)
    finally:
        store.close()
    Output(as_json).many(
        [{"problem": one} for one in wrong],
        ("PROBLEM",),
        lambda one: (plain(one["problem"]),),
        "All is well.",
    )
    if wrong:
        raise Told(f"{wording.plural(len(wrong), 'problem')} found. Go back to a backup.", FAILED)
