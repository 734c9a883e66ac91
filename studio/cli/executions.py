"""`start`, `status`, `get-execution`, `search`: begin executions, look at them, find them."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from studio.cli import documents
from studio.cli.asking import Asking, asks
from studio.cli.documents import json_option
from studio.cli.failures import FAILED, Told, code_of, next_step, sentence, together
from studio.cli.output import dumped, facts, say, table
from studio.cli.progress import follow, took
from studio.client.client import Document
from studio.client.errors import ServerError, Unreachable
from studio.graph.outline import outline_of
from studio.views import wording

GONE_WRONG = frozenset({"FAILED", "TIMED_OUT", "TERMINATED"})
_PAGE = 500
_SENTENCES = 5


@click.command()
@click.argument("name")
@click.option("--version", type=int, help="Which version; the newest without it.")
@json_option("--input", "input_", words="The input; @- reads standard input.")
@click.option("--correlation-id", metavar="TEXT", help="Your own key for it.")
@click.option("--priority", type=click.IntRange(0, 99), help="0 to 99; 99 goes first.")
@click.option("--wait", is_flag=True, help="Wait until it ends, then write its output.")
@click.option("--timeout", type=click.FloatRange(min=0), help="Seconds to wait at most.")
@asks
def start(
    ask: Asking,
    name: str,
    version: int | None,
    input_: Document | None,
    correlation_id: str | None,
    priority: int | None,
    wait: bool,
    timeout: float | None,
) -> None:
    """Start an execution and write its id.

    With --wait its output is written instead, and the exit code is 1 unless it completes.
    """
    request: Document = {"name": name, "input": input_ or {}}
    for key, value in (
        ("version", version),
        ("correlationId", correlation_id),
        ("priority", priority),
    ):
        if value is not None:
            request[key] = value
    id_ = ask.client.start(request, ask.actor())
    if not wait:
        ask.out.one({"workflowId": id_}, [id_])
        return
    say(f"{id_} is started.")
    if not follow(ask.client, id_, lambda changed: None, timeout):
        raise Told(f"{id_} goes on; the time to wait is over. Use `reprise watch {id_}`.", FAILED)
    ended = ask.client.execution(id_, tasks=False)
    ask.out.one(ended, [dumped(ended.get("output") or {}, pretty=True)])
    if ended.get("status") != "COMPLETED":
        raise Told(f"{id_} is {ended.get('status')}: {_reason(ended)}", FAILED)


def _reason(execution: Document) -> str:
    return str(execution.get("reasonForIncompletion") or "no reason was given.")


@click.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@asks
def status(ask: Asking, ids: tuple[str, ...]) -> None:
    """How executions stand; exit code 1 if one has failed, timed out or been terminated.

    `-` reads ids from standard input.
    """
    codes = []
    for number, id_ in enumerate(documents.ids(ids)):
        try:
            found = ask.client.execution(id_)
        except Unreachable:
            raise
        except ServerError as error:
            codes.append(code_of(error))
            say(f"reprise: {id_}: {sentence(error)} {next_step(error)}")
            continue
        codes.append(FAILED if found.get("status") in GONE_WRONG else 0)
        told = _diagnosis(ask, id_)
        document = {key: found[key] for key in found if key not in _BULKY}
        if told is not None:
            document["diagnosis"] = told
        lines = [*([""] if number else []), *_standing(found, told)]
        ask.out.one(document, lines)
    click.get_current_context().exit(together(codes))


_BULKY = frozenset({"tasks", "input", "output", "variables", "workflowDefinition"})


def _diagnosis(ask: Asking, id_: str) -> Document | None:
    """Why it stopped or what it waits for; None where the server does not say."""
    try:
        return ask.client.diagnosis(id_)
    except ServerError:
        # How it stands is known all the same; a foreign server may refuse to be asked for more.
        return None


def _standing(execution: Document, diagnosis: Document | None = None) -> Iterator[str]:
    entries = outline_of(execution)
    started = wording.millis(execution.get("startTime"))
    ended = wording.millis(execution.get("endTime"))
    open_now = [one for one in entries if one["status"] in ("SCHEDULED", "IN_PROGRESS")]
    named = execution.get("failedReferenceTaskNames")
    yield from facts(
        (
            ("id", execution.get("workflowId")),
            ("workflow", f"{_name(execution)} v{execution.get('workflowVersion', 1)}"),
            ("status", execution.get("status")),
            ("correlation", execution.get("correlationId")),
            ("started", wording.absolute(started)),
            ("took", wording.took(ended - started) if started and ended else ""),
            ("tasks", wording.plural(len(entries), "task")),
            ("now at", ", ".join(f"{one['ref']} ({one['status']})" for one in open_now[:5])),
            ("failed at", ", ".join(map(str, named)) if isinstance(named, list) else named),
            ("reason", execution.get("reasonForIncompletion")),
            *_diagnosed(diagnosis or {}),
        )
    )


def _diagnosed(diagnosis: Document) -> Iterator[tuple[str, object]]:
    """A diagnosis as facts, a sentence each; one that leaves nothing to do is not worth a line."""
    waiting, steps = diagnosis.get("waiting") or [], diagnosis.get("nextSteps") or []
    if not steps:
        return
    headline, path = str(diagnosis.get("headline") or ""), diagnosis.get("path") or []
    # The headline of what only waits is its first sentence: said once is enough.
    told = waiting and headline.startswith(str(waiting[0]))
    for title, sentences in (
        ("diagnosis", [] if told else [headline]),
        ("waits for", waiting),
        ("began in", path[-1:] if len(path) > 1 else []),
        ("next", steps),
    ):
        more = len(sentences) - _SENTENCES
        shown = [*sentences[:_SENTENCES], *([f"and {more:,} more; --json shows all"] * (more > 0))]
        yield from ((("" if number else title), one) for number, one in enumerate(shown))


def _name(execution: Mapping[str, Any]) -> str:
    return str(execution.get("workflowName") or execution.get("workflowType") or "")


@click.command("get-execution")
@click.argument("id_", metavar="ID")
@click.option("--tasks", is_flag=True, help="With all tasks and their payloads.")
@asks
def get_execution(ask: Asking, id_: str, tasks: bool) -> None:
    """A whole execution: input, output, variables, and its tasks on demand."""
    found = ask.client.execution(id_, tasks)
    ask.out.one(found, _whole(found, tasks))


def _whole(execution: Document, tasks: bool) -> Iterator[str]:
    yield from (line for line in _standing(execution) if tasks or not line.startswith("tasks"))
    for part in ("input", "output", "variables"):
        if execution.get(part):
            yield from ("", f"{part}:", dumped(execution[part], pretty=True))
    rows = [
        (
            one["ref"] + (f" #{one['iteration']}" if one["iteration"] else ""),
            one["type"],
            one["status"],
            one["retryCount"],
            took(one),
            one["reason"],
        )
        for one in outline_of(execution)
    ]
    if rows:
        yield ""
        yield from table(("TASK", "TYPE", "STATUS", "RETRY", "TOOK", "REASON"), rows)


@click.command()
@click.argument("query", default="")
@click.option("--free-text", default="*", metavar="TEXT", help="Words in inputs and outputs.")
@click.option("--sort", default="startTime:DESC", show_default=True, metavar="FIELD:ASC|DESC")
@click.option("--size", type=click.IntRange(1, 5000), default=50, show_default=True)
@click.option("--all", "everything", is_flag=True, help="All that is found, page by page.")
@click.option("--ids", "ids_only", is_flag=True, help="Ids alone, one a line, for a pipe.")
@asks
def search(
    ask: Asking,
    query: str,
    free_text: str,
    sort: str,
    size: int,
    everything: bool,
    ids_only: bool,
) -> None:
    """Find executions by Conductor's query words.

    \b
    reprise search 'status = FAILED AND workflowType = order_saga'
    reprise search 'status IN (FAILED,TIMED_OUT)' --ids | reprise retry -
    """
    rows, total = found_by(
        ask, query, free_text=free_text, sort=sort, most=None if everything else size
    )
    if ids_only:
        for row in rows:
            click.echo(row.get("workflowId"))
        return
    ask.out.many(rows, ("ID", "STATUS", "WORKFLOW", "STARTED (UTC)", "REASON"), _found, _NOTHING)
    if total > len(rows) and not ask.out.json:
        say(f"{len(rows):,} of {total:,}; --all shows all.")


_NOTHING = "No execution matches."


def _found(row: Document) -> tuple[object, ...]:
    return (
        row.get("workflowId"),
        row.get("status"),
        f"{row.get('workflowType')} v{row.get('version', 1)}",
        wording.moment(wording.millis(row.get("startTime"))),
        row.get("reasonForIncompletion"),
    )


def found_by(
    ask: Asking,
    query: str,
    *,
    free_text: str = "*",
    sort: str = "startTime:DESC",
    most: int | None = None,
) -> tuple[list[Document], int]:
    """What a search finds, at most so many, each execution once; and how many there are in all."""
    found: dict[str, Document] = {}
    start, total = 0, 0
    while most is None or len(found) < most:
        size = _PAGE if most is None else most - len(found)
        page = ask.client.search(query, free_text=free_text, sort=sort, start=start, size=size)
        total = page.total
        found.update({str(row.get("workflowId")): row for row in page.rows})
        start += len(page.rows)
        if not page.rows or start >= total:
            break
        if most is None:
            say(f"{start:,} of {total:,} read")
    return list(found.values()), total
