"""What an execution waits for, beside its picture, and the card of one that is stuck."""

from collections.abc import Sequence
from typing import Final

from studio.components import markup
from studio.components.visit import Visit
from studio.views.execution import ExecutionView
from studio.views.waiting import Awaited, steps_of, waits_of

_LINES: Final = 8


def show(visit: Visit, view: ExecutionView) -> None:
    """The box of a picture in which nothing is chosen."""
    diagnosis = visit.client.diagnosis(view.id) if view.live else None
    found = waits_of(view, diagnosis, visit.now_ms, visit.zone)
    if not found.awaited:
        words = "Choose a task in the picture to see its input and output."
        markup.show(markup.box("Tasks", markup.empty(words)))
        return
    parts = [markup.items(_line(view, one) for one in found.awaited[:_LINES])]
    more = len(found.awaited) - _LINES
    if more > 0:
        parts.append(markup.tag("p", f"and {more:,} more", css="rp-line"))
    if found.steps:
        children = [one.child_id for one in found.awaited if one.child_id]
        steps = [markup.tag("p", _linked(step, children)) for step in found.steps[:_LINES]]
        parts.append(markup.tag("div", *steps, css="rp-body rp-panel rp-small rp-mid"))
    markup.show(markup.box("Waits for", markup.joined(*parts)))


def _line(view: ExecutionView, one: Awaited) -> markup.Html:
    words = _linked(one.words, [one.child_id] if one.child_id else [])
    if not one.ref:
        return markup.item(markup.status(one.status), words)
    place = markup.address("execution", id=view.id, task=one.ref)
    name = markup.link(markup.code(one.shown_ref), place)
    return markup.item(markup.status(one.status), name, words)


def _linked(words: str, children: Sequence[str]) -> markup.Html:
    """Words in which the id of a sub-workflow leads to it."""
    child = next((id_ for id_ in children if id_ in words), None)
    if child is None:
        return markup.escaped(words)
    before, _, after = words.partition(child)
    place = markup.address("execution", id=child)
    return markup.joined(before, markup.identifier(child, place), after)


def stuck_card(visit: Visit, view: ExecutionView) -> None:
    """An event of this execution could not be taken: which, and what to do."""
    if not view.stuck:
        return
    diagnosis = visit.client.diagnosis(view.id)
    steps = [markup.tag("p", step) for step in steps_of(diagnosis)]
    story = markup.link("Its story", markup.address("execution", id=view.id, tab="Story"))
    parts = [
        markup.tag(
            "div", markup.tag("h3", "It is stuck"), markup.tag("p", view.stuck, css="rp-why")
        ),
        markup.tag("div", markup.tag("h3", "What to do"), *steps) if steps else "",
        markup.tag("div", markup.tag("h3", "Where to look"), markup.tag("p", story)),
    ]
    markup.show(markup.tag("div", *parts, css="rp-fail rp-c-failed"))
