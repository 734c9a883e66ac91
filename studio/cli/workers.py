"""`workers`: which queues there are, how much waits in them, and who came to fetch it."""

import click

from studio.cli.asking import Asking, asks
from studio.client.client import Document
from studio.views import wording


@click.command()
@asks
def workers(ask: Asking) -> None:
    """Every queue with what waits in it, and the workers that polled it."""
    waiting = ask.client.queues()
    polls: dict[str, list[Document]] = {}
    for poll in ask.client.polls():
        polls.setdefault(_queue(poll), []).append(poll)
    rows = []
    for name in sorted({*waiting, *polls}):
        for poll in polls.get(name) or [{}]:
            rows.append(
                {
                    "queue": name,
                    "waiting": waiting.get(name, 0),
                    "workerId": poll.get("workerId"),
                    "domain": poll.get("domain"),
                    "lastPollTime": wording.millis(poll.get("lastPollTime")) or None,
                }
            )
    ask.out.many(
        rows,
        ("QUEUE", "WAITING", "WORKER", "DOMAIN", "LAST POLL (UTC)"),
        lambda row: (
            row["queue"],
            row["waiting"],
            row["workerId"] or "nobody has polled",
            row["domain"],
            wording.moment(row["lastPollTime"]) if row["lastPollTime"] else "",
        ),
        "There are no queues: no task waits and nobody has polled.",
    )


def _queue(poll: Document) -> str:
    """The name under which the server counts what waits; a domain has a queue of its own."""
    name, domain = str(poll.get("queueName") or ""), poll.get("domain")
    return f"{domain}:{name}" if domain and domain != "DEFAULT" else name
