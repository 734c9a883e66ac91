"""Delivery of what the outside is told: each message at least once, in order for each destination
that takes it, again and again for one that does not. Off the core thread."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import httpx

from engine.core.inbox import Errand, Inbox
from engine.instruments.clock import Clock
from engine.instruments.telemetry import Telemetry
from engine.model.errors import EngineError
from engine.model.record import Json, encode
from engine.store.messages import Parcel, delivered, outbox
from engine.store.rowstore import RowStore
from engine.workers.http_call import Caller, NoAnswer, NotAllowed, Request

EVENT, WORKFLOW_STATUS, TASK_STATUS = "event", "workflow_status", "task_status"
_NOTIFICATIONS = {WORKFLOW_STATUS: "WORKFLOW", TASK_STATUS: "TASK"}
"""Conductor's words for what a listener is told of."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
GIVEN_UP_MS = 3 * 24 * 3600 * 1000
PAGE = 100
WEB = ("http://", "https://")
ARCHIVE = "archive"
"""The destination that takes an ended execution out of the tables of the living."""
ENDED = frozenset(["COMPLETED", "TERMINATED"])
"""What a listener is told at an end, of whatever kind."""

Publish = Callable[[str, dict[str, Json], str], object]
PutAway = Callable[[str], object]


class Listener(Protocol):
    """Who takes the messages of a topic."""

    def __call__(self, parcel: Parcel) -> None:
        """Take it, or raise `Undelivered`."""
        ...


class Undelivered(Exception):
    """The destination did not take the message; it is offered again later."""


class HookSender:
    """Posts messages to a URL."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def send(self, url: str, parcel: Parcel) -> None:
        """Anything but a 2xx means that it was not taken."""
        headers = {"Content-Type": "application/json", "X-Message-Id": str(parcel.number)}
        try:
            place = httpx.URL(url)
            answer = self._caller.call(
                Request("POST", place, headers, encode(parcel.body), 3.0, 10.0)
            )
        except (NotAllowed, NoAnswer, httpx.InvalidURL) as error:
            raise Undelivered(str(error)) from error
        if not 200 <= answer.status < 300:
            raise Undelivered(f"{url} answered {answer.status}")


class Routing:
    """Which destinations a message has: its own sink, a URL of the settings, an event queue, and
    the archive, where ends are put away at once."""

    def __init__(
        self,
        sender: HookSender,
        hooks: dict[str, str | None],
        publish: Publish,
        put_away: PutAway | None = None,
    ) -> None:
        self._sender = sender
        self._hooks = hooks
        self._publish = publish
        self._put_away = put_away

    def destinations(self, parcel: Parcel) -> list[str]:
        """Their names; none when nobody asked to be told."""
        body = parcel.body if isinstance(parcel.body, dict) else {}
        if parcel.topic == EVENT:
            named = str(body.get("event") or "")
        else:
            named = body.get("sink") or self._hooks.get(parcel.topic) or ""
        found = [named] if named else []
        is_end = parcel.topic == WORKFLOW_STATUS and body.get("event") in ENDED
        if is_end and self._put_away is not None:
            found.append(ARCHIVE)
        return found

    def deliver(self, destination: str, parcel: Parcel) -> None:
        """Raises Undelivered."""
        if destination == ARCHIVE and self._put_away is not None:
            self._put_away(str(parcel.body["workflowId"]))
            return
        if destination.startswith(WEB):
            self._sender.send(destination, parcel)
            return
        body = parcel.body
        if parcel.topic == EVENT:
            self._publish(destination, body.get("payload") or {}, str(body.get("id")))
        else:
            self._publish(destination, body, f"{parcel.topic}:{parcel.number}")


@dataclass(slots=True)
class Pause:
    """A destination that did not take a message is left alone for a while."""

    until: float
    seconds: float


class Delivery:
    """One thread that empties the outbox."""

    def __init__(
        self,
        store: RowStore,
        inbox: Inbox,
        clock: Clock,
        telemetry: Telemetry,
        routing: Routing,
    ) -> None:
        self._store = store
        self._inbox = inbox
        self._clock = clock
        self._telemetry = telemetry
        self._routing = routing
        self._pauses: dict[str, Pause] = {}
        self._wake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="reprise-delivery", daemon=True)
        telemetry.listen(self._heard, "outbox.filled")

    def start(self) -> None:
        """Begin with what waits."""
        self._wake.set()
        self._thread.start()

    def stop(self) -> None:
        """End after the present message; what is left is delivered after the next start."""
        self._stopping = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _heard(self, what: str, facts: dict[str, Any]) -> None:
        self._wake.set()

    def _run(self) -> None:
        while not self._stopping:
            self._wake.wait(self._pause())
            self._wake.clear()
            if self._stopping:
                return
            try:
                self._empty()
            except EngineError as error:
                # The store is in trouble or the engine stops: nothing is marked, nothing lost.
                self._telemetry.say("delivery.interrupted", error=str(error))
                self._pauses[""] = Pause(time.monotonic() + FIRST_PAUSE, FIRST_PAUSE)

    def _pause(self) -> float | None:
        """Until a destination is tried again; None for as long as nothing comes."""
        if not self._pauses:
            return None
        soonest = min(pause.until for pause in self._pauses.values())
        return max(0.05, soonest - time.monotonic())

    def _empty(self) -> None:
        """Once through the outbox."""
        now = time.monotonic()
        held = {place: pause for place, pause in self._pauses.items() if pause.until > now}
        after = 0
        while not self._stopping:
            cursor = after
            page = self._store.read(lambda session: outbox(session, cursor, PAGE))  # noqa: B023
            if not page:
                break
            after = page[-1].number
            self._mark([p.number for p in page if self._dealt_with(p, held)])
        self._pauses = {place: p for place, p in self._pauses.items() if place in held}

    def _dealt_with(self, parcel: Parcel, held: dict[str, Pause]) -> bool:
        """Every destination has it. One that is offered it again, because another has not taken it,
        knows it by its number."""
        done = [self._taken(parcel, place, held) for place in self._routing.destinations(parcel)]
        return all(done)

    def _taken(self, parcel: Parcel, destination: str, held: dict[str, Pause]) -> bool:
        if destination in held or self._stopping:
            return False
        try:
            self._routing.deliver(destination, parcel)
        except Exception as error:
            self._tell_of_hook("hook.failed", destination, parcel, error_type=type(error).__name__)
            return self._put_off(parcel, destination, str(error), held)
        self._telemetry.say("message.delivered", topic=parcel.topic, to=destination)
        self._tell_of_hook("hook.delivered", destination, parcel)
        return True

    def _tell_of_hook(self, what: str, destination: str, parcel: Parcel, **more: str) -> None:
        """A listener behind a URL has been told a status, or could not be."""
        topic, body = _NOTIFICATIONS.get(parcel.topic), parcel.body
        if topic is None or not destination.startswith(WEB) or not isinstance(body, dict):
            return
        name = body.get("taskDefName") or body.get("workflowType")
        self._telemetry.say(what, topic=topic, name=name, status=body.get("status"), **more)

    def _put_off(
        self, parcel: Parcel, destination: str, error: str, held: dict[str, Pause]
    ) -> bool:
        """Later messages for the same destination wait behind it."""
        if self._clock.now() - parcel.created_at > GIVEN_UP_MS:
            self._telemetry.say("message.given_up", topic=parcel.topic, to=destination, error=error)
            return True
        before = self._pauses.get(destination)
        seconds = FIRST_PAUSE if before is None else min(before.seconds * 2, LONGEST_PAUSE)
        pause = Pause(time.monotonic() + seconds, seconds)
        self._pauses[destination] = held[destination] = pause
        self._telemetry.say("message.put_off", topic=parcel.topic, to=destination, error=error)
        return False

    def _mark(self, numbers: list[int]) -> None:
        if numbers:
            errand = Errand(lambda session: delivered(session, numbers), catalogue=False)
            self._inbox.put(errand)
            errand.reply.result()
            self._telemetry.say("outbox.relieved", messages=len(numbers))
