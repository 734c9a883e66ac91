"""`${workflow.secrets.NAME}`: stays as text in every stored input and is resolved at the hand-over
alone, on the way to a worker. Nothing that comes out of here may be stored."""

import re
from collections.abc import Callable

from engine.expressions.java_text import java_text
from engine.expressions.paths import read_path
from engine.model.record import Json, decode

SECRETS = "workflow.secrets."
_REFERENCE = re.compile(r"\$\{workflow\.secrets\.([^}]*)\}")
_MARK = b"${workflow.secrets."

Lookup = Callable[[str], str | None]


def mentions_secrets(encoded: bytes) -> bool:
    """A quick look at an encoded payload, so that one without secrets need not be decoded."""
    return _MARK in encoded


def fill_secrets(value: Json, lookup: Lookup) -> Json:
    """The value with its secrets in place; the very same object when it names none."""
    if isinstance(value, str):
        return _fill_text(value, lookup) if SECRETS in value else value
    if isinstance(value, dict | list):
        return _fill_members(value, lookup)
    return value


def _fill_members(value: Json, lookup: Lookup) -> Json:
    filled = None
    for key, member in list(value.items() if isinstance(value, dict) else enumerate(value)):
        new = fill_secrets(member, lookup)
        if new is not member:
            filled = value.copy() if filled is None else filled
            filled[key] = new
    return value if filled is None else filled


def secret_names(value: Json) -> frozenset[str]:
    """The names of the secrets a value asks for."""
    if isinstance(value, str):
        return frozenset(found.partition(".")[0] for found in _REFERENCE.findall(value))
    members = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        return frozenset().union(*(secret_names(member) for member in members))
    return frozenset()


def read_json_text(text: str | None, path: str) -> Json:
    """A path into a value that is JSON text; null when it is not, or when there is nothing there."""
    if text is None:
        return None
    try:
        return read_path(decode(text.encode()), path)
    except ValueError:
        return None


def _resolve(reference: str, lookup: Lookup) -> Json:
    name, _, path = reference.partition(".")
    secret = lookup(name)
    return read_json_text(secret, path) if path else secret


def _fill_text(text: str, lookup: Lookup) -> Json:
    whole = _REFERENCE.fullmatch(text)
    if whole:
        return _resolve(whole[1], lookup)

    def replace(found: re.Match[str]) -> str:
        value = _resolve(found[1], lookup)
        return "" if value is None else java_text(value)

    return _REFERENCE.sub(replace, text)
