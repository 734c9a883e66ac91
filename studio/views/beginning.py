"""Where a failure began that came up from a sub-workflow: as a server that diagnoses names it.

Made from a diagnosis alone. No request, no Streamlit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studio.graph.outline import base_ref, number
from studio.views import wording


@dataclass(frozen=True, slots=True)
class Beginning:
    """An attempt in an execution below; `ref` is empty where no task of that has failed."""

    execution_id: str
    workflow: str
    ref: str
    iteration: int
    tries: int
    reason: str


def beginning_of(diagnosis: Mapping[str, Any] | None, execution_id: str) -> Beginning | None:
    """Where the failure of an execution began; None when it was in that execution itself, or when
    nobody says."""
    cause = (diagnosis or {}).get("cause")
    if not isinstance(cause, Mapping):
        return None
    below = str(cause.get("workflowId") or "")
    if not below or below == execution_id:
        return None
    iteration = number(cause.get("iteration"))
    return Beginning(
        execution_id=below,
        workflow=str(cause.get("workflow") or ""),
        ref=base_ref(str(cause.get("reference") or ""), iteration),
        iteration=iteration,
        tries=number(cause.get("attempts")),
        reason=wording.reason_line(str(cause.get("reason") or "")),
    )
