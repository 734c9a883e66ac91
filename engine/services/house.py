"""Everything a caller can ask an engine, by the noun it is about."""

import re
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from typing import Any

from engine.instruments.clock import Clock
from engine.instruments.telemetry import Telemetry
from engine.model.facts import Limits
from engine.model.record import Json
from engine.services.bulk import Bulk
from engine.services.definitions import Definitions
from engine.services.executions import Executions
from engine.services.gauges import Gauges
from engine.services.logs import Logs
from engine.services.payloads import Payloads
from engine.services.queues import Queues
from engine.services.removal import Removal
from engine.services.schedules import Schedules
from engine.services.searches import Searches
from engine.services.signals import Signals
from engine.services.stories import Stories
from engine.services.tasks import Tasks
from engine.services.triggers import Triggers

_PASSWORD = re.compile(r"(//[^/@:]*:)[^/@]*@")


@dataclass(frozen=True, slots=True)
class House:
    """The services of one engine."""

    engine: Any
    clock: Clock
    telemetry: Telemetry
    executions: Executions
    tasks: Tasks
    definitions: Definitions
    logs: Logs
    payloads: Payloads
    searches: Searches
    queues: Queues
    removal: Removal
    bulk: Bulk
    signals: Signals
    stories: Stories
    triggers: Triggers
    schedules: Schedules
    gauges: Gauges
    version: str
    offered: tuple[str, ...]
    """Additions that not every engine has."""


def furnished(engine: Any) -> House:
    """The services of an engine: those it has, and those that only callers from outside need."""
    port, store = engine.port, engine.store
    executions: Executions = engine.executions
    removal = Removal(port, store, executions, engine.archive)
    logs = Logs(port, store, engine.secrets)
    return House(
        engine=engine,
        clock=engine.clock,
        telemetry=engine.telemetry,
        executions=executions,
        tasks=engine.tasks,
        definitions=engine.definitions,
        logs=logs,
        payloads=engine.payloads,
        searches=Searches(store, executions),
        queues=Queues(port, store, engine.tasks),
        removal=removal,
        bulk=Bulk(executions, removal),
        signals=Signals(engine.telemetry, executions, engine.tasks),
        stories=Stories(port, store, executions, logs, engine.workers.names),
        triggers=engine.triggers,
        schedules=engine.schedules,
        gauges=Gauges(port, store, engine.tasks.sightings),
        version=_version(),
        offered=("payloads",) if engine.payloads.on else (),
    )


def _version() -> str:
    """The version of the installed package; a bare checkout has none."""
    try:
        return metadata.version("reprise")
    except metadata.PackageNotFoundError:
        return "0"


def settings_shown(engine: Any) -> dict[str, Json]:
    """An engine's settings for people; a password in an address is left out."""
    shown: dict[str, Json] = {}
    for item in fields(engine.settings):
        value = getattr(engine.settings, item.name)
        if isinstance(value, str):
            value = _PASSWORD.sub(r"\1***@", value)
        shown[item.name] = asdict(value) if isinstance(value, Limits) else value
    return shown


def secret_names(engine: Any) -> list[str]:
    """The names of the secrets at hand, never their values."""
    return sorted(engine.settings.secrets())
