"""Lists the samples that lie beside it: every folder with a `sample.json` is one.

Only reading happens here; nothing of the engine or the studio comes in. What the fields of a
`sample.json` mean is told in the README of this folder.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HOME = Path(__file__).parent

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fix:
    """What an operator does about a failed run: `retry` it, or `rerun` it with corrected input.

    A rerun starts at `from_ref`, or at the beginning when there is none.
    """

    explain: str
    action: str
    from_ref: str | None
    task_input: Document | None
    workflow_input: Document | None
    steps: tuple[Document, ...]
    expect: Document


@dataclass(frozen=True, slots=True)
class Play:
    """One way to run a sample: on the real workers, or on mocks that need no worker at all."""

    title: str
    input: Document
    steps: tuple[Document, ...]
    mocks: Document
    sub_workflow_requests: Document
    expect: Document
    fix: Fix | None


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample with everything it needs: definitions, task definitions and the ways to play it."""

    name: str
    order: int
    title: str
    teaches: str
    definition: Document
    definitions: tuple[Document, ...]
    task_defs: tuple[Document, ...]
    happy: Play
    failing: Play
    variants: tuple[Play, ...]

    def plays(self) -> tuple[Play, ...]:
        return (self.happy, self.failing, *self.variants)


@cache
def samples() -> tuple[Sample, ...]:
    """All samples, in the order in which they are best met."""
    folders = (found.parent for found in HOME.glob("*/sample.json"))
    return tuple(sorted(map(_read_sample, folders), key=lambda sample: sample.order))


def sample(name: str) -> Sample:
    for candidate in samples():
        if candidate.name == name:
            return candidate
    known = ", ".join(candidate.name for candidate in samples())
    raise KeyError(f"There is no sample named {name!r}. Choose one of: {known}.")


def _read_sample(folder: Path) -> Sample:
    document = _read(folder / "sample.json")
    definitions = {file: _read(folder / file) for file in document["definitions"]}
    task_defs = _read(folder / document["taskDefs"]) if "taskDefs" in document else []
    return Sample(
        name=folder.name,
        order=document["order"],
        title=document["title"],
        teaches=document["teaches"],
        definition=definitions[document["definition"]],
        definitions=tuple(definitions.values()),
        task_defs=tuple(task_defs),
        happy=_play(document),
        failing=_play(document["failing"]),
        variants=tuple(_play(variant) for variant in document["variants"]),
    )


def _play(document: Document) -> Play:
    return Play(
        title=document["title"],
        input=document["input"],
        steps=tuple(document["steps"]),
        mocks=document["mocks"],
        sub_workflow_requests=document.get("subWorkflowTestRequest", {}),
        expect=document["expect"],
        fix=_fix(document["fix"]) if "fix" in document else None,
    )


def _fix(document: Document) -> Fix:
    return Fix(
        explain=document["explain"],
        action=document["action"],
        from_ref=document.get("from"),
        task_input=document.get("taskInput"),
        workflow_input=document.get("workflowInput"),
        steps=tuple(document.get("steps", [])),
        expect=document["expect"],
    )


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
