"""`backup` and `verify`: care for a database itself, not through a server. Nothing is changed."""

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import click

from engine.store import files, upkeep
from engine.store.database import open_beside
from engine.store.rowstore import RowStore
from studio.cli.asking import Command
from studio.cli.failures import FAILED, Told
from studio.cli.output import Output, plain, say
from studio.views import wording


@dataclass(frozen=True, slots=True)
class Asked:
    """Which database, and where its payload files are."""

    url: str
    payloads: str | None

    @contextmanager
    def opened(self) -> Iterator[RowStore]:
        """Its store, to read."""
        store = open_beside(self.url)
        try:
            store.folder = files.folder_of(store, self.payloads, make=False)
            yield store
        finally:
            store.close()


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
    @click.option(
        "--payloads",
        metavar="FOLDER",
        envvar="REPRISE_PAYLOAD_FOLDER",
        help="The engine's folder of payload files; else REPRISE_PAYLOAD_FOLDER.",
    )
    @click.option("--server", hidden=True)
    @click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs.")
    @functools.wraps(command)
    def reading(
        database: str, payloads: str | None, server: str | None, as_json: bool, **more: object
    ) -> None:
        context = click.get_current_context()
        if server or context.find_root().params.get("server"):
            raise click.UsageError(
                f"`{context.command_path}` reads a database, not a server: leave out --server, and "
                "run it where the database is, with --database URL."
            )
        command(Asked(database, payloads), Output(as_json), **more)

    return reading


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@beside
def backup(database: Asked, out: Output, file: Path) -> None:
    """Copy the database into a new FILE, and its payload files into FILE.payloads. The engine may go
    on: it is a copy of one moment."""
    _writable(file)
    with database.opened() as store:
        payloads = upkeep.backup(store, file)
    size = file.stat().st_size
    shown, lines = {"file": str(file), "bytes": size}, [f"{file}  {wording.size(size)}"]
    if payloads is not None:
        shown["payloads"] = str(payloads)
        lines.append(f"{payloads}  its payload files: REPRISE_PAYLOAD_FOLDER for the copy")
    out.one(shown, lines)


def _writable(file: Path) -> None:
    folder = file.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise click.UsageError(f"{folder} is no folder that can be written to. Name another FILE.")


@click.command()
@beside
def verify(database: Asked, out: Output) -> None:
    """Check everything in a database that must agree; exit code 1 if something is wrong."""
    say(f"Reading the whole of {_without_password(database.url)}...")
    with database.opened() as store:
        wrong = upkeep.verify(store)
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
