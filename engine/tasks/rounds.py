"""The rounds of an open loop, put together from their attempts when somebody looks at them.

As long as a loop is open its record holds its own part alone: the present iteration, the present
item. Storing the rounds too would write all of them again in each round. The end of the loop stores
the whole. Nothing here changes anything.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from engine.model.definitions import WorkflowTask
from engine.model.execution import Run
from engine.model.record import Json, encode
from engine.tasks.plan import Node

LOOP = "DO_WHILE"


class Attempts(Protocol):
    """What is asked of a view of the execution."""

    def node(self, ref: str) -> Node | None: ...

    def latest(self, reference: str) -> Run | None: ...

    def input(self, run: Run) -> dict[str, Json]: ...

    def output(self, run: Run) -> dict[str, Json]: ...

    def stored_output(self, run: Run) -> dict[str, Json]: ...

    def encoded_outputs(self, runs: Sequence[Run]) -> Mapping[int, bytes]: ...


def reference_of(ref: str, iteration: int) -> str:
    """The reference name of an attempt inside iteration n of a loop: `ref__n`."""
    return f"{ref}__{iteration}" if iteration else ref


def is_open_loop(run: Run) -> bool:
    """Does this record hold no rounds yet?"""
    return run.type == LOOP and run.open


def is_round(key: str) -> bool:
    """Is this key of a loop's output the number of a round?"""
    return key.isascii() and key.isdigit() and not key.startswith("0")


def own_part(output: Mapping[str, Json]) -> dict[str, Json]:
    """A loop's output without its rounds."""
    return {key: value for key, value in output.items() if not is_round(key)}


def kept_rounds(value: Json) -> int | None:
    """How many rounds `keepLastN` keeps; None where the value says no such number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return int(number) if number >= 1 and number.is_integer() else None


def rounds_over(run: Run) -> int:
    """The last round that counts: the present one does once the loop's condition is being asked."""
    return run.iteration if run.carrier is not None else run.iteration - 1


def attempts_of(view: Attempts, run: Run, number: int) -> list[Run]:
    """The latest attempts of a round, at any depth, those in filled forks included."""
    node = view.node(run.ref)
    return [] if node is None else list(_attempts(view, node.task.loop_over, number))


def _attempts(view: Attempts, tasks: Iterable[WorkflowTask], number: int) -> Iterator[Run]:
    for task in tasks:
        attempt = view.latest(reference_of(task.ref, number))
        if attempt is not None:
            yield attempt
        if task.type != LOOP:
            filled = task if attempt is None or attempt.node is None else attempt.node
            for inner in filled.inner_lists():
                yield from _attempts(view, inner, number)


def whole_output(view: Attempts, run: Run, last: int | None = None) -> bytes:
    """The loop's output with its rounds up to `last` (those that are over), encoded. Outputs are
    spliced in as the bytes they are stored as. Rounds that keepLastN has dropped have no attempts."""
    last = rounds_over(run) if last is None else last
    kept = kept_rounds(view.input(run).get("keepLastN"))
    first = 1 if kept is None else max(1, last - kept)
    rounds = [(number, attempts_of(view, run, number)) for number in range(first, last + 1)]
    outputs = view.encoded_outputs([attempt for _, found in rounds for attempt in found])
    members = [(key, encode(value)) for key, value in own_part(view.stored_output(run)).items()]
    for number, found in rounds:
        if found:
            shown = _spliced((attempt.ref, outputs[attempt.seq]) for attempt in found)
            members.append((str(number), shown))
    return _spliced(members)


def _spliced(members: Iterable[tuple[str, bytes]]) -> bytes:
    return b"{" + b",".join([encode(key) + b":" + value for key, value in members]) + b"}"


def partial_output(view: Attempts, run: Run, wanted: Collection[str]) -> dict[str, Json]:
    """The loop's output with no other rounds than these."""
    output = own_part(view.stored_output(run))
    for key in wanted:
        if is_round(key) and int(key) <= rounds_over(run):
            found = attempts_of(view, run, int(key))
            if found:
                output[key] = {attempt.ref: view.output(attempt) for attempt in found}
    return output
