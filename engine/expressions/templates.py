"""`${…}`: a template is compiled once and filled many times. Filling asks its root only for the
values that expressions name; a template without expressions costs nothing. Secrets are not resolved
here but at the hand-over (secrets.py), so that they never reach the store."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from engine.expressions.java_text import java_text, json_list_text
from engine.expressions.paths import InvalidPath, Path, compile_path
from engine.expressions.roots import ENVIRONMENT, MISSING, SYSTEM_NAMES, MappingRoot, Root
from engine.expressions.secrets import SECRETS, read_json_text
from engine.model.record import Json

_ENVIRONMENT_PATH = ENVIRONMENT + "."
_NOTHING: frozenset[str] = frozenset()
_EMPTY = MappingRoot({})
_BRACE = re.compile("[{}]")

DEEPEST_VALUE = 250
DEEPEST_EXPRESSION = 16
LONGEST_KEPT = 1024

Fill = Callable[[Root], Json]


@dataclass(frozen=True, slots=True)
class Template:
    """A JSON value with expressions in its texts.

    `reads` are the root names it certainly reads. `dynamic`: it may read others too, because an
    expression stands within an expression or looks at everything. What `fill` gives shares its
    constant parts with the template: nobody may change it in place.
    """

    source: Json
    constant: bool
    reads: frozenset[str]
    dynamic: bool
    fill: Fill


class TemplateTooDeep(ValueError):
    """The template nests more than anybody can read."""


def compile_template(value: Json) -> Template:
    """Any JSON: texts are scanned, maps and lists walked, keys and other values left as they are."""
    return _compile(value, 0)


def fill_inputs(parameters: Template, defaults: Mapping[str, Json], root: Root) -> dict[str, Json]:
    """A task's input: its inputParameters over the inputTemplate of its task definition. A default
    stands in, resolved, for a key that is absent or null, and as written for one resolved to null."""
    filled: dict[str, Json] = parameters.fill(root) or {}
    if not defaults:
        return filled
    given = parameters.source or {}
    result = dict(filled)
    for key, default in defaults.items():
        if given.get(key) is None:
            result[key] = compile_template(default).fill(root)
        if result[key] is None:
            result[key] = default
    return result


def with_input_template(given: Mapping[str, Json], template: Mapping[str, Json]) -> dict[str, Json]:
    """A workflow's input: each key of its inputTemplate that is absent or null is added, unresolved."""
    result = dict(given)
    for key, value in template.items():
        if result.get(key) is None:
            result[key] = value
    return result


# -- compiling -----------------------------------------------------------------------


def _constant(source: Json, value: Json) -> Template:
    return Template(source, True, _NOTHING, False, lambda root: value)


def _joined(source: Json, parts: list[Template], fill: Fill) -> Template:
    reads = _NOTHING.union(*(part.reads for part in parts))
    return Template(source, False, reads, any(part.dynamic for part in parts), fill)


def _compile(value: Json, depth: int) -> Template:
    if depth > DEEPEST_VALUE:
        raise TemplateTooDeep(f"a template may have {DEEPEST_VALUE} levels, this one has more")
    if isinstance(value, str):
        if "${" not in value:
            return _constant(value, value)
        return _kept_text(value) if len(value) <= LONGEST_KEPT else _compile_text(value)
    if isinstance(value, tuple):
        value = list(value)
    if not isinstance(value, dict | list):
        return _constant(value, value)
    parts: dict[Any, Template] = {}
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        parts[key] = _compile(member, depth + 1)
    return _container(value, parts)


def _container(source: Json, parts: dict[Any, Template]) -> Template:
    """A map or a list: filling copies it and puts the filled parts in their places."""
    resting = source.copy()
    for key, part in parts.items():
        resting[key] = part.fill(_EMPTY) if part.constant else None
    moving = [(key, part.fill) for key, part in parts.items() if not part.constant]
    if not moving:
        return _constant(source, source if resting == source else resting)

    def fill(root: Root) -> Json:
        result = resting.copy()
        for key, part in moving:
            result[key] = part(root)
        return result

    return _joined(source, list(parts.values()), fill)


def _compile_text(text: str) -> Template:
    spans = list(_placeholders(text))
    if not spans:
        return _constant(text, _unescaped(text))
    if spans == [(0, len(text))]:
        return replace(_compile_expression(text[2:-1], False, 1), source=text)
    return _compile_mixture(text, spans, 1)


_kept_text = lru_cache(maxsize=8192)(_compile_text)


def _placeholders(text: str) -> Iterator[tuple[int, int]]:
    """Where each `${…}` begins and ends. `$${` begins none; braces in quotes count like all others;
    one that is never closed hides all after it."""
    at = 0
    while (start := text.find("${", at)) >= 0:
        if start > 0 and text[start - 1] == "$":
            at = start + 1
            continue
        depth = 0
        for brace in _BRACE.finditer(text, start + 1):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                break
        if depth != 0:
            return
        at = brace.end()
        yield start, at


def _unescaped(text: str) -> str:
    return text.replace("$${", "${")


def _compile_mixture(text: str, spans: list[tuple[int, int]], depth: int) -> Template:
    """Text around expressions, or several of them: always a text."""
    parts: list[Template] = []
    at = 0
    for start, end in spans:
        if start > at:
            parts.append(_constant(text[at:start], text[at:start]))
        parts.append(_compile_expression(text[start + 2 : end - 1], True, depth))
        at = end
    if at < len(text):
        parts.append(_constant(text[at:], text[at:]))
    fills = [part.fill for part in parts]
    if all(part.constant for part in parts):
        return _constant(text, _unescaped("".join(fill(_EMPTY) for fill in fills)))
    return _joined(text, parts, lambda root: _unescaped("".join([fill(root) for fill in fills])))


def _compile_expression(inner: str, as_text: bool, depth: int) -> Template:
    """What stands between `${` and `}`; expressions within it are filled first, as text."""
    if depth > DEEPEST_EXPRESSION:
        raise TemplateTooDeep(
            f"expressions may stand {DEEPEST_EXPRESSION} deep within each other, these go deeper"
        )
    spans = list(_placeholders(inner))
    if not spans:
        return _expression(_unescaped(inner), as_text)
    text = _compile_mixture(inner, spans, depth + 1)
    if text.constant:
        return _expression(text.fill(_EMPTY), as_text)
    reads = text.reads | _certain_read(inner[: spans[0][0]])
    return Template(
        inner, False, reads, True, lambda root: _expression(text.fill(root), as_text).fill(root)
    )


def _certain_read(beginning: str) -> frozenset[str]:
    """The root name that an expression must read when its text begins like this."""
    name, dot, _ = beginning.partition(".")
    return (
        frozenset((name,)) if dot and name.replace("-", "").replace("_", "").isalnum() else _NOTHING
    )


def _expression(inner: str, as_text: bool) -> Template:
    if not inner.strip():
        return _constant(inner, "")
    if inner.startswith(SECRETS):
        return _constant(inner, "${" + inner + "}")
    if inner.startswith(_ENVIRONMENT_PATH):
        return _environment(inner, as_text)
    if inner in SYSTEM_NAMES:
        return _system_name(inner)
    try:
        path = compile_path(inner)
    except InvalidPath:
        return _constant(inner, "null" if as_text else None)
    fill = _text_of(path) if as_text else path.read
    return Template(inner, False, path.reads, path.reads_all, fill)


def _text_of(path: Path) -> Fill:
    read = path.read
    if path.definite:
        return lambda root: java_text(read(root))
    return lambda root: json_list_text(read(root))


def _system_name(name: str) -> Template:
    """A name without a value stays as it was written."""

    def fill(root: Root) -> Json:
        value = root.get(name)
        return "${" + name + "}" if value is MISSING or value is None else java_text(value)

    return Template(name, False, _NOTHING, False, fill)


def _environment(inner: str, as_text: bool) -> Template:
    name, _, path = inner.removeprefix(_ENVIRONMENT_PATH).partition(".")

    def fill(root: Root) -> Json:
        known = root.get(ENVIRONMENT)
        value = known.get(name) if isinstance(known, Mapping) else None
        value = read_json_text(value, path) if path else value
        return java_text(value) if as_text else value

    return Template(inner, False, _NOTHING, False, fill)
