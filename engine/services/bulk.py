"""One action over many executions, with a result for each."""

from collections.abc import Callable, Sequence

from engine.model.errors import EngineError, InvalidInput
from engine.model.record import Json
from engine.services.executions import Executions
from engine.services.removal import Removal

MOST = 1000


class Bulk:
    """Each execution is dealt with on its own: one that refuses does not hold up the others."""

    def __init__(self, executions: Executions, removal: Removal) -> None:
        self.executions = executions
        self.removal = removal

    def each(self, ids: Sequence[str], act: Callable[[str], Json]) -> dict[str, Json]:
        """Conductor's BulkResponse. What an action returns stands in for the id, if it is not
        None."""
        if not ids:
            raise InvalidInput("WorkflowIds list cannot be null.")
        if len(ids) > MOST:
            raise InvalidInput(
                f"Cannot process more than {MOST} workflows. Please use multiple requests."
            )
        done: list[Json] = []
        refused: dict[str, str] = {}
        for workflow_id in ids:
            try:
                came = act(workflow_id)
            except EngineError as error:
                refused[workflow_id] = error.message
            else:
                done.append(workflow_id if came is None else came)
        return {"bulkErrorResults": refused, "bulkSuccessfulResults": done}
