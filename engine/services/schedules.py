"""Schedules: workflows that are started by the clock. Each slot fires once, whatever happens.

The workflow id of a firing follows from schedule and slot. A process that dies between the start
and its record finds the slot still due, starts again, and meets the execution that is there.
"""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.core.inbox import Asked
from engine.instruments.telemetry import Telemetry
from engine.model.errors import EngineError, InvalidInput, NotFound, NotTaken
from engine.model.ids import derived_id
from engine.model.record import Json
from engine.model.requests import StartWorkflowRequest
from engine.model.triggers import FiringState, WorkflowSchedule
from engine.rules.schedule_search import conditions, mentions, page
from engine.rules.schedules import MOST_PREVIEWED, after_serving, next_fire, preview, slot_at
from engine.rules.validation_triggers import schedule_errors
from engine.services.executions import Executions
from engine.services.port import Port
from engine.services.trigger_shelf import Document, TriggerShelf
from engine.store.contract import StoreFailed
from engine.store.triggers import StoredSchedule

KEPT = 100
"""Records of firings that a schedule keeps."""
ROUND = 100
"""Slots that are served in one go; the rest waits for the next, so that catching up stops nobody."""
MOST_SEARCHED = 100_000
"""Records of firings, the newest, that a search looks at."""
LONGEST_REASON, LONGEST_TRACE = 999, 2000


class Schedules:
    """The catalogue of schedules, and their firing."""

    def __init__(
        self, port: Port, shelf: TriggerShelf, executions: Executions, telemetry: Telemetry
    ) -> None:
        self._port = port
        self._shelf = shelf
        self._executions = executions
        self._telemetry = telemetry
        self.paused = False
        """The whole scheduler rests, until it is let go or the process is started anew."""

    def _now(self) -> int:
        return self._port.core.clock.now()

    # The catalogue

    def save(self, given: Json, by: str | None = None) -> Document:
        """Create a schedule, or replace the one of that name; what is stored. Its next slot is
        counted from now: what was missed before is not made up for."""
        schedule = WorkflowSchedule.read(given)
        found = schedule_errors(schedule)
        if found:
            error = InvalidInput("; ".join(violation.message for violation in found))
            error.violations = tuple(found)
            raise error
        now, before = self._now(), self._shelf.schedule(schedule.name or "")
        if before is None:
            stamps: dict[str, Any] = {
                "create_time": now,
                "updated_time": now,
                "created_by": schedule.created_by or by,
            }
        else:
            stamps = {
                "create_time": before.document.get("createTime") or now,
                "updated_time": now,
                "created_by": before.document.get("createdBy"),
                "updated_by": schedule.updated_by or by,
            }
        last = 0 if before is None else before.last_run_at
        return self._store(schedule.but(**stamps), now, last)

    def _store(self, schedule: WorkflowSchedule, now: int, last_run_at: int) -> Document:
        document = schedule.but(next_run_time=None).json_value()
        stored = StoredSchedule(document, next_fire(schedule, now) or 0, last_run_at)
        self._shelf.put_schedule(stored)
        return _shown(stored)

    def get(self, name: str) -> Document:
        """A schedule by name."""
        return _shown(self._stored(name))

    def _stored(self, name: str) -> StoredSchedule:
        found = self._shelf.schedule(name)
        if found is None:
            raise NotFound(f"Schedule '{name}' not found")
        return found

    def all(self, workflow_name: str | None = None) -> list[Document]:
        """All schedules, or those that start a workflow, by name."""
        return [_shown(stored) for stored in self._shelf.schedules(workflow_name or None)]

    def remove(self, name: str) -> None:
        """Take a schedule out, if there is one; its history and its executions stay."""
        self._shelf.remove_schedule(name)

    def pause(self, name: str, reason: str | None = None, by: str | None = None) -> None:
        """No slot fires from now on."""
        stored = self._stored(name)
        schedule = WorkflowSchedule.read(stored.document).but(
            paused=True, paused_reason=reason, updated_time=self._now(), updated_by=by
        )
        self._store(schedule, self._now(), stored.last_run_at)

    def resume(self, name: str, by: str | None = None) -> None:
        """Slots fire again, from the next one to come. NotFound: it is not paused."""
        stored = self._stored(name)
        if not stored.document.get("paused"):
            raise NotFound(f"Schedule '{name}' not found: it is not paused")
        schedule = WorkflowSchedule.read(stored.document).but(
            paused=False, paused_reason=None, updated_time=self._now(), updated_by=by
        )
        self._store(schedule, self._now(), stored.last_run_at)

    def pause_many(self, names: list[str]) -> Document:
        """Pause each; which could be, and why the others could not."""
        return _each(names, self.pause)

    def resume_many(self, names: list[str]) -> Document:
        """Resume each; which could be, and why the others could not."""
        return _each(names, self.resume)

    def search(
        self,
        *,
        workflow_name: str | None = None,
        name: str | None = None,
        paused: bool | None = None,
        free_text: str = "*",
        start: int = 0,
        size: int = 100,
        sort: str | None = None,
    ) -> Document:
        """A page of schedules. `free_text` is looked for anywhere in a schedule."""
        found = [
            document
            for document in self.all(workflow_name)
            if (not name or name.lower() in document["name"].lower())
            and (paused is None or bool(document.get("paused")) is paused)
            and mentions(document, free_text)
        ]
        return page(found, start, size, sort)

    @staticmethod
    def next_few(
        cron: str,
        now: int,
        *,
        start: int | None = None,
        end: int | None = None,
        limit: int = MOST_PREVIEWED,
        zone: str = "UTC",
    ) -> list[int]:
        """When an expression would fire, at most five instants."""
        schedule = WorkflowSchedule.read(
            {
                "name": "preview",
                "cronExpression": cron,
                "zoneId": zone,
                "scheduleStartTime": start,
                "scheduleEndTime": end,
                "startWorkflowRequest": {"name": "preview"},
            }
        )
        found = schedule_errors(schedule)
        if found:
            raise InvalidInput(f"Invalid cron expression: {found[0].message}")
        return preview(schedule, now, limit)

    # Firing

    def fire_due(self, now: int) -> int:
        """Serve the slots that have come; how many. Called again and again, from one thread.

        Slots that were missed while nobody called are served one after the other with catch-up;
        without it, the first of them alone, late.
        """
        served: set[tuple[str, int]] = set()
        while not self.paused and len(served) < ROUND:
            due = self._shelf.due_schedules(now, ROUND - len(served))
            fresh = [stored for stored in due if (stored.name, stored.next_run_at) not in served]
            if not fresh:
                break
            for stored in fresh:
                with self._telemetry.timed("schedule.served"):
                    self._serve(stored, now)
                served.add((stored.name, stored.next_run_at))
        if served:
            self._telemetry.say("schedules.fired", slots=len(served))
        return len(served)

    def _serve(self, stored: StoredSchedule, now: int) -> None:
        schedule, slot = WorkflowSchedule.read(stored.document), stored.next_run_at
        record = self._fire(schedule, slot, now)
        following = after_serving(schedule, slot, now) or 0
        self._shelf.served(stored.name, slot, following, record, KEPT)
        self._telemetry.say(
            "schedule.fired", schedule=stored.name, slot=slot, state=record["state"], at=now
        )
        if record["state"] == FiringState.FAILED.value:
            self._telemetry.say("schedule.failed")

    def _fire(self, schedule: WorkflowSchedule, slot: int, now: int) -> Document:
        """Start the slot's execution; the record of what became of it. NotTaken: nothing became of
        it yet, the slot stays due."""
        cron = _cron_of(schedule, slot)
        own = derived_id(f"firing:{schedule.name}:{slot}")
        template = schedule.start_workflow_request or StartWorkflowRequest()
        given = {
            **(template.input or {}),
            "_startedByScheduler": schedule.name,
            "_scheduledTime": slot,
            "_executedTime": now,
            "_executionId": own,
            "_schedulerCron": cron.text,
        }
        record: Document = {
            "executionId": own,
            "scheduleName": schedule.name,
            "scheduledTime": slot,
            "executionTime": now,
            "workflowName": template.name or (template.workflow_def and template.workflow_def.name),
            "startWorkflowRequest": template.but(input=given).json_value(),
            "zoneId": cron.zone,
        }
        try:
            request = template.but(input=given, created_by=schedule.created_by)
            start = self._executions.prepare(request, f"schedule:{schedule.name}")
            workflow_id = derived_id(f"schedule:{schedule.name}:{slot}")
            reply = self._port.send(Asked(start, workflow_id=workflow_id))
            record |= {
                "workflowId": self._port.wait(reply),
                "state": FiringState.EXECUTED.value,
            }
        except (NotTaken, StoreFailed):
            raise
        except Exception as error:
            # Whatever is wrong with this schedule must not keep the others waiting.
            record |= {
                "state": FiringState.FAILED.value,
                "reason": str(error)[:LONGEST_REASON],
                "stackTrace": "".join(traceback.format_exception(error))[-LONGEST_TRACE:],
            }
        return record

    def search_firings(
        self,
        query: str = "",
        free_text: str = "*",
        start: int = 0,
        size: int = 100,
        sort: str | None = None,
    ) -> Document:
        """A page of what became of slots, the newest first. The query: clauses joined by AND, such
        as `scheduleName IN (a,b) AND state IN (FAILED) AND scheduledTime>0`."""
        wanted = conditions(query)
        found = [
            record
            for record in self._shelf.firings(None, MOST_SEARCHED)
            if all(fits(record) for fits in wanted) and mentions(record, free_text)
        ]
        return page(found, start, size, sort)


@dataclass(frozen=True, slots=True)
class _CronOfSlot:
    text: str
    zone: str


def _cron_of(schedule: WorkflowSchedule, slot: int) -> _CronOfSlot:
    """Which of the schedule's expressions has this slot."""
    found = slot_at(schedule, slot)
    cron = schedule.crons[0] if found is None else found.cron
    return _CronOfSlot(cron.shown, cron.zone_id or "UTC")


def _shown(stored: StoredSchedule) -> Document:
    document = dict(stored.document)
    if stored.next_run_at:
        document["nextRunTime"] = stored.next_run_at
    return document


def _each(names: list[str], work: Callable[[str], None]) -> Document:
    done, failed = [], {}
    for name in names:
        try:
            work(name)
            done.append(name)
        except EngineError as error:
            failed[name] = error.message
    return {"bulkErrorResults": failed, "bulkSuccessfulResults": done}
