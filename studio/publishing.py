"""From a draft to a version: the number it would get, the question, the registration, what is next."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from studio import published
from studio.client.errors import ServerError
from studio.components import markup, problem, publish_dialog
from studio.components.visit import Visit, now_ms
from studio.desk.place import desk
from studio.drafting import Room
from studio.views.compare import compare
from studio.views.problems import Problem


def next_version(visit: Visit, room: Room) -> int:
    try:
        known = published.versions_of(visit.client, room.name)
    except ServerError:
        return (room.draft.base_version or 0) + 1
    return max((each.number for each in known), default=0) + 1


def ask(visit: Visit, room: Room, found: Sequence[Problem]) -> None:
    with problem.told():
        known = [each.number for each in published.versions_of(visit.client, room.name)]
        newest = published.definition(visit.client, room.name) if known else None
        plan = publish_dialog.Plan(
            name=room.name,
            base=room.draft.base_version,
            versions=known,
            comparison=compare(newest, room.draft.definition) if newest else None,
            problems=found,
        )
        publish_dialog.ask(plan, partial(_publish, visit, room), room.stop_publishing)


def _publish(visit: Visit, room: Room, version: int, note: str) -> None:
    """Registers the draft; it stays open, as a draft of what is now published."""
    numbered = published.publish(visit.client, room.draft.definition, version, visit.actor(note))
    if room.draft.definition.get("version") != version:
        room.act({"op": "set_workflow", "set": [{"path": ["version"], "value": version}]})
    room.draft.mark_published(version)
    room.compared = None
    room.published = True
    room.keep()
    about: dict[str, Any] = {"note": note, "person": visit.person, "at": now_ms()}
    desk().remember(f"version/{numbered['name']}/{version}", about)


def show_next_steps(room: Room) -> None:
    """What is next, in the same tab."""
    version = room.draft.base_version
    links = [
        markup.button("Start it", markup.address("start", wf=room.name, ver=version)),
        markup.button("See its versions", markup.address("versions", wf=room.name)),
        markup.button("Test it on mocks", markup.address("tests", wf=room.key)),
    ]
    said = markup.status("COMPLETED", f"v{version} is published.")
    line = markup.tag("div", said, *links, css="rp-title rp-body")
    markup.show(markup.tag("section", line, css="rp-box rp-panel"))
