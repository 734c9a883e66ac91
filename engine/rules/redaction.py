"""Hiding what must not be seen: known secret values in answers, and the masked fields of a
definition in what the API shows."""

import base64
import re
import urllib.parse
from collections.abc import Collection, Iterable

from engine.model.record import Json, decode, encode

MASK = "***"
SHORTEST_SECRET = 6
"""Characters; a shorter value is too common a text to be looked for."""


class Scrubber:
    """Finds secret values in JSON: as they are, and in the forms in which they come back."""

    def __init__(self, values: Iterable[str]) -> None:
        known = [value for value in values if len(value) >= SHORTEST_SECRET]
        forms = {form for value in known for form in _forms(value)}
        self._forms = sorted(forms, key=len, reverse=True)
        # JSON escapes quotes, backslashes and control characters: look for that form in bytes.
        self._encoded = [encode(form)[1:-1] for form in self._forms]

    def scrub(self, data: bytes) -> bytes:
        """The same JSON with every secret value masked; the very same bytes where there is none."""
        if not self._is_in(data):
            return data
        return encode(self._clean(decode(data)))

    def value(self, value: Json) -> Json:
        """A decoded value with every secret value masked; the very same where there is none."""
        if not self._forms or not self._is_in(encode(value)):
            return value
        return self._clean(value)

    def text(self, text: str) -> str:
        """A text with every secret value masked."""
        for form in self._forms:
            text = text.replace(form, MASK)
        return text

    def _is_in(self, data: bytes) -> bool:
        return any(form in data for form in self._encoded)

    def _clean(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._clean(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self._clean(item) for key, item in value.items()}
        return value


def _forms(value: str) -> set[str]:
    """What a value looks like as text, inside JSON text, in a URL and in base64."""
    quoted = [urllib.parse.quote(value, safe=spared) for spared in ("", "/", "!*'()")]
    quoted.append(urllib.parse.quote_plus(value))
    quoted += [re.sub("%..", lambda code: code[0].lower(), text) for text in quoted]
    texts = {value, encode(value)[1:-1].decode(), *quoted}
    return texts | _base64_forms(value.encode())


def _base64_forms(value: bytes) -> set[str]:
    """Its characters in base64, wherever it begins in a group of three bytes. Those that it shares
    with a neighbour are left out, for they depend on that."""
    forms = set()
    for shift in range(3):
        coded = base64.b64encode(bytes(shift) + value).decode()
        inner = coded[-(-shift * 8 // 6) : (shift + len(value)) * 8 // 6]
        forms |= {inner, inner.translate(_FOR_URLS)}
    return forms


_FOR_URLS = str.maketrans("+/", "-_")


def masked(data: bytes, names: Collection[str]) -> Json:
    """Decoded JSON in which the value of every key with one of these names is masked."""
    return _masked(decode(data), frozenset(names))


def _masked(value: Json, names: frozenset[str]) -> Json:
    if isinstance(value, list):
        return [_masked(item, names) for item in value]
    if isinstance(value, dict):
        return {key: MASK if key in names else _masked(item, names) for key, item in value.items()}
    return value
