"""`pause`, `resume`, `retry`, `rerun`, `restart`, `terminate`, `skip`: one verb on named executions."""

from collections.abc import Callable, Sequence

import click

from studio.cli import documents
from studio.cli.asking import Asking, asks, reasoned
from studio.cli.documents import json_option
from studio.cli.failures import NOT_FOUND, Told, code_of, next_step, sentence, together
from studio.cli.output import plain
from studio.client.client import Document
from studio.client.errors import ServerError, Unreachable
from studio.graph.outline import age, outline_of

IDS = click.argument("ids", metavar="ID...", nargs=-1, required=True)


@click.command()
@IDS
@reasoned
@asks
def pause(ask: Asking, ids: tuple[str, ...], reason: str | None) -> None:
    """Hold executions: what runs may end, nothing new is scheduled. `-` reads ids."""
    _each(ask, ids, "paused", lambda id_: ask.client.pause(id_, ask.actor(reason)))


@click.command()
@IDS
@reasoned
@asks
def resume(ask: Asking, ids: tuple[str, ...], reason: str | None) -> None:
    """Let paused executions go on. `-` reads ids."""
    _each(ask, ids, "resumed", lambda id_: ask.client.resume(id_, ask.actor(reason)))


@click.command()
@IDS
@click.option("--inside-children", is_flag=True, help="Retry inside a failed sub-workflow.")
@reasoned
@asks
def retry(ask: Asking, ids: tuple[str, ...], inside_children: bool, reason: str | None) -> None:
    """Run the failed tasks of executions again; all else keeps its results. `-` reads ids."""
    actor = ask.actor(reason)
    _each(
        ask,
        ids,
        "retried",
        lambda id_: ask.client.retry(id_, actor, inside_children=inside_children),
    )


@click.command()
@IDS
@click.option("--latest", is_flag=True, help="With the newest version of the definition.")
@reasoned
@asks
def restart(ask: Asking, ids: tuple[str, ...], latest: bool, reason: str | None) -> None:
    """Begin ended executions anew under the same id. `-` reads ids."""
    actor = ask.actor(reason)
    _each(ask, ids, "restarted", lambda id_: ask.client.restart(id_, actor, latest=latest))


@click.command()
@IDS
@click.option("--failure-workflow", is_flag=True, help="Start the failure workflow as well.")
@reasoned
@asks
def terminate(
    ask: Asking, ids: tuple[str, ...], failure_workflow: bool, reason: str | None
) -> None:
    """End executions; their open tasks are canceled. `-` reads ids."""
    actor = ask.actor(reason)
    _each(
        ask,
        ids,
        "terminated",
        lambda id_: ask.client.terminate(id_, actor, failure_workflow=failure_workflow),
    )


@click.command()
@IDS
@click.option("--from", "ref", metavar="REF", help="From this task; from the start without it.")
@json_option("--input", "input_", words="A new input of the workflow.")
@json_option("--task-input", words="A new input of the task that --from names.")
@reasoned
@asks
def rerun(
    ask: Asking,
    ids: tuple[str, ...],
    ref: str | None,
    input_: Document | None,
    task_input: Document | None,
    reason: str | None,
) -> None:
    """Run ended executions again from a task on: what came before is kept. `-` reads ids."""
    if task_input is not None and ref is None:
        raise click.UsageError("--task-input needs --from: it is the input of that task.")

    def act(id_: str) -> None:
        task_id = _newest(ask, id_, ref) if ref else None
        ask.client.rerun(
            id_,
            ask.actor(reason),
            task_id=task_id,
            task_input=task_input,
            workflow_input=input_,
        )

    _each(ask, ids, "running again", act)


def _newest(ask: Asking, id_: str, ref: str) -> str:
    """The id of the last attempt at a task; Conductor reruns from an id only."""
    entries = outline_of(ask.client.execution(id_))
    found = [one for one in entries if one["ref"] == ref and one["taskId"]]
    if not found:
        ran = ", ".join(dict.fromkeys(str(one["ref"]) for one in entries)) or "nothing yet"
        raise Told(f"No task {ref} has run. These have: {ran}.", NOT_FOUND)
    return str(max(found, key=age)["taskId"])


@click.command()
@click.argument("id_", metavar="ID")
@click.argument("ref")
@json_option("--output", words="The output that others shall read of it.")
@reasoned
@asks
def skip(ask: Asking, id_: str, ref: str, output: Document | None, reason: str | None) -> None:
    """Pass over the task REF, which has not been reached yet."""
    actor = ask.actor(reason)
    _each(
        ask, [id_], f"{ref} is skipped", lambda one: ask.client.skip(one, ref, actor, output=output)
    )


def _each(ask: Asking, given: Sequence[str], done: str, act: Callable[[str], None]) -> None:
    """One line an id. One that is refused does not hold up the others; an absent server does."""
    listed = documents.ids(given)
    codes = []
    for id_ in listed:
        try:
            act(id_)
        except Unreachable:
            raise
        except (ServerError, Told) as error:
            code, words = _refusal(error)
            codes.append(code)
            if len(listed) == 1 and not ask.out.json:
                raise Told(f"{id_}: {words}", code) from error
            ask.out.event(
                {"workflowId": id_, "ok": False, "error": words}, f"{id_}: {plain(words)}"
            )
        else:
            codes.append(0)
            ask.out.event({"workflowId": id_, "ok": True}, f"{id_}: {done}.")
    if any(codes):
        raise Told(f"{sum(map(bool, codes))} of {len(codes)} not {done}.", together(codes))


def _refusal(error: ServerError | Told) -> tuple[int, str]:
    if isinstance(error, Told):
        return error.exit_code, error.message
    return code_of(error), f"{sentence(error)} {next_step(error)}"
