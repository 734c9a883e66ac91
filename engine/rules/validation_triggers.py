"""Why an event handler or a schedule is refused: here, at once, not at the first message or slot."""

from collections.abc import Iterator

from engine.model.errors import Violation
from engine.model.triggers import Action, EventHandler, WorkflowSchedule
from engine.rules.cron import InvalidCron, parse_cron
from engine.rules.wall_clock import InvalidZone, zone_of

LATEST_BOUND = 250_000_000_000_000
"""Epoch milliseconds in the year 9892: what lies beyond is no date."""


def handler_errors(handler: EventHandler, prefix: str = "addEventHandler.arg0") -> list[Violation]:
    """Why an event handler is refused."""
    found = []
    if not handler.name:
        message = "Missing event handler name"
        found.append(Violation(f"{prefix}.name", message, handler.name))
    if not handler.event:
        message = "Missing event location"
        found.append(Violation(f"{prefix}.event", message, handler.event))
    if not handler.actions:
        message = "No actions specified. Please specify at-least one action"
        found.append(Violation(f"{prefix}.actions", message))
    for number, action in enumerate(handler.actions):
        found += _action_errors(action, f"{prefix}.actions[{number}]")
    return found


def _action_errors(action: Action, path: str) -> Iterator[Violation]:
    if action.action is None:
        yield Violation(f"{path}.action", "action is missing: say what is to be done.")
        return
    part = getattr(action, action.action.value)
    if part is None:
        message = f"{action.action} is missing: the part of that name says how it is done."
        yield Violation(f"{path}.{action.action}", message)


def schedule_errors(schedule: WorkflowSchedule, prefix: str = "schedule") -> list[Violation]:
    """Why a schedule is refused."""
    found = []
    if not (schedule.name or "").strip():
        found.append(Violation(f"{prefix}.name", "name is empty: a schedule needs one."))
    request = schedule.start_workflow_request
    if request is None or not (request.name or request.workflow_def):
        message = "startWorkflowRequest.name is empty: name the workflow to start."
        found.append(Violation(f"{prefix}.startWorkflowRequest.name", message))
    for number, cron in enumerate(schedule.crons):
        place = f"{prefix}.cronSchedules[{number}]" if schedule.cron_schedules else prefix
        try:
            parse_cron(cron.cron_expression or "")
        except InvalidCron as error:
            violation = Violation(f"{place}.cronExpression", str(error), cron.cron_expression)
            found.append(violation)
        try:
            zone_of(cron.zone_id or "UTC")
        except InvalidZone as error:
            found.append(Violation(f"{place}.zoneId", str(error), cron.zone_id))
    found += _bound_errors(schedule, prefix)
    return found


def _bound_errors(schedule: WorkflowSchedule, prefix: str) -> Iterator[Violation]:
    start, end = schedule.schedule_start_time, schedule.schedule_end_time
    for name, value in (("scheduleStartTime", start), ("scheduleEndTime", end)):
        if value is not None and not 0 <= value <= LATEST_BOUND:
            message = f"{name} is {value}: give epoch milliseconds."
            yield Violation(f"{prefix}.{name}", message, str(value))
    if start and end and end < start:
        message = f"scheduleEndTime {end} is before scheduleStartTime {start}: it would never fire."
        yield Violation(f"{prefix}.scheduleEndTime", message, str(end))
