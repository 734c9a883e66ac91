"""What is wrong or risky with a draft, in one list: where, what, and what could be done about it.

The checks are those of the engine's rules, the layout and the fields; they are only put together
here, so that picture, form and publishing say the same.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from engine.model.definitions import TaskDef
from engine.model.errors import InvalidInput
from engine.rules.validation_advice import findings
from engine.rules.validation_findings import Finding
from studio.editor.fields import missing
from studio.editor.json_text import TextProblem
from studio.editor.tree import JsonObject, all_refs, spots
from studio.graph import blocks
from studio.graph.picture import Layout
from studio.views.compare import code
from studio.views.fixes import Fix, fix_of

Level = Literal["error", "warning", "info"]

_ORDER: Final = {"error": 0, "warning": 1, "info": 2}
_REFUSED: Final = "refused"
# Where a refusal in Conductor's words says which task it is about.
_NAMED: Final = (
    re.compile(r"for given task: (\S+)"),
    re.compile(r"^taskReferenceName: (\S+)"),
    re.compile(r"taskName: (\S+)"),
)
_WORD: Final = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to look at. `ref` is empty when it is about the workflow; `text` and `advice` have
    their names in backticks; `fix` would mend it."""

    level: Level
    ref: str
    text: str
    advice: str = ""
    code: str = ""
    fix: Fix | None = None

    @property
    def key(self) -> str:
        return f"{self.level}/{self.ref}/{self.code}/{self.text}"


def problems_of(
    definition: JsonObject,
    layout: Layout,
    text_problem: TextProblem | None = None,
    task_defs: Iterable[Mapping[str, Any]] = (),
) -> tuple[Problem, ...]:
    """Everything that is known about a draft, the worst first, then in the order of the picture."""
    advice = _of_rules(definition, task_defs)
    told = {problem.ref for problem in advice if problem.level == "error"}
    more = [*_of_fields(definition), *_of_layout(layout)]
    # The same thing seen by another check would be a second line about one mistake.
    found = [*_of_text(text_problem), *advice, *(each for each in more if each.ref not in told)]
    place = {node.ref: number for number, node in enumerate(layout.nodes)}
    unique = {(problem.ref, problem.text): problem for problem in found}
    return tuple(
        sorted(unique.values(), key=lambda each: (_ORDER[each.level], place.get(each.ref, -1)))
    )


def _of_rules(definition: JsonObject, task_defs: Iterable[Mapping[str, Any]]) -> list[Problem]:
    known = {str(each.get("name")): each for each in task_defs}

    def task_def(name: str) -> TaskDef | None:
        try:
            return TaskDef.read(known[name]) if name in known else None
        except InvalidInput:
            return None

    found = findings(definition, task_def=task_def)
    refs = all_refs(definition)
    told = {each.ref for each in found if each.code != _REFUSED and each.severity == "error"}
    problems = []
    for finding in found:
        ref = _ref_of(finding, refs)
        if finding.code == _REFUSED and ref and ref in told:
            continue
        problems.append(
            Problem(
                finding.severity.value,
                ref,
                _with_names(finding.message, refs),
                _with_names(finding.fix, refs) if finding.code != _REFUSED else "",
                finding.code,
                fix_of(definition, finding),
            )
        )
    return problems


def _ref_of(finding: Finding, refs: set[str]) -> str:
    if finding.ref:
        return finding.ref
    named = (pattern.search(finding.message) for pattern in _NAMED)
    return next((found[1] for found in named if found and found[1] in refs), "")


def _with_names(text: str, refs: set[str]) -> str:
    """The text with every reference name in backticks; text that has some is left alone."""
    if "`" in text:
        return text
    return _WORD.sub(lambda word: code(word[0]) if word[0] in refs else word[0], text)


def _of_text(problem: TextProblem | None) -> Iterable[Problem]:
    if problem is not None:
        where = f"Line {problem.line}, column {problem.column}: " if problem.line else ""
        yield Problem("error", "", where + problem.message, problem.next_step, "text")


def _of_layout(layout: Layout) -> Iterable[Problem]:
    for id_, problems in layout.problems.items():
        node = layout.by_id.get(id_)
        for level, text in problems:
            known: Level = "error" if level == "error" else "warning"
            yield Problem(known, node.ref if node else "", text, code="layout")


def _of_fields(definition: JsonObject) -> Iterable[Problem]:
    for spot in spots(definition):
        for field in missing(spot.task):
            text = f"{code(spot.called)} needs {field.label.lower()}."
            yield Problem("error", spot.ref or "", text, field.help, "field")


def by_node(problems: Iterable[Problem], layout: Layout) -> Mapping[str, Sequence[blocks.Problem]]:
    """The errors and warnings as the picture marks them, by node."""
    ids = {node.ref: node.id for node in layout.nodes if node.ref}
    found: dict[str, list[blocks.Problem]] = {}
    for problem in problems:
        if problem.ref in ids and problem.level != "info":
            plain = problem.text.replace("`", "")
            found.setdefault(ids[problem.ref], []).append(blocks.Problem(problem.level, plain))
    return found


def about(problems: Iterable[Problem], ref: str) -> tuple[Problem, ...]:
    """Those of one task, or of the workflow itself for an empty name."""
    return tuple(problem for problem in problems if problem.ref == ref)


def count(problems: Iterable[Problem], level: Level) -> int:
    return sum(problem.level == level for problem in problems)
