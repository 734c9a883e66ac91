"""`${…}`: a template is compiled once and filled many times. Filling asks its root only for the
values that expressions name; a template without expressions costs nothing. Secrets are not resolved
here but at the hand-over (secrets.py), so that they never reach the store."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from engine.expressions.java_text import java_text, json_list_text
from engine.expressions.paths import InvalidPath, compile_path
from engine.expressions.roots import ENVIRONMENT, MISSING, SYSTEM_NAMES, MappingRoot, Root
from engine.expressions.secrets import SECRETS, read_json_text
from engine.model.record import Json

_ENVIRONMENT_PATH = ENVIRONMENT + "."
_NOTHING: frozenset[str] = frozenset()
_EMPTY = MappingRoot({})

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


def compile_template(value: Json) -> Template:
    """Any JSON: texts are scanned, maps and lists walked, keys and other values left as they are."""
    if isinstance(value, str):
        return _compile_text(value)
    if isinstance(value, dict):
        return _compile_map(value)
    if isinstance(value, list):
        return _compile_list(value)
    return _constant(value, value)


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
    """A workflow's input: each key of its inputTemplate that is absent or null is added, unresolved.
    An empty input stays empty."""
    result = dict(given)
    if result:
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


def _compile_map(source: dict[str, Json]) -> Template:
    parts = {key: compile_template(value) for key, value in source.items()}
    constants = {key: part.fill(_EMPTY) if part.constant else None for key, part in parts.items()}
    moving = [(key, part.fill) for key, part in parts.items() if not part.constant]
    if not moving:
        return _constant(source, source if constants == source else constants)

    def fill(root: Root) -> Json:
        result = constants.copy()
        for key, part in moving:
            result[key] = part(root)
        return result

    return _joined(source, list(parts.values()), fill)


def _compile_list(source: list[Json]) -> Template:
    parts = [compile_template(value) for value in source]
    if all(part.constant for part in parts):
        value = [part.fill(_EMPTY) for part in parts]
        return _constant(source, source if value == source else value)
    fills = [part.fill for part in parts]
    return _joined(source, parts, lambda root: [part(root) for part in fills])


@lru_cache(maxsize=8192)
def _compile_text(text: str) -> Template:
    if "${" not in text:
        return _constant(text, text)
    spans = list(_placeholders(text))
    if not spans:
        return _constant(text, _unescaped(text))
    if spans == [(0, len(text))]:
        whole = _compile_expression(text[2:-1])
        return Template(text, whole.constant, whole.reads, whole.dynamic, whole.fill)
    return _compile_mixture(text, spans)


def _placeholders(text: str) -> Iterator[tuple[int, int]]:
    """Where each `${…}` begins and ends. `$${` begins none; braces in quotes count like all others;
    one that is never closed hides all after it."""
    at = 0
    while (start := text.find("${", at)) >= 0:
        if start > 0 and text[start - 1] == "$":
            at = start + 1
            continue
        depth, at = 0, start + 1
        while at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
            if depth == 0:
                break
        else:
            return
        yield start, at


def _unescaped(text: str) -> str:
    return text.replace("$${", "${")


def _compile_mixture(text: str, spans: list[tuple[int, int]]) -> Template:
    """Text around expressions, or several of them: always a text."""
    parts: list[Template] = []
    at = 0
    for start, end in spans:
        if start > at:
            parts.append(_constant(text[at:start], text[at:start]))
        parts.append(_compile_expression(text[start + 2 : end - 1], as_text=True))
        at = end
    if at < len(text):
        parts.append(_constant(text[at:], text[at:]))
    fills = [part.fill for part in parts]
    if all(part.constant for part in parts):
        return _constant(text, _unescaped("".join(fill(_EMPTY) for fill in fills)))
    return _joined(text, parts, lambda root: _unescaped("".join([fill(root) for fill in fills])))


def _compile_expression(inner: str, as_text: bool = False) -> Template:
    """What stands between `${` and `}`; expressions within it are filled first, as text."""
    if "${" not in inner:
        return _expression(inner, as_text)
    spans = list(_placeholders(inner))
    if not spans:
        return _expression(_unescaped(inner), as_text)
    text = _compile_mixture(inner, spans)
    if text.constant:
        return _expression(text.fill(_EMPTY), as_text)
    first = inner[: spans[0][0]]
    reads = text.reads | _certain_read(first)
    return Template(
        inner, False, reads, True, lambda root: _expression(text.fill(root), as_text).fill(root)
    )


def _certain_read(beginning: str) -> frozenset[str]:
    """The root name that an expression must read when its text begins like this."""
    name, dot, _ = beginning.partition(".")
    return (
        frozenset((name,)) if dot and name.replace("-", "").replace("_", "").isalnum() else _NOTHING
    )


@lru_cache(maxsize=8192)
def _expression(inner: str, as_text: bool) -> Template:
    if not inner.strip():
        return _constant(inner, "")
    if inner.startswith(SECRETS):
        literal = "${" + inner + "}"
        return _constant(inner, literal)
    if inner.startswith(_ENVIRONMENT_PATH):
        return _environment(inner, as_text)
    if inner in SYSTEM_NAMES:
        return _system_name(inner)
    try:
        path = compile_path(inner)
    except InvalidPath:
        return _constant(inner, "null" if as_text else None)
    fill = path.read
    if as_text:
        fill = _text_of(path.read, path.definite)
    return Template(inner, False, path.reads, path.reads_all, _bare(inner, as_text) or fill)


def _text_of(read: Fill, definite: bool) -> Fill:
    if definite:
        return lambda root: java_text(read(root))
    return lambda root: json_list_text(read(root))


def _bare(inner: str, as_text: bool) -> Fill | None:
    """A single name may be a process variable as well; whatever the root gives is its value."""
    if not inner.replace("_", "").isalnum():
        return None

    def fill(root: Root) -> Json:
        value = root.get(inner)
        value = None if value is MISSING else value
        return java_text(value) if as_text else value

    return fill


def _system_name(name: str) -> Template:
    """A name without a value stays as it was written."""

    def fill(root: Root) -> Json:
        value = root.get(name)
        return "${" + name + "}" if value is MISSING or value is None else java_text(value)

    return Template(name, False, frozenset((name,)), False, fill)


def _environment(inner: str, as_text: bool) -> Template:
    name, _, path = inner.removeprefix(_ENVIRONMENT_PATH).partition(".")

    def fill(root: Root) -> Json:
        known = root.get(ENVIRONMENT)
        value = known.get(name) if isinstance(known, Mapping) else None
        value = read_json_text(value, path) if path else value
        return java_text(value) if as_text else value

    return Template(inner, False, frozenset((ENVIRONMENT,)), False, fill)
