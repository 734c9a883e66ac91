"""`reprise task-definitions`: retry, timeout and limit policies of task names."""

import click

from studio.cli.asking import Asking, asks
from studio.cli.output import facts, plain
from studio.cli.registering import register_each


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
    register_each(
        ask,
        files,
        lambda one: ask.client.save_task_def(one, ask.actor()),
        lambda one: {"name": one.get("name")},
        lambda one: plain(one.get("name")),
    )
