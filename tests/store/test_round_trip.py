"""Whatever the fields of a record hold, they come back: every field, any value."""

from dataclasses import fields
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.model.definitions import WorkflowDef, WorkflowTask
from engine.model.execution import DERIVED, Execution, Run
from engine.model.ids import content_hash
from engine.model.record import encode
from engine.model.status import ExecutionStatus, TaskStatus
from engine.store.contract import Group, Store
from tests.store.builders import created

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
numbers = st.integers(-(2**63), 2**63 - 1)
documents = st.one_of(
    st.dictionaries(texts, st.one_of(st.none(), st.booleans(), texts), max_size=3).map(encode),
    st.integers(0, 40_000).map(lambda size: b'"' + b"x" * size + b'"'),
)
nodes = st.builds(
    lambda name, more: WorkflowTask.read({"name": name, "taskReferenceName": "r", "novelty": more}),
    texts,
    st.lists(texts, max_size=3),
)
definitions = st.builds(
    lambda name, version, tasks: WorkflowDef(name=name, version=version, tasks=tuple(tasks)),
    texts,
    st.integers(1, 9),
    st.lists(nodes, max_size=2),
)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "int": numbers,
    "str": texts,
    "str | None": st.none() | texts,
    "bool": st.booleans(),
    "bytes": documents,
    "bytes | None": documents,
    "dict[str, str]": st.dictionaries(texts, texts, max_size=3),
    "tuple[str, ...]": st.lists(texts, max_size=3).map(tuple),
    "TaskStatus": st.sampled_from(TaskStatus),
    "ExecutionStatus": st.sampled_from(ExecutionStatus),
    "engine.model.definitions.WorkflowTask | None": st.none() | nodes,
    "WorkflowDef": definitions,
}


def values_of(kind: type[Any], *without: str) -> st.SearchStrategy[dict[str, Any]]:
    """Arbitrary values for all fields that are stored."""
    wanted = [item for item in fields(kind) if item.name not in {*without, *DERIVED}]
    return st.fixed_dictionaries({item.name: _VALUES[_written(item.type)] for item in wanted})


def _written(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    execution=values_of(Execution, "key", "id", "definition_hash", "line", "idempotency_key"),
    runs=st.lists(values_of(Run, "seq"), max_size=3),
)
def test_what_is_stored_is_loaded_equal(
    store: Store, execution: dict[str, Any], runs: list[dict[str, Any]]
) -> None:
    key = store.next_key()
    name = content_hash(execution["definition"].json_bytes())
    whole = Execution(key=key, id=f"workflow-{key}", definition_hash=name, line=3, **execution)
    attempts = [Run(seq=seq, **values) for seq, values in enumerate(runs, 1)]
    store.commit(Group([created(whole, *attempts)]))
    loaded = store.load(key, payloads=True)
    assert loaded is not None
    assert loaded.execution == whole
    assert loaded.runs == attempts
