"""`reprise task-definitions`: retry, timeout and limit policies of task names."""

import click

from studio.cli import documents
from studio.cli.asking import Asking, asks
from studio.cli.failures import Told, code_of, sentence, together
from studio.cli.output import facts, plain
from studio.client.errors import ServerError, Unreachable


@click.group("task-definitions")
def task_definitions() -> None:
    """List, show and register task definitions."""


@task_definitions.command("list")
@asks
def list_(ask: Asking) -> None:
    """All task definitions with their retries and limits."""
    ask.out.many(
        sorted(ask.client.task_defs(), key=lambda one: str(one.get("name"))),
        ("NAME", "RETRIES", "DELAY (S)", "TIMEOUT (S)", "ANSWER WITHIN (S)", "AT ONCE"),
        lambda one: (
            one.get("name"),
            one.get("retryCount"),
            one.get("retryDelaySeconds"),
            one.get("timeoutSeconds"),
            one.get("responseTimeoutSeconds"),
            one.get("concurrentExecLimit"),
        ),
        "Nothing is registered. Use `reprise task-definitions register FILE`.",
    )


@task_definitions.command()
@click.argument("name")
@asks
def show(ask: Asking, name: str) -> None:
    """One task definition."""
    found = ask.client.task_def(name)
    ask.out.one(found, facts(found.items()))


@task_definitions.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@asks
def register(ask: Asking, files: tuple[str, ...]) -> None:
    """Register the task definitions in files, over those of the same name."""
    codes = []
    for place, found in list(documents.objects(files)):
        about = {"file": place, "name": found.get("name")}
        name = plain(found.get("name"))
        try:
            ask.client.save_task_def(found, ask.actor())
        except Unreachable:
            raise
        except ServerError as error:
            codes.append(code_of(error))
            ask.out.event(
                {**about, "registered": False, "error": sentence(error)},
                f"{name}: not registered. {plain(sentence(error))}",
            )
        else:
            codes.append(0)
            ask.out.event({**about, "registered": True}, f"{name}: registered.")
    if any(codes):
        raise Told(f"{sum(map(bool, codes))} of {len(codes)} not registered.", together(codes))
