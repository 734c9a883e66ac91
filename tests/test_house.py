"""The house: who may import whom, no circles, and pure floors that stay pure.

A floor is a folder; `ALLOWED` is the whole rule. Reading the sources is enough, nothing is imported.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("engine", "studio", "pages", "sample_workflows")

PURE = frozenset({"engine.model", "engine.expressions", "engine.tasks", "engine.rules"})
CONTRACT = frozenset({"engine.store.contract"})
DRAWN = PURE | {"studio.desk", "engine.instruments"}
"""What the studio's floors without a browser may know besides each other."""
STUDIO_FLOORS = frozenset(
    f"studio.{name}"
    for name in ("client", "desk", "graph", "editor", "views", "drills", "components")
)
INNER = frozenset({"studio.graph", "studio.editor", "studio.views"})

ALLOWED: dict[str, frozenset[str]] = {
    "engine.model": frozenset(),
    "engine.expressions": frozenset({"engine.model"}),
    "engine.tasks": frozenset({"engine.model", "engine.expressions"}),
    "engine.rules": frozenset({"engine.model", "engine.expressions", "engine.tasks"}),
    "engine.instruments": frozenset(),
    "engine.store": frozenset({"engine.model"}),
    "engine.core": PURE | CONTRACT | {"engine.instruments"},
    "engine.testing": PURE | {"engine.core", "engine.store.memory", "engine.instruments"},
    "engine.services": PURE | {"engine.core", "engine.store", "engine.instruments"},
    "engine.workers": PURE
    | {"engine.core", "engine.services", "engine.store", "engine.instruments"},
    "engine.api": frozenset(
        {"engine.model", "engine.services", "engine.testing", "engine.instruments"}
    ),
    "engine": frozenset({"engine"}),
    "studio.client": frozenset({"engine.model"}),
    "studio.desk": frozenset(),
    "studio.graph": DRAWN | INNER,
    "studio.editor": DRAWN | INNER,
    "studio.views": DRAWN | INNER,
    "studio.drills": DRAWN | INNER | {"studio.client"},
    "studio.components": PURE | INNER | {"studio.client"},
    "studio.cli": PURE | INNER | {"studio.client", "studio.desk", "engine.store"},
    "studio": STUDIO_FLOORS | PURE | {"studio", "engine.instruments", "sample_workflows"},
    "pages": frozenset({"studio"}),
    "sample_workflows": frozenset(),
}
"""Floor -> what it may import besides itself. A name stands for all that is inside it."""

EMBEDDED = {"studio/one_process.py", "studio/notebook_api.py", "studio/cli/alone.py"}
"""The only files of the studio that may start an engine in their own process."""

ENGINE_DOORS = frozenset({"engine.engine", "engine.api.app", "engine.settings"})

WITHOUT_DRIVERS = {"engine/store/contract.py", "engine/store/memory.py"}
DRIVERS = ("sqlmodel", "sqlalchemy", "sqlite3", "psycopg")

OUTSIDE = {
    "streamlit": {"studio", "studio.components", "pages"},
    "starlette": {"engine.api"},
    "uvicorn": {"engine", "studio"},
    "sqlmodel": {"engine.store", "studio.desk"},
    "sqlalchemy": {"engine.store", "studio.desk"},
    "psycopg": {"engine.store"},
    "quickjs": {"engine.workers"},
    "jq": {"engine.workers"},
    "httpx": {"engine.workers", "studio.client", "studio", "sample_workflows"},
    "networkx": {"studio.graph", "studio.editor", "studio.views", "studio.drills"},
    "graphviz": {"studio.graph"},
    "click": {"studio.cli"},
}
"""Packages that only some floors may know."""

IMPURE = frozenset(
    {
        "asyncio", "logging", "multiprocessing", "os", "pathlib", "random", "secrets", "select",
        "signal", "socket", "sqlite3", "subprocess", "tempfile", "threading", "time",
    }
)  # fmt: skip
"""Modules that bring a clock, chance, a thread or the outside."""
IMPURE_CALLS = frozenset({"now", "utcnow", "today", "uuid1", "uuid4", "getnode", "urandom"})


@cache
def sources() -> dict[str, ast.Module]:
    """Every file of the product, parsed, by its path."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            found[path.relative_to(ROOT).as_posix()] = ast.parse(path.read_text())
    return found


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def floor_of(module: str) -> str:
    """`engine.rules.decide` lives on `engine.rules`; `engine.engine` on `engine`."""
    package, _, rest = module.partition(".")
    floor = f"{package}.{rest.partition('.')[0]}"
    return floor if floor in ALLOWED else package


def imports(path: str) -> Iterator[str]:
    """Full names of what a file imports; a name imported from a package counts with it."""
    for node in ast.walk(sources()[path]):
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{item.name}" for item in node.names)


def ours(path: str) -> Iterator[str]:
    """Modules of ours that a file imports."""
    modules = {module_of(other) for other in sources()}
    for name in imports(path):
        while name and name not in modules:
            name = name.rpartition(".")[0]
        if name:
            yield name


def inside(module: str, allowed: frozenset[str]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in allowed)


def test_every_floor_of_the_house_has_its_rule() -> None:
    folders = {path.rsplit("/", 1)[0].replace("/", ".") for path in sources() if "/" in path}
    known = {
        folder for folder in folders if folder.count(".") == 1 and "sample_workflows" not in folder
    }
    assert known <= ALLOWED.keys()


def test_arrows_only_point_down() -> None:
    wrong = []
    for path in sources():
        here = floor_of(module_of(path))
        allowed = ALLOWED[here] | (ENGINE_DOORS if path in EMBEDDED else frozenset())
        for module in ours(path):
            own = floor_of(module) == here
            if not own and not inside(module, allowed):
                wrong.append(f"{path} imports {module}")
    assert not wrong, wrong


def test_no_two_files_import_each_other_in_a_circle() -> None:
    graph = nx.DiGraph(
        (module_of(path), module)
        for path in sources()
        for module in ours(path)
        if module != module_of(path)
    )
    assert [
        sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1
    ] == []


def test_no_two_floors_import_each_other_in_a_circle() -> None:
    graph = nx.DiGraph(
        (floor_of(module_of(path)), floor_of(module))
        for path in sources()
        for module in ours(path)
        if floor_of(module) != floor_of(module_of(path))
    )
    assert [
        sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1
    ] == []


def test_a_page_is_imported_by_nobody() -> None:
    assert [path for path in sources() for module in ours(path) if module.startswith("pages")] == []


@pytest.mark.parametrize("floor", sorted(PURE))
def test_a_pure_floor_knows_no_clock_no_chance_no_thread_and_nothing_outside(floor: str) -> None:
    wrong = []
    for path, tree in sources().items():
        if floor_of(module_of(path)) != floor:
            continue
        wrong += [
            f"{path} imports {name}" for name in imports(path) if name.split(".")[0] in IMPURE
        ]
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node) in IMPURE_CALLS:
                wrong.append(f"{path}:{node.lineno} calls {_called(node)}")
    assert not wrong, wrong


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def test_a_package_from_outside_is_known_only_where_it_belongs() -> None:
    wrong = [
        f"{path} imports {name}"
        for path in sources()
        for name in imports(path)
        if floor_of(module_of(path)) not in OUTSIDE.get(name.split(".")[0], ALLOWED.keys())
    ]
    assert not wrong, wrong


@pytest.mark.parametrize("path", sorted(WITHOUT_DRIVERS))
def test_the_contract_and_the_memory_store_need_no_database(path: str) -> None:
    assert not [name for name in imports(path) if name.split(".")[0] in DRIVERS]


def test_a_folder_is_loaded_without_loading_what_is_in_it() -> None:
    loaded = [path for path in sources() if path.endswith("__init__.py") and list(imports(path))]
    assert not loaded, loaded


def test_the_walk_sees_an_arrow_that_points_up() -> None:
    assert not inside("engine.store.sqlite", ALLOWED["engine.core"])
    assert inside("engine.store.contract", ALLOWED["engine.core"])
    assert (
        floor_of("engine.engine") == "engine" and floor_of("engine.rules.decide") == "engine.rules"
    )
