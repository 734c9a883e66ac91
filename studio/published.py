"""What a server has published, as the design pages need it: names, versions, task definitions.

Lists are remembered for some seconds a session, since every click of an editor would ask again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import streamlit as st

from studio.client.client import Actor, Client
from studio.client.errors import Missing, ServerError
from studio.components.visit import now_ms
from studio.editor.plain import plain
from studio.editor.tree import JsonObject
from studio.graph.outline import number
from studio.views import executions

T = TypeVar("T")

_KEPT_MS: Final = 20_000
_MOST: Final = 2_000


@dataclass(frozen=True, slots=True)
class Version:
    number: int
    published_at: int


def versions(client: Client) -> dict[str, list[Version]]:
    """Every definition and its versions, the oldest first."""

    def ask() -> dict[str, list[Version]]:
        return {name: _versions(rows) for name, rows in client.versions().items()}

    return _kept("versions", client, ask)


def _versions(rows: Sequence[Mapping[str, Any]]) -> list[Version]:
    made = [Version(number(row.get("version")), number(row.get("createTime"))) for row in rows]
    return sorted(made, key=lambda each: each.number)


def versions_of(client: Client, name: str) -> list[Version]:
    return versions(client).get(name, [])


def definition(client: Client, name: str, version: int | None = None) -> JsonObject | None:
    """A published definition, or None when there is none of that name or number."""
    try:
        return plain(client.definition(name, version))
    except Missing:
        return None


def task_defs(client: Client) -> list[JsonObject]:
    return _kept("task definitions", client, lambda: client.task_defs()[:_MOST])


def task_defs_if_any(client: Client) -> list[JsonObject]:
    """The same, or none where the server has no answer: drawing and checking go on without."""
    try:
        return task_defs(client)
    except ServerError:
        return []


def publish(client: Client, definition: JsonObject, version: int, actor: Actor) -> JsonObject:
    """Registers a draft as a new version; a version that exists is refused by the server."""
    numbered = {**definition, "version": version}
    client.register_definition(numbered, actor)
    forget()
    return numbered


def last_run(client: Client, name: str) -> JsonObject | None:
    """The newest execution with its tasks, for samples of values; None when there is none to be
    had, for an editor works without."""

    def ask() -> JsonObject | None:
        found = client.search(f"workflowType = {executions.written(name)}", size=1)
        return client.execution(str(found.rows[0]["workflowId"])) if found.rows else None

    try:
        return _kept(f"run of {name}", client, ask)
    except (ServerError, KeyError):
        return None


def forget() -> None:
    """What is remembered may have changed."""
    for key in [key for key in st.session_state if str(key).startswith("published/")]:
        del st.session_state[key]


def _kept(what: str, client: Client, ask: Callable[[], T]) -> T:
    key = f"published/{client.name}/{what}"
    held = st.session_state.get(key)
    if held is not None and now_ms() - held[0] < _KEPT_MS:
        return held[1]  # type: ignore[no-any-return]
    answer = ask()
    st.session_state[key] = (now_ms(), answer)
    return answer
