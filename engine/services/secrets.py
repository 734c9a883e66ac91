"""Secrets in use: looked up at the hand-over, and kept in mind so that none of them is stored when
it comes back. What is filled in here goes to a worker or a script and nowhere else."""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from engine.expressions.scripts import ScriptJob
from engine.expressions.secrets import fill_secrets, mentions_secrets
from engine.instruments.telemetry import Telemetry
from engine.model.events import Answer, Result
from engine.model.record import Json, decode, encode
from engine.rules.redaction import SHORTEST_SECRET, Scrubber

Lookup = Callable[[str], str | None]


def too_short(values: Mapping[str, str]) -> list[str]:
    """The names of values that are handed out but never masked: that would destroy ordinary
    texts."""
    return sorted(name for name, value in values.items() if 0 < len(value) < SHORTEST_SECRET)


class Secrets:
    """The secrets of one engine. Any thread may call."""

    def __init__(
        self, lookup: Lookup, known: Iterable[str] = (), telemetry: Telemetry | None = None
    ) -> None:
        """`known`: values that are masked although this engine has handed none of them out."""
        self._lookup = lookup
        self._telemetry = telemetry or Telemetry()
        self._lock = threading.Lock()
        self._values: set[str] = set()
        self._scrubber = Scrubber(())
        for value in known:
            self._remember(value)

    def of(self, name: str) -> str | None:
        """The value of a name at this moment."""
        value = self._lookup(name)
        if value is not None and value not in self._values:
            self._remember(value)
        return value

    def _remember(self, value: str) -> None:
        """A value that is replaced stays known: workers may still hold it."""
        with self._lock:
            self._values |= {value, *_members(value)}
            self._scrubber = Scrubber(self._values)

    # Filling in

    def filled(self, given: bytes) -> dict[str, Json]:
        """An input with its secrets."""
        value: dict[str, Json] = decode(given)
        return fill_secrets(value, self.of) if mentions_secrets(given) else value

    def filled_job(self, job: ScriptJob) -> ScriptJob:
        """A script and its input with their secrets."""
        inputs = job.inputs if isinstance(job.inputs, bytes) else encode(job.inputs)
        if not job.takes_secrets or not mentions_secrets(inputs):
            return job
        source = fill_secrets(job.source, self.of)
        source = source if isinstance(source, str) else ""
        return replace(job, source=source, inputs=fill_secrets(decode(inputs), self.of))

    # Taking out

    def text(self, text: str) -> str:
        """A text without them."""
        return self._scrubber.text(text)

    def payload(self, data: bytes) -> bytes:
        """A payload without them."""
        cleaned = self._scrubber.scrub(data)
        self._tell(cleaned is not data)
        return cleaned

    def cleaned(self, result: Result) -> Result:
        """A report without them."""
        if not self._values:
            return result
        scrubber = self._scrubber
        cleaned = replace(
            result,
            output=scrubber.scrub(result.output),
            reason=None if result.reason is None else scrubber.text(result.reason),
            metadata=None if result.metadata is None else scrubber.scrub(result.metadata),
            logs=tuple(map(scrubber.text, result.logs)),
        )
        self._tell(cleaned != result)
        return cleaned

    def cleaned_answer(self, answer: Answer) -> Answer:
        """A script's answer without them."""
        if not self._values:
            return answer
        scrubber = self._scrubber
        cleaned = replace(
            answer,
            value=scrubber.value(answer.value),
            error=None if answer.error is None else scrubber.text(answer.error),
            logs=tuple(map(scrubber.text, answer.logs)),
        )
        self._tell(cleaned != answer)
        return cleaned

    def _tell(self, masked: bool) -> None:
        """Something that came back had a secret in it."""
        if masked:
            self._telemetry.say("secret.masked")


def _members(value: str) -> set[str]:
    """The texts inside a value that is JSON: references may name them one by one."""
    if value[:1] not in ("{", "["):
        return set()
    try:
        return set(_texts(decode(value.encode())))
    except ValueError:
        return set()


def _texts(value: Json) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts(member)
