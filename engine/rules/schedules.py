"""When a schedule fires next: its expressions, zones and bounds, and what was missed."""

from typing import NamedTuple

from engine.model.triggers import CronSchedule, MissingTimes, WorkflowSchedule
from engine.rules.cron import parse_cron
from engine.rules.wall_clock import next_instant, zone_of

EARLY_MS = 500
"""A start bound counts from this much before it, so that a slot on the bound itself fires."""

MOST_PREVIEWED = 5


class Slot(NamedTuple):
    """An instant at which a schedule fires, and the expression that says so."""

    at: int
    cron: CronSchedule


def next_slot(schedule: WorkflowSchedule, after: int) -> Slot | None:
    """The first slot after an instant, within the schedule's bounds; the earliest of all its
    expressions. None: it never fires again. The schedule must be sound (schedule_errors)."""
    start, end = schedule.schedule_start_time, schedule.schedule_end_time
    if start and after < start - EARLY_MS:
        after = start - EARLY_MS
    shift = schedule.missing_times is MissingTimes.SHIFT
    slots = []
    for cron in schedule.crons:
        zone = zone_of(cron.zone_id or "UTC")
        at = next_instant(parse_cron(cron.cron_expression or ""), zone, after, shift)
        if at is not None and (not end or at <= end):
            slots.append(Slot(at, cron))
    return min(slots, key=lambda slot: slot.at, default=None)


def next_fire(schedule: WorkflowSchedule, after: int) -> int | None:
    """The instant of the next slot."""
    slot = next_slot(schedule, after)
    return None if slot is None else slot.at


def slot_at(schedule: WorkflowSchedule, at: int) -> Slot | None:
    """The slot of a given instant, if the schedule has one there."""
    slot = next_slot(schedule, at - 1000)
    return slot if slot is not None and slot.at == at else None


def after_serving(schedule: WorkflowSchedule, served: int, now: int) -> int | None:
    """When to fire next once a slot has been served: with catch-up the very next slot, even when
    it is past; without, the next one to come."""
    catch_up = schedule.run_catchup_schedule_instances
    return next_fire(schedule, served if catch_up else max(served, now))


def preview(schedule: WorkflowSchedule, now: int, limit: int = MOST_PREVIEWED) -> list[int]:
    """The next few instants, at most five."""
    found: list[int] = []
    at = next_fire(schedule, now)
    while at is not None and len(found) < min(limit, MOST_PREVIEWED):
        found.append(at)
        at = next_fire(schedule, at)
    return found
