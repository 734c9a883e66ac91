"""The API's own documentation, made from the tables of routes: OpenAPI, and a page to browse it."""

import html
import re
from collections.abc import Sequence

from pydantic.json_schema import models_json_schema
from starlette.responses import Response

from engine.api.synchronous import StateUpdate
from engine.api.wire import Call, Route
from engine.api.workflows import Correlated
from engine.model.definitions import TaskDef, WorkflowDef
from engine.model.record import Json, Record
from engine.model.requests import (
    RerunRequest,
    SkipRequest,
    StartWorkflowRequest,
    TaskResult,
    WorkflowTestRequest,
)
from engine.model.triggers import EventHandler, WorkflowSchedule

RECORDS: dict[str, type[Record]] = {
    kind.__name__: kind
    for kind in (
        WorkflowDef,
        TaskDef,
        StartWorkflowRequest,
        TaskResult,
        RerunRequest,
        SkipRequest,
        WorkflowTestRequest,
        EventHandler,
        WorkflowSchedule,
        StateUpdate,
        Correlated,
    )
}
_VARIABLE = re.compile(r"{(\w+)}")
_TYPES = {"int": {"type": "integer"}, "bool": {"type": "boolean"}, "": {"type": "string"}}


class Documents:
    """Two documents about the same table."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes = routes
        self._openapi = openapi(routes)
        self._page = page(routes)

    def routes(self) -> list[Route]:
        """Outside /api, where Conductor has them."""
        return [
            Route("GET", "/api-docs", self.document),
            Route("GET", "/swagger-ui/index.html", self.browse, gives="html"),
            Route("GET", "/docs", self.browse, gives="html"),
        ]

    def document(self, call: Call) -> dict[str, Json]:
        """The API as OpenAPI 3.1."""
        return self._openapi

    def browse(self, call: Call) -> Response:
        """The API as a page."""
        return Response(self._page, media_type="text/html")


def openapi(routes: Sequence[Route]) -> dict[str, Json]:
    """The API as OpenAPI 3.1."""
    paths: dict[str, dict[str, Json]] = {}
    for route in routes:
        paths.setdefault(f"/api{route.path}", {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Reprise",
            "version": "1",
            "description": "Conductor's API, and our additions below /api/ext.",
        },
        "paths": paths,
        "components": {"schemas": schemas()},
    }


def schemas() -> dict[str, Json]:
    """The records that requests bring, as JSON Schemas."""
    _, found = models_json_schema(
        [(kind, "validation") for kind in RECORDS.values()],
        by_alias=True,
        ref_template="#/components/schemas/{model}",
    )
    shown: dict[str, Json] = found.get("$defs", {})
    return shown


def _operation(route: Route) -> dict[str, Json]:
    parameters: list[dict[str, Json]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in _VARIABLE.findall(route.path)
    ]
    parameters += [_query(item) for item in route.query]
    shown: dict[str, Json] = {
        "tags": [_group(route)],
        "summary": said(route),
        "operationId": f"{route.method.lower()}{route.path.replace('/', '_')}",
        "parameters": parameters,
        "responses": {
            "204" if route.gives == "nothing" else "200": _given(route),
            "default": {"description": "An error with `message`."},
        },
    }
    if route.body is not None:
        shown["requestBody"] = {"content": _content(route.body)}
    return shown


def _query(item: str) -> dict[str, Json]:
    name, _, kind = item.rstrip("*").partition(":")
    schema: dict[str, Json] = dict(_TYPES[kind])
    if item.endswith("*"):
        schema = {"type": "array", "items": schema}
    return {"name": name, "in": "query", "required": False, "schema": schema}


def _given(route: Route) -> dict[str, Json]:
    kinds = {"json": "application/json", "text": "text/plain", "html": "text/html"}
    if route.gives in ("none", "nothing"):
        return {"description": "Done."}
    return {"description": "The answer.", "content": {kinds[route.gives]: {}}}


def _content(body: str) -> dict[str, Json]:
    if body == "text":
        return {"text/plain": {"schema": {"type": "string"}}}
    if body == "list":
        return {"application/json": {"schema": {"type": "array"}}}
    schema: dict[str, Json] = {"type": "object"}
    if body in RECORDS:
        schema = {"$ref": f"#/components/schemas/{body}"}
    return {"application/json": {"schema": schema}}


def _group(route: Route) -> str:
    return route.path.split("/")[1]


def said(route: Route) -> str:
    """The first sentence of a handler's documentation."""
    return " ".join((route.handler.__doc__ or "").split())


_STYLE = """
:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
body{max-width:70rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:2rem;text-transform:capitalize}
summary{cursor:pointer;padding:.3rem 0;display:flex;gap:.8rem;flex-wrap:wrap}
summary b{min-width:4.5rem;font-family:ui-monospace,monospace}
summary code{font-size:1em}summary span{opacity:.75}
details{border-top:1px solid #8884}table{border-collapse:collapse;margin:.3rem 0 1rem 5.3rem}
td{padding:.1rem 1rem .1rem 0}input{width:100%;padding:.5rem;font:inherit}
"""

_FILTER = """
const box=document.querySelector('input');
box.addEventListener('input',()=>{const wanted=box.value.toLowerCase();
for(const item of document.querySelectorAll('details'))
item.hidden=!item.textContent.toLowerCase().includes(wanted);});
"""


def page(routes: Sequence[Route]) -> str:
    """The API as a page that needs nothing from elsewhere."""
    groups: dict[str, list[Route]] = {}
    for route in routes:
        groups.setdefault(_group(route), []).append(route)
    body = "".join(
        f"<h2>{html.escape(name)}</h2>" + "".join(_row(route) for route in listed)
        for name, listed in groups.items()
    )
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>API of Reprise</title>"
        "<meta name='viewport' content='width=device-width'>"
        f"<style>{_STYLE}</style><h1>API of Reprise</h1>"
        "<p>The same as <a href='/api-docs'>OpenAPI</a>.</p>"
        f"<input type='search' aria-label='Find' placeholder='Find'>{body}"
        f"<script>{_FILTER}</script></html>"
    )


def _row(route: Route) -> str:
    facts = [("path", name) for name in _VARIABLE.findall(route.path)]
    facts += [
        ("query", item.replace("*", " (repeatable)").replace(":", ", ")) for item in route.query
    ]
    if route.body is not None:
        facts.append(("body", route.body))
    facts.append(("answer", route.gives))
    rows = "".join(
        f"<tr><td>{kind}</td><td><code>{html.escape(name)}</code></td></tr>" for kind, name in facts
    )
    return (
        f"<details><summary><b>{route.method}</b><code>/api{html.escape(route.path)}</code>"
        f"<span>{html.escape(said(route))}</span></summary><table>{rows}</table></details>"
    )
