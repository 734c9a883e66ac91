"""What starts things by itself: event handlers and schedules, in Conductor's field names."""

from enum import StrEnum

from pydantic import Field

from engine.model.definitions import Map
from engine.model.record import Flag, Int, Json, OptionalInt, OptionalText, Record
from engine.model.requests import StartWorkflowRequest


class ActionType(StrEnum):
    """What an event handler can do."""

    START_WORKFLOW = "start_workflow"
    COMPLETE_TASK = "complete_task"
    FAIL_TASK = "fail_task"
    TERMINATE_WORKFLOW = "terminate_workflow"
    UPDATE_WORKFLOW_VARIABLES = "update_workflow_variables"


class StartWorkflowAction(Record):
    """Start an execution."""

    name: OptionalText = None
    version: OptionalInt = None
    correlation_id: OptionalText = None
    input: Map = {}
    task_to_domain: dict[str, str] | None = None


class TaskAction(Record):
    """Report on a task: by its id, or by its workflow and reference name."""

    workflow_id: OptionalText = None
    task_ref_name: OptionalText = None
    task_id: OptionalText = None
    output: Map = {}
    reason_for_incompletion: OptionalText = None


class TerminateWorkflowAction(Record):
    """End an execution."""

    workflow_id: OptionalText = None
    termination_reason: OptionalText = None


class UpdateVariablesAction(Record):
    """Merge an execution's variables."""

    workflow_id: OptionalText = None
    variables: Map = {}
    append_array: bool | None = None


class Action(Record):
    """One thing a handler does with a message: the part of the same name as `action` says how."""

    action: ActionType | None = None
    start_workflow: StartWorkflowAction | None = Field(None, alias="start_workflow")
    complete_task: TaskAction | None = Field(None, alias="complete_task")
    fail_task: TaskAction | None = Field(None, alias="fail_task")
    terminate_workflow: TerminateWorkflowAction | None = Field(None, alias="terminate_workflow")
    update_workflow_variables: UpdateVariablesAction | None = Field(
        None, alias="update_workflow_variables"
    )
    expand_inline_json: Flag = Field(False, alias="expandInlineJSON")

    def json_value(self) -> dict[str, Json]:
        """The parts keep their underscores, as in Conductor."""
        shown = {"expandInlineJSON": self.expand_inline_json, **(self.model_extra or {})}
        if self.action is not None:
            shown["action"] = self.action.value
        for name in ActionType:
            part: Record | None = getattr(self, name.value)
            if part is not None:
                shown[name.value] = part.json_value()
        return shown


class EventHandler(Record):
    """What is done with the messages of an event queue."""

    name: OptionalText = None
    event: OptionalText = None
    condition: OptionalText = None
    evaluator_type: OptionalText = None
    actions: tuple[Action, ...] = ()
    active: Flag = False
    description: OptionalText = None


class ActionStatus(StrEnum):
    """Where an action on a message stands."""

    IN_PROGRESS = "IN_PROGRESS"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"

    @property
    def final(self) -> bool:
        """It is not done again when the message comes again."""
        return self is not ActionStatus.IN_PROGRESS


class MissingTimes(StrEnum):
    """What becomes of a local time that clocks put forward pass over."""

    SKIP = "skip"
    SHIFT = "shift"


class CronSchedule(Record):
    """An expression and its time zone."""

    cron_expression: OptionalText = None
    zone_id: OptionalText = "UTC"

    @property
    def shown(self) -> str:
        """Both in one text, as an execution's input has it."""
        return f"{self.cron_expression} {self.zone_id or 'UTC'}"


class WorkflowSchedule(Record):
    """A workflow that is started by the clock; instants in epoch milliseconds."""

    name: OptionalText = None
    cron_expression: OptionalText = None
    zone_id: OptionalText = "UTC"
    cron_schedules: list[CronSchedule] | None = None
    """Where there are any, they stand in for the single pair above."""
    run_catchup_schedule_instances: Flag = False
    """After a time out of work, every slot that was missed fires."""
    missing_times: MissingTimes | None = None
    paused: Flag = False
    paused_reason: OptionalText = None
    start_workflow_request: StartWorkflowRequest | None = None
    schedule_start_time: OptionalInt = None
    schedule_end_time: OptionalInt = None
    description: OptionalText = None
    create_time: Int = 0
    updated_time: Int = 0
    created_by: OptionalText = None
    updated_by: OptionalText = None
    next_run_time: OptionalInt = None

    @property
    def crons(self) -> list[CronSchedule]:
        """The expressions that count."""
        single = CronSchedule(cron_expression=self.cron_expression, zone_id=self.zone_id)
        return self.cron_schedules or [single]


class FiringState(StrEnum):
    """What became of a slot."""

    POLLED = "POLLED"
    EXECUTED = "EXECUTED"
    FAILED = "FAILED"
