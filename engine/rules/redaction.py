"""Hiding what must not be seen: known secret values in answers, and the masked fields of a
definition in what the API shows."""

import base64
import urllib.parse
from collections.abc import Collection, Iterable

from engine.model.record import Json, decode, encode

MASK = "***"
SHORTEST_SECRET = 4
"""Characters; a shorter value is too common a text to be looked for."""


class Scrubber:
    """Finds secret values, as they are, in base64 and URL-encoded, in JSON bytes."""

    def __init__(self, values: Iterable[str]) -> None:
        forms: set[str] = set()
        for value in values:
            if len(value) < SHORTEST_SECRET:
                continue
            forms.add(value)
            forms.add(urllib.parse.quote(value, safe=""))
            forms.add(base64.b64encode(value.encode()).decode().rstrip("="))
        self._forms = sorted(forms, key=len, reverse=True)
        # JSON escapes quotes, backslashes and control characters: look for that form in bytes.
        self._encoded = [encode(form)[1:-1] for form in self._forms]

    def scrub(self, data: bytes) -> bytes:
        """The same JSON with every secret value masked; the very same bytes where there is none."""
        if not any(form in data for form in self._encoded):
            return data
        return encode(self._clean(decode(data)))

    def text(self, value: str | None) -> str | None:
        """A text with every secret value masked."""
        if value is None:
            return None
        for form in self._forms:
            value = value.replace(form, MASK)
        return value

    def _clean(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._clean(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self._clean(item) for key, item in value.items()}
        return value


def masked(data: bytes, names: Collection[str]) -> Json:
    """Decoded JSON in which the value of every key with one of these names is masked."""
    return _masked(decode(data), frozenset(names))


def _masked(value: Json, names: frozenset[str]) -> Json:
    if isinstance(value, list):
        return [_masked(item, names) for item in value]
    if isinstance(value, dict):
        return {key: MASK if key in names else _masked(item, names) for key, item in value.items()}
    return value
