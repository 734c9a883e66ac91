"""The samples as a server gets them: their definitions and task definitions, registered once.

What is there already is left as it is: a person may have changed it.
"""

from typing import Final

from sample_workflows.catalogue import samples
from studio.client.client import Actor, Client, Document
from studio.client.errors import ServerError

WORKERS: Final = "sample_workflows.workers"
"""The module whose functions carry out the samples' tasks."""


def register(client: Client, actor: Actor) -> list[str]:
    """Registers what the server does not have yet; what it refused, in words."""
    refused: list[str] = []
    try:
        tasks = {str(one.get("name")) for one in client.task_defs()}
        flows = {(one.get("name"), one.get("version", 1)) for one in client.definitions()}
    except ServerError as error:
        return [error.message]
    for sample in samples():
        try:
            for task_def in sample.task_defs:
                if task_def["name"] not in tasks:
                    client.save_task_def(task_def, actor)
            for definition in sample.definitions:
                if (definition["name"], definition.get("version", 1)) not in flows:
                    client.save_definition(definition, actor)
        except ServerError as error:
            refused.append(f"{sample.name}: {error.message}")
    return refused


def inputs_for(definition: Document) -> dict[str, Document]:
    """What a sample can be tried with besides its template: words -> input. None for what is no
    sample, or has other inputs by now."""
    for sample in samples():
        ours = sample.definition
        if all(ours.get(part) == definition.get(part) for part in ("name", "inputParameters")):
            others = {f"Another way: {play.title}": play.input for play in sample.variants}
            return {f"Fails on purpose: {sample.failing.title}": sample.failing.input, **others}
    return {}
