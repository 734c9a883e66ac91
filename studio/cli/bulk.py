"""`bulk`: one verb on all that a query finds. First what it would touch, then a question, then a
result for each."""

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Final

import click

from studio.cli.asking import Asking, asks, reasoned
from studio.cli.executions import found_by
from studio.cli.failures import FAILED, REFUSED, USAGE, Told
from studio.cli.output import plain, table
from studio.client.client import Document
from studio.views import wording

ACTIONS: Final = ("pause", "resume", "retry", "restart", "terminate")
_AT_ONCE: Final = 100
_SHOWN: Final = 5


@click.command()
@click.argument("action", type=click.Choice(ACTIONS))
@click.option("--query", required=True, help="Which executions, as in `reprise search`.")
@click.option("--free-text", default="*", metavar="TEXT", help="Words in inputs and outputs.")
@click.option("--most", type=click.IntRange(min=1), help="At most so many, the oldest first.")
@click.option("--latest", is_flag=True, help="restart: with the newest version.")
@click.option("--dry-run", is_flag=True, help="Only show what would be touched.")
@click.option("--yes", is_flag=True, help="Do not ask; for scripts.")
@reasoned
@asks
def bulk(
    ask: Asking,
    action: str,
    query: str,
    free_text: str,
    most: int | None,
    latest: bool,
    dry_run: bool,
    yes: bool,
    reason: str | None,
) -> None:
    """Pause, resume, retry, restart or terminate all executions that a query finds.

    What would be touched is always shown first. The list is fixed at that moment: what begins to
    match later is left alone. The exit code is 1 if any of them refused.
    """
    if latest and action != "restart":
        raise click.UsageError(f"--latest belongs to restart, not to {action}.")
    rows, total = found_by(ask, query, free_text=free_text, sort="startTime:ASC", most=most)
    _preview(ask, action, rows, total, dry_run)
    if dry_run or not rows:
        return
    if not yes:
        _ask_person(action, len(rows))
    failed = _act(ask, action, [str(row["workflowId"]) for row in rows], reason, latest)
    if failed:
        raise Told(f"{failed:,} of {len(rows):,} refused to {action}.", FAILED)


def _preview(ask: Asking, action: str, rows: Sequence[Document], total: int, answer: bool) -> None:
    """The answer of a dry run; otherwise beside it, for the results are the answer."""
    if answer and ask.out.json:
        ask.out.many(rows, (), lambda row: (), "")
        return
    groups = Counter((str(row.get("workflowType")), str(row.get("status"))) for row in rows)
    lines = [f"{action}: {wording.plural(len(rows), 'execution')} of {total:,} found."]
    if rows:
        counted = [(name, state, count) for (name, state), count in groups.most_common()]
        lines += table(("WORKFLOW", "STATUS", "COUNT"), counted)
        shown = [plain(row.get("workflowId")) for row in rows[:_SHOWN]]
        rest = len(rows) - len(shown)
        lines.append("Ids: " + ", ".join(shown) + (f" and {rest:,} more" if rest else ""))
    for line in lines:
        click.echo(line, err=not answer)


def _ask_person(action: str, count: int) -> None:
    try:
        agreed = click.confirm(f"{action} {wording.plural(count, 'execution')}?", err=True)
    except click.Abort as error:
        message = "Nobody answered; nothing was changed. Say --yes where nobody can be asked."
        raise Told(message, USAGE) from error
    if not agreed:
        raise Told("Nothing was changed.", REFUSED)


def _act(ask: Asking, action: str, ids: Sequence[str], reason: str | None, latest: bool) -> int:
    """Some at a time, so that progress can be seen; how many refused."""
    refused = 0
    with click.progressbar(length=len(ids), label=action, file=sys.stderr) as bar:
        for first in range(0, len(ids), _AT_ONCE):
            some = ids[first : first + _AT_ONCE]
            done, failed = ask.client.bulk(action, some, ask.actor(reason), latest=latest)
            for id_ in done:
                ask.out.event({"workflowId": id_, "ok": True}, f"{id_}: done.")
            for id_, words in failed.items():
                ask.out.event(
                    {"workflowId": id_, "ok": False, "error": words}, f"{id_}: {plain(words)}"
                )
            refused += len(failed)
            bar.update(len(some))
    return refused
