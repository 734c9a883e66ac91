"""The catalogue: one row a name with its versions and last runs, and what one version needs to run."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from studio.graph import marks
from studio.graph.outline import number
from studio.views.executions import ExecutionRow

TICKS: Final = 20

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """One name. `last` are the statuses of its last runs, oldest first."""

    name: str
    description: str
    version: int
    versions: tuple[int, ...]
    tasks: int
    owner: str
    last: tuple[str, ...]
    failed: int
    running: int
    last_run_ms: int


def catalogue(
    definitions: Iterable[Mapping[str, Any]], runs: Iterable[ExecutionRow]
) -> list[CatalogueRow]:
    """All definitions, the one that ran last first, those that never ran by name behind them."""
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for definition in definitions:
        by_name.setdefault(str(definition.get("name") or ""), []).append(definition)
    ran: dict[str, list[ExecutionRow]] = {}
    for run in runs:
        ran.setdefault(run.name, []).append(run)
    rows = [_row(name, found, ran.get(name, [])) for name, found in by_name.items()]
    return sorted(rows, key=lambda row: (-row.last_run_ms, row.name))


def _row(name: str, versions: list[Mapping[str, Any]], runs: list[ExecutionRow]) -> CatalogueRow:
    newest = max(versions, key=lambda one: number(one.get("version")))
    runs = sorted(runs, key=lambda run: run.started_ms)
    return CatalogueRow(
        name=name,
        description=str(newest.get("description") or ""),
        version=number(newest.get("version")) or 1,
        versions=tuple(sorted({number(one.get("version")) or 1 for one in versions}, reverse=True)),
        tasks=sum(1 for _ in all_tasks(newest)),
        owner=str(newest.get("ownerEmail") or ""),
        last=tuple(run.status for run in runs[-TICKS:]),
        failed=sum(marks.mark_of(run.status).bad for run in runs),
        running=sum(run.status in ("RUNNING", "PAUSED") for run in runs),
        last_run_ms=runs[-1].started_ms if runs else 0,
    )


def matching(
    rows: Iterable[CatalogueRow], definitions: Iterable[Document], words: str
) -> list[CatalogueRow]:
    """The rows whose name, description or content has the words."""
    wanted = words.lower().strip()
    if not wanted:
        return list(rows)
    inside = {str(one.get("name")) for one in definitions if wanted in str(one).lower()}
    return [row for row in rows if row.name in inside]


def all_tasks(definition: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every task, in branches and loops too."""
    stack: list[Any] = [definition.get("tasks")]
    while stack:
        found = stack.pop()
        if isinstance(found, list):
            stack += reversed(found)
        elif isinstance(found, Mapping):
            yield found
            stack += [found.get(key) for key in ("loopOver", "defaultCase", "forkTasks")]
            cases = found.get("decisionCases")
            stack += list(cases.values()) if isinstance(cases, Mapping) else []


@dataclass(frozen=True, slots=True)
class Need:
    """Something a run needs and may lack."""

    words: str
    blocking: bool = False


def lacking(
    definition: Mapping[str, Any],
    task_defs: Iterable[str],
    polled: Iterable[str],
    definitions: Iterable[str],
) -> list[Need]:
    """What is missing before a start: task definitions, workers, child definitions."""
    known, asked, flows = set(task_defs), set(polled), set(definitions)
    needs: dict[str, Need] = {}
    for task in all_tasks(definition):
        name, type_ = str(task.get("name") or ""), str(task.get("type") or "SIMPLE")
        if type_ == "SIMPLE" and name not in asked:
            needs[f"worker {name}"] = Need(f"No worker has asked for {name} lately.")
        if type_ == "SIMPLE" and name not in known:
            needs[f"task {name}"] = Need(f"{name} has no task definition; defaults apply.")
        child = task.get("subWorkflowParam")
        if type_ == "SUB_WORKFLOW" and isinstance(child, Mapping):
            wanted = str(child.get("name") or "")
            if (
                wanted
                and "${" not in wanted
                and wanted not in flows
                and not child.get("workflowDefinition")
            ):
                needs[f"flow {wanted}"] = Need(f"There is no definition {wanted}.", blocking=True)
    return list(needs.values())


def input_names(definition: Mapping[str, Any]) -> list[str]:
    """What the definition asks for: declared, templated, or read by an expression."""
    template = definition.get("inputTemplate")
    names = [str(name) for name in definition.get("inputParameters") or ()]
    names += list(template) if isinstance(template, Mapping) else []
    return list(dict.fromkeys(names))


def schema_of(definition: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The JSON schema of the input, when the definition carries one."""
    declared = definition.get("inputSchema")
    data = declared.get("data") if isinstance(declared, Mapping) else None
    return data if isinstance(data, Mapping) and data.get("properties") else None


def outputs_read(definition: Mapping[str, Any], ref: str) -> list[str]:
    """Which fields of a task's output the rest of the definition asks for, in order of appearance."""
    found = re.findall(rf"\b{re.escape(ref)}\.output\.([A-Za-z_]\w*)", json.dumps(definition))
    return list(dict.fromkeys(found))


def answer_schema(names: Iterable[str], asked: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The fields of an answer to a person's task; offered choices belong to its first field."""
    fields = list(names)
    if not fields:
        return None
    choices = asked.get("choices", asked.get("options"))
    offered = [one for one in choices if isinstance(one, str)] if isinstance(choices, list) else []
    about: dict[str, Any] = {name: {"type": "string"} for name in fields}
    if offered:
        about[fields[0]] = {"enum": offered}
    return {"properties": about}
