"""What a turn is made of: one step an event, and what they have come to so far."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from engine.core.inbox import Asked, Handed, Heard, Wanted
from engine.model.events import Letter
from engine.model.execution import Changes, Execution, Run
from engine.store.contract import Group


@dataclass(slots=True)
class Step:
    """One event's way through a turn."""

    asked: Asked
    execution: Execution
    changes: Changes
    before: dict[int, Run | None]
    created: bool = False


@dataclass(slots=True)
class Turn:
    """What one turn has come to so far."""

    now: int
    group: Group = field(default_factory=Group)
    steps: list[Step] = field(default_factory=list)
    replies: list[tuple["Future[Any] | Heard", Any, BaseException | None]] = field(
        default_factory=list
    )
    handed: list[tuple[Wanted, list[Handed]]] = field(default_factory=list)
    letters_taken: int = 0
    asked: list[Asked] = field(default_factory=list)
    """What came from outside the turn; letters that it brought about are not among them."""
    unread: list[Letter] = field(default_factory=list)
    """Letters that were too many for this turn."""
    held: list[Letter] = field(default_factory=list)
    """Letters that could not be taken; they wait for the next start of the engine."""
    touched: dict[int, Execution] = field(default_factory=dict)
    newest: dict[int, Step] = field(default_factory=dict)
    """The latest step of each execution."""

    def reply(self, asked: Asked, value: Any, error: BaseException | None = None) -> None:
        """What whoever asked is to hear once all stands."""
        if asked.reply is not None:
            self.replies.append((asked.reply, value, error))

    def consume(self, asked: Asked) -> None:
        """The letter that brought an event has been taken, and goes with the commit."""
        if asked.letter is not None:
            self.group.delivered.append(asked.letter)


def resolve(reply: "Future[Any] | Heard", value: Any, error: BaseException | None) -> None:
    """Answer whoever waits; somebody who has gone away is not waited for."""
    if not reply.set_running_or_notify_cancel():
        return
    if error is not None:
        reply.set_exception(error)
    else:
        reply.set_result(value)
