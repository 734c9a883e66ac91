"""A telemetry listener that writes what needs a person's eye into Python's log, cleaned of what may
not be seen there."""

import logging
from collections.abc import Callable
from typing import Any

ERRORS = frozenset(["core.failed", "event.poisoned", "question.poisoned", "store.failed"])
WARNINGS = frozenset(
    [
        "row.refused",
        "report.refused",
        "chore.failed",
        "delivery.interrupted",
        "message.put_off",
        "message.given_up",
        "payload.kept_inline",
        "secret.too_short_to_mask",
    ]
)
WRITTEN_DOWN = ERRORS | WARNINGS
SIMPLE = (str, int, float, bool, type(None))

_log = logging.getLogger("reprise")


def write_down(clean: Callable[[str], str], what: str, facts: dict[str, Any]) -> None:
    """Listens to WRITTEN_DOWN."""
    level = logging.ERROR if what in ERRORS else logging.WARNING
    shown = {k: v for k, v in facts.items() if isinstance(v, SIMPLE) and k != "trace"}
    text = " ".join(f"{name}={value}" for name, value in shown.items())
    trace = facts.get("trace")
    _log.log(level, "%s %s", what, clean(f"{text}\n{trace}" if trace else text))
