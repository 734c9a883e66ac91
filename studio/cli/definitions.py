"""`reprise definitions`: what the server knows how to run; between files and the catalogue."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from studio.cli import documents
from studio.cli.asking import Asking, asks, asks_even_alone
from studio.cli.failures import FAILED, NOT_FOUND, Told, sentence
from studio.cli.output import dumped, facts, plain, say
from studio.cli.registering import register_each
from studio.client.errors import ServerError, Unreachable
from studio.editor.tree import JsonObject, branches_of, ref_of, type_of
from studio.views import wording
from studio.views.compare import compare

VERSION = click.option("--version", type=int, help="Which version; the newest without it.")


@click.group()
def definitions() -> None:
    """List, check, register, export and compare workflow definitions."""


@definitions.command("list")
@asks
def list_(ask: Asking) -> None:
    """All names with their versions."""
    found = sorted(ask.client.versions().items())
    documents_ = [{"name": name, "versions": versions} for name, versions in found]

    def row(one: Any) -> list[object]:
        newest = one["versions"][-1]
        numbers = ", ".join(str(version.get("version")) for version in one["versions"])
        changed = wording.millis(newest.get("updateTime") or newest.get("createTime"))
        return [one["name"], numbers, wording.moment(changed) if changed else ""]

    none = "Nothing is registered. Register a file with `reprise definitions register FILE`."
    ask.out.many(documents_, ("NAME", "VERSIONS", "CHANGED (UTC)"), row, none)


@definitions.command()
@click.argument("name")
@VERSION
@asks
def show(ask: Asking, name: str, version: int | None) -> None:
    """One definition: its heading and its tasks; with --json the definition itself."""
    found = ask.client.definition(name, version)
    ask.out.one(found, _shown(found))


def _shown(definition: JsonObject) -> Iterator[str]:
    inputs = definition.get("inputParameters")
    yield from facts(
        (
            ("name", definition.get("name")),
            ("version", definition.get("version", 1)),
            ("about", definition.get("description")),
            ("owner", definition.get("ownerEmail")),
            ("input", ", ".join(map(str, inputs)) if isinstance(inputs, list) else ""),
            ("output", ", ".join(definition.get("outputParameters") or ())),
            ("timeout", _seconds(definition.get("timeoutSeconds"))),
            ("on failure", definition.get("failureWorkflow")),
        )
    )
    yield ""
    yield from _outlined(definition.get("tasks"), "")


def _seconds(value: object) -> str:
    return f"{value} s" if value else ""


def _outlined(tasks: object, indent: str) -> Iterator[str]:
    """Every task a line, what is inside it further in."""
    for task in tasks if isinstance(tasks, list) else ():
        if not isinstance(task, dict):
            continue
        yield f"{indent}{plain(ref_of(task))}  {plain(type_of(task))}  {plain(task.get('name'))}"
        for branch in branches_of(task):
            if not branch.tasks:
                continue
            yield f"{indent}  {plain(branch.title)}:"
            yield from _outlined(branch.tasks, f"{indent}    ")


@definitions.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@asks_even_alone
def validate(ask: Asking, files: tuple[str, ...]) -> None:
    """Would the server accept these files? Nothing is registered. `-` reads standard input."""
    failed = 0
    for place, definition in documents.objects(files):
        name = definition.get("name")
        try:
            ask.client.validate_definition(definition)
        except Unreachable:
            raise
        except ServerError as error:
            failed += 1
            problems = [{"path": one.path, "message": one.message} for one in error.violations]
            ask.out.event(
                {"file": place, "name": name, "valid": False, "problems": problems}
                | ({} if problems else {"problems": [{"path": "", "message": error.message}]}),
                "\n".join(_complaint(f"{place}: {plain(name)}", error)),
            )
        else:
            ask.out.event(
                {"file": place, "name": name, "valid": True, "problems": []},
                f"{place}: {plain(name)} is valid.",
            )
    if failed:
        raise Told(f"{wording.plural(failed, 'definition')} not valid.", FAILED)


def _complaint(what: str, error: ServerError) -> Iterator[str]:
    """Why a definition is not valid: each problem in a line of its own."""
    if not error.violations:
        yield f"{what} is not valid. {plain(sentence(error))}"
        return
    yield f"{what} is not valid:"
    for one in error.violations:
        yield f"  {plain(one.path)}: {plain(one.message)}"


@definitions.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--overwrite", is_flag=True, help="Replace a version that is registered already.")
@asks
def register(ask: Asking, files: tuple[str, ...], overwrite: bool) -> None:
    """Register the definitions in files, each by itself. `-` reads standard input."""
    register_each(
        ask,
        files,
        lambda one: ask.client.register_definition(one, ask.actor(), overwrite=overwrite),
        lambda one: {"name": one.get("name"), "version": one.get("version", 1)},
        lambda one: f"{plain(one.get('name'))} v{plain(one.get('version', 1))}",
        "" if overwrite else " A version that exists is replaced with --overwrite.",
    )


@definitions.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--all-versions", is_flag=True, help="Every version, not only the newest.")
@click.option("--overwrite", is_flag=True, help="Write over files that are there.")
@asks
def export(ask: Asking, folder: Path, all_versions: bool, overwrite: bool) -> None:
    """Write every definition into a file of its own: NAME.json, or NAME.vN.json."""
    found = ask.client.definitions()
    newest: dict[str, JsonObject] = {}
    for one in sorted(found, key=lambda each: int(each.get("version") or 1)):
        newest[str(one.get("name"))] = one
    chosen = found if all_versions else list(newest.values())
    files = {folder / _file_name(one, all_versions): one for one in chosen}
    there = [path for path in files if path.exists()]
    if there and not overwrite:
        raise click.UsageError(f"{there[0]} exists already. Say --overwrite, or name a new folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, one in sorted(files.items()):
            path.write_text(dumped(one, pretty=True) + "\n", encoding="utf-8")
            about = {"name": one.get("name"), "version": one.get("version"), "file": str(path)}
            ask.out.event(about, str(path))
    except OSError as error:
        raise click.UsageError(f"{folder} cannot be written: {documents.reason(error)}.") from error
    say(f"{wording.plural(len(files), 'definition')} written.")


def _file_name(definition: JsonObject, numbered: bool) -> str:
    """A name may hold any sign; a file's may not. A point in front would hide the file."""
    safe = re.sub(r"[^\w.-]", "_", str(definition.get("name"))).lstrip(".") or "_"
    return f"{safe}.v{definition.get('version', 1)}.json" if numbered else f"{safe}.json"


@definitions.command()
@click.argument("what", metavar="FILE|NAME")
@VERSION
@asks
def diff(ask: Asking, what: str, version: int | None) -> None:
    """What changed, in words: from the registered version to a file, or between two versions.

    A FILE is compared with the version registered under its name; a NAME's newest version with
    --version, or with the one before. The exit code is 1 when there is a difference.
    """
    old, new = _sides(ask, what, version)
    changes = compare(old, new).changes
    titles = [f"v{one.get('version', 1)}" for one in (old, new)]
    ask.out.many(
        [
            {"kind": one.kind, "task": one.ref, "about": one.about, "detail": one.detail}
            for one in changes
        ],
        ("CHANGE", "WHAT", "HOW"),
        lambda one: (one["kind"], one["about"], one["detail"]),
        f"{plain(new.get('name'))}: there is no difference.",
    )
    if changes:
        say(f"{wording.plural(len(changes), 'change')} from {titles[0]} to {titles[1]}.")
        click.get_current_context().exit(FAILED)


def _sides(ask: Asking, what: str, version: int | None) -> tuple[JsonObject, JsonObject]:
    if what == "-" or Path(what).is_file():
        listed = [one for _, one in documents.objects([what])]
        if len(listed) != 1:
            raise click.UsageError(f"{what} holds {len(listed)} definitions; compare one.")
        return ask.client.definition(str(listed[0].get("name")), version), listed[0]
    numbers = _numbers(ask, what)
    before = version if version is not None else numbers[-2] if len(numbers) > 1 else numbers[-1]
    return ask.client.definition(what, before), ask.client.definition(what, numbers[-1])


def _numbers(ask: Asking, name: str) -> Sequence[int]:
    listed = ask.client.versions().get(name)
    if not listed:
        raise Told(
            f"There is no file and no definition named {name}. See `reprise definitions list`.",
            NOT_FOUND,
        )
    return [int(one.get("version") or 1) for one in listed]
